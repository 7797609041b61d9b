"""Many runs, with the same results wherever and in whatever number they are made at a time."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from enum import Enum
from typing import Any

from warploom.errors import WarploomError
from warploom.simulation.result import Result
from warploom.simulation.task import Task
from warploom.simulation.workers import Taken, Workers, local_workers

ASK_AGAIN_SECONDS = 0.2  # how long to wait when all that is left is being made by others


class Claim(Enum):
    """Whose a run is."""

    OURS = "to be made here"
    OTHERS = "being made by another process"
    DONE = "made by another process"


def run_tasks(tasks: Sequence[Task], jobs: int = 1) -> Iterator[tuple[int, Result]]:
    """Run every task on several processes; results come as they are done, each with its task's place in the list.

    Policies of users' files are those that this process has loaded.
    """
    with local_workers(min(jobs, len(tasks))) as workers:
        for place, outcome in outcomes(tasks, workers, _all_of_it):
            if isinstance(outcome, WarploomError):
                raise outcome
            yield place, outcome


def _all_of_it(result: Result) -> Result:
    return result


def outcomes(
    tasks: Sequence[Task],
    workers: Workers,
    take: Callable[[Result], Taken],
    claim: Callable[[int], Claim] = lambda place: Claim.OURS,
) -> Iterator[tuple[int, Taken | WarploomError]]:
    """Run every task that ``claim`` gives us; what ``take`` makes of results comes as they are done, and errors in place of those
    that are refused.

    A task is claimed when its turn comes; one that another process is making is asked for again until it is done there, or
    ours after all. Tasks of the same program come one after the other, because designs that share code share one execution. Of
    each combination of policies one goes first, so that no two workers compile the same.
    """
    waiting = sorted(range(len(tasks)), key=lambda place: tasks[place].executed_as)
    compiled: set[Any] = set()
    under_way: dict[Future[Taken], int] = {}
    while waiting or under_way:
        compiling = {tasks[place].compiled_for for place in under_way.values()} - compiled
        for place in tuple(waiting):
            if len(under_way) >= workers.slots:
                break
            if tasks[place].compiled_for in compiling:
                continue
            whose = claim(place)
            if whose is not Claim.OTHERS:
                waiting.remove(place)
            if whose is Claim.OURS:
                under_way[workers.submit(tasks[place], take)] = place
                if tasks[place].compiled_for not in compiled:
                    compiling.add(tasks[place].compiled_for)
        if not under_way:
            if waiting:
                time.sleep(ASK_AGAIN_SECONDS)
            continue
        for future in wait(under_way, return_when=FIRST_COMPLETED).done:
            place = under_way.pop(future)
            compiled.add(tasks[place].compiled_for)
            error = future.exception()
            if error is not None and not isinstance(error, WarploomError):
                raise error
            yield place, future.result() if error is None else error
