"""Hand-made machine code with control bits, for sub-cores without operand collectors."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from support.timing_kernels import Kernel, r
from warploom.compiler.code.instruction import (
    Binary,
    Code,
    Control,
    Instruction,
    Operation,
)

LENGTH = 40  # instructions: five lines of code, which the stream buffer brings before they are needed


@dataclass
class MachineCode(Kernel):
    """A kernel of machine code, with control bits."""

    def code(self) -> Code:
        return replace(super().code(), binary=Binary(90, 0x210, ()))


def controlled(name: str, dst: int | None, *srcs: int, reuse: str = "", **bits: Any) -> Instruction:
    """An instruction on registers; ``reuse`` names the operands that are kept, such as "AC"."""
    kept = ("A" in reuse, "B" in reuse, "C" in reuse)
    control = Control(1, False, None, None, 0, kept)._replace(**bits)
    return Instruction(Operation(name), (r(dst),) if dst is not None else (), tuple(map(r, srcs)), control=control)


def leave() -> Instruction:
    return Instruction(Operation("EXIT"), control=Control(5, False, None, None, 0, (False,) * 3))
