"""Modules that a host program loads by itself, with the methods that CuPy's ``RawModule`` has: kernels and variables by name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from warploom.base.errors import WarploomError
from warploom.base.spelling import did_you_mean
from warploom.emulator.device_memory import DeviceMemory
from warploom.programs.custom import find_kernel
from warploom.programs.program import Kernels

if TYPE_CHECKING:
    from warploom.programs.device import Device


class RawModule:
    """Kernels and variables that were compiled together."""

    def __init__(self, device: Device, content: Kernels, place: str, number: int) -> None:
        self._device, self.content, self._place = device, content, place
        self.suffix = f"@{number}" if number else ""  # tells variables of equal names in several modules apart
        self._kernels: dict[str, RawKernel] = {}

    def get_function(self, name: str) -> RawKernel:
        """A kernel by its name in C++, as much of it as tells it from the others, or its name in PTX."""
        if name not in self._kernels:
            found = find_kernel(self.content, name, self._place)
            self._kernels[name] = RawKernel(self._device, self, found)
        return self._kernels[name]

    def get_global(self, name: str, dtype: Any = np.uint8, shape: int | tuple[int, ...] | None = None) -> DeviceVariable:
        """A ``__constant__`` or ``__device__`` variable, seen as an array of a type; without a shape all of it, in one row."""
        return self._device.symbol(name, dtype, shape, module=self)


class RawKernel:
    """A kernel that can be called as CuPy's are: ``kernel(grid, block, arguments, shared_mem=0)``."""

    def __init__(self, device: Device, module: RawModule, name: str) -> None:
        self._device, self.module, self.name = device, module, name

    def __call__(self, grid: tuple[int, ...], block: tuple[int, ...], args: Sequence[Any], *, shared_mem: int = 0) -> None:
        """Run it to its end."""
        self._device.launch(self, grid, block, *args, shared_bytes=shared_mem)


class DeviceVariable:
    """A variable of a module in device memory, seen as an array."""

    def __init__(self, memory: DeviceMemory, name: str, address: int, dtype: Any, shape: tuple[int, ...]) -> None:
        self._memory, self.name, self.address = memory, name, address
        self.dtype, self.shape = np.dtype(dtype), shape
        self.nbytes = self.dtype.itemsize * int(np.prod(shape, dtype=np.int64))

    def get(self) -> np.ndarray:
        """A copy of the contents."""
        return self._memory.view(self.address, self.nbytes).copy().view(self.dtype).reshape(self.shape)

    def set(self, values: Any) -> None:
        """Replace the contents."""
        given = np.ascontiguousarray(values, self.dtype)
        if given.nbytes != self.nbytes:
            raise WarploomError(f"variable {self.name}: {given.nbytes} bytes were given for {self.nbytes}.")
        self._memory.write(self.address, given.reshape(-1).view(np.uint8), self.nbytes)


def variable_shape(name: str, size: int, dtype: np.dtype, shape: int | tuple[int, ...] | None) -> tuple[int, ...]:
    """The shape in which a variable of so many bytes is seen, or an error where it is not that large."""
    if shape is None:
        if size % dtype.itemsize:
            raise WarploomError(f"variable {name}: its {size} bytes are no whole number of {dtype}.")
        return (size // dtype.itemsize,)
    asked = (shape,) if isinstance(shape, int) else tuple(shape)
    if dtype.itemsize * int(np.prod(asked, dtype=np.int64)) > size:
        raise WarploomError(f"variable {name}: it has {size} bytes, too few for {dtype}{list(asked)}.")
    return asked


def no_variable(name: str, known: Sequence[str], place: str) -> WarploomError:
    """What to say where a module has no such variable."""
    return WarploomError(f"{place}: there is no variable {name!r}{did_you_mean(name, list(known))}.")
