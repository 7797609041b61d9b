"""What ``exec`` tells of the faults that checks find: sentences, exit codes, and a report for CI."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import pytest

from warploom.cli.app import run_command


@pytest.fixture(scope="module")
def faulty(compiled: Callable[..., Path]) -> Path:
    return compiled("faulty.cu")


def test_faults_of_a_program_are_told_at_its_end(faulty: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    report = tmp_path / "junit.xml"
    words = ["exec", "--emulate-only", "--quiet", "--check", "all", "--report", str(report), "--", str(faulty)]
    assert run_command(words) == 3  # the program's own
    printed = capfd.readouterr()
    assert printed.out == "done\n"
    race, unread, leak = sorted(line for line in printed.err.splitlines() if line.startswith("error: "))[:3] or ("", "", "")
    told = "\n".join((race, unread, leak))
    assert "race on shared memory" in told
    assert "which nobody has written" in told
    assert "256 bytes" in told and "was not freed" in told
    suite = ElementTree.parse(report).getroot()
    failed = {case.get("name"): len(case.findall("failure")) for case in suite.iter("testcase")}
    assert failed["program"] == 1  # the leak
    assert next(count for name, count in failed.items() if "races" in str(name)) == 4  # two races, two sorts of unwritten bytes
    assert next(count for name, count in failed.items() if "clean" in str(name)) == 0


def test_findings_can_decide_the_exit_code(faulty: Path, capfd: pytest.CaptureFixture[str]) -> None:
    words = ["exec", "--emulate-only", "--quiet", "--check", "races", "--error-exitcode", "9", "--", str(faulty)]
    assert run_command(words) == 9
    told = [line for line in capfd.readouterr().err.splitlines() if "race on shared memory" in line]
    assert len(told) == 2  # a read before the other's write and one after it, each told once for both launches
    assert all(line.endswith("(64 times)") for line in told)
    assert run_command([*words[:3], *words[5:]]) == 3  # nothing is looked for, nothing is found
