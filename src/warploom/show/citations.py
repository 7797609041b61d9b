"""What to cite for a result, as BibTeX: Warploom, and the papers, the kernel and the machine that the result rests on."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from warploom.base.library import Paper, papers
from warploom.runs.provenance import checked_provenance
from warploom.runs.spec import RunSpec, spec_from_dict

TITLE = "Warploom: a laboratory for GPU register files"
CITATION = re.compile(r"(?P<authors>[^:]+): (?P<title>.+), (?P<venue>[^,]+?) \d{4}")  # as papers' records write it
SPECIAL = re.compile(r"[&%$#_{}]")


def bibliography(records: Sequence[Mapping[str, Any]], place: str) -> str:
    """The entries for some results, each once, in the order in which they are needed."""
    return "\n\n".join(dict.fromkeys(entry for record in records for entry in _entries(record, place)))


def _entries(record: Mapping[str, Any], place: str) -> Iterator[str]:
    known = checked_provenance(record.get("provenance"), place)
    spec = spec_from_dict(known["spec"], place)
    commit = f", commit {known['commit'][:12]}" if known["commit"] else ""
    version = known["version"] + commit
    yield _entry("software", "warploom", {"title": TITLE, "author": "{The Warploom maintainers}", "version": version})
    for paper in papers():
        if rests_on(spec, paper):
            yield paper_entry(paper)
    yield _entry("misc", f"program-{spec.program.name}", {"title": spec.program.name, "note": _note(spec)})
    machine = f"Machine description {spec.machine.name}: {spec.machine.title}"
    yield _entry(
        "misc",
        f"machine-{spec.machine.name}",
        {"title": machine, "note": f"warploom machines {spec.machine.name} prints its sources"},
    )


def rests_on(spec: RunSpec, paper: Paper) -> bool:
    """Whether a run uses a policy, a machine or an energy table of a paper."""
    policies = any(type(policy).__module__.startswith(f"{paper.package}.") for policy in spec.design.policies)
    return policies or spec.machine.name in paper.machines or spec.settled.technology in paper.technologies


def paper_entry(paper: Paper) -> str:
    """A paper's entry. A citation that is not written as ours are is given as a note."""
    found = CITATION.fullmatch(paper.citation)
    if found is None:
        facts = {"title": paper.title, "note": paper.citation}
    else:
        facts = {"author": found["authors"].replace(", ", " and "), "title": found["title"], "booktitle": found["venue"]}
    where = {"year": str(paper.year)} | ({"url": paper.address} if paper.address else {})
    return _entry("misc" if found is None else "inproceedings", f"{paper.name}-{paper.year}", facts | where)


def _note(spec: RunSpec) -> str:
    if spec.program.sized:
        return f"workload of Warploom, size {spec.size}"
    return f"program of the user ({spec.program.KIND})"


def _entry(kind: str, key: str, facts: Mapping[str, str]) -> str:
    """One entry. Titles keep their capitals; characters that mean something to TeX are escaped, but not in addresses."""
    lines = [f"  {name} = {{{value if name == 'url' else _escaped(name, value)}}}," for name, value in facts.items()]
    return "\n".join([f"@{kind}{{{re.sub(r'[^A-Za-z0-9.-]', '-', key)},", *lines, "}"])


def _escaped(name: str, value: str) -> str:
    if value.startswith("{"):
        return value
    text = SPECIAL.sub(lambda found: "\\" + found[0], value)
    return f"{{{text}}}" if name == "title" else text
