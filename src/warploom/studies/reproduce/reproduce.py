"""Reproduce figures and tables: run what they need, evaluate, and set our numbers beside the published ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from warploom.base.errors import WarploomError
from warploom.base.library import find_paper, paper_names
from warploom.base.library.shelves import ALL
from warploom.base.spelling import did_you_mean
from warploom.programs.named import origin_named
from warploom.programs.program import WorkloadOrigin
from warploom.programs.recording import SUFFIX
from warploom.programs.workloads.registry import workload_names
from warploom.runs.engine import Asked
from warploom.runs.provenance import Provenance, described
from warploom.runs.spec import RunSpec
from warploom.studies.reproduce.experiment import Experiment, Figure, Help, Outcome
from warploom.studies.reproduce.facts import REPRODUCED, VERDICTS, Fact, load_facts
from warploom.studies.sweep.sweep import hire


@dataclass(frozen=True, slots=True)
class Reproduction:
    """One figure or table, reproduced."""

    paper: str
    figure: Figure
    outcome: Outcome
    made_from: tuple[Provenance, ...]  # of its runs
    unverified: tuple[str, ...]  # those of its runs whose output differed from the reference: program, design and code


@dataclass(frozen=True, slots=True)
class Score:
    """A published number with ours beside it."""

    fact: Fact
    ours: float
    experiment: Experiment | None  # what shows why ours differs
    reason: str  # how the paper contradicts itself, or what the number rests on
    made_from: str  # the runs that it was computed from, as one line
    unverified: tuple[str, ...]  # those of them whose output differed from the reference
    helps: tuple[Help, ...] = ()  # what ours leans on

    @property
    def verdict(self) -> str:
        return self.fact.verdict(self.ours)

    @property
    def stands(self) -> bool:
        """Whether it is reproduced, not by construction, and without every choice that was made after its result was known."""
        chosen = [help.value for help in self.helps if help.chosen_after]
        return not self.fact.derived and all(self.fact.verdict(value) == REPRODUCED for value in (self.ours, *chosen))

    def to_dict(self) -> dict[str, Any]:
        """Plain values, as ``--json`` prints them."""
        return {
            "id": self.fact.full_id,
            "what": self.fact.what,
            "place": self.fact.place,
            "paper": self.fact.value,
            "ours": self.ours,
            "unit": self.fact.unit,
            "meaning": self.fact.meaning,
            "difference": self.fact.difference(self.ours),
            "verdict": self.verdict,
            "derived": bool(self.fact.derived),
            "headline": self.fact.headline,
            "quotation": self.fact.quotation,
            "stands": self.stands,
            "helps": [help.to_dict() for help in self.helps],
            "experiment": self.experiment.to_dict() if self.experiment else None,
            "reason": self.reason or self.fact.derived,
            "provenance": self.made_from,
            "unverified": list(self.unverified),
        }


def figures_of(paper: str) -> tuple[Figure, ...]:
    """The figures and tables of one paper, as experiments."""
    return find_paper(paper).figures


def select(paper: str, place: str | None = None) -> list[tuple[str, Figure]]:
    """The experiments of a paper, or of "all"; with a place ("figure 6", "table 2") that one alone."""
    names = paper_names() if paper == ALL else (paper,)
    for name in names:
        load_facts(name)  # a mistake in the published numbers is said before anything is run
    chosen = [(name, figure) for name in names for figure in figures_of(name)]
    if place is None:
        return chosen
    found = [(name, figure) for name, figure in chosen if figure.place == place]
    if not found:
        known = ", ".join(figure.place for _, figure in chosen)
        raise WarploomError(f"paper {paper!r} has no {place} to reproduce; there are {known}")
    return found


def recordings_in(folder: Path) -> dict[str, str]:
    """The recordings of a folder by the workload whose name they have; nothing else may be there under their ending."""
    found = {file.stem: str(file) for file in sorted(folder.glob(f"*{SUFFIX}"))}
    if not found:
        raise WarploomError(f"{folder}: there is no recording here; name them after workloads, such as hotspot{SUFFIX}")
    unknown = sorted(set(found) - set(workload_names()))
    if unknown:
        raise WarploomError(
            f"{found[unknown[0]]}: there is no workload {unknown[0]!r}{did_you_mean(unknown[0], workload_names())}"
        )
    return found


def runs_of(
    selected: Sequence[tuple[str, Figure]], size: str, code: str | None = None, programs: Mapping[str, str] | None = None
) -> list[RunSpec]:
    """Every run that some experiments need, each once.

    ``code`` is executed instead of what the papers or machines name, and recordings (by workload) instead of workloads.
    """
    return list(dict.fromkeys(_as_asked(run, paper, code, programs) for paper, figure in selected for run in figure.runs(size)))


def unrecorded(runs: Sequence[RunSpec]) -> list[str]:
    """The workloads among some runs for which there is no recording."""
    return sorted({run.program.name for run in runs if isinstance(run.program, WorkloadOrigin)})


def _as_asked(run: RunSpec, paper: str, code: str | None, programs: Mapping[str, str] | None) -> RunSpec:
    """A run with the code that was asked for, else with the paper's; one that names its code itself is there to differ."""
    recorded = (programs or {}).get(run.program.name)
    program = origin_named(recorded) if recorded else run.program
    return replace(run, program=program, code=run.code or code or find_paper(paper).code)


