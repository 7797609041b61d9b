"""Energy: technology tables with provenance, and the account that turns a run's counters into joules.

Everything is in SI units without prefixes: joules, watts, metres, seconds, volts, farads.

What the account reads from a run's counters (sums over all SMs of the chip):

* ``rf_read_lanes``, ``rf_write_lanes``: 32-bit lanes of the main register file's arrays that reads and writes activated,
  after encoding (a register compressed to one 128-bit bank activates 4) and access gating (an access of 7 active lanes
  activates 7). Without these, ``rf_reads`` and ``rf_writes`` (warp registers) count 32 lanes each;
* ``on_cycles``, ``drowsy_cycles``, ``off_cycles``: the integral over time of the entries in each power state. Only their
  proportions matter, so a policy may count warp registers, banks' entries or whole subarrays. Without them all is on.

What a policy adds it declares itself, as a plain method (no hook, never compiled)::

    def energy(policy, counters, technology, run):
        yield "renaming table", "overhead", counters["renames"] * technology.renaming_table.access

Each item is (what, part, joules) with a part of "dynamic", "leakage" or "overhead"; ``technology`` is a `Technology` for the
run's register file size and ``run`` a `RunFacts` (cycles, seconds, SMs, register file bytes, the six policies).
"""

from warploom.designs.energy.account import PARTS, Account, RunFacts, Term, account, power_over_time
from warploom.designs.energy.technology import Technology, load_technology, technology_names

__all__ = [
    "PARTS",
    "Account",
    "RunFacts",
    "Technology",
    "Term",
    "account",
    "load_technology",
    "power_over_time",
    "technology_names",
]
