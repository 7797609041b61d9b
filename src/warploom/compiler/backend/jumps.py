"""Simplifies control flow: no jump to a jump, none to the next block, no block that nothing reaches."""

from __future__ import annotations

from warploom.compiler.code.graph import without_unreachable
from warploom.compiler.code.instruction import Block, Code, Guard


def _only_jump(block: Block) -> int | None:
    """The target of a block that does nothing but jump."""
    if len(block.instructions) == 1:
        instruction = block.instructions[0]
        if instruction.op.name == "bra" and instruction.guard is None:
            return instruction.target
    return None


def _final_target(blocks: list[Block], target: int) -> int:
    seen = set()
    while target not in seen:
        seen.add(target)
        if not blocks[target].instructions and target + 1 < len(blocks):
            target += 1
            continue
        following = _only_jump(blocks[target])
        if following is None:
            break
        target = following
    return target


def simplify_jumps(code: Code) -> None:
    """Thread jumps, invert branches around jumps, drop jumps to the next block, and merge what became straight."""
    blocks = code.blocks
    jumps = [
        (number, block.instructions[-1])
        for number, block in enumerate(blocks)
        if block.instructions and block.instructions[-1].op.name == "bra"
    ]
    for _, jump in jumps:
        assert jump.target is not None
        jump.target = _final_target(blocks, jump.target)
    for number, jump in jumps:
        if jump.guard is not None and number + 2 < len(blocks) and jump.target == number + 2:
            around = _only_jump(blocks[number + 1])
            if around is not None and around != number + 1:
                # nothing else goes to the jump that is skipped, since jumps to it were threaded
                jump.target = around
                jump.guard = Guard(jump.guard.predicate, not jump.guard.negated)
                blocks[number + 1].instructions = []
    for number, jump in jumps:
        if jump.target == number + 1 and blocks[number].instructions:
            blocks[number].instructions.pop()
    code.blocks = without_unreachable(code).blocks
    _merge(code)


def _merge(code: Code) -> None:
    """Join a block to the one before it if control reaches it from nowhere else."""
    targets = {block.instructions[-1].target for block in code.blocks if block.instructions}
    merged: list[Block] = []
    place: dict[int, int] = {}
    for number, block in enumerate(code.blocks):
        previous = merged[-1] if merged else None
        joins = previous is not None and not (previous.instructions and previous.instructions[-1].ends_block)
        if joins and previous is not None and number not in targets:
            previous.instructions += block.instructions
        else:
            merged.append(block)
        place[number] = len(merged) - 1
    for block in merged:
        for instruction in block.instructions[-1:]:
            if instruction.target is not None:
                instruction.target = place[instruction.target]
    code.blocks = merged
