"""Values that are cheaper to compute again than to keep: constants, special registers, parameters, and short chains of these."""

from __future__ import annotations

from warploom.compiler.code.classes import OpClass, op_class
from warploom.compiler.code.instruction import Address, Bank, Code, Instruction, Operand, Operation, Reg, Special

DEPTH = 3  # operations from a constant to a value that is computed again: tid, 4 tid, 4 tid + base
MOST = 6  # operations of such a chain
_CHANGING_SPECIALS = ("clock", "globaltimer")
_LANE_DEPENDENT = ("vote", "activemask", "match")  # the result depends on which lanes execute it
_CHEAP = ("add", "sub", "shl", "shr", "and", "or", "xor", "not", "mul", "mad")


def _constant(operand: Operand) -> bool:
    if isinstance(operand, Reg):
        return False
    if isinstance(operand, Address):
        return not isinstance(operand.base, Reg)
    return not (isinstance(operand, Special) and operand.name.startswith(_CHANGING_SPECIALS))


def repeatable(instruction: Instruction) -> bool:
    """Whether the instruction gives the same result wherever and however often a thread executes it."""
    op = instruction.op
    if instruction.guard is not None or len(instruction.dsts) != 1 or op.name in _LANE_DEPENDENT:
        return False
    kind = op_class(op)
    if kind is OpClass.MEMORY:
        if op.name != "ld" or op.vector > 1 or op.space not in ("param", "const") or "volatile" in op.modifiers:
            return False
    elif kind in (OpClass.CONTROL, OpClass.METADATA, OpClass.SHUFFLE):
        return False
    return all(map(_constant, instruction.srcs))


def continues_chain(instruction: Instruction) -> bool:
    """Whether the instruction may be computed again from registers: integer arithmetic of a cycle, on whole registers."""
    op = instruction.op
    return (
        instruction.guard is None
        and len(instruction.dsts) == 1
        and instruction.dsts[0].bank is not Bank.P
        and _cheap(op)
        and all(isinstance(src, Reg) or _constant(src) for src in instruction.srcs)
    )


def _cheap(op: Operation) -> bool:
    return op.name in _CHEAP and op.type[:1] in ("s", "u", "b") and op.modifiers in ((), ("lo",))


def repeatable_values(code: Code) -> dict[Reg, Instruction]:
    """The values of web-split code that a thread can compute again anywhere, each with the instruction that does.

    All definitions of such a value are that instruction. What it reads in registers are such values themselves, up to `DEPTH`
    operations deep and `MOST` in all. A copy is computed as what it copies.
    """
    same = _same_definitions(code)
    found = {register: one for register, one in same.items() if repeatable(one)}
    sizes = dict.fromkeys(found, 1)
    _add_copies(found, sizes, same)
    for _ in range(DEPTH - 1):
        longer = {
            register: 1 + sum(sizes[read] for read in one.reads)
            for register, one in same.items()
            if register not in found and continues_chain(one) and all(read in found for read in one.reads)
        }
        sizes |= {register: size for register, size in longer.items() if size <= MOST}
        found |= {register: same[register] for register, size in longer.items() if size <= MOST}
        _add_copies(found, sizes, same)
    return found


def _add_copies(found: dict[Reg, Instruction], sizes: dict[Reg, int], same: dict[Reg, Instruction]) -> None:
    """Let copies of repeatable values, and copies of those, be computed as what they copy."""
    copies = [(register, one.srcs[0]) for register, one in same.items() if register not in found and _copies_register(one)]
    for register, source in copies:
        if isinstance(source, Reg) and source in found and source.bank is register.bank:
            found[register], sizes[register] = found[source], sizes[source]


def _copies_register(instruction: Instruction) -> bool:
    return instruction.op.name == "mov" and len(instruction.srcs) == 1


def chain_lengths(values: dict[Reg, Instruction]) -> dict[Reg, int]:
    """How many instructions it takes to compute each repeatable value again."""
    lengths: dict[Reg, int] = {}
    for register, one in values.items():  # what a value reads comes before it
        lengths[register] = 1 + sum(lengths[read] for read in one.reads)
    return lengths


def _same_definitions(code: Code) -> dict[Reg, Instruction]:
    """The registers of which every definition is the same instruction, which has no other result and no guard."""
    found: dict[Reg, Instruction | None] = {}
    for instruction in code.instructions():
        alone = instruction.guard is None and len(instruction.dsts) == 1
        for dst in instruction.dsts:
            if dst not in found:
                found[dst] = instruction if alone else None
            else:
                first = found[dst]
                if first is not None and (not alone or (first.op, first.srcs) != (instruction.op, instruction.srcs)):
                    found[dst] = None
    return {register: instruction for register, instruction in found.items() if instruction is not None}
