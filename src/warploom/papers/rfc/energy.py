"""The energy model of the register file cache paper: accesses and wires without leakage, and the chip around them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from warploom.compiler.code.lanes import REGISTER_BITS
from warploom.designs.energy import Technology
from warploom.designs.energy.technology import SLICES

MILLIMETRE = 1e-3


@dataclass(frozen=True)
class Distances:
    """Millimetres of wire to the execution units."""

    main: float = 0.0
    cache: float = 0.0


def relative_energy(
    counters: Mapping[str, Any], technology: Technology, active: int, entries: int, distances: Distances
) -> float:
    """Energy of all register accesses with the cache, as a share of what they cost without it."""
    file, wire = technology.register_file, REGISTER_BITS * MILLIMETRE * technology.wire_energy
    main_wire, cache_wire = distances.main * wire, distances.cache * wire
    read, write = technology.register_cache_energy(active, entries)
    reads, writes = counters["mrf_reads_without_cache"], counters["mrf_writes_without_cache"]
    before = reads * (SLICES * file.read + main_wire) + writes * (SLICES * file.write + main_wire)
    # A read that meets its value on the way down counts as one of the main file; write-backs use the main file's wires.
    reads_below, writes_below = counters["mrf_reads"] + counters["forwarded_reads"], counters["mrf_writes"]
    below = reads_below * (SLICES * file.read + main_wire) + writes_below * (SLICES * file.write + main_wire)
    above = counters["rfc_reads"] * SLICES * read + counters["rfc_writes"] * SLICES * write
    wires_above = (counters["rfc_hits"] + counters["rfc_results"]) * cache_wire
    return (below + above + wires_above) / before


def least_energy(counters: Mapping[str, Any], technology: Technology, active: int, entries: int) -> float:
    """The same if every access hit the cache."""
    read, write = technology.register_cache_energy(active, entries)
    file = technology.register_file
    reads, writes = counters["mrf_reads_without_cache"], counters["mrf_writes_without_cache"]
    return (reads * read + writes * write) / (reads * file.read + writes * file.write)


@dataclass(frozen=True)
class ChipEstimate:
    """What a share of the register file's energy is worth on a whole chip (section 5.5)."""

    watts: float
    sm_share: float
    dynamic_share: float


def chip_estimate(
    saved: float,
    *,
    chip_watts: float = 130.0,
    leakage_share: float = 1 / 3,
    sms_share: float = 0.7,
    register_file_share: float = 0.15,
) -> ChipEstimate:
    """Power saved on a chip if this share of the register file's power is saved."""
    dynamic = chip_watts * (1 - leakage_share)
    watts = dynamic * sms_share * register_file_share * saved
    return ChipEstimate(watts, watts / (dynamic * sms_share), watts / dynamic)
