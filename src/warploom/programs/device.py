"""The device as a host program sees it: arrays, textures, launches. A launch is compiled for its shape, then executed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from warploom.backend import Options, compile_kernel
from warploom.code.instruction import Code
from warploom.emulator.arguments import Texture
from warploom.emulator.budget import DEFAULT_BUDGET
from warploom.emulator.device_memory import DeviceArray, DeviceMemory
from warploom.emulator.emulator import Emulator, ExecutedLaunch
from warploom.emulator.shape import USUAL_SHAPE, LaunchShape, launch_shape
from warploom.errors import WarploomError
from warploom.ptx import parse
from warploom.ptx.module import Module
from warploom.trace.store import TraceStore

Compiler = Callable[[str, LaunchShape], Code]
"""From a kernel's name and the shape of its launch to the code that it runs."""


class Device:
    """An emulated GPU with the kernels of one module.

    ``source`` is PTX text, a parsed module, or a function that gives the code of a kernel for a launch. ``record`` keeps the
    launches' traces in the default store (True), in a store of one's own, or not at all (None); ``check``, ``budget`` and
    ``count`` and ``memory`` as in `Emulator`. ``wanted`` says of a kernel's name and the number of its launch, from 0, whether
    the trace is kept; without it all are. What was launched stands in ``launches``.
    """

    def __init__(
        self,
        source: str | Module | Compiler,
        options: Options | None = None,
        *,
        file: str = "<ptx>",
        record: TraceStore | bool | None = True,
        check: bool = False,
        budget: int = DEFAULT_BUDGET,
        count: bool = False,
        memory: DeviceMemory | None = None,
        wanted: Callable[[str, int], bool] | None = None,
    ) -> None:
        if isinstance(source, str):
            source = parse(source, file)
        self._compiler = module_compiler(source, options or Options()) if isinstance(source, Module) else source
        store = TraceStore() if record is True else record or None
        self.emulator = Emulator(record=store, check=check, budget=budget, count=count, memory=memory)
        self._codes: dict[tuple[str, int, int], Code] = {}
        self._wanted = wanted
        self._launched: Counter[str] = Counter()
        self.launches: list[ExecutedLaunch] = []

    def array(self, values: np.ndarray) -> DeviceArray:
        """Copy an array to the device."""
        return self.emulator.array(values)

    def texture(
        self,
        values: np.ndarray,
        *,
        linear: bool = False,
        wrap: bool = False,
        normalized: bool = False,
        border: bool = False,
    ) -> Texture:
        """A texture object over an array: shape (w,), (h, w) or (d, h, w), with a last axis of 2 or 4 for vector texels."""
        values = np.ascontiguousarray(values)
        channels = values.shape[-1] if values.ndim > 1 and values.shape[-1] in (2, 4) else 1
        shape = values.shape[:-1] if channels > 1 else values.shape
        if not 1 <= len(shape) <= 3 or values.size == 0:
            raise WarploomError(f"a texture cannot have the shape {values.shape}: one to three dimensions are possible.")
        if values.dtype not in (np.float32, np.int32, np.uint32, np.int16, np.uint16, np.int8, np.uint8):
            raise WarploomError(f"a texture cannot have texels of type {values.dtype}: use float32 or integers of up to 32 bits.")
        if linear and values.dtype != np.float32:
            raise WarploomError(f"a texture of {values.dtype} cannot be filtered: only float32 can.")
        return self.emulator.texture(values, shape, channels, linear, 1 if wrap else 2 if border else 0, normalized)

    def bind_texture(self, name: str, texture: Texture) -> None:
        """Let a texture reference of the module mean this texture."""
        self.emulator.bind_texture(name, texture)

    def symbol(self, name: str) -> int:
        """The address of a module-level variable that some launched kernel uses."""
        return self.emulator.symbol(name)

    def code(self, kernel: str, shape: LaunchShape = USUAL_SHAPE) -> Code:
        """The code that a launch of this shape runs: compiled once for all of equal threads and shared memory."""
        key = (kernel, shape.threads, shape.dynamic_shared_bytes)
        if key not in self._codes:
            self._codes[key] = self._compiler(kernel, shape)
        return self._codes[key]

    def launch(self, kernel: str, grid: tuple[int, ...], block: tuple[int, ...], *arguments: Any, shared_bytes: int = 0) -> None:
        """Run a kernel to its end.

        Arguments are device arrays, textures, NumPy or Python scalars (floats for float parameters), bytes for structures,
        and NumPy arrays, which are copied to the device, and back when the kernel has ended.
        """
        shape = launch_shape(kernel, grid, block, shared_bytes)
        code = self.code(kernel, shape)
        copies = [(array, self.array(array)) if _is_host_array(array) else None for array in arguments]
        passed = tuple(copy[1] if copy else one for one, copy in zip(arguments, copies, strict=True))
        self.emulator.recording = self._wanted is None or self._wanted(kernel, self._launched[kernel])
        self._launched[kernel] += 1
        self.launches.append(self.emulator.execute(code, shape, passed))
        for copy in reversed(copies):
            if copy:
                copy[0][...] = copy[1].get()
                self.emulator.free(copy[1])


def module_compiler(module: Module, options: Options) -> Compiler:
    """What compiles the kernels of a PTX module with our backend, for no design in particular."""

    def compiled(kernel: str, shape: LaunchShape) -> Code:
        code = compile_kernel(module, kernel, options)
        return replace(code, threads=shape.threads, dynamic_shared_bytes=shape.dynamic_shared_bytes)

    return compiled


def _is_host_array(argument: Any) -> bool:
    return isinstance(argument, np.ndarray) and argument.ndim > 0 and argument.dtype.kind != "V"