def reproduce(
    selected: Sequence[tuple[str, Figure]],
    size: str,
    wanted: Asked,
    jobs: int,
    step: Callable[[RunSpec], None],
    code: str | None = None,
    programs: Mapping[str, str] | None = None,
    scheduler: str | None = None,
) -> Iterator[Reproduction]:
    """Make what is missing of the runs that are wanted (see `runs_of`), then evaluate one experiment after the other.

    ``jobs`` processes of this machine make it, one for each core where it is 0, or the workers of a Dask ``scheduler``.
    """
    with hire(jobs, scheduler if wanted.missing() else None) as workers:  # what is stored needs no cluster
        wanted.make(workers, step)
    results = dict(zip(wanted.specs, wanted.results, strict=True))
    wrong = {
        run: f"{run.program.name} with {run.design.name} as {result.spec.code}"
        for run, result in results.items()
        if result.verified is False
    }
    for paper, figure in selected:
        asked = {run: _as_asked(run, paper, code, programs) for run in figure.runs(size)}
        needed = {run: results[made] for run, made in asked.items()}
        made_from = tuple(result.provenance for result in needed.values())
        unverified = tuple(dict.fromkeys(wrong[made] for made in asked.values() if made in wrong))
        yield Reproduction(paper, figure, figure.evaluate(needed, size), made_from, unverified)


def scorecard(reproductions: Sequence[Reproduction]) -> list[Score]:
    """Every published number that the reproductions measured: headline numbers, then all others."""
    scores = []
    for paper in dict.fromkeys(item.paper for item in reproductions):
        measured = {
            key: (
                ours,
                item.outcome.experiments.get(key),
                item.outcome.reasons.get(key, ""),
                described(item.made_from),
                item.unverified,
                tuple(item.outcome.helps.get(key, ())),
            )
            for item in reproductions
            if item.paper == paper
            for key, ours in item.outcome.facts.items()
        }
        facts = {fact.id: fact for fact in load_facts(paper)}
        unknown = set(measured) - set(facts)
        if unknown:
            raise WarploomError(
                f"paper {paper!r}: its figures measure {', '.join(sorted(unknown))}, which published.toml does not have"
            )
        scores += [Score(fact, *measured[key]) for key, fact in facts.items() if key in measured]
    return sorted(scores, key=lambda score: not score.fact.headline)


def tally(scores: Sequence[Score]) -> dict[str, dict[str, int]]:
    """How many numbers have each verdict: headline numbers, all, and apart from both those that hold by construction."""
    measured = [score for score in scores if not score.fact.derived]
    groups = {
        "headline": [score for score in measured if score.fact.headline],
        "all": measured,
        "derived": [score for score in scores if score.fact.derived],
    }
    return {
        name: {verdict: sum(score.verdict == verdict for score in group) for verdict in VERDICTS}
        for name, group in groups.items()
    }
