"""Many runs, with the same results wherever and in whatever number they are made at a time."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from enum import Enum
from typing import Any

from warploom.base.errors import WarploomError
from warploom.runs.result import Result
from warploom.runs.spec import RunSpec
from warploom.runs.workers import Taken, Workers, local_workers

ASK_AGAIN_SECONDS = 0.2  # how long to wait when all that is left is being made by others


class Claim(Enum):
    """Who makes a run."""

    OURS = "to be made here"
    OTHERS = "being made by another process"
    DONE = "made by another process"


def run_all(specs: Sequence[RunSpec], jobs: int = 1) -> Iterator[tuple[int, Result]]:
    """Make every run on several processes; results come as they are done, each with its run's place in the list.

    Policies of users' files are those that this process has loaded.
    """
    with local_workers(min(jobs, len(specs))) as workers:
        for place, outcome in outcomes(specs, workers, _all_of_it):
            if isinstance(outcome, WarploomError):
                raise outcome
            yield place, outcome


def _all_of_it(result: Result) -> Result:
    return result


def outcomes(
    specs: Sequence[RunSpec],
    workers: Workers,
    take: Callable[[Result], Taken],
    claim: Callable[[int], Claim] = lambda place: Claim.OURS,
) -> Iterator[tuple[int, Taken | WarploomError]]:
    """Make every run that ``claim`` gives us; what ``take`` makes of results comes as they are done, and errors in place of those
    that are refused.

    A run is claimed when its turn comes; one that another process is making is asked for again until it is done there, or
    ours after all. Runs of the same program come one after the other, because designs that share code share one execution. Of
    each combination of policies one goes first, so that no two workers compile the same.
    """
    specs = [spec.settled for spec in specs]
    waiting = sorted(range(len(specs)), key=lambda place: specs[place].execution_key)
    compiled: set[Any] = set()
    under_way: dict[Future[Taken], int] = {}
    while waiting or under_way:
        compiling = {specs[place].combination for place in under_way.values()} - compiled
        for place in tuple(waiting):
            if len(under_way) >= workers.slots:
                break
            if specs[place].combination in compiling:
                continue
            whose = claim(place)
            if whose is not Claim.OTHERS:
                waiting.remove(place)
            if whose is Claim.OURS:
                under_way[workers.submit(specs[place], take)] = place
                if specs[place].combination not in compiled:
                    compiling.add(specs[place].combination)
        if not under_way:
            if waiting:
                time.sleep(ASK_AGAIN_SECONDS)
            continue
        for future in wait(under_way, return_when=FIRST_COMPLETED).done:
            place = under_way.pop(future)
            compiled.add(specs[place].combination)
            error = future.exception()
            if error is not None and not isinstance(error, WarploomError):
                raise error
            yield place, future.result() if error is None else error
