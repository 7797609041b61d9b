"""A search for designs: Optuna chooses, the engine runs, few workloads come before many."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from warploom.base.errors import WarploomError
from warploom.base.extras import imported
from warploom.base.files import replace_file
from warploom.designs import Design, parse_design
from warploom.designs.design import from_dict
from warploom.programs.named import origin_named
from warploom.runs.engine import Asked
from warploom.runs.spec import RunSpec
from warploom.runs.store import Store
from warploom.runs.workers import Workers
from warploom.studies.search.front import front, ranks
from warploom.studies.search.goal import Goal, make_goal
from warploom.studies.search.journal import open_journal
from warploom.studies.search.measures import measure
from warploom.studies.search.searchers import Searcher
from warploom.studies.search.space import SearchSpace, space_of
from warploom.studies.sweep.plan import refused_at
from warploom.studies.sweep.sweep import hire

DEFAULT_FOLDER = "results/search"
FEW = 4  # designs that must have been measured at a stage before any is stopped there
TRIES = 50  # how often a trial may choose again because its choice makes no sense
_STAGE, _DESIGN, _REASON, _SENSELESS, _BY = "stage {}", "design", "refused", "makes no sense", "by"  # what is noted on a trial


@dataclass(frozen=True)
class Found:
    """A design with its measures on all workloads of the search and, where there are any, on those that it never saw."""

    design: Design
    measures: Mapping[str, float]
    unseen: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class SearchOutcome:
    """What a search found: the designs that no other beats, best in the first objective first."""

    goal: Goal
    front: tuple[Found, ...]
    trials: int
    stopped: int  # after few workloads
    refused: Counter[str]

    def write(self, folder: Path) -> None:
        """Each design as a TOML file that runs."""
        (folder / "designs").mkdir(parents=True, exist_ok=True)
        for found in self.front:
            with replace_file(folder / "designs" / f"{found.design.name}.toml") as draft:
                draft.write_text(found.design.to_toml(), encoding="utf-8")


def search(
    goal: Goal | Mapping[str, Any] | str | Path,
    folder: str | Path = DEFAULT_FOLDER,
    *,
    jobs: int = 0,
    scheduler: str | None = None,
    step: Callable[[str, int], None] = lambda what, finished: None,
) -> SearchOutcome:
    """Search until the goal's number of trials is reached, together with whoever else searches in the same folder."""
    wanted = make_goal(goal)
    with hire(jobs, scheduler) as workers:
        return Search(wanted, Path(folder), workers, step).run()


