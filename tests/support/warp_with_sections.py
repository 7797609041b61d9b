"""Executes a warp whose extended registers hold their values from acquire to release only."""

from __future__ import annotations

import random

from support.random_kernels import MASK32, Thread, random_memory
from warploom.compiler.code.dominators import reconvergence_points
from warploom.compiler.code.instruction import Code


class Lost(AssertionError):
    """A register was used without being held."""


def run_sharing_warp(code: Code, base: int, seed: int, lanes: int = 4, budget: int = 20_000) -> dict[int, int]:
    """The words of global memory that a warp leaves, registers from `base` on being garbage after each release and acquire."""
    noise, garbage = random.Random(seed), random.Random(~seed)
    memory = random_memory(noise)
    threads = [Thread(code, memory, lane * noise.randrange(1, 5)) for lane in range(lanes)]
    starts, instructions, meeting = code.block_starts(), list(code.instructions()), reconvergence_points(code)
    stack = [(0, len(code), list(range(lanes)))]  # (pc, where it ends, lanes)
    held = False
    for _ in range(budget):
        if not stack:
            return memory
        pc, end, active = stack.pop()
        if pc == end or not active:
            continue
        instruction = instructions[pc]
        name = instruction.op.name
        if name in ("acquire", "release"):
            if held != (name == "acquire"):
                for thread in threads:
                    for number in range(base, 256):
                        thread.file["R", number] = garbage.randrange(MASK32)
            held = name == "acquire"
            stack.append((pc + 1, end, active))
            continue
        if not held:
            for register in (*instruction.reads, *instruction.dsts):
                if any(word >= base for word in register.words):
                    raise Lost(f"pc {pc}: {instruction} uses {register} while it is not held")
        if name == "bar" and held:
            raise Lost(f"pc {pc}: a barrier is reached with extended registers")
        taken = [lane for lane in active if threads[lane].executes(instruction)]
        others = [lane for lane in active if lane not in taken]
        if name == "exit":
            stack.append((pc + 1, end, others))
        elif name == "bra" and taken and others:
            join = meeting[pc]
            assert instruction.target is not None
            arms = [(starts[instruction.target], join, taken), (pc + 1, join, others)]
            if noise.random() < 0.5:
                arms.reverse()
            stack += [(join, end, active), *arms]
        elif name == "bra":
            assert instruction.target is not None
            stack.append((starts[instruction.target] if taken else pc + 1, end, active))
        else:
            for lane in taken:
                if name != "bar":
                    threads[lane].execute(instruction)
            stack.append((pc + 1, end, active))
    raise AssertionError("the warp did not end")
