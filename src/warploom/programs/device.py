"""The device as a host program sees it: arrays, textures, variables, launches, each compiled for its shape, then executed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from warploom.base.errors import WarploomError
from warploom.base.printed import say_to_stdout
from warploom.compiler.backend import Options, compile_kernel
from warploom.compiler.code.instruction import Code
from warploom.compiler.ptx.module import Module
from warploom.compiler.sass.module import SassModule
from warploom.emulator.arguments import Texture
from warploom.emulator.budget import DEFAULT_BUDGET
from warploom.emulator.device_memory import DeviceArray, DeviceMemory
from warploom.emulator.emulator import Emulator, ExecutedLaunch
from warploom.emulator.sass.tensor_map import tensor_map
from warploom.emulator.shape import USUAL_SHAPE, LaunchShape, launch_shape
from warploom.emulator.trace.store import TraceStore
from warploom.emulator.turns import USUAL
from warploom.programs.modules import module_symbol, module_variables, renamed
from warploom.programs.numba_kernels import compile_numba, flattened, types_key
from warploom.programs.program import Kernels
from warploom.programs.raw_module import DeviceVariable, RawKernel, RawModule, no_variable, variable_shape
from warploom.programs.source import PTX, Source

Compiler = Callable[[str, LaunchShape], Code]
"""From a kernel's name and the shape of its launch to the code that it runs."""
ModuleCompiler = Callable[[Kernels, str, LaunchShape], Code]
"""The same where kernels come from several modules."""


