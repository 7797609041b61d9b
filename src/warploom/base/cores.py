"""How many cores a run may use. No result depends on it, so it is said once for the process and is not part of a run's value."""

from __future__ import annotations

import os

_asked = 1
_processes = 1


def cores() -> int:
    """The cores that this process may run on."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def use_threads(count: int, processes: int = 1) -> None:
    """Let each run use so many threads; 0: its part of the cores, where so many processes make runs at a time."""
    global _asked, _processes
    _asked, _processes = count, processes


def asked_threads() -> int:
    """What `use_threads` was told, for processes that make runs in place of this one."""
    return _asked


def threads() -> int:
    """The threads that a run may use; one until `use_threads` is called."""
    return _asked or max(1, cores() // _processes)
