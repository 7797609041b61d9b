"""Variables of a module that a launch from the command line sets, and a word about those that nobody sets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from warploom.emulator.emulator import Emulator
from warploom.emulator.shape import LaunchShape
from warploom.errors import WarploomError
from warploom.errors.names import did_you_mean
from warploom.sass.module import SassModule
from warploom.storage.kept import say
from warploom.workloads.arguments import Argument


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
    unset = [each.name for each in code.variables if each.space == "const" and not any(each.data) and not each.pointers]
    if not isinstance(module, SassModule):
        for name in unset:
            if name not in names:
                say(f"{place}: kernel {kernel} uses the constant {name}, which nobody has set and is zero: --symbol '{name}=...'")


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
