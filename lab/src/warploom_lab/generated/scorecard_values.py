"""The values of the scorecard as they are kept: one row for each number, with the commit of the code that made it.

A row is of one kind: ``value`` is our number; ``cause`` the number without what makes it differ; ``help`` the number without
something that it leans on, ``chosen`` the same where that was chosen after the result was known; ``reason`` has words alone.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from warploom.base.errors import WarploomError
from warploom.base.files import replace_file
from warploom_lab import CHECKOUT

FOLDER = CHECKOUT / "docs" / "lab" / "scores"
NOW, BEFORE = FOLDER / "values.tsv", FOLDER / "before.tsv"
CODES = ("ptx", "sm_75")
COUNTS = CODES[0]  # the code whose column counts, for all papers (docs/lab/scoring.md)
_COMMIT = re.compile(r"\(([0-9a-f]{8,})(, changed)?\)")


@dataclass(frozen=True, slots=True)
class Row:
    """One kept number, or a reason in words."""

    id: str
    code: str
    kind: str
    label: str
    value: str  # as text, so that what is kept is what was printed
    made_by: str  # a commit

    @property
    def number(self) -> float:
        return float(self.value)


@dataclass(frozen=True, slots=True)
class Values:
    """All rows, looked up by number and code."""

    rows: tuple[Row, ...]

    def value(self, fact: str, code: str = COUNTS) -> Row | None:
        """Our number with a code, if it was made."""
        return next(iter(self.of_kind(fact, "value", code)), None)

    def of_kind(self, fact: str, kind: str, code: str = COUNTS) -> list[Row]:
        """The rows of a kind."""
        return [row for row in self.rows if (row.id, row.kind, row.code) == (fact, kind, code)]


def read_values(path: Path) -> Values:
    """The kept rows of a file."""
    with path.open(encoding="utf-8", newline="") as file:
        return Values(tuple(Row(**row) for row in csv.DictReader(file, delimiter="\t")))


def write_values(path: Path, rows: Iterable[Row]) -> None:
    """Keep rows, sorted, so that a change of one number is a change of one line."""
    with replace_file(path) as draft, draft.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, [item.name for item in fields(Row)], delimiter="\t", lineterminator="\n")
        writer.writeheader()
        writer.writerows(asdict(row) for row in sorted(rows, key=lambda row: (row.id, row.code, row.kind, row.label)))


def merged(kept: Values, scores: Sequence[dict[str, Any]], code: str, place: str) -> Values:
    """The kept rows with those of one ``warploom reproduce --json`` in place of the older ones of the same numbers and code."""
    made = [row for score in scores for row in _rows(score, code, place)]
    renewed = {row.id for row in made}
    return Values((*(row for row in kept.rows if row.code != code or row.id not in renewed), *made))


def load_scores(path: Path) -> list[dict[str, Any]]:
    """What ``warploom reproduce --json`` printed."""
    scores = json.loads(path.read_text(encoding="utf-8"))
    if not isinstance(scores, list):
        raise WarploomError(f"{path}: this is not the output of `warploom reproduce --json`; give a file of it")
    return scores


def _rows(score: dict[str, Any], code: str, place: str) -> Iterable[Row]:
    commits = sorted({commit[:8] + ("+" if changed else "") for commit, changed in _COMMIT.findall(score["provenance"])})
    if not commits and score["provenance"]:
        raise WarploomError(f"{place}: {score['id']} does not say from which commit it is; run `reproduce` in a checkout")
    by, cause = " ".join(commits), score["experiment"]

    def row(kind: str, label: str, value: float | None) -> Row:
        return Row(score["id"], code, kind, label, "" if value is None else f"{value:.6g}", by)

    yield row("value", "", score["ours"])
    if cause:
        yield row("cause", cause["without"], cause["value"])
    for each in score["helps"]:
        yield row("chosen" if each["chosen_after"] else "help", each["by"], each["value"])
    if score["reason"] and not score["derived"]:
        yield row("reason", score["reason"], None)
