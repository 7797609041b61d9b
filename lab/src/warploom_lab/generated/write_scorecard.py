"""Writes docs/lab/scorecard.md from what ``warploom reproduce all --json`` printed, with the papers' own kinds of code and with each.

warploom reproduce all --json > own.json
warploom reproduce all --code ptx --json > ptx.json
warploom reproduce all --code sm_75 --json > sass.json
warploom-lab write-scorecard own.json ptx.json sass.json
warploom-lab write-scorecard   # only the part on original programs, of what `warploom-lab run-originals` kept
"""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Iterable, Sequence
from itertools import groupby
from pathlib import Path
from statistics import fmean
from typing import Any

from warploom.base.library import find_paper
from warploom.studies.reproduce.facts import DERIVED, REPRODUCED, VERDICTS, load_facts
from warploom_lab import CHECKOUT

TARGET = CHECKOUT / "docs" / "lab" / "scorecard.md"
KEPT = CHECKOUT / "docs" / "lab" / "originals"
HEAD = """# The papers' numbers and ours

Written by `warploom-lab write-scorecard` from `warploom reproduce all --size small`, not by hand.
[The guide](../how-to/guide.md#reproduce-the-papers) has the rules of the verdicts. *Here* is with the code that the paper names for its
figures ({codes}; all others: our backend's); *backend* and *sm_75* are the same numbers with that code throughout, and *without
the cause* is what comes out of an experiment that takes away what we hold to be the reason: its value, and what was taken away.
Bounds are marked ≤ and ≥.
"""
BY_PAPER = """
Headline numbers, those of abstracts and conclusions, that are reproduced. The numbers of the last two papers are from abstracts
and from memory.

| paper | here | backend | sm_75 |
| --- | ---: | ---: | ---: |"""
FROM_MEMORY = ("bow", "ltrf")
ORIGINALS_HEADING = "## Original programs"
ORIGINALS = f"""
{ORIGINALS_HEADING}

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
Score = dict[str, Any]
Kept = dict[str, str]  # a row of what `warploom-lab run-originals` kept


def main(files: Sequence[str]) -> None:
    """Write the page, or its last part alone."""
    if not files:
        before = TARGET.read_text(encoding="utf-8").partition(ORIGINALS_HEADING)[0].rstrip("\n")
        TARGET.write_text("\n".join([before, *_originals()]) + "\n", encoding="utf-8")
        return
    own, backend, machine_code = ({score["id"]: score for score in json.loads(Path(name).read_text())} for name in files[:3])
    papers = sorted(dict.fromkeys(key.partition(".")[0] for key in own), key=lambda name: name in FROM_MEMORY)
    codes = ", ".join(f"`{name}`: {find_paper(name).code}" for name in papers if find_paper(name).code)
    kinds = {"here": own, "backend": backend, "sm_75": machine_code}
    lines = [HEAD.format(codes=codes), "| | " + " | ".join(VERDICTS) + " |", "| --- |" + " ---: |" * len(VERDICTS)]
    for what, scores in kinds.items():
        for label, chosen in (("headline", [s for s in scores.values() if s["headline"]]), ("all", list(scores.values()))):
            counts = [str(sum(score["verdict"] == verdict for score in chosen)) for verdict in VERDICTS]
            lines.append(f"| {what}, {label} | " + " | ".join(counts) + " |")
    lines.append(BY_PAPER)
    for name in papers:
        shares = (_reproduced(score for score in scores.values() if _paper(score) == name) for scores in kinds.values())
        lines.append(f"| {name} | " + " | ".join(shares) + " |")
    five = (_reproduced(score for score in scores.values() if _paper(score) not in FROM_MEMORY) for scores in kinds.values())
    lines.append("| the first five | " + " | ".join(five) + " |")
    for paper, of_paper in groupby(sorted(own.values(), key=lambda score: papers.index(_paper(score))), key=_paper):
        lines += ["", f"## {find_paper(paper).title}", "", "Headline numbers are in bold.", ""]
        lines.append("| number | paper | here | backend | sm_75 | verdict | without the cause |")
        lines.append("| --- | ---: | ---: | ---: | ---: | --- | --- |")
        lines += [_row(score, backend, machine_code) for score in of_paper if score["verdict"] != DERIVED]
    lines += _originals()
    TARGET.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _paper(score: Score) -> str:
    return score["id"].partition(".")[0]


def _reproduced(scores: Iterable[Score]) -> str:
    """How many of some scores' headline numbers are reproduced."""
    headline = [score for score in scores if score["headline"]]
    return f"{sum(score['verdict'] == REPRODUCED for score in headline)} of {len(headline)}" if headline else "-"


def _row(score: Score, *others: dict[str, Score]) -> str:
    what = f"**{score['what']}**" if score["headline"] else score["what"]
    values = [f"{SIGNS.get(score['meaning'], '')}{score['paper']:g}", f"{score['ours']:.3g}"]
    values += [f"{other[score['id']]['ours']:.3g}" if score["id"] in other else "-" for other in others]
    cause = score["experiment"]
    shown = "" if cause is None else f"{cause['value']:.3g} without {cause['without']}"
    shown = "" if score["verdict"] == REPRODUCED else "; ".join(part for part in (shown, score["reason"]) if part)
    return f"| {what}, {score['unit']} | " + " | ".join(values) + f" | {score['verdict']} | {shown} |"


def _originals() -> list[str]:
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


if __name__ == "__main__":
    main(sys.argv[1:])
