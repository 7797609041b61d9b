"""Checks the arguments of a launch against the kernel's parameters and turns them into bytes."""

from __future__ import annotations

from typing import Any

import numpy as np

from warploom.base.errors import WarploomError
from warploom.compiler.code.instruction import Parameter
from warploom.emulator.device_memory import DeviceArray


class Texture:
    """A texture object: a handle that kernels sample through."""

    def __init__(self, handle: int) -> None:
        self.handle = handle


def pack_arguments(kernel: str, parameters: tuple[Parameter, ...], arguments: tuple[Any, ...]) -> bytes:
    """The parameter space of a launch. Host arrays must have been copied to the device before."""
    if len(arguments) != len(parameters):
        names = ", ".join(parameter.name for parameter in parameters) or "none"
        raise WarploomError(f"{kernel}: {len(arguments)} arguments were given for {len(parameters)} parameters ({names}).")
    size = max((parameter.offset + parameter.size for parameter in parameters), default=0)
    space = bytearray(size)
    for number, (parameter, argument) in enumerate(zip(parameters, arguments, strict=True)):
        raw = _bytes(f"{kernel}: argument {number} ({parameter.name})", parameter, argument)
        space[parameter.offset : parameter.offset + parameter.size] = raw
    return bytes(space)


def _bytes(place: str, parameter: Parameter, argument: Any) -> bytes:
    type_, size = parameter.type, parameter.size
    if isinstance(argument, DeviceArray | Texture):
        value, what = (argument.address, "an array") if isinstance(argument, DeviceArray) else (argument.handle, "a texture")
        if size != 8 or type_[0] == "f":
            raise WarploomError(f"{place}: {what} was given, but the parameter is a {type_}.")
        return value.to_bytes(8, "little")
    if isinstance(argument, bytes) or (isinstance(argument, np.void | np.ndarray) and not parameter.pointer):
        raw = argument if isinstance(argument, bytes) else argument.tobytes()
        if len(raw) != size:
            raise WarploomError(f"{place}: {len(raw)} bytes were given, but the parameter has {size}.")
        return raw
    if parameter.pointer:
        raise WarploomError(f"{place}: the parameter is a pointer; give an array instead of {_words(argument)}.")
    if isinstance(argument, np.generic) and argument.dtype.itemsize != size:
        raise WarploomError(f"{place}: {_words(argument)} has {argument.dtype.itemsize} bytes, but the parameter is a {type_}.")
    if type_[0] == "f":
        return _float(place, type_, argument)
    if size not in (1, 2, 4, 8):
        raise WarploomError(f"{place}: the parameter is a structure of {size} bytes; give bytes instead of {_words(argument)}.")
    if isinstance(argument, np.floating) and type_[0] == "b":
        return argument.tobytes()
    if not isinstance(argument, int | np.integer | np.bool_):
        raise WarploomError(f"{place}: the parameter is a {type_}; give an integer instead of {_words(argument)}.")
    number = int(argument)
    if not -(1 << (8 * size - 1)) <= number < 1 << (8 * size):
        raise WarploomError(f"{place}: {number} does not fit a {type_}.")
    return (number & ((1 << 8 * size) - 1)).to_bytes(size, "little")


def _float(place: str, type_: str, argument: Any) -> bytes:
    if isinstance(argument, bool | int | np.integer | np.bool_) or not isinstance(argument, float | np.floating):
        raise WarploomError(f"{place}: the parameter is a {type_}; give a floating-point number instead of {_words(argument)}.")
    return (np.float32(argument) if type_ == "f32" else np.float64(argument)).tobytes()


def _words(argument: Any) -> str:
    return f"{type(argument).__name__} {argument!r}" if np.isscalar(argument) else type(argument).__name__
