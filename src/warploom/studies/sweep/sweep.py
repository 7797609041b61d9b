"""A sweep: the runs of a plan, made where they are missing, and the table of all of them."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from warploom.base.errors import WarploomError
from warploom.base.files import replace_file
from warploom.runs.engine import Asked
from warploom.runs.result import tables
from warploom.runs.rows import pyarrow
from warploom.runs.spec import RunSpec
from warploom.runs.store import Store
from warploom.runs.timings import Expectation, expect
from warploom.runs.workers import Workers, local_workers
from warploom.studies.sweep.expansion import Expansion, Point, expand
from warploom.studies.sweep.plan import Plan, make_plan
from warploom.studies.sweep.summary import summarise

if TYPE_CHECKING:
    import pandas

DEFAULT_FOLDER = "results/sweep"
RESULTS = "results.parquet"
SUMMARY = "summary.parquet"
AXIS = "plan."  # in front of the columns that say where a run stands on the plan's axes


@dataclass(frozen=True)
class Sweep:
    """A plan in a folder: its points, what is stored of them, and what was refused."""

    folder: Path
    points: tuple[Point, ...]
    skipped: Counter[str] = field(default_factory=Counter)  # combinations left out, by reason
    refused: Counter[str] = field(default_factory=Counter)  # runs that could not be made, by reason

    @property
    def store(self) -> Store:
        """Where the runs are."""
        return Store(self.folder / "runs")

    @cached_property
    def asked(self) -> Asked:
        """The runs of all points, and where they are."""
        return Asked((point.spec for point in self.points), self.store)

    @property
    def specs(self) -> list[RunSpec]:
        """The runs of all points."""
        return self.asked.specs

    def missing(self) -> list[RunSpec]:
        """What has not been made yet."""
        return self.asked.missing()

    def expectation(self) -> Expectation:
        """What the missing runs will take."""
        return expect(self.missing())

    def table(self) -> pandas.DataFrame:
        """One row for each run that is there, in the plan's order: its place in the plan, its numbers, where it is from."""
        pandas = tables()
        stored = self.store.rows()
        rows = {key: row for row, key in enumerate(stored["key"].to_pylist())}
        there = [(key, point) for key, point in zip(self.asked.keys, self.points, strict=True) if key in rows]
        numbers = stored.take(pyarrow().array([rows[key] for key, _ in there], "int64")).to_pandas()
        numbers["design.name"] = [point.spec.design.name for _, point in there]
        axes = list(dict.fromkeys(name for _, point in there for name in point.coordinates))
        where = {f"{AXIS}{name}": [point.coordinates.get(name) for _, point in there] for name in axes}
        used = numbers.dropna(axis="columns", how="all")  # other plans in the folder have columns of their own
        return pandas.concat([pandas.DataFrame(where), used.reset_index(drop=True)], axis="columns")

    def summary(self, table: pandas.DataFrame | None = None) -> pandas.DataFrame:
        """Means over seeds with the half widths of their 95% intervals, one row for each point but for its seed.

        ``table`` is what `table` has given, where somebody has it.
        """
        table = self.table() if table is None else table
        axes = [name for name in table.columns if name.startswith(AXIS)]
        rows = table.to_dict("records")
        return tables().DataFrame(
            summarise(({name.removeprefix(AXIS): row[name] for name in axes if row[name] == row[name]}, row) for row in rows)
        )

    def wrong_outputs(self, table: pandas.DataFrame | None = None) -> list[str]:
        """The workloads whose output differed from the reference in some run."""
        table = self.table() if table is None else table
        return sorted(set(table.loc[table["verified"] == False, "workload"])) if "verified" in table else []  # noqa: E712 (a column)

    def write(self) -> None:
        """``results.parquet`` and ``summary.parquet`` in the folder."""
        self.folder.mkdir(parents=True, exist_ok=True)
        table = self.table()
        for name, content in ((RESULTS, table), (SUMMARY, self.summary(table))):
            with replace_file(self.folder / name) as draft:
                _plain_columns(content).to_parquet(draft, index=False)


def sweep(
    plan: Plan | Mapping[str, Any] | str | Path,
    folder: str | Path = DEFAULT_FOLDER,
    *,
    jobs: int = 0,
    scheduler: str | None = None,
    step: Callable[[RunSpec], None] = lambda spec: None,
) -> Sweep:
    """Make every run of a plan that the folder does not hold yet, and write the table of all of them.

    ``jobs`` processes of this machine share the work, one for each core where it is 0; a Dask ``scheduler`` gives it to its
    workers instead. Several calls on the same folder, from any process or machine, share it too.
    """
    planned = prepare(plan, folder)
    with hire(jobs, scheduler if planned.missing() else None) as workers:  # what is stored needs no cluster
        make(planned, workers, step)
    return planned


def prepare(plan: Plan | Mapping[str, Any] | str | Path, folder: str | Path = DEFAULT_FOLDER) -> Sweep:
    """A sweep before anything is run."""
    expansion: Expansion = expand(make_plan(plan))
    if not expansion.points:
        reasons = "; ".join(f"{number:,}: {reason}" for reason, number in expansion.skipped.most_common(3))
        raise WarploomError(f"{make_plan(plan).place}: no combination is left (left out, {reasons})")
    return Sweep(Path(folder), tuple(expansion.points), expansion.skipped)


def make(planned: Sweep, workers: Workers, step: Callable[[RunSpec], None] = lambda spec: None) -> None:
    """Make what is missing; what is refused is counted. The tables are written however it ends."""

    def refuse(spec: RunSpec, error: WarploomError) -> None:
        planned.refused[str(error)] += 1

    try:
        planned.asked.make(workers, step, refuse)
    finally:
        if not planned.store.keys().isdisjoint(planned.asked.keys):
            planned.write()


@contextmanager
def hire(jobs: int, scheduler: str | None) -> Iterator[Workers]:
    """Workers: processes of this machine, or those of a Dask scheduler."""
    if scheduler is None:
        with local_workers(jobs or os.cpu_count() or 1) as local:
            yield local
    else:
        from warploom.runs.cluster import cluster_workers

        with cluster_workers(scheduler) as distant:
            yield distant


def _plain_columns(table: pandas.DataFrame) -> pandas.DataFrame:
    """Columns that mix kinds of values, such as `fit` and 24, as text."""
    for name in table.columns:
        if table[name].dtype == object and len({type(value) for value in table[name].dropna()}) > 1:
            table[name] = table[name].map(lambda value: None if value is None or value != value else str(value))
    return table
