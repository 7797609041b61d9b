"""What the host leaves in L2: its copies to the device, a launch's parameters, a kernel's code when it is loaded."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from warploom.chip.machines import Machine
from warploom.chip.memory import CODE_BASE, CONST_BASE, KERNEL_SECTORS, KERNELS, OPERAND_CONSTANT_SECTORS, PARAM_BASE
from warploom.compiler.code.instruction import Code
from warploom.emulator.device_memory import Copied
from warploom.emulator.trace.format import SECTOR_BYTES

PARAMETER_SECTORS = 4096 // SECTOR_BYTES  # the most that a kernel of PTX has

Runs = list[tuple[int, int]]  # of sectors, as the memory system numbers them: the first, and one past the last


def runs_left(copied: Sequence[Copied], code: Code, loaded: int | None, machine: Machine) -> tuple[Any, Any]:
    """The runs of sectors that a launch finds in L2 because of the host, oldest first, as compiled code takes them.

    ``loaded`` is the kernel's number on the chip if its code has been loaded for this launch, else None.
    """
    runs = _copies(copied)
    if loaded is not None:
        runs += _loaded(code, loaded, machine)
    if code.binary is None:  # of machine code, parameters come with the launch
        runs.append((PARAM_BASE, PARAM_BASE + PARAMETER_SECTORS))
    first, end = np.array(runs, np.int64).reshape(-1, 2).T.copy()
    return first, end


def _copies(copied: Sequence[Copied]) -> Runs:
    runs = []
    for address, size, constant in copied:
        base = CONST_BASE if constant else 0
        runs.append((base + address // SECTOR_BYTES, base - (-(address + size) // SECTOR_BYTES)))
    return runs


def _loaded(code: Code, kernel: int, machine: Machine) -> Runs:
    """A kernel's code, and constants that instructions of machine code name as operands."""
    first = CODE_BASE + kernel % KERNELS * KERNEL_SECTORS
    sectors = -(-len(code) * machine.l1i.instruction_bytes // SECTOR_BYTES)
    runs = [(first, first + min(sectors, KERNEL_SECTORS))]
    return runs if code.binary is None else [*runs, (CONST_BASE, CONST_BASE + OPERAND_CONSTANT_SECTORS)]
