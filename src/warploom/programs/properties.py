"""What a program is told of the device: the machine's numbers in CUDA's words, in the shape of each version of its runtime."""

from __future__ import annotations

import re
from functools import cache
from importlib import resources
from typing import Any, NamedTuple

import numpy as np

from warploom.chip.machines import Machine
from warploom.emulator.extents import MOST, MOST_THREADS

USUAL_SHARED_BYTES = 48 * 1024  # that a block may have without asking
PTX_CAPABILITY = (7, 5)  # of the PTX that Warploom's own compiler makes code of
MOST_ATTRIBUTE = 148
_RESERVED_SHARED_BYTES = 1024  # of each block, by the system, from capability 8.0 on
_BY_MACHINE = "machine"
_FOLDER = resources.files("warploom.programs")


class Attribute(NamedTuple):
    """Something that can be asked about the device."""

    number: int
    name: str  # in the driver's interface
    field: str  # of cudaDeviceProp, where one says the same
    place: int | None  # in the field, of fields with several values
    value: str  # a number, or that it follows from the machine
    value_90: str  # of capability 9.0

    def told(self, machine: dict[str, int], capability: tuple[int, int]) -> int:
        """The answer, given the machine's."""
        text = self.value_90 if capability == (9, 0) else self.value
        return machine[self.name] if text == _BY_MACHINE else int(text)


@cache
def attribute_table() -> tuple[Attribute, ...]:
    """All attributes."""
    found = []
    for line in (_FOLDER / "shared" / "attributes.txt").read_text(encoding="utf-8").splitlines():
        if not line.startswith("#"):
            number, name, field, value, value_90 = line.split()
            place = re.fullmatch(r"(\w+)\[(\d)\]", field)
            found.append(
                Attribute(int(number), name, place[1] if place else field, int(place[2]) if place else None, value, value_90)
            )
    return tuple(found)


def compute_capability(code: str) -> tuple[int, int]:
    """What a program is told, for it decides what some programs do."""
    return PTX_CAPABILITY if code == "ptx" else divmod(int(code.removeprefix("sm_").rstrip("a")), 10)


def attributes(machine: Machine, code: str) -> dict[int, int]:
    """All attributes by number."""
    capability = compute_capability(code)
    own = _of_machine(machine, capability)
    return {each.number: each.told(own, capability) for each in attribute_table()}


def _of_machine(machine: Machine, capability: tuple[int, int]) -> dict[str, int]:
    """What follows from the machine's numbers."""
    sm, axes = machine.sm, "XYZ"
    reserved = _RESERVED_SHARED_BYTES if capability >= (8, 0) else 0
    blocks = {f"MAX_BLOCK_DIM_{axis}": most for axis, most in zip(axes, MOST["block"], strict=True)}
    grids = {f"MAX_GRID_DIM_{axis}": most for axis, most in zip(axes, MOST["grid"], strict=True)}
    return {
        **blocks,
        **grids,
        "MAX_THREADS_PER_BLOCK": min(MOST_THREADS, sm.threads_per_sm),
        "MAX_SHARED_MEMORY_PER_BLOCK": min(USUAL_SHARED_BYTES, sm.shared_bytes),
        "MAX_SHARED_MEMORY_PER_BLOCK_OPTIN": sm.shared_bytes - reserved,
        "MAX_SHARED_MEMORY_PER_MULTIPROCESSOR": sm.shared_bytes,
        "RESERVED_SHARED_MEMORY_PER_BLOCK": reserved,
        "MAX_REGISTERS_PER_BLOCK": sm.registers_per_sm,
        "MAX_REGISTERS_PER_MULTIPROCESSOR": sm.registers_per_sm,
        "MAX_THREADS_PER_MULTIPROCESSOR": sm.threads_per_sm,
        "MAX_BLOCKS_PER_MULTIPROCESSOR": sm.ctas_per_sm,
        "MULTIPROCESSOR_COUNT": machine.chip.sms,
        "CLOCK_RATE": round(machine.chip.clock_core_mhz * 1000),
        "MEMORY_CLOCK_RATE": round(machine.chip.clock_dram_mhz * 1000),
        "GLOBAL_MEMORY_BUS_WIDTH": 64 * machine.dram.channels,
        "L2_CACHE_SIZE": machine.l2.slices * machine.l2.sets * machine.l2.ways * machine.l2.line_bytes,
        "COMPUTE_CAPABILITY_MAJOR": capability[0],
        "COMPUTE_CAPABILITY_MINOR": capability[1],
    }


def device_name(machine: Machine) -> bytes:
    """What the device is called."""
    return f"Warploom {machine.name}".encode()


@cache
def layout(major: int) -> np.dtype:
    """cudaDeviceProp of a version of the runtime."""
    text = (_FOLDER / "cudart" / "device_properties.txt").read_text(encoding="utf-8")
    fields: list[Any] = []
    for line in text.splitlines():
        if not line.startswith("#"):
            kind, name, count, *versions = line.split()
            if str(major) in versions:
                fields.append((name, kind, (int(count),)) if int(count) > 1 else (name, kind))
    return np.dtype(fields, align=True)


def properties(known: dict[int, int], name: bytes, memory_bytes: int, major: int) -> bytes:
    """cudaDeviceProp as a program of a version of the runtime expects it."""
    record = np.zeros(1, layout(major))
    fields = record.dtype.names or ()
    for each in attribute_table():
        if each.field in fields:
            record[each.field][0 if each.place is None else (0, each.place)] = known[each.number]
    record["name"] = np.frombuffer(name.ljust(256, b"\0"), np.uint8)
    record["totalGlobalMem"] = memory_bytes
    return record.tobytes()
