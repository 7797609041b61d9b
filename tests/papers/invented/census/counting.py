"""The compiler's half: a metadata instruction in front of each block, with the number of registers that are live there."""

from __future__ import annotations

from dataclasses import replace

from warploom.code.classes import add_operation
from warploom.code.instruction import Block, Code, Imm, Instruction
from warploom.code.liveness import thread_liveness
from warploom.code.slots import REGISTER_MASK

CENSUS = add_operation("census", __name__)
BLOCKS = "census.blocks"


def counted(code: Code) -> Code:
    """The code with a census in front of each block, and a note how many there are."""
    live = thread_liveness(code).block_in
    blocks = [
        Block([Instruction(CENSUS, srcs=(Imm((mask & REGISTER_MASK).bit_count()),)), *block.instructions], block.label)
        for mask, block in zip(live, code.blocks, strict=True)
    ]
    return replace(code, blocks=blocks, annotations={**code.annotations, BLOCKS: len(blocks)})
