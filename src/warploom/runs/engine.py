"""Make what is missing of many runs and store it: the one way that commands run many things."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cached_property

from warploom.base.errors import WarploomError
from warploom.base.locks import Lock
from warploom.runs.batch import Claim, outcomes
from warploom.runs.keys import keys_of
from warploom.runs.result import Result, encoded
from warploom.runs.spec import RunSpec
from warploom.runs.store import Store
from warploom.runs.timings import Timings
from warploom.runs.workers import Workers

CLAIMS = ".claims"


class Claims:
    """The runs that a process is making, as locks beside the store: others leave them alone, unless it dies."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._folder = store.folder / CLAIMS
        self._held: dict[str, Lock] = {}

    def claim(self, key: str) -> Claim:
        """Claim a run, and lock it if nobody else has it."""
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


class Asked:
    """Runs that somebody asks for, each with its key, and where their results are. Keys are worked out once."""

    def __init__(self, specs: Iterable[RunSpec], store: Store) -> None:
        self.specs, self.store = list(specs), store
        self.keys = keys_of(self.specs)

    def missing(self) -> list[RunSpec]:
        """Those runs, each once, whose results are not stored."""
        return list(self._missing().values())

    def _missing(self) -> dict[str, RunSpec]:
        stored = self.store.keys()
        return {key: spec for key, spec in zip(self.keys, self.specs, strict=True) if key not in stored}

    def make(
        self,
        workers: Workers,
        step: Callable[[RunSpec], None] = lambda spec: None,
        refused: Callable[[RunSpec, WarploomError], None] | None = None,
    ) -> None:
        """Make and store every run that is not stored yet; ``step`` is told of each that is done, here or by another process.

        A run that is refused ends it all, unless there is somebody to be told of it.
        """
        missing = self._missing()
        keys, wanted = list(missing), list(missing.values())
        claims, timings = Claims(self.store), Timings()

        def claim(place: int) -> Claim:
            whose = claims.claim(keys[place])
            if whose is Claim.DONE:
                step(wanted[place])
            return whose

        try:
            for place, outcome in outcomes(wanted, workers, encoded, claim):
                if not isinstance(outcome, WarploomError):
                    self.store.save(keys[place], outcome.file)
                    timings.note(wanted[place], outcome.wall_seconds, len(outcome.file))
                    self.store.fold_if_many()
                elif refused is None:
                    raise outcome
                else:
                    refused(wanted[place], outcome)
                claims.release(keys[place])
                step(wanted[place])
        finally:
            claims.close()
            timings.write()

    def loaded(self) -> list[Result | None]:
        """The stored results, each under its own run's name of the design; None for one that is not stored."""
        return [_loaded(spec, self.store.load(key)) for key, spec in zip(self.keys, self.specs, strict=True)]

    @cached_property
    def results(self) -> list[Result]:
        """The same, where all of them are stored."""
        found = [result for result in self.loaded() if result is not None]
        if len(found) < len(self.specs):
            raise WarploomError(f"{self.store.folder}: results were removed while they were in use; start again")
        return found


def _loaded(spec: RunSpec, stored: dict[str, object] | None) -> Result | None:
    """A run is stored once for all names of its design."""
    return None if stored is None else Result.from_dict(stored).under_name_of(spec.design)
