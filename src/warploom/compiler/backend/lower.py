"""PTX to virtual machine code: instructions on as many registers as the program names, in basic blocks."""

from __future__ import annotations

from warploom.base.errors import WarploomError
from warploom.compiler.backend.cleanup import clean, finish
from warploom.compiler.backend.lower_calls import Flat, flatten
from warploom.compiler.backend.lower_layout import lay_out, loaded_variables
from warploom.compiler.backend.lower_parameters import parameters
from warploom.compiler.backend.lower_translate import Translator, branch_chain
from warploom.compiler.backend.narrow import narrow_addresses
from warploom.compiler.code.instruction import Block, Code, Instruction, Operation
from warploom.compiler.ptx import module as ptx

_ENDS = ("bra", "brx", "ret", "exit", "trap")


def lower(module: ptx.Module, kernel_name: str, *, literal: bool = False, narrow: bool = True) -> Code:
    """Virtual machine code of a kernel.

    With ``literal`` every PTX instruction stays as it is, in order. Otherwise constants, parameters and copies are folded, dead
    code goes, and with ``narrow`` the values of which only one half is ever used, addresses above all, are computed in 32 bits.
    """
    kernel = module.kernels.get(kernel_name)
    if kernel is None:
        known = ", ".join(module.kernels) or "none"
        raise WarploomError(f"{module.file}: there is no kernel {kernel_name}; the file has: {known}.")
    flat = flatten(module, kernel)
    layout = lay_out(module, kernel, flat.instructions, flat.variables)
    translator = Translator(module, kernel, layout, flat.register_count, literal=literal)
    code = Code(
        name=kernel.name,
        blocks=_blocks(flat, translator),
        parameters=parameters(kernel, flat.instructions),
        variables=loaded_variables(layout),
        shared_bytes=layout.shared_bytes,
        local_bytes=layout.local_bytes,
        narrow=narrow and not literal,
        literal=literal,
        required_block=kernel.required_block,
        source=module.file,
    )
    if literal:
        return code
    clean(code)
    if narrow:
        narrow_addresses(code)
    finish(code)
    return code


def _blocks(flat: Flat, translator: Translator) -> list[Block]:
    instructions = flat.instructions
    starts = {0} | flat.labels
    starts |= {place + 1 for place, instruction in enumerate(instructions) if instruction.opcode.name in _ENDS}
    # brx.idx becomes a chain of comparisons, a block for each target: blocks are numbered before their contents exist
    numbers: dict[int, int] = {}
    count = 0
    for place in range(len(instructions) + 1):
        if place in starts:
            numbers[place] = count
            count += 1
        if place < len(instructions):
            count += max(len(instructions[place].targets) - 1, 0)
    blocks: list[Block] = []
    for place, instruction in enumerate(instructions):
        if place in numbers:
            translator.begin_block()
            blocks.append(Block())
        if instruction.opcode.name == "brx":
            first, *others = branch_chain(translator, instruction, numbers)
            blocks[-1].instructions += first
            blocks += [Block(group) for group in others]
        elif instruction.opcode.name == "bra":
            label = instruction.operands[0]
            assert isinstance(label, ptx.Label)
            op = Operation("bra", modifiers=instruction.opcode.modifiers)
            guard = translator.guard(instruction)
            blocks[-1].instructions.append(Instruction(op, guard=guard, target=numbers[label.position], line=instruction.line))
        else:
            blocks[-1].instructions += translator.translate(instruction)
    last = blocks[-1].instructions if blocks else []
    if not last or last[-1].falls_through or len(instructions) in flat.labels:
        blocks.append(Block([Instruction(Operation("exit"))]))
    return blocks
