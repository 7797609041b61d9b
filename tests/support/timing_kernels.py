"""Hand-made code and traces: the timing core is tested without compiler and emulator."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from warploom.compiler.code.instruction import Address, Bank, Block, Code, Guard, Imm, Instruction, Operation, Reg
from warploom.compiler.code.table import Flag, Space, static_table
from warploom.emulator.trace.format import START_DTYPE, Trace


def r(number: int) -> Reg:
    return Reg(number)


def p(number: int) -> Reg:
    return Reg(number, Bank.P)


def op(name: str, dst: int | None, *srcs: int, type: str = "f32") -> Instruction:
    return Instruction(Operation(name, type), (r(dst),) if dst is not None else (), tuple(map(r, srcs)))


def fma(dst: int, *srcs: int) -> Instruction:
    return op("fma", dst, *srcs)


def add(dst: int, *srcs: int) -> Instruction:
    return op("add", dst, *srcs)


def setp(dst: int, *srcs: int) -> Instruction:
    return Instruction(Operation("setp", "s32", modifiers=("lt",)), (p(dst),), tuple(map(r, srcs)))


def load(dst: int, base: int, space: str = "global") -> Instruction:
    return Instruction(Operation("ld", "f32", space=space), (r(dst),), (Address(r(base)),))


def store(base: int, src: int, space: str = "global") -> Instruction:
    return Instruction(Operation("st", "f32", space=space), (), (Address(r(base)), r(src)))


def branch(target: int, predicate: int | None = None) -> Instruction:
    guard = Guard(p(predicate)) if predicate is not None else None
    return Instruction(Operation("bra"), guard=guard, target=target)


def barrier() -> Instruction:
    return Instruction(Operation("bar", modifiers=("sync",)), (), (Imm(0),))


def exit_() -> Instruction:
    return Instruction(Operation("exit"))


@dataclass
class Access:
    """What a memory instruction touches: sectors of a cached space, or passes of shared memory."""

    sectors: Sequence[int] = ()
    passes: int = 1


@dataclass
class Kernel:
    """Code with the streams of its warps."""

    blocks: list[list[Instruction]]
    registers: int
    warps_per_cta: int = 1
    ctas: int = 1
    path: Callable[[int], list[int]] | None = None  # pcs of a warp; all of the code once where absent
    access: Callable[[int, int, int], Access] = field(
        default=lambda warp, pc, n: Access(range(4 * (warp + n), 4 * (warp + n) + 4))
    )
    mask: Callable[[int, int, int], int] = field(default=lambda warp, pc, n: 0xFFFFFFFF)
    value: int = 0x00030003
    shared_bytes: int = 0

    def code(self) -> Code:
        blocks = [Block(list(block)) for block in self.blocks]
        return Code("kernel", blocks, registers=self.registers, predicates=4, allocated=True, shared_bytes=self.shared_bytes)

    def trace(self) -> Trace:
        code = self.code()
        table = static_table(code)
        columns: dict[str, list[int]] = {name: [] for name in ("pc", "mask", "value", "memory", "sector", "lanes")}
        start = []
        for warp in range(self.warps_per_cta * self.ctas):
            start.append(tuple(len(columns[name]) for name in ("pc", "value", "memory", "sector")))
            path = self.path(warp) if self.path else list(range(len(code)))
            for n, pc in enumerate(path):
                row = table[pc]
                columns["pc"].append(pc)
                columns["mask"].append(self.mask(warp, pc, n))
                columns["value"] += [self.value] * int(row["n_writes"])
                if row["flags"] & Flag.BARRIER:
                    columns["memory"].append(0)
                elif row["space"] != Space.NONE:
                    what = self.access(warp, pc, n)
                    size = what.passes if row["space"] == Space.SHARED else len(what.sectors)
                    columns["memory"].append(size | int(row["space"]) << 8)
                    if row["space"] != Space.SHARED:
                        columns["sector"] += what.sectors
                        columns["lanes"] += [0xFF] * len(what.sectors)
        start.append(tuple(len(columns[name]) for name in ("pc", "value", "memory", "sector")))
        types = {"pc": "u2", "mask": "u4", "value": "u4", "memory": "u2", "sector": "u4", "lanes": "u4"}
        arrays = {name: np.array(columns[name], types[name]) for name in columns}
        return Trace(
            key="",
            kernel="kernel",
            grid=(self.ctas, 1, 1),
            block=(32 * self.warps_per_cta, 1, 1),
            warps_per_cta=self.warps_per_cta,
            start=np.array(start, START_DTYPE),
            **arrays,
        )

    def launch(self) -> tuple[Code, Trace]:
        return self.code(), self.trace()


def chain(length: int, registers: int = 8, **options: Any) -> Kernel:
    """A chain of dependent additions."""
    return Kernel([[add(1, 1, 2) for _ in range(length)] + [exit_()]], registers, **options)
