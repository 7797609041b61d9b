"""The emulated GPU as a host program sees it: arrays, textures and launches."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from warploom.backend import Options, compile_kernel
from warploom.code.graph import fewest_instructions
from warploom.code.instruction import Code, Variable
from warploom.emulator.arguments import Texture, pack_arguments
from warploom.emulator.budget import DEFAULT_BUDGET
from warploom.emulator.device_memory import DeviceArray, DeviceMemory
from warploom.emulator.encode import Program, encode
from warploom.emulator.extents import Shape, extent_problem
from warploom.emulator.faults import KernelFault, fault_error
from warploom.emulator.launch import GRID_ADDRESS, GRID_BYTES, Launch, LaunchStats
from warploom.emulator.records import TEXTURE_DTYPE, Fault, Outcome
from warploom.emulator.sass.encode import encode_sass
from warploom.errors import WarploomError
from warploom.ptx import parse
from warploom.ptx.module import Module
from warploom.storage.sources import file_digest, surroundings
from warploom.trace.format import Trace
from warploom.trace.store import TraceStore

Compile = Callable[[str, int, int], Code]
"""From a kernel's name, the threads of a CTA and its bytes of dynamic shared memory to allocated code."""

WARP = 32
MOST_SHARED_BYTES = 227 * 1024


@dataclass(frozen=True, slots=True)
class LaunchRecord:
    """One launch that has ended."""

    code: Code
    trace: Trace | None
    stats: LaunchStats
    grid: Shape
    block: Shape
    shared_bytes: int  # dynamic
    counts: np.ndarray | None = None  # per instruction of SASS, where asked for: executed warps, lanes, lanes whose guard held


