"""The compiler's half: a metadata instruction in front of each block, with the number of registers that are live there."""

from __future__ import annotations

from dataclasses import replace

from warploom.kit import REGISTER_MASK, Block, Code, Imm, Instruction, add_operation, thread_liveness

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
