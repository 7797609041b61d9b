"""Where a kernel's variables lie: offsets in shared and local memory, and which module-level variables it needs."""

from __future__ import annotations

from dataclasses import dataclass, field

from warploom.base.errors import WarploomError
from warploom.compiler.code import instruction as code
from warploom.compiler.ptx.module import Function, MemoryOperand, Module, PtxInstruction, PtxVariable, SymbolAddress, Texel


@dataclass
class Layout:
    """Addresses within shared and local memory, and the variables that are placed when the module is loaded."""

    offsets: dict[PtxVariable, int] = field(default_factory=dict)
    shared_bytes: int = 0
    local_bytes: int = 0
    loaded: dict[PtxVariable, str] = field(default_factory=dict)  # to the name of their symbol


def _aligned(offset: int, alignment: int) -> int:
    return -(-offset // alignment) * alignment


def lay_out(module: Module, kernel: Function, instructions: list[PtxInstruction], extra: list[PtxVariable]) -> Layout:
    """Place every variable that the instructions refer to, in the order in which they are declared."""
    used: dict[PtxVariable, None] = {}
    for instruction in instructions:
        for operand in instruction.operands:
            if isinstance(operand, SymbolAddress):
                used[operand.variable] = None
            elif isinstance(operand, MemoryOperand) and isinstance(operand.base, PtxVariable):
                used[operand.base] = None
            elif isinstance(operand, Texel) and isinstance(operand.texture, PtxVariable):
                used[operand.texture] = None
    pending = list(used)
    while pending:  # what the initial contents of variables point to is needed as well
        variable = pending.pop()
        if variable.problem:
            raise WarploomError(f"{module.file}: the kernel {kernel.name} cannot be compiled: {variable.problem}.")
        for _, target, _, _ in variable.pointers:
            if target not in used:
                used[target] = None
                pending.append(target)
    declared = [*module.variables.values(), *kernel.content.variables]
    for function in module.functions.values():
        if function.was_read:  # what nobody has read, this kernel does not call
            declared += function.content.variables
    layout = Layout()
    open_ended = []
    for variable in dict.fromkeys([*declared, *extra]):
        if variable not in used:
            continue
        if variable.space == "local":
            layout.offsets[variable] = _aligned(layout.local_bytes, variable.alignment)
            layout.local_bytes = layout.offsets[variable] + variable.size
        elif variable.space == "shared" and variable.size == 0:
            open_ended.append(variable)
        elif variable.space == "shared":
            layout.offsets[variable] = _aligned(layout.shared_bytes, variable.alignment)
            layout.shared_bytes = layout.offsets[variable] + variable.size
        else:
            name = variable.name
            layout.loaded[variable] = name
    if open_ended:  # all of them begin where the static part ends: the launch gives the size
        layout.shared_bytes = _aligned(layout.shared_bytes, max(variable.alignment for variable in open_ended))
        layout.offsets |= dict.fromkeys(open_ended, layout.shared_bytes)
    layout.local_bytes = _aligned(layout.local_bytes, 4)
    return layout


def loaded_variables(layout: Layout) -> tuple[code.Variable, ...]:
    """The module-level variables as machine code states them."""
    return tuple(
        code.Variable(
            name,
            variable.space,
            variable.size,
            variable.alignment,
            variable.data,
            tuple((offset, code.Symbol(target.name, addend), size) for offset, target, addend, size in variable.pointers),
        )
        for variable, name in layout.loaded.items()
    )
