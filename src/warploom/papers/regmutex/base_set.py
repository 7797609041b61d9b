"""What compiled code says of its registers: how many of them, from R0 on, a warp owns all its life."""

from __future__ import annotations

from dataclasses import replace

from warploom.compiler.code.instruction import Code

BASE_REGISTERS = "regmutex.base_registers"


def base_registers(code: Code) -> int:
    """The size of the base set where code acquires its other registers; 0 where a warp owns all of them."""
    return code.annotations.get(BASE_REGISTERS, 0)


def with_base_set(code: Code, base: int, registers: int) -> Code:
    """Code that asks for so many registers, `base` of them in the base set."""
    return replace(code, registers=registers, annotations={**code.annotations, BASE_REGISTERS: base})
