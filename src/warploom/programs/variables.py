"""Variables of a module that a launch from the command line sets, and a word about those that nobody sets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from warploom.base.errors import WarploomError
from warploom.base.kept import say
from warploom.base.spelling import did_you_mean
from warploom.compiler.code.instruction import Code, Constant, Modified
from warploom.compiler.sass.module import SassModule
from warploom.emulator.emulator import Emulator
from warploom.emulator.shape import LaunchShape
from warploom.programs.arguments import Argument


def set_variables(gpu: Any, module: Any, kernel: str, shape: LaunchShape, given: Sequence[Argument], place: str) -> None:
    """Give variables their values before a launch; constants that are read and that nothing sets are named.

    ``gpu`` is an emulated device; on another one there is nothing to set.
    """
    emulator = getattr(gpu, "emulator", None)
    if not isinstance(emulator, Emulator):
        if given:
            raise WarploomError(f"{place}: variables cannot be set on this device")
        return
    code = gpu.code(kernel, shape)
    emulator.place(code.variables, {})
    for argument in given:
        where = module.variable(argument.name) if isinstance(module, SassModule) else _whole(code.variables, argument.name)
        if where is None or where[0] not in emulator.symbols:
            known = [variable.name for variable in code.variables]
            raise WarploomError(
                f"--symbol {argument.name}: the kernel {kernel} uses no such variable{did_you_mean(argument.name, known)}"
            )
        name, offset, size = where
        data = _bytes(argument, size)
        emulator.memory.view(emulator.symbols[name] + offset, len(data))[:] = np.frombuffer(data, np.uint8)
    names = {argument.name for argument in given}
    for name in _zero_constants_in(module, code) if isinstance(module, SassModule) else _zero_constants(code):
        if name not in names:
            say(f"{place}: kernel {kernel} reads the constant {name}, which was never set and is zero: --symbol '{name}=...'")


def _zero_constants(code: Code) -> list[str]:
    """The constants that code made of PTX uses and that are zero from the start."""
    return [each.name for each in code.variables if each.space == "const" and not any(each.data) and not each.pointers]


def _zero_constants_in(module: SassModule, code: Code) -> list[str]:
    """The same of machine code, whose constants lie in one bank and are read at their places there."""
    assert code.binary is not None
    pieces = {variable.name: variable for variable in code.variables}
    banks = {name: bank for bank, name in code.binary.banks}
    sources = (source for instruction in code.instructions() for source in instruction.srcs)
    plain = (source.operand if isinstance(source, Modified) else source for source in sources)
    reads = {(source.bank, source.offset) for source in plain if isinstance(source, Constant)}
    found = []
    for name in module.variable_names:
        piece, start, size = module.variable(name) or ("", 0, 0)
        read = any(bank == banks[piece] and start <= offset < start + size for bank, offset in reads) if piece in banks else False
        inside = [offset for offset, _, _ in pieces[piece].pointers if start <= offset < start + size] if read else []
        if read and not inside and not any(pieces[piece].data[start : start + size]):
            found.append(name)
    return found


def _whole(variables: Sequence[Any], name: str) -> tuple[str, int, int] | None:
    return next(((each.name, 0, each.size) for each in variables if each.name == name), None)


def _bytes(argument: Argument, size: int) -> bytes:
    """The value of a variable: an array, or one number whose type follows from the size."""
    if argument.array is not None:
        data = argument.array.tobytes()
    else:
        try:
            if size in (4, 8) and any(mark in argument.scalar for mark in ".eE"):
                data = np.array(float(argument.scalar), f"f{size}").tobytes()
            else:
                data = int(argument.scalar, 0).to_bytes(size, "little", signed=True)
        except (ValueError, OverflowError):
            raise WarploomError(
                f"--symbol {argument.name}: {argument.scalar!r} is no value for {size} bytes; give an array, such as f32[4]:ones"
            ) from None
    if len(data) > size:
        raise WarploomError(f"--symbol {argument.name}: {len(data)} bytes were given, but the variable has {size}")
    return data
