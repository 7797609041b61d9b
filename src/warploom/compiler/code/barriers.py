"""Convergence barriers of SASS: where lanes that went different ways meet again.

BSSY notes the lanes that execute it in a barrier register, BSYNC waits for all lanes that the register holds. WARPSYNC brings
together all lanes that are still there, if it names them all. Nothing else brings lanes together: groups of lanes that happen to
be at one address stay apart. WARPSYNC.EXCLUSIVE parts lanes that are on one way. Code for sm_75 empties a register before it is
set (BMOV.CLEAR); that takes nothing from the BSSY behind it.
"""

from __future__ import annotations

from dataclasses import dataclass

from warploom.compiler.code.instruction import WAITS, Bank, Code, Imm, Instruction, Modified, Reg
from warploom.compiler.code.lanes import FULL

_OF_GROUPS = frozenset(("COLLECTIVE", "EXCLUSIVE"))  # what follows is executed by groups of their own
_LEAVING_THEM = ("BREAK", "BMOV")  # take lanes out of a register, or put others into it


@dataclass(frozen=True, slots=True)
class Barriers:
    """What each block of SASS does to barrier registers. Registers that lose lanes otherwise than by BSYNC are left out."""

    waiting: frozenset[int]  # blocks at whose end a group of lanes may wait while another goes on
    changed: tuple[frozenset[int], ...]  # per block, the registers that it sets or empties
    closed: tuple[int | None, ...]  # per block, the register whose lanes meet at its end
    gathering: frozenset[int]  # blocks at whose end all lanes of the warp meet
    open_after: tuple[frozenset[int], ...]  # per block, the registers that hold all lanes which leave it, on every way there


def find_barriers(code: Code, predecessors: list[list[int]], order: tuple[int, ...]) -> Barriers | None:
    """The barriers of SASS; None for other code."""
    if code.binary is None:
        return None
    doubtful = {number for i in code.instructions() if _takes_lanes_out(i) or i.guard for number in _registers(i)}
    changed_in, opened, closed, waiting, gathering = [], [], [], set(), set()
    for number, block in enumerate(code.blocks):
        changed_now: set[int] = set()
        sets: set[int] = set()
        for instruction in block.instructions:
            if instruction.op.name == "BSSY" or _empties(instruction):
                changed_now |= _registers(instruction)
                sets = sets | _registers(instruction) if instruction.op.name == "BSSY" else sets - _registers(instruction)
        changed_in.append(frozenset(changed_now))
        opened.append(frozenset(sets) - doubtful)
        last = block.instructions[-1] if block.instructions else None
        if last is not None and last.op.name in WAITS:
            waiting.add(number)
            if _calls_all(last):
                gathering.add(number)
        meets = _registers(last) - doubtful if last is not None and last.op.name == "BSYNC" else set()
        closed.append(next(iter(meets), None))
    everything = frozenset().union(*opened)
    after = [everything] * len(code.blocks)
    changed = True
    while changed:
        changed = False
        for number in order:
            before = [after[block] for block in predecessors[number]] if number else [frozenset[int]()]
            kept = frozenset.intersection(*before) - changed_in[number] if before else frozenset[int]()
            now = (kept | opened[number]) - {closed[number]}
            if now != after[number]:
                after[number], changed = now, True
    return Barriers(frozenset(waiting), tuple(changed_in), tuple(closed), frozenset(gathering), tuple(after))


def is_exclusive(instruction: Instruction) -> bool:
    """Whether lanes part here on one way: those that a mask names go on together, and apart from all others."""
    return instruction.op.name == "WARPSYNC" and "EXCLUSIVE" in instruction.op.modifiers


def _calls_all(instruction: Instruction) -> bool:
    """Whether all lanes of the warp wait for each other here."""
    op = instruction.op
    if op.name != "WARPSYNC" or instruction.guard is not None or not _OF_GROUPS.isdisjoint(op.modifiers):
        return False
    return "ALL" in op.modifiers or (len(instruction.srcs) == 1 and instruction.srcs[0] == Imm(int(FULL)))


def _empties(instruction: Instruction) -> bool:
    """Whether an instruction empties a barrier register and keeps nothing of it."""
    op = instruction.op
    return op.name == "BMOV" and "CLEAR" in op.modifiers and all(dst.bank is Bank.RZ for dst in instruction.dsts)


def _takes_lanes_out(instruction: Instruction) -> bool:
    return instruction.op.name in _LEAVING_THEM and not _empties(instruction)


def _registers(instruction: Instruction) -> set[int]:
    operands = [source.operand if isinstance(source, Modified) else source for source in instruction.srcs]
    return {o.number for o in (*instruction.dsts, *operands) if isinstance(o, Reg) and o.bank is Bank.B}
