"""The memory system's counters as plain numbers."""

from __future__ import annotations

import numpy as np

from warploom.core.memory.state import LdstCounters
from warploom.records import field_names

_CACHES = ("l1", "l1i", "l1c", "l1t")
_OF_CACHE = ("accesses", "hits", "misses", "pending_hits", "reservation_failures")
_OF_L2 = (
    "accesses",
    "misses",
    "pending_hits",
    "read_accesses",
    "read_misses",
    "write_accesses",
    "write_misses",
    "atomic_accesses",
    "code_accesses",
    "write_backs",
    "stalls",
    "joined",
)
_OF_DRAM = ("reads", "writes", "bursts", "row_hits", "activations")


def memory_counters(memory: np.record, sms: np.ndarray) -> dict[str, int]:
    """Sums over the chip. L2 and DRAM count sectors of 32 bytes, first-level caches lines."""
    ldst = sms.view(np.ndarray)["ldst"]
    counters = {name: int(ldst[name].sum()) for name in field_names(LdstCounters)}
    for cache in _CACHES:
        counters |= {f"{cache}_{name}": int(ldst[cache][name].sum()) for name in _OF_CACHE}
    counters |= {f"l1_{name}": int(ldst["l1"][name].sum()) for name in ("sectors", "sector_hits")}
    counters |= {f"l2_{name}": int(memory[f"l2_{name}"]) for name in _OF_L2}
    counters |= {f"dram_{name}": int(memory["channel"][name].sum()) for name in _OF_DRAM}
    return counters
