"""Removes instructions whose results nobody reads."""

from __future__ import annotations

from warploom.compiler.code.classes import is_added
from warploom.compiler.code.instruction import Code, Instruction, Reg

_EFFECTS = frozenset(
    (
        "st",
        "atom",
        "red",
        "bra",
        "exit",
        "trap",
        "brkpt",
        "bar",
        "membar",
        "fence",
        "nanosleep",
        "call",
    )
)
_REDUCIBLE = frozenset(("add", "min", "max", "inc", "dec", "and", "or", "xor"))


def _has_effect(instruction: Instruction) -> bool:
    if instruction.op.name in _EFFECTS or is_added(instruction.op):
        return True
    return instruction.op.name == "ld" and "volatile" in instruction.op.modifiers


def remove_dead(code: Code) -> bool:
    """Keep what has an effect and what that needs; whether anything went."""
    definitions: dict[Reg, list[Instruction]] = {}
    pending: list[Instruction] = []
    for instruction in code.instructions():
        for dst in instruction.dsts:
            definitions.setdefault(dst, []).append(instruction)
        if _has_effect(instruction):
            pending.append(instruction)
    live: set[int] = {id(instruction) for instruction in pending}
    needed: set[Reg] = set()
    while pending:
        for register in pending.pop().reads:
            if register in needed:
                continue
            needed.add(register)
            for definition in definitions.get(register, ()):
                if id(definition) not in live:
                    live.add(id(definition))
                    pending.append(definition)
    changed = False
    for block in code.blocks:
        kept = [instruction for instruction in block.instructions if id(instruction) in live]
        if len(kept) != len(block.instructions):
            block.instructions = kept
            changed = True
        for instruction in kept:
            changed |= _trim_results(instruction, needed)
    return changed


def _trim_results(instruction: Instruction, needed: set[Reg]) -> bool:
    """Drop results that nobody reads where an instruction can do without them."""
    op, dsts = instruction.op, instruction.dsts
    if not dsts or all(dst in needed for dst in dsts):
        return False
    if op.name == "atom" and op.modifiers[0] in _REDUCIBLE:
        instruction.op, instruction.dsts = op._replace(name="red"), ()
        return True
    if op.name == "tex":
        used = max(place for place, dst in enumerate(dsts) if dst in needed) + 1
        if used < len(dsts):
            instruction.op, instruction.dsts = op._replace(vector=used), dsts[:used]
            return True
    if op.name in ("setp", "shfl", "match") and len(dsts) == 2 and dsts[0] in needed:
        instruction.dsts = dsts[:1]
        return True
    if "cc" in op.modifiers and dsts[-1] not in needed and len(dsts) == 2:
        instruction.op = op._replace(modifiers=tuple(modifier for modifier in op.modifiers if modifier != "cc"))
        instruction.dsts = dsts[:1]
        return True
    return False
