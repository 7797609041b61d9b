"""A limit of address space (``ulimit -v``): libraries that meet it as they are loaded wait for ever, or blame another thing."""

from __future__ import annotations

import os
import resource

LEAST = 1 << 30  # bytes; a small run takes 700 MB


def without_room() -> str:
    """A sentence where a limit leaves too little to begin with; empty where there is none or it is large enough."""
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    if limit == resource.RLIM_INFINITY:
        return ""
    os.environ.setdefault(
        "OPENBLAS_NUM_THREADS", "1"
    )  # each of its threads asks for address space, and asks again where there is none
    if limit >= LEAST:
        return ""
    return (
        f"the limit of address space (ulimit -v) is {limit >> 20} MiB; allow {LEAST >> 20} MiB at least, and more for larger runs"
    )
