"""What `exec` reports to CI systems: each kernel as a test case of JUnit's XML, with what was found in it."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from xml.etree import ElementTree

from warploom.base.files import replace_file
from warploom.emulator.watch.findings import Finding
from warploom.runs.result import KernelTotal

_WHOLE = "program"  # the case of what belongs to no kernel, such as memory that was not freed


def write_junit(path: Path, program: str, kernels: Iterable[KernelTotal], findings: Iterable[Finding], seconds: float) -> None:
    """Write the file: a case for every kernel that was launched, and for the program as a whole."""
    found: dict[str, list[Finding]] = {_WHOLE: []}
    launches = {total.kernel: total.launches for total in kernels}
    found |= {kernel: [] for kernel in launches}
    for finding in findings:
        found.setdefault(finding.kernel or _WHOLE, []).append(finding)
    failed = sum(bool(each) for each in found.values())
    about = {"name": f"warploom exec {program}", "tests": str(len(found)), "failures": str(failed), "errors": "0"}
    suite = ElementTree.Element("testsuite", about | {"time": f"{seconds:.3f}"})
    for name, failures in found.items():
        case = ElementTree.SubElement(suite, "testcase", {"classname": program, "name": name})
        for finding in failures:
            failure = ElementTree.SubElement(case, "failure", {"type": finding.check, "message": finding.sentence})
            failure.text = str(finding)
        if name in launches:
            ElementTree.SubElement(case, "system-out").text = f"launches: {launches[name]:,}"
    ElementTree.indent(suite)
    with replace_file(path) as draft:
        ElementTree.ElementTree(suite).write(draft, encoding="utf-8", xml_declaration=True)
