"""A real GPU with the methods of `warploom.Device`, through CuPy: the same host function runs on both."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import cupy
import numpy as np
from cupy.cuda import runtime, texture

_USUAL_SHARED_BYTES = 48 * 1024  # more must be asked for


class RealBuffer:
    """An array in the memory of the real device."""

    def __init__(self, array: cupy.ndarray) -> None:
        self.array = array

    @property
    def shape(self) -> tuple[int, ...]:
        """Its extents."""
        return tuple(self.array.shape)

    @property
    def dtype(self) -> np.dtype:
        """The type of its elements."""
        return np.dtype(self.array.dtype)

    @property
    def address(self) -> int:
        """Where it lies on the device."""
        return int(self.array.data.ptr)

    def get(self) -> np.ndarray:
        """A copy of the contents."""
        return cupy.asnumpy(self.array)

    def set(self, values: Any) -> None:
        """Replace the contents."""
        self.array.set(np.ascontiguousarray(values, dtype=self.array.dtype).reshape(self.array.shape))


class RealModule:
    """Kernels and variables that were compiled together, on the real device."""

    def __init__(self, device: RealDevice, module: cupy.RawModule) -> None:
        self._device, self._module = device, module

    def get_function(self, name: str) -> RealKernel:
        """A kernel by its name in PTX."""
        return RealKernel(self._device, self._module.get_function(name))

    def get_global(self, name: str, dtype: Any = np.uint8, shape: int | tuple[int, ...] = 1) -> RealBuffer:
        """A variable, seen as an array of a type and shape."""
        return RealBuffer(cupy.ndarray(shape, dtype, memptr=self._module.get_global(name)))


class RealKernel:
    """A kernel on the real device, called as CuPy's are."""

    def __init__(self, device: RealDevice, function: Any) -> None:
        self._device, self.function = device, function

    def __call__(self, grid: tuple[int, ...], block: tuple[int, ...], args: Sequence[Any], *, shared_mem: int = 0) -> None:
        """Run it to its end."""
        self._device.launch(self, grid, block, *args, shared_bytes=shared_mem)


class RealDevice:
    """The device that host programs see, on a GPU. ``source`` is CUDA C++, PTX, or the path of a ``.ptx`` or ``.cubin`` file."""

    def __init__(self, source: str | Path | None = None, options: Sequence[str] = ()) -> None:
        self._own = self.raw_module(source, options) if source is not None else None
        self._numba: dict[tuple[Any, ...], RealKernel] = {}

    def array(self, values: np.ndarray) -> RealBuffer:
        """Copy an array to the device."""
        return RealBuffer(cupy.asarray(np.ascontiguousarray(values)))

    def raw_module(self, code: str | Path, options: Sequence[str] = ()) -> RealModule:
        """A module of CUDA C++ or PTX; kernels of CUDA C++ are found by name if they are ``extern "C"``."""
        if isinstance(code, Path):
            return RealModule(self, cupy.RawModule(path=str(code)))
        if not any(line.lstrip().startswith(".version") for line in code.splitlines()):
            return RealModule(self, cupy.RawModule(code=code, options=tuple(options)))
        with tempfile.NamedTemporaryFile("w", suffix=".ptx") as file:
            file.write(code)
            file.flush()
            module = cupy.RawModule(path=file.name)
            module.compile()  # reads the file, which goes with this block
            return RealModule(self, module)

    def symbol(self, name: str, dtype: Any = np.uint8, shape: int | tuple[int, ...] = 1) -> RealBuffer:
        """A ``__constant__`` or ``__device__`` variable, seen as an array of a type and shape."""
        assert self._own is not None
        return self._own.get_global(name, dtype, shape)

    def texture(self, values: np.ndarray, *, linear: bool = False, wrap: bool = False, normalized: bool = False) -> Any:
        """A texture object over an array: shape (w,), (h, w) or (d, h, w), with a last axis of 2 or 4 for vector texels."""
        values = np.ascontiguousarray(values)
        components = values.shape[-1] if values.ndim > 1 and values.shape[-1] in (2, 4) else 1
        extent = values.shape[:-1] if components > 1 else values.shape
        bits = [8 * values.itemsize] * components + [0] * (4 - components)
        kinds = {
            "f": runtime.cudaChannelFormatKindFloat,
            "i": runtime.cudaChannelFormatKindSigned,
            "u": runtime.cudaChannelFormatKindUnsigned,
        }
        channel = texture.ChannelFormatDescriptor(*bits, kinds[values.dtype.kind])
        store = texture.CUDAarray(channel, *reversed(extent))
        store.copy_from(values.reshape(*extent[:-1], extent[-1] * components))
        resource = texture.ResourceDescriptor(runtime.cudaResourceTypeArray, cuArr=store)
        mode = runtime.cudaAddressModeWrap if wrap else runtime.cudaAddressModeClamp
        how = texture.TextureDescriptor(
            (mode,) * len(extent),
            runtime.cudaFilterModeLinear if linear else runtime.cudaFilterModePoint,
            runtime.cudaReadModeElementType,
            normalizedCoords=normalized,
        )
        return texture.TextureObject(resource, how)

    def launch(
        self,
        kernel: str | RealKernel | Callable[..., Any],
        grid: tuple[int, ...],
        block: tuple[int, ...],
        *arguments: Any,
        shared_bytes: int = 0,
    ) -> None:
        """Run a kernel to its end; arguments as `warploom.Device.launch` takes them."""
        host = [one if isinstance(one, np.ndarray) and one.ndim and one.dtype.kind != "V" else None for one in arguments]
        given = [self.array(one) if one is not None else argument for one, argument in zip(host, arguments, strict=True)]
        words: list[Any]
        if isinstance(kernel, str):
            assert self._own is not None
            kernel = self._own.get_function(kernel)
        if isinstance(kernel, RealKernel):
            words = [_passed(one) for one in given]
        else:
            kernel, words = self._from_numba(kernel, given)
        if shared_bytes > _USUAL_SHARED_BYTES:
            kernel.function.max_dynamic_shared_size_bytes = shared_bytes
        three = [tuple(int(n) for n in (*shape, 1, 1))[:3] for shape in (grid, block)]
        kernel.function(*three, tuple(words), shared_mem=shared_bytes)
        cupy.cuda.get_current_stream().synchronize()
        for one, buffer in zip(host, given, strict=True):
            if one is not None:
                one[...] = buffer.get()

    def _from_numba(self, function: Callable[..., Any], arguments: Sequence[Any]) -> tuple[RealKernel, list[Any]]:
        from warploom.programs.numba_kernels import compile_numba, flattened, types_key

        key = (function, *types_key(arguments))
        if key not in self._numba:
            text, name = compile_numba(function, arguments)
            self._numba[key] = self.raw_module(text).get_function(name)
        return self._numba[key], list(flattened(arguments))


def _passed(argument: Any) -> Any:
    """An argument as CuPy takes it: its own arrays, NumPy's scalars, and structures as arrays of one element."""
    if isinstance(argument, RealBuffer):
        return argument.array
    if isinstance(argument, bytes):
        return np.frombuffer(argument, np.dtype((np.void, len(argument))))[0]
    if isinstance(argument, bool | int):
        return np.int32(argument) if -(2**31) <= argument < 2**31 else np.int64(argument)
    return argument
