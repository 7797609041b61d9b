"""Registers as bits: how analyses turn the registers of an instruction into masks.

A slot is the unit of liveness. In allocated code it is a 32-bit register, or a predicate: slot n is register Rn, a 64-bit
register has the two slots of its pair, and the predicates follow from `PREDICATES` on; after them the uniform registers, uniform
predicates and convergence barriers of SASS, of which a warp has one each. In virtual code each register, of
whatever bank, is a slot of its own.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import cast

import numpy as np

from warploom.compiler.code.instruction import (
    FIXED_BANKS,
    Address,
    Bank,
    Code,
    Constant,
    Instruction,
    Modified,
    Reg,
    registers_in,
)

PREDICATES = 256  # the slot of P0 in allocated code
UNIFORM = 512  # the slot of UR0
UNIFORM_PREDICATES = 640
BARRIERS = 656
_FEW, _SHORT = 16, 512  # ones of a mask, and its bits, below which taking out the ones one by one is quick
REGISTER_MASK = (1 << PREDICATES) - 1
_PREDICATE_MASK = (1 << (UNIFORM - PREDICATES)) - 1
_FIRST_SLOTS = {Bank.R: 0, Bank.D: 0, Bank.Q: 0, Bank.P: PREDICATES, Bank.U: UNIFORM, Bank.UD: UNIFORM, Bank.UQ: UNIFORM}
_FIRST_SLOTS |= {Bank.UP: UNIFORM_PREDICATES, Bank.B: BARRIERS}
_COMPOSITE = (Address, Constant, Modified)
_OCCUPIED = {Bank.D: 0b11, Bank.UD: 0b11, Bank.Q: 0b1111, Bank.UQ: 0b1111}


def bits(mask: int) -> list[int]:
    """The positions of the ones of a mask, lowest first."""
    length = mask.bit_length()
    if mask.bit_count() > _FEW and length > _SHORT:
        # Taking a one out copies the mask. Where both are long, one pass over its bytes is cheaper than a copy for each one.
        raw = np.frombuffer(mask.to_bytes((length + 7) // 8, "little"), np.uint8)
        return cast(list[int], np.unpackbits(raw, bitorder="little").nonzero()[0].tolist())
    positions = []
    while mask:
        high = mask.bit_length() - 1
        positions.append(high)
        mask ^= 1 << high
    positions.reverse()
    return positions


@dataclass(slots=True)
class SlotAccess:
    """What one instruction does to slots, as masks."""

    reads: int
    writes: int
    kills: int  # the writes that certainly happen: none under a guard


@dataclass
class Slots:
    """The slots of one kernel's code."""

    allocated: bool
    registers: list[Reg] = field(default_factory=list)  # virtual code: the register of each slot
    _masks: dict[Reg, int] = field(default_factory=dict)

    def mask(self, register: Reg) -> int:
        """The slots of a register."""
        mask = self._masks.get(register)
        if mask is None:
            if not self.allocated:
                mask = 1 << len(self.registers)
                self.registers.append(register)
            elif register.bank in FIXED_BANKS:
                mask = 0
            else:
                mask = _OCCUPIED.get(register.bank, 1) << (_FIRST_SLOTS[register.bank] + register.number)
            self._masks[register] = mask
        return mask

    def name(self, slot: int) -> str:
        """A slot as people write it."""
        if not self.allocated:
            return str(self.registers[slot])
        for letters, first in (("B", BARRIERS), ("UP", UNIFORM_PREDICATES), ("UR", UNIFORM), ("P", PREDICATES)):
            if slot >= first:
                return f"{letters}{slot - first}"
        return f"R{slot}"

    def access(self, instruction: Instruction) -> SlotAccess:
        """The slots that an instruction reads and writes."""
        masks = self._masks
        reads = writes = 0
        try:  # the usual case: every register has been seen
            guard = instruction.guard
            if guard is not None:
                reads = masks[guard.predicate]
            for src in instruction.srcs:
                if type(src) is Reg:
                    reads |= masks[src]
                elif type(src) is Address and type(src.base) is Reg and src.uniform is None:
                    reads |= masks[src.base]
                elif type(src) in _COMPOSITE:
                    for register in registers_in(src):
                        reads |= masks[register]
            for dst in instruction.dsts:
                writes |= masks[dst]
        except KeyError:
            for register in (*instruction.reads, *instruction.dsts):
                self.mask(register)
            return self.access(instruction)
        return SlotAccess(reads, writes, writes if guard is None else 0)

    @cached_property
    def _bank_masks(self) -> tuple[int, int]:
        """The slots of 64-bit registers and of predicates in virtual code."""
        wide = predicate = 0
        for slot, register in enumerate(self.registers):
            if register.bank is Bank.D:
                wide |= 1 << slot
            elif register.bank is Bank.P:
                predicate |= 1 << slot
        return wide, predicate

    def pressure(self, mask: int) -> int:
        """How many 32-bit registers the slots of a mask need."""
        if self.allocated:
            return (mask & REGISTER_MASK).bit_count()
        wide, predicate = self._bank_masks
        return (mask & ~predicate).bit_count() + (mask & wide).bit_count()

    def predicate_pressure(self, mask: int) -> int:
        """How many predicates the slots of a mask need."""
        return (mask >> PREDICATES & _PREDICATE_MASK).bit_count() if self.allocated else (mask & self._bank_masks[1]).bit_count()


def slots_of(code: Code) -> tuple[Slots, list[list[SlotAccess]]]:
    """The slots of a kernel and the accesses of each instruction, block by block."""
    slots = Slots(code.allocated)
    access = slots.access
    return slots, [[access(instruction) for instruction in block.instructions] for block in code.blocks]
