"""Writes docs/scorecard.md from what ``warploom reproduce all --json`` printed, with the papers' own kinds of code and with each.

warploom reproduce all --json > own.json
warploom reproduce all --code ptx --json > ptx.json
warploom reproduce all --code sm_75 --json > sass.json
python scripts/write_scorecard.py own.json ptx.json sass.json [originals.json]   # the last of scripts/run_originals.py
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

from warploom.library import find_paper
from warploom.papers.facts import DERIVED, REPRODUCED, VERDICTS

TARGET = Path(__file__).parent.parent / "docs" / "scorecard.md"
HEAD = """# The papers' numbers and ours

Written by `python scripts/write_scorecard.py` from `warploom reproduce all --size small`, not by hand.
[The guide](guide.md#reproduce-the-papers) has the rules of the verdicts. *Here* is with the code that the paper names for its
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
ORIGINALS = """
## Original programs

Recordings of programs of Rodinia, Parboil and the CUDA samples (`warploom exec --record`), run as the figures run our workloads
(`scripts/run_originals.py`), with small inputs of our own. RegMutex's with the code of NVIDIA's compiler (sm_75) and as many
registers as it takes, on three SMs: cycles added to the full file without any technique, and in brackets with faster DRAM and
more misses under way. RFV's with our backend, on two SMs: cycles that half the file adds.

| program | registers, theirs | here | CTAs/SM | twice the file | half of it | regmutex | GPU-shrink | compiler spill |
| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |"""
SIGNS = {"at-most": "≤ ", "at-least": "≥ "}
Score = dict[str, Any]


def main(files: Sequence[str]) -> None:
    """Write the page."""
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
    for paper, scores in groupby(sorted(own.values(), key=lambda score: papers.index(_paper(score))), key=_paper):
        lines += ["", f"## {find_paper(paper).title}", "", "Headline numbers are in bold.", ""]
        lines.append("| number | paper | here | backend | sm_75 | verdict | without the cause |")
        lines.append("| --- | ---: | ---: | ---: | ---: | --- | --- |")
        lines += [_row(score, backend, machine_code) for score in scores if score["verdict"] != DERIVED]
    if len(files) > 3:
        lines += [ORIGINALS, *_originals(json.loads(Path(files[3]).read_text()))]
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


def _originals(rows: Sequence[dict[str, Any]]) -> list[str]:
    """A line for each program and paper; the runs with fast DRAM stand in brackets."""
    lines = []
    usual = [row for row in rows if row["machine"] == row["paper"]]
    for row in usual:
        fast = next((r for r in rows if r is not row and (r["program"], r["paper"]) == (row["program"], row["paper"])), {})
        theirs = find_paper(row["paper"]).workloads[row["program"]]["registers"]
        cells = [f"{theirs} ({row['paper']})", str(row["registers"]), str(row["ctas_per_sm"])]
        for key in ("twice the file", "half the file", "regmutex", "GPU-shrink", "compiler spill"):
            value, quick = row.get(key), fast.get(key)
            cells.append("-" if value is None else f"{value:+.1f}" + (f" ({quick:+.1f})" if quick is not None else ""))
        lines.append(f"| {row['program']} | " + " | ".join(cells) + " |")
    return lines


if __name__ == "__main__":
    main(sys.argv[1:])
