"""The result of register allocation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from warploom.compiler.code.instruction import Code

MOST_REGISTERS = 255  # that the instructions of a kernel can name


class CodeOrigin(NamedTuple):
    """Where an instruction of allocated code comes from."""

    pc: int  # in the virtual code; of an inserted instruction, the virtual instruction before which it belongs
    inserted: bool = False

    @property
    def after(self) -> CodeOrigin:
        """The origin of what is inserted after an instruction of this origin."""
        return CodeOrigin(self.pc if self.inserted else self.pc + 1, True)

    @property
    def before(self) -> CodeOrigin:
        """The origin of what is inserted before an instruction of this origin."""
        return CodeOrigin(self.pc, True)


def own_origins(code: Code) -> list[list[CodeOrigin]]:
    """The origins of code that nothing has happened to yet, block by block."""
    starts = code.block_starts()
    return [[CodeOrigin(pc) for pc in range(starts[n], starts[n + 1])] for n in range(len(code.blocks))]


@dataclass
class Allocation:
    """Allocated code with what is needed to prove it: the virtual code and, for each instruction, where it came from."""

    virtual: Code
    allocated: Code
    origins: list[list[CodeOrigin]]  # per block
