"""The parameters that a launch must supply, and which of them are device addresses."""

from __future__ import annotations

from warploom.compiler.code.instruction import Parameter
from warploom.compiler.ptx import module as ptx

_COPIES = ("mov", "cvta", "selp")  # the result points where the sources do
_ROUNDS = 20  # values go round loops; addresses settle after a few


def parameters(kernel: ptx.Function, instructions: list[ptx.PtxInstruction]) -> tuple[Parameter, ...]:
    """The kernel's parameters. One is a pointer if it is declared so or if addresses are computed from it."""
    origins: dict[int, frozenset[ptx.PtxParameter]] = {}
    relevant = [instruction for instruction in instructions if _moves_addresses(instruction)]
    for _ in range(_ROUNDS):
        if not sum(_follow(instruction, origins) for instruction in relevant):
            break
    pointers: set[ptx.PtxParameter] = set()
    for instruction in instructions:
        for operand in instruction.operands:
            base = operand.base if isinstance(operand, ptx.MemoryOperand) else None
            if instruction.opcode.name == "cvta":
                base = instruction.operands[1]  # type: ignore[assignment]
            if isinstance(base, ptx.Register):
                pointers |= origins.get(base.number, frozenset())
    return tuple(
        Parameter(parameter.name, parameter.type, parameter.offset, parameter.size, parameter.pointer or parameter in pointers)
        for parameter in kernel.parameters
    )


def _moves_addresses(instruction: ptx.PtxInstruction) -> bool:
    opcode = instruction.opcode
    if opcode.name == "ld":
        return opcode.space == "param"
    return opcode.name in (*_COPIES, "add", "sub", "mad") and not opcode.type.startswith("f")


def _follow(instruction: ptx.PtxInstruction, origins: dict[int, frozenset[ptx.PtxParameter]]) -> bool:
    """Note which parameters the result may point into; whether that is news."""
    target, *sources = instruction.operands
    if not isinstance(target, ptx.Register):
        return False
    name = instruction.opcode.name
    found: frozenset[ptx.PtxParameter] = frozenset()
    if name == "ld":
        memory = sources[0]
        if isinstance(memory, ptx.MemoryOperand) and isinstance(memory.base, ptx.PtxParameter):
            whole = memory.offset == 0 and memory.base.size == 8 and memory.base.type != "f64"
            found = frozenset((memory.base,)) if whole else found
    else:
        known = [origins.get(source.number, found) for source in sources if isinstance(source, ptx.Register)]
        if name in _COPIES:
            found = frozenset().union(*known)
        elif name == "mad":
            found = known[-1] if known else found
        else:  # compilers write the pointer before the index
            found = next((origin for origin in known if origin), found)
    before = origins.get(target.number, frozenset())
    if found <= before:
        return False
    origins[target.number] = before | found
    return True
