"""Kernels of ten thousand instructions compile in seconds, and twice as many in about twice the time."""

import random
import time
from collections.abc import Callable
from typing import Any

import pytest

from warploom.compiler.backend import Options, compile_kernel
from warploom.compiler.code.slots import bits
from warploom.compiler.ptx import parse
from warploom.compiler.ptx.module import Module

Shape = Callable[[int, random.Random], list[str]]

ALIVE = 24  # values at any time


def straight(count: int, chance: random.Random) -> list[str]:
    """Arithmetic without a branch: every result is a new value."""
    current = list(range(ALIVE))
    lines = []
    for new in range(ALIVE, count):
        place = chance.randrange(ALIVE)
        lines.append(f"mad.lo.s32 %r{new}, %r{current[place]}, %r{chance.choice(current)}, %r{current[place - 1]};")
        current[place] = new
    return lines + [f"st.global.u32 [%d+{4 * n}], %r{register};" for n, register in enumerate(current)]


def branching(count: int, chance: random.Random) -> list[str]:
    """The same values all along, with a branch around every fourth instruction and a loop around every sixteenth."""
    lines = []
    for n in range(count // 4):
        a, b, c = (chance.randrange(ALIVE) for _ in range(3))
        if n % 4 == 0:
            lines.append(f"mov.u32 %i{n}, 0;\nL{n}: add.s32 %i{n}, %i{n}, 1;")
        lines.append(f"setp.lt.s32 %p{n}, %r{a}, %r{b};\n@%p{n} bra S{n};\nadd.s32 %r{a}, %r{b}, %r{c};")
        lines.append(f"S{n}: xor.b32 %r{c}, %r{c}, {n};")
        if n % 4 == 3:
            lines.append(f"setp.lt.s32 %q{n}, %i{n - 3}, 9;\n@%q{n} bra L{n - 3};")
    return lines + [f"st.global.u32 [%d+{4 * n}], %r{n};" for n in range(ALIVE)]


def module_of(shape: Shape, count: int) -> Module:
    body = "\n".join(shape(count, random.Random(7)))
    loads = "\n".join(f"ld.global.u32 %r{n}, [%d+{4 * n}];" for n in range(ALIVE))
    registers = f".reg .b32 %r<{count}>, %i<{count}>; .reg .pred %p<{count}>, %q<{count}>; .reg .b64 %d;"
    text = f".version 8.0\n.target sm_75\n.address_size 64\n.visible .entry k(.param .u64 p)\n{{\n{registers}\n"
    return parse(f"{text}ld.param.u64 %d, [p];\n{loads}\n{body}\nret;\n}}\n")


def seconds(shape: Shape, count: int, tries: int = 3, **options: Any) -> float:
    """Of processor time, which other programs on the machine disturb least; the best of some."""
    module = module_of(shape, count)
    times = []
    for _ in range(tries):
        started = time.process_time()
        code = compile_kernel(module, "k", Options(**options))
        times.append(time.process_time() - started)
        assert len(code) > count * 0.8
    return min(times)


@pytest.mark.parametrize("shape", [straight, branching])
def test_time_grows_with_the_size(shape: Shape) -> None:
    # The two are measured in turns: what else the machine does then disturbs both.
    ratios = [seconds(shape, 6000, 1) / seconds(shape, 1500, 1) for _ in range(3)]
    assert min(ratios) < 9  # four times as many; squared it would be sixteen


@pytest.mark.parametrize("length", [10, 600, 5000, 20000])
@pytest.mark.parametrize("ones", [0, 1, 5, 300])
def test_the_ones_of_a_mask(length: int, ones: int) -> None:
    positions = sorted(random.Random(length).sample(range(length), min(ones, length)))
    assert list(bits(sum(1 << position for position in positions))) == positions
