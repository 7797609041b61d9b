"""What a program is told of the device: the machine's numbers in CUDA's words, in the shape of each version of its runtime."""

from __future__ import annotations

from functools import cache
from importlib import resources
from typing import Any

import numpy as np

from warploom.emulator.extents import MOST, MOST_THREADS
from warploom.machines import Machine

USUAL_SHARED_BYTES = 48 * 1024  # that a block may have without asking
PTX_CAPABILITY = (7, 5)  # of the PTX that Warploom's own compiler makes code of
_TEXTURE_WIDTH = 65536
_MOST_PITCH = 2**31 - 1


def compute_capability(code: str) -> tuple[int, int]:
    """What a program is told, for it decides what some programs do."""
    return PTX_CAPABILITY if code == "ptx" else divmod(int(code.removeprefix("sm_").rstrip("a")), 10)


def device_numbers(machine: Machine, code: str, memory_bytes: int) -> dict[str, Any]:
    """The fields of cudaDeviceProp that are not zero."""
    major, minor = compute_capability(code)
    sm = machine.sm
    return {
        "name": np.frombuffer(f"Warploom {machine.name}".encode().ljust(256, b"\0"), np.uint8),
        "totalGlobalMem": memory_bytes,
        "sharedMemPerBlock": min(USUAL_SHARED_BYTES, sm.shared_bytes),
        "sharedMemPerBlockOptin": sm.shared_bytes,
        "sharedMemPerMultiprocessor": sm.shared_bytes,
        "regsPerBlock": sm.registers_per_sm,
        "regsPerMultiprocessor": sm.registers_per_sm,
        "warpSize": 32,
        "memPitch": _MOST_PITCH,
        "maxThreadsPerBlock": min(MOST_THREADS, sm.threads_per_sm),
        "maxThreadsDim": MOST["block"],
        "maxGridSize": MOST["grid"],
        "clockRate": round(machine.chip.clock_core_mhz * 1000),
        "memoryClockRate": round(machine.chip.clock_dram_mhz * 1000),
        "memoryBusWidth": 64 * machine.dram.channels,
        "l2CacheSize": machine.l2.slices * machine.l2.sets * machine.l2.ways * machine.l2.line_bytes,
        "totalConstMem": 65536,
        "major": major,
        "minor": minor,
        "textureAlignment": 512,
        "texturePitchAlignment": 32,
        "surfaceAlignment": 512,
        "multiProcessorCount": machine.chip.sms,
        "maxThreadsPerMultiProcessor": sm.threads_per_sm,
        "maxBlocksPerMultiProcessor": sm.ctas_per_sm,
        "canMapHostMemory": 1,
        "unifiedAddressing": 1,
        "managedMemory": 1,
        "cooperativeLaunch": 1,
        "concurrentKernels": 1,
        "asyncEngineCount": 1,
        "deviceOverlap": 1,
        "streamPrioritiesSupported": 0,
        "globalL1CacheSupported": 1,
        "localL1CacheSupported": 1,
        "maxTexture1D": _TEXTURE_WIDTH,
        "maxTexture1DLinear": 1 << 27,
        "maxTexture2D": (_TEXTURE_WIDTH, _TEXTURE_WIDTH),
        "maxTexture2DLinear": (_TEXTURE_WIDTH, _TEXTURE_WIDTH, _MOST_PITCH),
        "maxTexture3D": (4096, 4096, 4096),
        "singleToDoublePrecisionPerfRatio": 2,
    }


@cache
def layout(major: int) -> np.dtype:
    """cudaDeviceProp of a version of the runtime."""
    text = (resources.files("warploom.programs") / "cudart" / "device_properties.txt").read_text(encoding="utf-8")
    fields: list[Any] = []
    for line in text.splitlines():
        if not line.startswith("#"):
            kind, name, count, *versions = line.split()
            if str(major) in versions:
                fields.append((name, kind, (int(count),)) if int(count) > 1 else (name, kind))
    return np.dtype(fields, align=True)


def properties(numbers: dict[str, Any], major: int) -> bytes:
    """cudaDeviceProp as a program of a version of the runtime expects it."""
    record = np.zeros(1, layout(major))
    for name, value in numbers.items():
        if name in (record.dtype.names or ()):
            record[name] = value
    return record.tobytes()


# cudaDeviceAttr: the number, the field that says the same, and its element.
_ATTRIBUTES: dict[int, tuple[str, int] | str] = {
    1: "maxThreadsPerBlock",
    **{2 + axis: ("maxThreadsDim", axis) for axis in range(3)},
    **{5 + axis: ("maxGridSize", axis) for axis in range(3)},
    8: "sharedMemPerBlock",
    9: "totalConstMem",
    10: "warpSize",
    11: "memPitch",
    12: "regsPerBlock",
    13: "clockRate",
    14: "textureAlignment",
    15: "deviceOverlap",
    16: "multiProcessorCount",
    19: "canMapHostMemory",
    21: "maxTexture1D",
    **{22 + axis: ("maxTexture2D", axis) for axis in range(2)},
    **{24 + axis: ("maxTexture3D", axis) for axis in range(3)},
    30: "surfaceAlignment",
    31: "concurrentKernels",
    36: "memoryClockRate",
    37: "memoryBusWidth",
    38: "l2CacheSize",
    39: "maxThreadsPerMultiProcessor",
    40: "asyncEngineCount",
    41: "unifiedAddressing",
    51: "texturePitchAlignment",
    69: "maxTexture1DLinear",
    **{70 + axis: ("maxTexture2DLinear", axis) for axis in range(3)},
    75: "major",
    76: "minor",
    79: "globalL1CacheSupported",
    80: "localL1CacheSupported",
    81: "sharedMemPerMultiprocessor",
    82: "regsPerMultiprocessor",
    83: "managedMemory",
    87: "singleToDoublePrecisionPerfRatio",
    95: "cooperativeLaunch",
    97: "sharedMemPerBlockOptin",
    106: "maxBlocksPerMultiProcessor",
}
MOST_ATTRIBUTE = 148


def attribute(numbers: dict[str, Any], number: int) -> int:
    """The value of a cudaDeviceAttr; those of features that are not there are 0."""
    known = _ATTRIBUTES.get(number)
    if known is None:
        return 0
    return int(numbers[known]) if isinstance(known, str) else int(numbers[known[0]][known[1]])
