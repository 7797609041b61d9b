"""A PTX kernel to allocated machine code: lowering, narrowing, scheduling, register allocation, spilling."""

from __future__ import annotations

from dataclasses import dataclass

from warploom.compiler.backend.allocate import allocate
from warploom.compiler.backend.lower import lower
from warploom.compiler.code.instruction import Code
from warploom.compiler.ptx.module import Module

__all__ = ["Options", "compile_kernel", "lower"]


@dataclass(frozen=True, slots=True)
class Options:
    """How a kernel is compiled."""

    narrow: bool = True  # addresses are computed in 32 bits
    schedule: bool = True  # instructions are reordered within blocks
    max_registers: int | None = None  # 32-bit registers per thread; more are spilled to local memory
    literal: bool = False  # every PTX instruction one to one, in order
    registers: int | None = None  # of literal code: the number per thread that the launch description states
    verify: bool = True  # prove the allocation before the code is handed out


def compile_kernel(module: Module, kernel_name: str, options: Options | None = None) -> Code:
    """Allocated machine code for one kernel of a parsed module."""
    options = options or Options()
    virtual = lower(module, kernel_name, literal=options.literal, narrow=options.narrow)
    return allocate(virtual, options)
