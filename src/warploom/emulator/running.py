"""How a warp runs depends on its program: by a stack of branches (code from PTX) or in groups that meet at barriers (SASS)."""

from __future__ import annotations

from typing import Any

import numpy as np

from warploom.base.records import Array, i8
from warploom.emulator.interpreter import run_warp
from warploom.emulator.records import (
    EmulatedMachine,
    EncodedInstruction,
    MicroOperation,
    ResidentCta,
    ResidentWarp,
    TextureRecord,
)
from warploom.emulator.sass.running import run_groups
from warploom.jit import make_callable


def run_lanes(
    machine: EmulatedMachine,
    program: Array[EncodedInstruction],
    micro: Array[MicroOperation],
    textures: Array[TextureRecord],
    clock_rows: Array[i8],
    cta: ResidentCta,
    warp: ResidentWarp,
    scratch: np.ndarray,
    steps: int,
) -> tuple[int, int]:
    """Run a warp for at most so many instructions. Returns why it stopped and how many it executed."""
    raise NotImplementedError("compiled code calls one of its two forms")


def _choose(*arguments: Any) -> Any:
    """The record of a warp tells which: those of SASS have groups."""
    return run_groups if "group_pc" in arguments[6].fields else run_warp


make_callable(run_lanes, _choose, inlined=False, widened=False)
