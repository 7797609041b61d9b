"""The last part of the scorecard: the numbers from original programs, of what `warploom-lab run-originals` kept."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from itertools import groupby
from statistics import fmean

from warploom.base.library import find_paper
from warploom.studies.reproduce.facts import load_facts
from warploom_lab import CHECKOUT

KEPT = CHECKOUT / "docs" / "lab" / "originals"
ORIGINALS = """
## Original programs

The programs that the papers of RegMutex and RFV name, of Rodinia, Parboil, the CUDA SDK and GPGPU-Sim's own set, in the
places of our workloads: recorded by `warploom exec --record`, run as the figures run workloads (`warploom-lab run-originals`).
[programs.md](programs.md#the-originals-of-two-papers) says what was changed in them, and which inputs they have. In the
columns of sm_75, originals and workloads alike, uniform values have registers of their own beside the file: these runs are older
than the rule that Fermi has none."""
NUMBERS = """
| number | paper | originals, sm_75 | workloads, sm_75 | originals, backend | workloads, backend | verdict on the originals |
| --- | ---: | ---: | ---: | ---: | ---: | --- |"""
EACH = """
{about} Cycles added, in percent, to the original and, in brackets, to the workload of its name.

| program | registers, paper | original | workload | CTAs/SM | {columns} |
| --- | ---: | ---: | ---: | ---: |{line}"""
PARTS = {
    "regmutex": (
        "sm_75",
        "RegMutex, with NVIDIA's code on three SMs; of the last eight with half the file, without any technique and with it.",
        ("twice the file", "half the file", "regmutex"),
    ),
    "rfv": (
        "ptx",
        "RFV, with our backend's code on two SMs: half the file against the whole one, both renamed, and spills instead.",
        ("GPU-shrink", "compiler spill"),
    ),
}
SIGNS = {"at-most": "≤ ", "at-least": "≥ "}
MEANS = {  # by paper, and whether the programs run on half the file: the published mean of a column, and the sign of cycles added
    ("regmutex", False): {"regmutex": ("full-regmutex", -1)},
    ("regmutex", True): {"half the file": ("half-nothing", 1), "regmutex": ("half-regmutex", 1)},
    ("rfv", False): {"GPU-shrink": ("shrink-time", 1), "compiler spill": ("spill-time", 1)},
}
Kept = dict[str, str]  # a row of what `warploom-lab run-originals` kept


def originals() -> list[str]:
    """The papers' numbers from the originals beside those from our workloads, then a line for each program."""
    lines, programs = [ORIGINALS], _kept("programs.tsv")
    numbers = {(row["id"], row["code"], row["of"]): float(row["value"]) for row in _kept("numbers.tsv")}
    columns = [(code, of) for code in ("sm_75", "ptx") for of in ("originals", "workloads")]
    lines += [NUMBERS] if numbers else []
    for fact in (fact for paper in PARTS for fact in load_facts(paper)):
        measured = numbers.get((fact.full_id, PARTS[fact.paper][0], "originals"))
        if measured is not None and not fact.derived:
            what = f"**{fact.what}**" if fact.headline else fact.what
            cells = [f"{SIGNS.get(fact.meaning, '')}{fact.value:g}"]
            cells += [
                f"{numbers[fact.full_id, *column]:.3g}" if (fact.full_id, *column) in numbers else "-" for column in columns
            ]
            lines.append(f"| {fact.paper}: {what}, {fact.unit} | " + " | ".join([*cells, fact.verdict(measured)]) + " |")
    for paper, (code, about, shown) in PARTS.items():
        lines.append(EACH.format(about=about, columns=" | ".join(shown), line=" ---: |" * len(shown)))
        rows = {(row["program"], row["of"]): row for row in programs if (row["paper"], row["code"]) == (paper, code)}
        pairs = [(row, rows[name, "workloads"]) for (name, of), row in rows.items() if of == "originals"]
        for means, group in groupby(pairs, key=lambda pair: MEANS[paper, bool(pair[0]["half the file"])]):
            lines += _group(list(group), shown, means)
    return lines


def _group(pairs: Sequence[tuple[Kept, Kept]], shown: Sequence[str], means: dict[str, tuple[str, int]]) -> list[str]:
    """Programs over which the paper has means: a line for each, then their means and the paper's."""
    lines = []
    for row, ours in pairs:
        theirs = find_paper(row["paper"]).workloads[row["program"]]["registers"]
        cells = [str(theirs), row["registers"], ours["registers"], row["CTAs/SM"], *(_added([(row, ours)], key) for key in shown)]
        lines.append(f"| {row['program']} | " + " | ".join(cells) + " |")
    facts = {fact.id: fact for fact in load_facts(pairs[0][0]["paper"])}
    published = [f"{sign * facts[fact].value:+g}" if fact else "" for fact, sign in (means.get(key, ("", 1)) for key in shown)]
    lines.append(f"| *mean of these {len(pairs)}* | | | | | " + " | ".join(_added(pairs, key) for key in shown) + " |")
    lines.append("| *the paper's mean* | | | | | " + " | ".join(published) + " |")
    return lines


def _added(pairs: Sequence[tuple[Kept, Kept]], key: str) -> str:
    """The mean of cycles added to originals, and to workloads in brackets."""
    if not pairs[0][0][key]:
        return ""
    theirs, ours = (fmean(float(pair[place][key]) for pair in pairs) for place in (0, 1))
    return f"{theirs:+.1f} ({ours:+.1f})"


def _kept(name: str) -> list[Kept]:
    """A table of what was measured on original programs."""
    with (KEPT / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t"))
