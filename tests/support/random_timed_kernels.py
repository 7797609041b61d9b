"""Random kernels for the timing core alone, and two designs that differ in most choices."""

from __future__ import annotations

from typing import Any

import numpy as np

from support.timing_kernels import Access, Kernel, add, barrier, exit_, fma, load, op, setp, store
from warploom.chip.machines import load_machine
from warploom.chip.simulate import TimingResult, time_launches
from warploom.chip.sm import Policies, baseline_policies, make_policy
from warploom.compiler.code.instruction import Instruction

REGISTERS = 12
DESIGNS = {
    "baseline": baseline_policies(),
    "mixed": baseline_policies()._replace(
        scheduler=make_policy("scheduler", "two-level", active=4, inner="round-robin"),
        allocation=make_policy("allocation", "oracle"),
        power=make_policy("power", "bank-gating", wakeup=7),
    ),
}


def random_kernel(seed: int) -> Kernel:
    """A few blocks in a loop, random registers, masks, accesses and numbers of turns; all warps meet at the barriers."""
    draw = np.random.default_rng(seed)

    def register() -> int:
        return int(draw.integers(REGISTERS))

    def instruction() -> Instruction:
        kind = draw.integers(8)
        if kind == 0:
            return load(register(), register(), str(draw.choice(["global", "shared", "local", "const"])))
        if kind == 1:
            return store(register(), register(), str(draw.choice(["global", "shared"])))
        if kind == 2:
            return setp(int(draw.integers(3)), register(), register())
        if kind == 3:
            return op(str(draw.choice(["sin", "div", "min"])), register(), register())
        return [add(register(), register(), register()), fma(register(), register(), register(), register())][draw.integers(2)]

    first = [op("mov", n) for n in range(REGISTERS)]
    body = [instruction() for _ in range(draw.integers(3, 20))]
    last = [instruction() for _ in range(draw.integers(1, 6))]
    warps = int(draw.integers(1, 9))
    turns = draw.integers(1, 5, size=64)
    with_barrier = bool(draw.integers(2))
    masks = draw.choice([0xFFFFFFFF, 0xFFFFFFFF, 0x0000FFFF, 0x1, 0], size=257)
    widths = draw.integers(1, 9, size=257)
    start, end = len(first), len(first) + len(body)
    tail = end + len(last) + with_barrier + 1

    def path(warp: int) -> list[int]:
        return [*range(start), *(list(range(start, end)) * int(turns[warp % 64])), *range(end, tail)]

    def access(warp: int, pc: int, n: int) -> Access:
        width = int(widths[(warp * 31 + n) % 257])
        base = (warp * 977 + n * 131) % 5000
        return Access(sorted({base + 5 * step for step in range(width)}), passes=width)

    blocks = [first, body, [*last, *([barrier()] if with_barrier else []), exit_()]]
    ctas = int(draw.integers(1, 20))
    return Kernel(
        blocks, REGISTERS, warps_per_cta=warps, ctas=ctas, path=path, access=access,
        mask=lambda warp, pc, n: int(masks[(warp * 7 + n) % 257]) if pc >= start else 0xFFFFFFFF,
    )  # fmt: skip


def run(seed: int, design: Policies, machine: str = "gtx480", **options: Any) -> TimingResult:
    return time_launches([random_kernel(seed).launch()], design, load_machine(machine).scaled(2), **options)
