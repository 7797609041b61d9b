"""The memory system's counters as plain numbers."""

from __future__ import annotations

import numpy as np

from warploom.chip.memory.state import LdstCounters
from warploom.chip.sm.counter import CounterMeaning, counters_of

_CACHES = {"l1": "the data cache", "l1i": "the instruction cache", "l1c": "the constant cache", "l1t": "the texture cache"}
_OF_CACHE = {
    "accesses": CounterMeaning("lines", "Lines that {} was asked for."),
    "hits": CounterMeaning("lines", "Lines that were in {}."),
    "misses": CounterMeaning("lines", "Lines that were not in {} and were asked for in L2."),
    "pending_hits": CounterMeaning("lines", "Lines that were already on their way to {}."),
    "reservation_failures": CounterMeaning(
        "cycles", "Cycles that an access to {} stood still, for nothing could be reserved for its miss."
    ),
}
_OF_SECTORS = {
    "sectors": CounterMeaning("sectors", "Sectors that loads asked for, where the data cache fetches sectors."),
    "sector_hits": CounterMeaning(
        "sectors", "Sectors that were there when loads asked for them, where the data cache fetches sectors."
    ),
}
_OF_L2 = {
    "accesses": CounterMeaning("sectors", "Sectors that L2 was asked for, by reads, writes and atomic operations."),
    "misses": CounterMeaning("sectors", "Sectors that were neither in L2 nor on their way to it."),
    "pending_hits": CounterMeaning("sectors", "Sectors that were on their way to L2."),
    "read_accesses": CounterMeaning("sectors", "Sectors that reads and atomic operations asked L2 for."),
    "read_misses": CounterMeaning("sectors", "Sectors of those that were neither in L2 nor on their way to it."),
    "write_accesses": CounterMeaning("sectors", "Sectors that were written to L2."),
    "write_misses": CounterMeaning("sectors", "Sectors written to L2 that were neither there nor on their way to it."),
    "atomic_accesses": CounterMeaning(
        "sectors", "Sectors that atomic operations asked L2 for, once for each turn that lanes took."
    ),
    "code_accesses": CounterMeaning("sectors", "Sectors of code and constants that L2 was asked for."),
    "write_backs": CounterMeaning("sectors", "Sectors that L2 wrote to DRAM."),
    "stalls": CounterMeaning("requests", "Times that the request at the head of a slice's queue could not be served and waited."),
    "joined": CounterMeaning("sectors", "Sectors of requests that were joined to others of their group before they came to L2."),
}
_OF_DRAM = {
    "reads": CounterMeaning("sectors", "Sectors read from DRAM."),
    "writes": CounterMeaning("sectors", "Sectors written to DRAM."),
    "bursts": CounterMeaning("bursts", "Bursts on the DRAM's data buses."),
    "row_hits": CounterMeaning("transfers", "Transfers that found their row open."),
    "activations": CounterMeaning("rows", "Rows that were opened."),
}
MEMORY_COUNTERS: dict[str, CounterMeaning] = {
    **counters_of(LdstCounters),
    **{
        f"{cache}_{name}": CounterMeaning(one.unit, one.meaning.format(what))
        for cache, what in _CACHES.items()
        for name, one in _OF_CACHE.items()
    },
    **{f"l1_{name}": one for name, one in _OF_SECTORS.items()},
    **{f"l2_{name}": one for name, one in _OF_L2.items()},
    **{f"dram_{name}": one for name, one in _OF_DRAM.items()},
}


def memory_counters(memory: np.record, sms: np.ndarray) -> dict[str, int]:
    """Sums over the chip. L2 and DRAM count sectors of 32 bytes, first-level caches lines."""
    ldst = sms.view(np.ndarray)["ldst"]
    counters = {name: int(ldst[name].sum()) for name in counters_of(LdstCounters)}
    for cache in _CACHES:
        counters |= {f"{cache}_{name}": int(ldst[cache][name].sum()) for name in _OF_CACHE}
    counters |= {f"l1_{name}": int(ldst["l1"][name].sum()) for name in _OF_SECTORS}
    counters |= {f"l2_{name}": int(memory[f"l2_{name}"]) for name in _OF_L2}
    counters |= {f"dram_{name}": int(memory["channel"][name].sum()) for name in _OF_DRAM}
    return counters
