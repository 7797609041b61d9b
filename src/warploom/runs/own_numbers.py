"""What only a design counts and only a design's hardware takes: numbers of a result that the core's own tables leave out."""

from __future__ import annotations

from warploom.base.records import field_names
from warploom.chip.memory.state import LdstCounters
from warploom.chip.sm.layout import COUNTERS
from warploom.runs.result import Result

_ADDED_UP = (  # what the core makes of its counters, see `chip/result.py`
    *("active_lanes", "inter_access_bins", "instructions_by_class", "stall_cycles", "bank_accesses"),
    *("distance_sum", "distance_count", "entry_distance_sum", "entry_distance_count", "inter_access_distance"),
    *("inter_access_distance_of_entries", "on_cycles", "drowsy_cycles", "off_cycles", "entry_cycles", "allocated_cycles"),
    *("allocated_peak", "allocated_fraction", "live_cycles", "live_fraction", "live_fraction_of_file"),
)


_CORE = frozenset((*COUNTERS, *_ADDED_UP, *field_names(LdstCounters)))
_OF_CACHES = ("l1_", "l1i_", "l1c_", "l1t_", "l2_", "dram_")


def own_counters(result: Result) -> dict[str, float]:
    """The counters of a design's policies; those that are tables are left out."""
    numbers = {name: value for name, value in result.counters.items() if name not in _CORE and not name.startswith(_OF_CACHES)}
    return {name: value for name, value in numbers.items() if isinstance(value, int | float)}


def own_energy(result: Result) -> dict[str, float]:
    """The energy terms in nanojoules that are not the main register file's, by part and name."""
    terms = [term for term in result.energy_terms if not term.what.startswith("register file")]
    return {f"{term.part}: {term.what}": term.joules * 1e9 for term in terms}
