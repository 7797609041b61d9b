"""Many runs: designs x workloads over several processes, with the same results whatever their number."""

from __future__ import annotations

import multiprocessing
import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from warploom.compilation import announce_compilation
from warploom.designs import Design, from_dict
from warploom.machines import Machine
from warploom.policies import load_policy_file
from warploom.result import Result
from warploom.simulation import Executions, simulate
from warploom.workloads.program import workload_program


@dataclass(frozen=True)
class Batch:
    """What all runs of a batch share. Designs travel to other processes as plain data, policy files as paths."""

    designs: tuple[dict[str, Any], ...]
    machine: Machine
    size: str
    technology: str | None
    check: bool
    policy_files: tuple[str, ...] = ()


def run_batch(
    workloads: Sequence[str],
    designs: Sequence[Design],
    machine: Machine,
    *,
    size: str = "small",
    technology: str | None = None,
    check: bool = False,
    jobs: int = 1,
    policy_files: Sequence[str] = (),
    step: Callable[[str], None] = lambda name: None,
) -> list[Result]:
    """Run every workload under every design; results in the order workload by workload, design by design.

    One task is one workload under all designs, so that designs which share code share one emulation.
    """
    batch = Batch(tuple(d.to_dict() for d in designs), machine, size, technology, check, tuple(policy_files))
    done: dict[str, list[Result]] = {}
    if jobs <= 1 or len(workloads) < 2:
        for name in workloads:
            done[name] = _run_workload(name, batch)
            step(name)
    else:
        with worker_pool(min(jobs, len(workloads))) as pool:
            futures = {pool.submit(_run_workload, name, batch): name for name in workloads}
            for future in as_completed(futures):
                done[futures[future]] = future.result()
                step(futures[future])
    return [result for name in workloads for result in done[name]]


@contextmanager
def worker_pool(jobs: int) -> Iterator[ProcessPoolExecutor]:
    """Worker processes that are not left behind when this one is interrupted or a run fails."""
    # Numba's threads and a fork do not mix, so workers start afresh.
    pool = ProcessPoolExecutor(jobs, mp_context=multiprocessing.get_context("spawn"), initializer=_begin_worker)
    try:
        yield pool
    except BaseException:
        workers = list((pool._processes or {}).values())
        pool.shutdown(wait=False, cancel_futures=True)
        for worker in workers:
            worker.terminate()
        raise
    else:
        pool.shutdown()


def _begin_worker() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent ends its workers
    announce_compilation()


def _run_workload(name: str, batch: Batch) -> list[Result]:
    for file in batch.policy_files:
        load_policy_file(file)
    program, executions = workload_program(name), Executions()
    return [
        simulate(
            program,
            from_dict(data),
            batch.machine,
            size=batch.size,
            technology=batch.technology,
            check=batch.check,
            executions=executions,
        )
        for data in batch.designs
    ]