class Search:
    """One process of a search. What was tried is in the folder's journal, what was run in its store."""

    def __init__(self, goal: Goal, folder: Path, workers: Workers, step: Callable[[str, int], None]) -> None:
        self.goal, self.folder, self.workers, self.step = replace(goal, code=goal.code or goal.chip.code), folder, workers, step
        self.searcher = Searcher(folder)
        self.space: SearchSpace = space_of(goal.space, goal.place)
        self.start = self._places_to_start()
        self.store = Store(folder / "runs")
        self.chip, self.technology = goal.chip, goal.energy_table
        self._optuna = _optuna()
        folder.mkdir(parents=True, exist_ok=True)
        self.study = self._open_study()

    def run(self) -> SearchOutcome:
        """Try designs until there are enough, then run what was found on workloads that were never seen."""
        with self.searcher.present():
            try:
                while (finished := len(self._finished())) < self.goal.trials:
                    if not self._try_some(min(self.workers.slots, self.goal.trials - finished)):
                        break
            finally:
                self.store.fold_if_many()
        outcome = self._outcome()
        outcome.write(self.folder)
        return outcome

    def _places_to_start(self) -> list[dict[str, Any]]:
        """What the first trials choose: what the goal names, or the usual design if the space holds it."""
        with refused_at(f"{self.goal.place}, start"):
            places = {text: self.space.place_of(parse_design(text)) for text in self.goal.start}
        outside = [text for text, place in places.items() if place is None]
        if outside and self.goal.start != Goal.start:
            raise WarploomError(
                f"{self.goal.place}, start: {', '.join(outside)} cannot be chosen from the space; widen it or start elsewhere"
            )
        return [place for place in places.values() if place is not None]

    def _open_study(self) -> Any:
        optuna = self._optuna
        optuna.logging.set_verbosity(optuna.logging.ERROR)
        study = optuna.create_study(
            storage=open_journal(optuna, self.folder / "journal.log"),
            study_name="search",
            directions=["minimize"] * len(self.goal.objectives),
            load_if_exists=True,
        )
        asked = {"goal": repr(replace(self.goal, trials=0, place=""))}
        if study.user_attrs.get("goal", asked["goal"]) != asked["goal"]:
            raise WarploomError(f"{self.folder}: it holds a search with another goal; name another folder with --out")
        study.set_user_attr("goal", asked["goal"])
        for place in self.start:
            study.enqueue_trial(place, skip_if_exists=True)  # some are there already if we, or others, began before
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)  # what it calls experimental is what we want
            seed = self.goal.seed + len(study.trials)
            study.sampler = optuna.samplers.TPESampler(seed=seed, multivariate=True, group=True)
        return study

    def _try_some(self, number: int) -> bool:
        """Let so many trials choose designs, and take them through the stages together; False: there is nothing new to try."""
        with self.searcher.turn():
            self._take_over()
            trials = dict(chosen for _ in range(number) if (chosen := self._choose()) is not None)
        found = bool(trials)
        for place, many in enumerate(self.goal.stages):
            trials = self._stage(trials, many, last=place + 1 == len(self.goal.stages))
        return found

    def _take_over(self) -> None:
        """Put what processes that are gone had begun before everything else that is to be tried."""
        for trial in self.study.get_trials(deepcopy=False, states=(self._optuna.trial.TrialState.RUNNING,)):
            if _BY in trial.user_attrs and not self.searcher.is_gone(trial.user_attrs[_BY]):
                continue  # one without a name was begun in somebody's turn, and the turn is ours now
            self.study.tell(trial.number, state=self._optuna.trial.TrialState.FAIL)
            self.study.enqueue_trial(trial.system_attrs.get("fixed_params", {}) | trial.params)

    def _choose(self) -> tuple[Any, Design] | None:
        """A trial with the design that it chose. What cannot be combined or was tried before is no trial: another one chooses.

        None where nothing else is chosen any more than what was tried.
        """
        tried_before = False
        for _ in range(TRIES):
            trial = self.study.ask()
            trial.set_user_attr(_BY, self.searcher.name)
            try:
                design = self.space.design(trial)
                if self._is_new(trial):
                    return trial, design
                tried_before, reason = True, "tried before"
            except WarploomError as error:
                reason = str(error).partition(": ")[2]
            trial.set_user_attr(_SENSELESS, reason)
            self.study.tell(trial, state=self._optuna.trial.TrialState.FAIL)
        if tried_before:
            return None
        raise WarploomError(f"{self.goal.place}, space: {TRIES} choices in a row make no sense; narrow it (the last: {reason})")

    def _is_new(self, trial: Any) -> bool:
        """Whether no other trial has made the same choices."""
        return not any(
            other.params == trial.params and other.number != trial.number and self._counts(other)
            for other in self.study.get_trials(deepcopy=False)
        )

    def _stage(self, trials: dict[Any, Design], many: int, last: bool) -> dict[Any, Design]:
        """Measure designs on the first workloads; those that go on."""
        measured = dict(zip(trials, self._measure(list(trials.values()), self.goal.workloads[:many]), strict=True))
        for trial, found in measured.items():
            if isinstance(found, WarploomError):
                self._refuse(trial, str(found))
            else:
                trial.set_user_attr(_STAGE.format(many), found)
                trial.set_user_attr(_DESIGN, trials[trial].to_dict())
        alive = {trial: found for trial, found in measured.items() if not isinstance(found, WarploomError)}
        going_on = set() if last else self._best(many)
        for trial, found in alive.items():
            if trial.number not in going_on:
                for constraint in self.goal.constraints:
                    trial.set_constraint(str(constraint), constraint.violation(found))
                self.study.tell(trial, [found[name] for name in self.goal.objectives])
                self.step(str(trials[trial]), len(self._finished()))
        return {trial: trials[trial] for trial in alive if trial.number in going_on}

    def _best(self, many: int) -> set[int]:
        """The numbers of the trials that are good enough after a stage: those that keep to the constraints, or miss them by
        least, and among them those that fewest others beat; of equal ones the earlier.

        With three objectives or more, those that none beats may be more than go on, and all later ones would be given up.
        """
        at_stage = _STAGE.format(many)
        known = {
            trial.number: trial.user_attrs[at_stage]
            for trial in self.study.get_trials(deepcopy=False)
            if at_stage in trial.user_attrs and self._counts(trial)
        }
        if len(known) < FEW:
            return set(known)
        missed = {
            number: sum(max(0.0, each.violation(found)) for each in self.goal.constraints) for number, found in known.items()
        }
        beaten = dict(
            zip(known, ranks([[found[name] for name in self.goal.objectives] for found in known.values()]), strict=True)
        )
        order = sorted(known, key=lambda number: (missed[number], beaten[number], number))
        spared = {number for number in known if missed[number] == 0 and beaten[number] == 0}
        return {*order[: max(1, round(self.goal.keep * len(order)))], *spared}

    def _measure(self, designs: Sequence[Design], workloads: Sequence[str]) -> Iterator[dict[str, float] | WarploomError]:
        """The measures of designs on workloads, or why one cannot be run."""
        usual = self._specs(parse_design(self.chip.design), workloads)
        asked = [Asked(self._specs(design, workloads), self.store) for design in designs]
        refused: dict[str, WarploomError] = {}
        references = Asked(usual, self.store)
        references.make(self.workers)
        specs = Asked([spec for group in asked for spec in group.specs], self.store)
        specs.make(self.workers, refused=lambda spec, error: refused.update({spec.key: error}))
        for design, group in zip(designs, asked, strict=True):
            errors = [refused[key] for key in group.keys if key in refused]
            if errors:
                yield errors[0]
            else:
                yield measure(group.results, references.results, design, self.chip, self.technology)

    def _specs(self, design: Design, workloads: Sequence[str]) -> list[RunSpec]:
        goal, programs = self.goal, [origin_named(name) for name in workloads]
        said: dict[str, Any] = {"size": goal.size, "technology": goal.technology, "code": goal.code}
        return [RunSpec(program, design, self.chip, **said) for program in programs]

    def _refuse(self, trial: Any, reason: str) -> None:
        trial.set_user_attr(_REASON, reason)
        self.study.tell(trial, state=self._optuna.trial.TrialState.FAIL)
        self.step(reason, len(self._finished()))

    def _finished(self) -> list[Any]:
        trials = self.study.get_trials(deepcopy=False)
        return [trial for trial in trials if trial.state.is_finished() and self._counts(trial)]

    def _counts(self, trial: Any) -> bool:
        """Whether a trial stands for a design: not one that made no sense, nor one that was begun and then taken over."""
        failed = trial.state == self._optuna.trial.TrialState.FAIL
        return _SENSELESS not in trial.user_attrs and not (failed and _REASON not in trial.user_attrs)

    def _outcome(self) -> SearchOutcome:
        finished, all_of_them = self._finished(), _STAGE.format(self.goal.stages[-1])
        complete = [trial for trial in finished if all_of_them in trial.user_attrs]
        allowed = [
            trial for trial in complete if all(c.violation(trial.user_attrs[all_of_them]) <= 0 for c in self.goal.constraints)
        ]
        values = [[trial.user_attrs[all_of_them][name] for name in self.goal.objectives] for trial in allowed]
        best = sorted(front(values), key=lambda place: values[place])
        designs = [
            from_dict(allowed[place].user_attrs[_DESIGN] | {"name": f"found-{number}"}) for number, place in enumerate(best, 1)
        ]
        unseen: list[Any] = list(self._measure(designs, self.goal.test)) if self.goal.test and designs else [{}] * len(designs)
        found = tuple(
            Found(design, allowed[place].user_attrs[all_of_them], {} if isinstance(tested, WarploomError) else tested)
            for design, place, tested in zip(designs, best, unseen, strict=True)
        )
        reasons = Counter(trial.user_attrs[_REASON] for trial in finished if _REASON in trial.user_attrs)
        stopped = len(finished) - len(complete) - sum(reasons.values())
        return SearchOutcome(self.goal, found, len(finished), stopped, reasons)


def _optuna() -> Any:
    imported("optuna.storages.journal", "a search needs", "search")
    return imported("optuna", "a search needs", "search")
