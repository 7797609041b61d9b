"""What a reproduction leaves behind: a picture and a table for each figure, the scorecard, and one tidy table of all runs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from warploom.base.errors import WarploomError
from warploom.base.files import replace_file
from warploom.base.kept import write_kept_json
from warploom.runs.engine import Asked
from warploom.runs.provenance import described
from warploom.runs.result import plain, tables
from warploom.runs.rows import pyarrow, row_of, table_of
from warploom.runs.store import Store
from warploom.show.charts import check_picture_name, draw, save
from warploom.show.setting import USUAL, Setting
from warploom.studies.reproduce.facts import REPRODUCED, Fact, load_facts
from warploom.studies.reproduce.reproduce import Reproduction, Score, reproduce, runs_of, select, tally

SCORECARD = "scorecard.json"


def write_reproduction(item: Reproduction, folder: Path, setting: Setting = USUAL, kind: str = "png") -> None:
    """The rows of one figure as CSV and, where it is drawn, its picture."""
    target = folder / item.paper
    target.mkdir(parents=True, exist_ok=True)
    name, made_from = item.figure.place.replace(" ", "-"), described(item.made_from)
    with replace_file(target / f"{name}.csv") as draft:
        rows = [{**row, "provenance": made_from} for row in item.outcome.rows]
        tables().DataFrame(rows).to_csv(draft, index=False)
    if item.outcome.chart is not None:
        save(_drawn(item, setting), target / f"{name}.{kind}", item.made_from, setting)


def figure(
    paper: str, place: str, *, size: str = "small", out: str | Path | None = None, results: str | Path = "results", jobs: int = 0
) -> Any:
    """A paper's figure as a chart, from our runs, which are made where they are missing; also saved, where ``out`` names a file.

    wl.figure("rfc", "figure 10", size="tiny", out="figure.png")
    """
    if out is not None:
        check_picture_name(Path(out))
    ((name, experiment),) = select(paper, place)
    selected = [(name, experiment)]
    wanted = Asked(runs_of(selected, size), Store(Path(results) / "runs"))
    (item,) = reproduce(selected, size, wanted, jobs, lambda _: None)
    if item.outcome.chart is None:
        raise WarploomError(f"paper {paper!r}: {place} is a table, which is not drawn")
    drawn = _drawn(item)
    if out is not None:
        save(drawn, Path(out), item.made_from)
    return drawn


def _drawn(item: Reproduction, setting: Setting = USUAL) -> Any:
    assert item.outcome.chart is not None
    title = f"{item.paper}, {item.figure.place}: {item.figure.title}"
    pairs = [(fact.what, fact.unit, fact.value, ours) for fact, ours in _measured(item)]
    return draw(
        item.outcome.chart, item.outcome.rows, title, subtitle=described(item.made_from), published=pairs, setting=setting
    )


def _measured(item: Reproduction) -> list[tuple[Fact, float]]:
    """The published numbers that a figure measured, with ours."""
    return [(fact, item.outcome.facts[fact.id]) for fact in load_facts(item.paper) if fact.id in item.outcome.facts]


def write_results(made: Asked, scores: Sequence[Score], folder: Path) -> None:
    """``results.parquet``: one row per run with all its numbers; ``scorecard.csv``: published against ours.

    The scorecard is also kept for the report, which reads it again.
    """
    rows = [
        {"design_text": run.design.name, **row_of(key, result.to_dict(power=True))}
        for run, key, result in zip(made.specs, made.keys, made.results, strict=True)
    ]
    folder.mkdir(parents=True, exist_ok=True)
    with replace_file(folder / "results.parquet") as draft:
        pyarrow().parquet.write_table(table_of(rows), draft)  # a column may hold numbers and words: 32 registers, or the least
    with replace_file(folder / "scorecard.csv") as draft:
        tables().DataFrame([score.to_dict() for score in scores]).to_csv(draft, index=False)
    write_kept_json(folder / SCORECARD, plain([score.to_dict() for score in scores]))


SCORE_HEADINGS = ("number", "paper", "ours", "unit ", "verdict ")


def score_rows(scores: Sequence[Score]) -> list[tuple[tuple[str, ...], str]]:
    """The scorecard for a terminal: cells under `SCORE_HEADINGS`, and below each line what the number is and why it differs."""
    rows: list[tuple[tuple[str, ...], str]] = []
    for score in scores:
        why = "" if score.verdict == REPRODUCED else _why(score)
        values = (f"{score.fact.value:g}", f"{score.ours:.4g}", score.fact.unit)
        rows.append(((score.fact.full_id, *values, score.verdict), score.fact.what + (f"; {why}" if why else "")))
    return rows


def _why(score: Score) -> str:
    """The experiment that shows the cause, or how the paper contradicts itself, or why the number says nothing."""
    shown = score.experiment
    return f"{shown.value:.4g} without {shown.without} ({shown.run})" if shown else score.reason or score.fact.derived


def tally_lines(scores: Sequence[Score]) -> list[str]:
    """The counts by verdict, of headline numbers first."""
    return [
        f"{name}: " + ", ".join(f"{count} {verdict}" for verdict, count in counts.items())
        for name, counts in tally(scores).items()
    ]
