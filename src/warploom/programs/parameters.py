"""Which bytes of its parameters a kernel can read: the rest, padding inside structures, is whatever the program's stack held."""

from __future__ import annotations

from warploom.compiler.ptx.module import Function, MemoryOperand, ParameterAddress, PtxParameter
from warploom.compiler.ptx.types import SIZE


def read_bytes(kernel: Function, size: int) -> tuple[bool, ...]:
    """For each byte of the parameter space whether the kernel reads it; all where it takes a parameter's address."""
    used = [False] * size
    if kernel.problem:
        return (True,) * size
    for instruction in kernel.body:
        for operand in instruction.operands:
            if isinstance(operand, ParameterAddress):
                return (True,) * size
            if (
                isinstance(operand, MemoryOperand)
                and isinstance(operand.base, PtxParameter)
                and operand.base in kernel.parameters
            ):
                start = operand.base.offset + operand.offset
                end = start + instruction.opcode.vector * SIZE[instruction.opcode.type or "b64"]
                used[start:end] = [True] * (min(end, size) - start)
        if instruction.call is not None and any(each in kernel.parameters for each in instruction.call.arguments):
            return (True,) * size
    return tuple(used)


def masked(parameters: bytes, used: tuple[bool, ...]) -> bytes:
    """Parameters with zeros where nobody looks."""
    return parameters if all(used) else bytes(byte if use else 0 for byte, use in zip(parameters, used, strict=True))
