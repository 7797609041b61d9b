"""Workers of a Dask cluster: on other machines, or in processes that somebody else started."""

from __future__ import annotations

import errno
import functools
import logging
import math
import os
import re
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import CancelledError, Future
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import warploom
from warploom.base.errors import WarploomError
from warploom.base.extras import imported
from warploom.base.library import load_paper, outside_folders
from warploom.runs.keys import Keys, simulator_digest
from warploom.runs.result import Result
from warploom.runs.spec import RunSpec, spec_from_dict
from warploom.runs.workers import PolicyFiles, Taken, load_policies, policy_files, run_in_worker

CONNECT_SECONDS = 20
_ADDRESS = re.compile(r"(?:(?:tcp|tls|ws|wss|ucx)://)?[^/\s]+:\d+|inproc://\S+")
# What Dask's configuration should say where workers simulate. They are not profiled a hundred times a second; event loops look
# after themselves, and after the memory of workers, once a second, not fifty and ten times. A run allocates tens of megabytes
# again and again: a worker keeps them, where Dask would have it give back whatever exceeds 64 KB and fetch page for page anew.
WORKER_SETTINGS = {
    "distributed.worker.profile.enabled": False,
    "distributed.admin.tick.interval": "1s",
    "distributed.worker.memory.monitor-interval": "1s",
    "distributed.nanny.pre-spawn-environ.MALLOC_TRIM_THRESHOLD_": 256 << 20,
    "distributed.nanny.pre-spawn-environ.MALLOC_MMAP_THRESHOLD_": 32 << 20,  # more is not allowed
}
COUNT_SECONDS = 1.0  # how long the number of workers is taken to be the same: the scheduler has to be asked for it
_one_at_a_time = threading.Lock()  # a worker's threads share compiled code and executions


class Cluster:
    """Gives runs to the workers of a Dask scheduler. A run that a lost worker was making is given to another."""

    def __init__(self, client: Any, address: str, clock: Callable[[], float] = time.monotonic) -> None:
        self._client = client
        self._address = address
        self._files = policy_files()
        self._papers = tuple(map(str, outside_folders()))
        self._held: dict[Future[Any], Any] = {}  # Dask forgets a run that nobody holds
        self._clock = clock
        self._workers, self._counted = 0, -math.inf  # how many there were, and when

    @property
    def slots(self) -> int:
        """Two for each worker, so that none waits for the way from here; workers come and go."""
        if self._clock() - self._counted >= COUNT_SECONDS:
            self._workers, self._counted = len(self._client.nthreads()), self._clock()
        return 2 * max(1, self._workers)

    def submit(self, spec: RunSpec, take: Callable[[Result], Taken]) -> Future[Taken]:
        made_from = _made_from(spec.settled)
        distant = self._client.submit(_run_there, spec.to_dict(), take, self._files, self._papers, made_from, pure=False)
        here: Future[Taken] = Future()
        self._held[here] = distant
        distant.add_done_callback(functools.partial(self._arrived, here, spec))
        return here

    def _arrived(self, here: Future[Any], spec: RunSpec, distant: Any) -> None:
        from distributed import KilledWorker

        try:
            here.set_result(distant.result())
        except KilledWorker:
            run = f"{spec.program.name} under {spec.design.name}"
            here.set_exception(WarploomError(f"{run}: every worker that made it was lost, perhaps for want of memory"))
        except CancelledError:
            here.set_exception(OSError(errno.ECONNRESET, "the Dask scheduler is lost; start again to go on", self._address))
        except BaseException as error:  # whatever it is belongs to whoever waits
            here.set_exception(error)
        self._held.pop(here, None)


def _made_from(spec: RunSpec) -> list[Any]:
    """What a run's result depends on besides the run itself: the simulator, policies, contents of files."""
    return [simulator_digest(), Keys().digests(spec)]


def _run_there(
    data: dict[str, Any], take: Callable[[Result], Taken], files: PolicyFiles, papers: Iterable[str], made_from: list[Any]
) -> Taken:
    """Make a run on a worker, by the same simulator as here or not at all."""
    for folder in papers:
        load_paper(folder)
    with _one_at_a_time:
        load_policies(files)
        if _made_from(spec_from_dict(data).settled) != made_from:
            where = f"worker {os.uname().nodename}: its Warploom ({warploom.__version__}, {Path(warploom.__file__).parent})"
            raise WarploomError(f"{where} is not the one that asks for runs; install the same on all machines")
        return run_in_worker(data, take, files)


@contextmanager
def cluster_workers(address: str) -> Iterator[Cluster]:
    """The workers of the scheduler at an address such as ``tcp://host:8786``."""
    distributed = imported("distributed", "a Dask scheduler needs", "cluster")
    if not _ADDRESS.fullmatch(address):
        raise WarploomError(f"--scheduler {address}: it is not an address such as tcp://host:8786")
    try:
        client = distributed.Client(address, timeout=CONNECT_SECONDS, set_as_default=False)
    except (OSError, ValueError, TimeoutError) as error:
        raise WarploomError(f"--scheduler {address}: no Dask scheduler answers there ({error})") from None
    spoken = logging.getLogger("distributed.client")
    level = spoken.level
    spoken.setLevel(logging.CRITICAL)  # that the scheduler is lost is one sentence of ours, not a traceback of Dask's before it
    try:
        yield Cluster(client, address)
    finally:
        with suppress(OSError, TimeoutError):
            client.close()
        spoken.setLevel(level)
