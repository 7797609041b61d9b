"""Make what is missing of many runs and store it: the one way that commands run many things."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from warploom.errors import WarploomError
from warploom.simulation.batch import Claim, outcomes
from warploom.simulation.result import encoded
from warploom.simulation.task import Task
from warploom.simulation.workers import Workers
from warploom.storage.locks import Lock
from warploom.sweeps.keys import content_keys
from warploom.sweeps.store import Store
from warploom.sweeps.timings import Timings

CLAIMS = ".claims"


class Claims:
    """The runs that a process is making, as locks beside the store: others leave them alone, unless it dies."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._folder = store.folder / CLAIMS
        self._held: dict[str, Lock] = {}

    def claim(self, key: str) -> Claim:
        """Whose a run is; it is locked if it is ours."""
        self._folder.mkdir(parents=True, exist_ok=True)
        lock = Lock(self._folder / key)
        if not lock.acquire():
            return Claim.OTHERS
        if key in self._store:  # made while we were busy with others
            lock.release()
            return Claim.DONE
        self._held[key] = lock
        return Claim.OURS

    def release(self, key: str) -> None:
        """Let others know that a run is stored, or will not be made by us."""
        self._held.pop(key).release()

    def close(self) -> None:
        """Release all."""
        for key in tuple(self._held):
            self.release(key)


def perform(
    tasks: Sequence[Task],
    store: Store,
    workers: Workers,
    step: Callable[[Task], None],
    refused: Callable[[Task, WarploomError], None] | None = None,
) -> None:
    """Make and store every run that is not stored yet; ``step`` is told of each that is done, here or by another process.

    A task that is refused ends it all, unless there is somebody to be told of it.
    """
    keyed = dict(zip(content_keys(tasks), tasks, strict=True))
    stored = store.keys()
    missing = [key for key in keyed if key not in stored]
    wanted = [keyed[key] for key in missing]
    claims, timings = Claims(store), Timings()

    def claim(place: int) -> Claim:
        whose = claims.claim(missing[place])
        if whose is Claim.DONE:
            step(wanted[place])
        return whose

    try:
        for place, outcome in outcomes(wanted, workers, encoded, claim):
            if not isinstance(outcome, WarploomError):
                store.save(missing[place], outcome.file)
                timings.note(wanted[place], outcome.wall_seconds, len(outcome.file))
                store.fold_if_many()
            elif refused is None:
                raise outcome
            else:
                refused(wanted[place], outcome)
            claims.release(missing[place])
            step(wanted[place])
    finally:
        claims.close()
        timings.write()


def missing(tasks: Iterable[Task], store: Store) -> list[Task]:
    """Those tasks, each once, whose results are not stored."""
    stored = store.keys()
    asked = list(tasks)
    keyed = dict(zip(content_keys(asked), asked, strict=True))
    return [task for key, task in keyed.items() if key not in stored]


def load_results(tasks: Sequence[Task], store: Store) -> list[dict[str, Any]]:
    """The stored results of tasks, each under its own task's name of the design; empty for one that is not stored."""
    return [_under_name(store.load(key) or {}, task) for key, task in zip(content_keys(tasks), tasks, strict=True)]


def _under_name(result: dict[str, Any], task: Task) -> dict[str, Any]:
    """A run is stored once for all names of its design."""
    for about in (result, result.get("provenance") or {}):
        if "design" in about:
            about["design"]["name"] = task.design["name"]
    return result
