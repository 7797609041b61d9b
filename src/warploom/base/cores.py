"""How many cores a run may use. No result depends on it, so it is said once for the process and is not part of a run's value."""

from __future__ import annotations

import os
from pathlib import Path

_RUNNING = Path("/proc/loadavg")  # its fourth word: threads that run or want to, and all threads
_QUOTA = Path("/sys/fs/cgroup/cpu.max")  # of a container: microseconds of all its cores together in each period, or "max"
_asked = 1
_processes = 1


def cores() -> int:
    """The cores that this process may run on."""
    count = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    try:
        quota, period = _QUOTA.read_text().split()
        return max(1, min(count, int(quota) // int(period)))
    except (OSError, ValueError):
        return count


def use_threads(count: int, processes: int = 1) -> None:
    """Let each run use so many threads; 0: as many as there are idle cores, where so many processes make runs at a time."""
    global _asked, _processes
    _asked, _processes = count, processes


def asked_threads() -> int:
    """What `use_threads` was told, for processes that make runs in place of this one."""
    return _asked


def threads() -> int:
    """The threads that a run may use now; one until `use_threads` is called."""
    if _asked > 0:
        return _asked
    there = cores()
    return max(1, min(there // _processes, there - _others_running()))


def _others_running() -> int:
    """The threads of this machine, besides the one that asks, that have a core or want one; 0 if the system does not say."""
    try:
        return int(_RUNNING.read_text().split()[3].partition("/")[0]) - 1
    except (OSError, ValueError, IndexError):
        return 0