class Device:
    """An emulated GPU.

    ``source`` is CUDA C++ or PTX as text, kernels that were read before, or a function that gives the code of a kernel for a
    launch; without it, kernels come from `raw_module` or are functions for ``numba.cuda``. ``code`` is what is executed of texts:
    ``ptx``, compiled by our backend with ``options``, or machine code such as ``sm_90``; ``compile_module`` takes the place
    of these. ``record`` keeps the launches' traces in the default store (True), in a store of one's own, or not at all (None);
    ``wanted`` says of a kernel's name and the number of its launch, from 0, whether the trace is kept; without it all are.
    ``check``, ``order``, ``budget``, ``count``, ``memory`` and ``say`` as in `Emulator`. What was launched
    stands in ``launches``.
    """

    def __init__(
        self,
        source: str | Kernels | Compiler | None = None,
        options: Options | None = None,
        *,
        file: str = "<source>",
        code: str = PTX,
        compile_module: ModuleCompiler | None = None,
        record: TraceStore | bool | None = True,
        check: bool | str | Iterable[str] = (),
        order: str = USUAL,
        budget: int = DEFAULT_BUDGET,
        count: bool = False,
        memory: DeviceMemory | None = None,
        say: Callable[[str], None] = say_to_stdout,
        wanted: Callable[[str, int], bool] | None = None,
    ) -> None:
        self._code = code
        self._compile_module = compile_module or usual_compiler(options or Options())
        self._modules: list[RawModule] = []
        self._compiler: Compiler | None = None
        if isinstance(source, str):
            self._add(Source.of_text(source, file).kernels(code), file)
        elif source is not None and callable(source):
            self._compiler = source
        elif source is not None:
            self._add(source, file)
        store = TraceStore() if record is True else record or None
        self.emulator = Emulator(record=store, check=check, order=order, budget=budget, count=count, memory=memory, say=say)
        self._codes: dict[tuple[str, str, int, int], Code | WarploomError] = {}  # what compilation gave, or why it gave nothing
        self._numba: dict[tuple[Any, ...], RawKernel] = {}
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
        layered: bool = False,
    ) -> Texture:
        """A texture object over an array: shape (w,), (h, w) or (d, h, w), with a last axis of 2 or 4 for vector texels.

        The first axis of a layered one counts its layers.
        """
        values = np.ascontiguousarray(values)
        channels = values.shape[-1] if values.ndim > 1 and values.shape[-1] in (2, 4) else 1
        shape = values.shape[:-1] if channels > 1 else values.shape
        if not 1 <= len(shape) <= 3 or values.size == 0:
            raise WarploomError(f"a texture cannot have the shape {values.shape}: one to three dimensions are possible.")
        if layered and len(shape) == 1:
            raise WarploomError(f"a layered texture cannot have the shape {values.shape}: its first axis counts the layers.")
        if values.dtype not in (np.float32, np.int32, np.uint32, np.int16, np.uint16, np.int8, np.uint8):
            raise WarploomError(f"a texture cannot have texels of type {values.dtype}: use float32 or integers of up to 32 bits.")
        if linear and values.dtype != np.float32:
            raise WarploomError(f"a texture of {values.dtype} cannot be filtered: only float32 can.")
        return self.emulator.texture(values, shape, channels, linear, 1 if wrap else 2 if border else 0, normalized, layered)

    def surface(self, array: DeviceArray) -> Texture:
        """A surface object over an array on the device; shapes as those of textures. What kernels write changes the array."""
        shape = array.shape
        channels = shape[-1] if len(shape) > 1 and shape[-1] in (2, 4) else 1
        extents = shape[:-1] if channels > 1 else shape
        if not 1 <= len(extents) <= 3 or 0 in shape:
            raise WarploomError(f"a surface cannot have the shape {shape}: one to three dimensions are possible.")
        return self.emulator.texture_over(array.address, extents, channels, array.dtype, False, 0, False)

    def tensor_map(
        self,
        array: DeviceArray,
        box: Sequence[int],
        *,
        swizzle: int = 0,
        steps: Sequence[int] | None = None,
        nan: bool = False,
    ) -> bytes:
        """The 128 bytes that describe an array to copies of tiles (``CUtensorMap``), for a ``__grid_constant__`` parameter.

        ``box`` has the extents of a tile, the last axis last, as the array's shape. Pieces of 16 bytes are exchanged within
        ``swizzle`` bytes: 32, 64 or 128. ``steps`` are taken along each axis but the last; with ``nan``, floating-point
        numbers outside of the array are NaNs instead of zeros.
        """
        return tensor_map(array, box, swizzle, steps, nan)

    def bind_texture(self, name: str, texture: Texture) -> None:
        """Let a texture reference of the module mean this texture."""
        self.emulator.bind_texture(name, texture)

    def raw_module(self, code: str, options: Sequence[str] = ()) -> RawModule:
        """A module of CUDA C++ or PTX, as CuPy's ``RawModule`` takes it; ``options`` are for the compiler of CUDA C++."""
        place = f"module {len(self._modules)}"
        return self._add(Source.of_text(code, place, options).kernels(self._code), place)

    def symbol(
        self,
        name: str,
        dtype: Any = np.uint8,
        shape: int | tuple[int, ...] | None = None,
        *,
        module: RawModule | None = None,
    ) -> DeviceVariable:
        """A ``__constant__`` or ``__device__`` variable, seen as an array of a type; without a shape all of it, in one row."""
        home = module or (self._modules[0] if self._modules else None)
        content = home.content if home is not None else None
        if home is None or not isinstance(content, Module | SassModule):
            raise WarploomError(f"variable {name}: this device has no module whose variables are known by name.")
        self.emulator.place(module_variables(content, home.suffix), {})
        found = module_symbol(content, home.suffix, name)
        if found is None or found[0] not in self.emulator.symbols:
            known = content.variable_names if isinstance(content, SassModule) else tuple(content.variables)
            raise no_variable(name, known, "the module")
        placed, offset, size = found
        asked = variable_shape(name, size, np.dtype(dtype), shape)
        return DeviceVariable(self.emulator.memory, name, self.emulator.symbols[placed] + offset, dtype, asked)

    def code(self, kernel: str | RawKernel, shape: LaunchShape = USUAL_SHAPE) -> Code:
        """The code that a launch of this shape runs: compiled once for all of equal threads and shared memory."""
        if isinstance(kernel, str) and self._compiler is None:
            kernel = self._named(kernel)
        name, home = (kernel, None) if isinstance(kernel, str) else (kernel.name, kernel.module)
        key = (name, home.suffix if home else "", shape.threads, shape.dynamic_shared_bytes)
        if key not in self._codes:
            self._codes[key] = self._compiled(name, home, shape)
        made = self._codes[key]
        if isinstance(made, WarploomError):
            raise made
        return made

    def _compiled(self, name: str, home: RawModule | None, shape: LaunchShape) -> Code | WarploomError:
        try:
            if home is not None:
                return renamed(self._compile_module(home.content, name, shape), home.suffix)
            assert self._compiler is not None
            return self._compiler(name, shape)
        except WarploomError as problem:
            return problem

    def launch(
        self,
        kernel: str | RawKernel | Callable[..., Any],
        grid: tuple[int, ...],
        block: tuple[int, ...],
        *arguments: Any,
        shared_bytes: int = 0,
        cluster: tuple[int, ...] | None = None,
    ) -> None:
        """Run a kernel to its end: one of the first module by its name, one of another module, or a function for ``numba.cuda``.

        Arguments are device arrays, textures, NumPy or Python scalars (floats for float parameters), bytes for structures,
        and NumPy arrays, which are copied to the device, and back when the kernel has ended. ``cluster`` says how many blocks
        are resident together, where the kernel does not.
        """
        named = kernel if isinstance(kernel, str) else getattr(kernel, "name", getattr(kernel, "__name__", "kernel"))
        shape = launch_shape(named, grid, block, shared_bytes, cluster)
        copies = [(array, self.array(array)) if _is_host_array(array) else None for array in arguments]
        passed = tuple(copy[1] if copy else one for one, copy in zip(arguments, copies, strict=True))
        if not isinstance(kernel, str | RawKernel):
            kernel, passed = self._from_numba(kernel, passed), tuple(word.tobytes() for word in flattened(passed))
        self.emulator.recording = self._wanted is None or self._wanted(named, self._launched[named])
        self._launched[named] += 1
        self.launches.append(self.emulator.execute(self.code(kernel, shape), shape, passed))
        for copy in reversed(copies):
            if copy:
                copy[0][...] = copy[1].get()
                self.emulator.free(copy[1])

    def _add(self, content: Kernels, place: str) -> RawModule:
        self._modules.append(RawModule(self, content, place, len(self._modules)))
        return self._modules[-1]

    def _named(self, kernel: str) -> RawKernel:
        if not self._modules:
            raise WarploomError(f"{kernel}: this device was made without kernels; load some with raw_module.")
        return self._modules[0].get_function(kernel)

    def _from_numba(self, function: Callable[..., Any], arguments: Sequence[Any]) -> RawKernel:
        key = (function, *types_key(arguments))
        if key not in self._numba:
            text, name = compile_numba(function, arguments)
            self._numba[key] = self.raw_module(text).get_function(name)
        return self._numba[key]


def usual_compiler(options: Options) -> ModuleCompiler:
    """What compiles kernels for no design in particular: PTX with our backend; machine code is there already."""

    def compiled(module: Kernels, kernel: str, shape: LaunchShape) -> Code:
        code = compile_kernel(module, kernel, options) if isinstance(module, Module) else module.kernel(kernel)
        return replace(code, threads=shape.threads, dynamic_shared_bytes=shape.dynamic_shared_bytes)

    return compiled


def _is_host_array(argument: Any) -> bool:
    return isinstance(argument, np.ndarray) and argument.ndim > 0 and argument.dtype.kind != "V"
