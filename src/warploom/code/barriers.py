"""Convergence barriers of SASS: where lanes that went different ways meet again.

BSSY notes the lanes that execute it in a barrier register, BSYNC waits for all lanes that the register holds. Nothing else brings
lanes together: groups of lanes that happen to be at one address stay apart.
"""

from __future__ import annotations

from dataclasses import dataclass

from warploom.code.instruction import WAITS, Bank, Code, Instruction, Modified, Reg

_LEAVING_THEM = ("BREAK", "BMOV")  # take lanes out of a register, or put others into it


@dataclass(frozen=True, slots=True)
class Barriers:
    """What each block of SASS does to barrier registers. Registers that lose lanes otherwise than by BSYNC are left out."""

    waiting: frozenset[int]  # blocks at whose end a group of lanes may wait while another goes on
    opened: tuple[frozenset[int], ...]  # per block, the registers that it sets
    closed: tuple[int | None, ...]  # per block, the register whose lanes meet at its end
    open_after: tuple[frozenset[int], ...]  # per block, the registers that hold all lanes which leave it, on every way there


def find_barriers(code: Code, predecessors: list[list[int]], order: tuple[int, ...]) -> Barriers | None:
    """The barriers of SASS; None for other code."""
    if code.binary is None:
        return None
    doubtful = {number for i in code.instructions() if i.op.name in _LEAVING_THEM or i.guard for number in _registers(i)}
    opened, closed, waiting = [], [], set()
    for number, block in enumerate(code.blocks):
        sets = [reg for i in block.instructions if i.op.name == "BSSY" for reg in _registers(i)]
        opened.append(frozenset(sets) - doubtful)
        last = block.instructions[-1] if block.instructions else None
        if last is not None and last.op.name in WAITS:
            waiting.add(number)
        meets = _registers(last) - doubtful if last is not None and last.op.name == "BSYNC" else set()
        closed.append(next(iter(meets), None))
    everything = frozenset().union(*opened)
    after = [everything] * len(code.blocks)
    changed = True
    while changed:
        changed = False
        for number in order:
            before = [after[block] for block in predecessors[number]] if number else [frozenset[int]()]
            now = frozenset.intersection(*before) | opened[number] if before else opened[number]
            now = now - {closed[number]}
            if now != after[number]:
                after[number], changed = now, True
    return Barriers(frozenset(waiting), tuple(opened), tuple(closed), tuple(after))


def _registers(instruction: Instruction) -> set[int]:
    operands = [source.operand if isinstance(source, Modified) else source for source in instruction.srcs]
    return {o.number for o in (*instruction.dsts, *operands) if isinstance(o, Reg) and o.bank is Bank.B}