class Device:
    """Runs kernels of one module.

    ``source`` is PTX text, a parsed module, or a function that compiles a kernel by name. ``transform`` changes allocated code
    before it is run, as a design's compile-time pass does. Launches are recorded in the default store of traces, in the store
    given as ``record``, or not at all (None). With ``check``, every value written is also compressed and decompressed again.
    ``budget`` is how many warp instructions one launch may execute; a launch that wants more is stopped with an error.
    """

    def __init__(
        self,
        source: str | Module | Compile,
        options: Options | None = None,
        *,
        file: str = "<ptx>",
        transform: Callable[[Code], Code] | None = None,
        record: TraceStore | bool | None = True,
        check: bool = False,
        budget: int = DEFAULT_BUDGET,
        count: bool = False,
        memory: DeviceMemory | None = None,
    ) -> None:
        if isinstance(source, str):
            source = parse(source, file)
        self._compile: Compile
        if isinstance(source, Module):
            module = source
            self._compile = lambda kernel, threads, dynamic: replace(
                compile_kernel(module, kernel, options or Options()), threads=threads, dynamic_shared_bytes=dynamic
            )
        else:
            self._compile = source
        self._transform = transform
        self._store = TraceStore() if record is True else record or None
        self._check = check
        self._budget = budget
        self._count = count
        self._memory = memory or DeviceMemory()
        self._programs: dict[tuple[str, int, int], Program] = {}
        self._symbols: dict[str, int] = {}
        self._textures = np.zeros(1, TEXTURE_DTYPE)  # the last row is a spare, so that the table is never empty
        self._arrays = 0
        self.launches: list[LaunchRecord] = []

    @property
    def memory(self) -> DeviceMemory:
        """The device's memory, for those who deal in addresses."""
        return self._memory

    @property
    def symbols(self) -> Mapping[str, int]:
        """Where the module-level variables lie that have been placed so far."""
        return self._symbols

    def place(self, variables: tuple[Variable, ...], at: Mapping[str, int] | None = None) -> None:
        """Place module-level variables before any kernel needs them; ``at`` gives addresses that somebody else chose."""
        self._load(variables, at or {})

    def array(self, values: np.ndarray) -> DeviceArray:
        """Copy an array to the device."""
        self._arrays += 1
        return DeviceArray(self._memory, values, f"array {self._arrays - 1}")

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
        return self._new_texture(values, shape, channels, linear, 1 if wrap else 2 if border else 0, normalized)

    def _new_texture(
        self, values: np.ndarray, shape: tuple[int, ...], channels: int, linear: bool, addressing: int, normalized: bool
    ) -> Texture:
        address = DeviceArray(self._memory, values, f"texture {len(self._textures) - 1}").address
        return self.texture_over(address, shape, channels, values.dtype, linear, addressing, normalized)

    def texture_over(
        self,
        address: int,
        shape: tuple[int, ...],
        channels: int,
        dtype: np.dtype,
        linear: bool,
        addressing: int,
        normalized: bool,
    ) -> Texture:
        """A texture object over texels that lie in device memory, row after row without gaps."""
        number = len(self._textures) - 1
        self._textures = np.concatenate([self._textures[:-1], np.zeros(2, TEXTURE_DTYPE)])
        row = self._textures[number]
        depth, height, width = (1, 1, *shape)[-3:] if len(shape) < 3 else shape
        row["address"], row["width"], row["height"], row["depth"] = address, width, height, depth
        row["dimensions"], row["channels"] = len(shape), channels
        row["size"], row["signed"] = dtype.itemsize, dtype.kind == "i"
        row["linear"], row["addressing"], row["normalized"] = linear, addressing, normalized
        return Texture(number + 1)

    def bind_texture(self, name: str, texture: Texture) -> None:
        """Let a texture reference of the module mean this texture."""
        self._symbols[name] = texture.handle

    def symbol(self, name: str) -> int:
        """The address of a module-level variable that some launched kernel uses."""
        if name not in self._symbols:
            raise WarploomError(f"no kernel that was launched uses a variable {name}.")
        return self._symbols[name]

    def code(self, kernel: str, threads: int = 256, shared_bytes: int = 0) -> Code:
        """The code that a launch runs which has so many threads per CTA and asks for so much dynamic shared memory."""
        return self._program(kernel, threads, shared_bytes).code

    def launch(self, kernel: str, grid: tuple[int, ...], block: tuple[int, ...], *arguments: Any, shared_bytes: int = 0) -> None:
        """Run a kernel to its end.

        Arguments are device arrays, textures, NumPy or Python scalars (floats for float parameters), bytes for structures,
        and NumPy arrays, which are copied to the device, and back when the kernel has ended.
        """
        whole_grid, whole_block = _shape(kernel, "grid", grid), _shape(kernel, "block", block)
        threads = math.prod(whole_block)
        program = self._program(kernel, threads, shared_bytes)
        code = program.code
        if code.required_block is not None and code.required_block != whole_block:
            raise WarploomError(f"{kernel}: the kernel demands blocks of {code.required_block}, not {whole_block}.")
        if not 0 <= code.shared_bytes + shared_bytes <= MOST_SHARED_BYTES:
            total = code.shared_bytes + shared_bytes
            raise WarploomError(f"{kernel}: {total} bytes of shared memory were asked for; {MOST_SHARED_BYTES} is the most.")
        self._check_budget(code, math.prod(whole_grid), -(-threads // WARP))
        self._load(code.variables, {})
        copies = [(array, self.array(array)) if _is_host_array(array) else None for array in arguments]
        passed = tuple(copy[1] if copy else one for one, copy in zip(arguments, copies, strict=True))
        cooperative = not GRID_ADDRESS.keys().isdisjoint(program.specials)
        grid_address = self._memory.allocate(GRID_BYTES, "what the grid synchronises through") if cooperative else 0
        launch = Launch(
            program=program,
            memory=self._memory,
            textures=self._textures,
            parameters=pack_arguments(kernel, code.parameters, passed),
            symbols=self._symbols,
            grid=whole_grid,
            block=whole_block,
            shared_bytes=code.shared_bytes + shared_bytes,
            dynamic_bytes=shared_bytes,
            number=len(self.launches),
            budget=self._budget,
            check=self._check,
            grid_address=grid_address,
            counts=np.zeros((len(code), 3), np.int64) if self._count and code.binary is not None else None,
        )
        try:
            trace, stats = self._run(launch)
        finally:
            if cooperative:
                self._memory.free(grid_address)
        for copy in reversed(copies):
            if copy:
                copy[0][...] = copy[1].get()
                self._memory.free(copy[1].address)
        self.launches.append(LaunchRecord(code, trace, stats, whole_grid, whole_block, shared_bytes, launch.counts))

    def _check_budget(self, code: Code, ctas: int, warps_per_cta: int) -> None:
        """Refuse a launch that cannot end within the budget, before it has cost anything."""
        least = ctas * warps_per_cta * fewest_instructions(code)
        if least > self._budget:
            raise WarploomError(
                f"{code.name}: {ctas} blocks of {warps_per_cta} warps execute at least {least} warp instructions, "
                f"but the budget is {self._budget}: launch fewer blocks, or raise the budget "
                "(--max-instructions, or max_instructions in Python)."
            )

    def _run(self, launch: Launch) -> tuple[Trace | None, LaunchStats]:
        key = _content_key(launch) if self._store is not None else ""
        trace = self._store.get(key) if self._store is not None and not self._check else None
        writer = None
        if self._store is not None and trace is None:
            warps = -(-math.prod(launch.block) // WARP)
            writer = self._store.write(key, launch.program.code.name, launch.grid, launch.block, warps)
        try:
            outcome, stats = launch.run(writer)
            if outcome is Outcome.FAULT:
                raise KernelFault(str(fault_error(launch)), Fault(int(launch.machine[0]["fault"])))
        except BaseException:
            if writer is not None:
                writer.abandon()
            raise
        return (writer.finish() if writer is not None else trace), stats

    def _program(self, kernel: str, threads: int, dynamic_bytes: int) -> Program:
        key = (kernel, threads, dynamic_bytes)
        if key not in self._programs:
            code = self._compile(*key)
            if self._transform is not None:
                code = self._transform(code)
            self._programs[key] = encode(code) if code.binary is None else encode_sass(code)
        return self._programs[key]

    def _load(self, variables: tuple[Variable, ...], at: Mapping[str, int]) -> None:
        """Place the module-level variables that a kernel needs and that no kernel before it needed."""
        new = [variable for variable in variables if variable.name not in self._symbols]
        for variable in new:
            if variable.space == "texref":
                raise WarploomError(f"texture reference {variable.name} is not bound: call bind_texture before the launch.")
            what = f"variable {variable.name}"
            if variable.name in at:
                self._memory.allocate_at(at[variable.name], variable.size, what)
            self._symbols[variable.name] = at.get(variable.name) or self._memory.allocate(variable.size, what)
        for variable in new:
            address = self._symbols[variable.name]
            contents = self._memory.view(address, variable.size)
            contents[: len(variable.data)] = np.frombuffer(variable.data, np.uint8)
            for offset, symbol, size in variable.pointers:
                target = self._symbols[symbol.name] + symbol.offset
                contents[offset : offset + size] = np.frombuffer(target.to_bytes(size, "little"), np.uint8)


def _is_host_array(argument: Any) -> bool:
    return isinstance(argument, np.ndarray) and argument.ndim > 0 and argument.dtype.kind != "V"


def _shape(kernel: str, what: str, shape: tuple[int, ...]) -> Shape:
    numbers = tuple(int(n) for n in shape)
    if not 1 <= len(numbers) <= 3 or min(numbers) < 1:
        raise WarploomError(f"{kernel}: the {what} {shape} must be one to three positive numbers.")
    x, y, z = (*numbers, 1, 1)[:3]
    problem = extent_problem(what, (x, y, z))
    if problem:
        raise WarploomError(f"{kernel}: {problem}.")
    return x, y, z


def _content_key(launch: Launch) -> str:
    """A digest of all that the trace of a launch depends on."""
    code = launch.program.code
    digest = hashlib.sha256()
    texts = [str(instruction) for instruction in code.instructions()]
    about = (code.name, code.literal, code.local_bytes, code.block_starts(), launch.grid, launch.block, launch.shared_bytes)
    emulator = (file_digest(__file__), surroundings())
    digest.update(repr((emulator, about, texts, sorted(launch.symbols.items()))).encode())
    digest.update(launch.parameters)
    digest.update(launch.textures.tobytes())
    for address, size, contents in launch.memory.contents():
        digest.update(f"{address} {size}".encode())
        digest.update(contents.data)
    return digest.hexdigest()[:32]
