"""Writes docs/scorecard.md from what ``warploom reproduce all --json`` printed, with the papers' own kinds of code and with each.

warploom reproduce all --json > own.json
warploom reproduce all --code ptx --json > ptx.json
warploom reproduce all --code sm_75 --json > sass.json
python scripts/write_scorecard.py own.json ptx.json sass.json
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

from warploom.library import find_paper
from warploom.papers.facts import DERIVED, VERDICTS

TARGET = Path(__file__).parent.parent / "docs" / "scorecard.md"
HEAD = """# The papers' numbers and ours

Written by `python scripts/write_scorecard.py` from `warploom reproduce all --size small`, not by hand.
[The guide](guide.md#reproduce-the-papers) has the rules of the verdicts. *Here* is with the code that the paper names for its
figures ({codes}; all others: our backend's); *backend* and *sm_75* are the same numbers with that code throughout, and *without
the cause* is what comes out of an experiment that takes away what we hold to be the reason: its value, and what was taken away.
Bounds are marked ≤ and ≥.
"""
SIGNS = {"at-most": "≤ ", "at-least": "≥ "}
Score = dict[str, Any]


def main(files: Sequence[str]) -> None:
    """Write the page."""
    own, backend, machine_code = ({score["id"]: score for score in json.loads(Path(name).read_text())} for name in files)
    papers = list(dict.fromkeys(key.partition(".")[0] for key in own))
    codes = ", ".join(f"`{name}`: {find_paper(name).code}" for name in papers if find_paper(name).code)
    lines = [HEAD.format(codes=codes), "| | " + " | ".join(VERDICTS) + " |", "| --- |" + " ---: |" * len(VERDICTS)]
    for what, scores in (("here", own), ("backend", backend), ("sm_75", machine_code)):
        for label, chosen in (("headline", [s for s in scores.values() if s["headline"]]), ("all", list(scores.values()))):
            counts = [str(sum(score["verdict"] == verdict for score in chosen)) for verdict in VERDICTS]
            lines.append(f"| {what}, {label} | " + " | ".join(counts) + " |")
    by_paper = groupby(sorted(own.values(), key=lambda score: papers.index(_paper(score))), key=_paper)
    for paper, scores in by_paper:
        lines += ["", f"## {find_paper(paper).title}", "", "Headline numbers are in bold.", ""]
        lines.append("| number | paper | here | backend | sm_75 | verdict | without the cause |")
        lines.append("| --- | ---: | ---: | ---: | ---: | --- | --- |")
        lines += [_row(score, backend, machine_code) for score in scores if score["verdict"] != DERIVED]
    TARGET.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _paper(score: Score) -> str:
    return score["id"].partition(".")[0]


def _row(score: Score, *others: dict[str, Score]) -> str:
    what = f"**{score['what']}**" if score["headline"] else score["what"]
    values = [f"{SIGNS.get(score['meaning'], '')}{score['paper']:g}", f"{score['ours']:.3g}"]
    values += [f"{other[score['id']]['ours']:.3g}" if score["id"] in other else "-" for other in others]
    cause = score["experiment"]
    shown = score["reason"]
    if cause is not None and score["verdict"] != "reproduced":
        shown = f"{cause['value']:.3g} without {cause['without']}"
    elif score["verdict"] == "reproduced":
        shown = ""
    return f"| {what}, {score['unit']} | " + " | ".join(values) + f" | {score['verdict']} | {shown} |"


if __name__ == "__main__":
    main(sys.argv[1:])
