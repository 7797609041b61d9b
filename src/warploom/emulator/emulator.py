"""The emulated GPU: memory, variables and textures, and the execution of machine code on them."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from warploom.base.checks import MEMORY, REGISTERS, check_words
from warploom.base.errors import WarploomError
from warploom.base.printed import say_to_stdout
from warploom.base.records import dtype_of
from warploom.base.sources import file_digest, surroundings
from warploom.compiler.code.graph import fewest_instructions
from warploom.compiler.code.instruction import Code, Symbol, Variable
from warploom.emulator.arguments import Texture, pack_arguments
from warploom.emulator.budget import DEFAULT_BUDGET
from warploom.emulator.calls import SuppliedFunctions
from warploom.emulator.device_heap import DeviceHeap
from warploom.emulator.device_memory import Copied, DeviceArray, DeviceMemory
from warploom.emulator.encode import EncodedKernel, encode
from warploom.emulator.faults import KernelFault, fault_error
from warploom.emulator.fingerprint import fingerprint
from warploom.emulator.launch import GRID_ADDRESS, GRID_BYTES, LaunchStats, RunningLaunch
from warploom.emulator.records import COUNTS, Fault, ReturnReason, TextureRecord
from warploom.emulator.sass.constants import Needs, bank_bytes, needs_of, with_reserved_bytes
from warploom.emulator.sass.encode import encode_sass
from warploom.emulator.sass.records import SassKind
from warploom.emulator.shape import LaunchShape
from warploom.emulator.slots import KeptSlots
from warploom.emulator.trace.format import Trace
from warploom.emulator.trace.store import TraceStore
from warploom.emulator.turns import USUAL, seed_of
from warploom.emulator.watch.findings import Finding, Findings

MOST_CLUSTER = 16
MOST_SHARED_BYTES = 227 * 1024
MOST_LOCAL_BYTES = 512 * 1024  # of a thread, on every compute capability
_WRITES_UNSEEN = (SassKind.SURFACE, SassKind.TENSOR_COPY)  # device memory, byte by byte: what they leave alone is not known
MOST_EXTENT = 2**31 - 1  # of a texture


@dataclass(frozen=True, slots=True)
class ExecutedLaunch:
    """One launch that has ended."""

    code: Code
    trace: Trace | None
    stats: LaunchStats
    shape: LaunchShape
    copied: tuple[Copied, ...] = ()  # what the host wrote to device memory between the launch before and this one
    counts: np.ndarray | None = None  # per instruction of SASS, where asked for: executed warps, lanes, lanes whose guard held
    repeats: np.ndarray | None = None  # and warps and lanes that executed it again, having waited there


@dataclass(frozen=True, slots=True)
class _Prepared:
    """What is worked out once for each code, however often it is launched."""

    code: Code  # kept alive, since its identity is the key
    kernel: EncodedKernel
    text: bytes  # what the key of a trace takes of the code
    fewest: int  # instructions on the shortest way through it
    needs: Needs  # what its launches must provide
    takes_memory: bool  # whether it calls malloc


class Emulator:
    """Executes machine code.

    Launches are recorded in the store of traces given as ``record``, or not at all (None). ``check`` names what is watched
    (`warploom.base.checks`): with ``registers``, every value written is also compressed and decompressed again; what ``races``
    and ``memory`` find is in ``findings``. ``order`` is that of the warps (`warploom.emulator.turns`). ``budget`` is how many
    warp instructions one launch may execute; a launch that wants more is stopped with an error. ``count`` counts the executions
    of each instruction of SASS. ``say`` gets what a launch has printed, when it ends.
    """

    def __init__(
        self,
        *,
        record: TraceStore | None = None,
        check: bool | str | Iterable[str] = (),
        order: str = USUAL,
        budget: int = DEFAULT_BUDGET,
        count: bool = False,
        memory: DeviceMemory | None = None,
        say: Callable[[str], None] = say_to_stdout,
    ) -> None:
        self._store = record
        self.recording = True  # whether the next launch goes to the store
        self.checks = check_words(check)
        self._seed = seed_of(order)
        self._budget = budget
        self._count = count
        self.memory = memory or DeviceMemory()
        if MEMORY in self.checks:
            self.memory.watch()
        self._found = Findings()
        self.supplied = SuppliedFunctions(DeviceHeap(self.memory), say, self._found)
        self._prepared: dict[int, _Prepared] = {}  # by identity of the code
        self.symbols: dict[str, int] = {}  # where module-level variables lie that have been placed so far
        self._textures = np.zeros(1, dtype_of(TextureRecord))  # the last row is a spare, so that the table is never empty
        self._arrays = 0
        self._slots = KeptSlots()
        self._launches = 0

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What checks have found so far, the same in several launches counted together."""
        return tuple(self._found)

    def array(self, values: np.ndarray) -> DeviceArray:
        """Copy an array to the device."""
        self._arrays += 1
        return DeviceArray(self.memory, values, f"array {self._arrays - 1}")

    def free(self, array: DeviceArray) -> None:
        """Give an array's memory back."""
        self.memory.free(array.address)

    def texture(
        self,
        values: np.ndarray,
        shape: tuple[int, ...],
        channels: int,
        linear: bool,
        addressing: int,
        normalized: bool,
        layered: bool = False,
    ) -> Texture:
        """A texture over a copy of an array, whose texels have so many channels."""
        address = DeviceArray(self.memory, values, f"texture {len(self._textures) - 1}").address
        return self.texture_over(address, shape, channels, values.dtype, linear, addressing, normalized, layered)

    def texture_over(
        self,
        address: int,
        shape: tuple[int, ...],
        channels: int,
        dtype: np.dtype,
        linear: bool,
        addressing: int,
        normalized: bool,
        layered: bool = False,
    ) -> Texture:
        """A texture over texels that lie in device memory, row after row without gaps; of layers the first dimension counts."""
        layers, extents = (shape[0], shape[1:]) if layered else (0, shape)
        if not 1 <= len(extents) <= 3 or not all(1 <= extent <= MOST_EXTENT for extent in shape):
            raise WarploomError(f"a texture cannot have the extents {shape}: one to three from 1 to {MOST_EXTENT} are possible.")
        self.memory.check(address, math.prod(shape) * channels * dtype.itemsize, "a texture")
        number = len(self._textures) - 1
        self._textures = np.concatenate([self._textures[:-1], np.zeros(2, dtype_of(TextureRecord))])
        row = self._textures[number]
        depth, height, width = (1, 1, *extents)[-3:] if len(extents) < 3 else extents
        row["address"], row["width"], row["height"], row["depth"] = address, width, height, max(depth, layers)
        row["dimensions"], row["channels"], row["layers"] = len(extents), channels, layers
        row["size"], row["signed"] = dtype.itemsize, dtype.kind == "i"
        row["linear"], row["addressing"], row["normalized"] = linear, addressing, normalized
        return Texture(number + 1)

    def bind_texture(self, name: str, texture: Texture) -> None:
        """Let a texture reference of the module mean this texture."""
        self.symbols[name] = texture.handle

    def execute(self, code: Code, shape: LaunchShape, arguments: tuple[Any, ...]) -> ExecutedLaunch:
        """Run a kernel's code to its end. Arguments are device arrays, textures, scalars, and bytes for structures."""
        shared_bytes = code.shared_bytes + shape.dynamic_shared_bytes
        if code.required_block is not None and code.required_block != shape.block:
            raise WarploomError(f"{code.name}: the kernel demands blocks of {code.required_block}, not {shape.block}.")
        if not 0 <= shared_bytes <= MOST_SHARED_BYTES:
            raise WarploomError(
                f"{code.name}: {shared_bytes} bytes of shared memory were asked for; {MOST_SHARED_BYTES} is the most."
            )
        if code.local_bytes > MOST_LOCAL_BYTES:
            raise WarploomError(
                f"{code.name}: a thread of it has {code.local_bytes} bytes of local memory; {MOST_LOCAL_BYTES} are the most."
            )
        prepared = self._prepare(code)
        if prepared.needs.reserved_bytes:
            shared_bytes = with_reserved_bytes(code, shared_bytes)
        self._check_budget(code, shape, prepared.fewest)
        self.place(code.variables, {})
        copied = self.memory.take_copies()
        if prepared.takes_memory:
            self.supplied.heap.open()
        cooperative = not GRID_ADDRESS.keys().isdisjoint(prepared.kernel.specials) or prepared.needs.grid_address
        if MEMORY in self.checks and set(_WRITES_UNSEEN) & set(prepared.kernel.instructions["kind"].tolist()):
            self.memory.mark_all_written()
        parameters = pack_arguments(code.name, code.parameters, arguments)
        grid_address = self.memory.allocate(GRID_BYTES, "what the grid synchronises through") if cooperative else 0
        bank_address = 0
        if prepared.needs.bank_address:
            bank_address = self.memory.allocate(bank_bytes(code, parameters), "the parameters")
            self.memory.mark_written(bank_address, bank_bytes(code, parameters))
        self.memory.mark_written(grid_address or self.memory.first, GRID_BYTES if grid_address else 0)
        cluster = _cluster(code, shape)
        launch = RunningLaunch(
            kernel=prepared.kernel,
            slots=self._slots.take(prepared.kernel, shape.grid, shape.block, cluster, shared_bytes),
            memory=self.memory,
            textures=self._textures,
            parameters=parameters,
            symbols=self.symbols,
            grid=shape.grid,
            block=shape.block,
            cluster=cluster,
            shared_bytes=shared_bytes,
            dynamic_bytes=shape.dynamic_shared_bytes,
            number=self._launches,
            budget=self._budget,
            grid_address=grid_address,
            bank_address=bank_address,
            supplied=self.supplied,
            counts=np.zeros((len(code), COUNTS), np.int64) if self._count and code.binary is not None else None,
            checks=self.checks,
            seed=self._seed,
        )
        try:
            trace, stats = self._run(launch, prepared, shape)
        finally:
            self._found.add(launch.findings)
            self.supplied.flush()
            for address in (grid_address, bank_address):
                if address:
                    self.memory.free(address)
        self._slots.give_back(launch.slots)
        self._launches += 1
        if launch.counts is None:
            return ExecutedLaunch(code, trace, stats, shape, copied)
        return ExecutedLaunch(code, trace, stats, shape, copied, launch.counts[:, :3], launch.counts[:, 3:])

    def _prepare(self, code: Code) -> _Prepared:
        if id(code) not in self._prepared:
            kernel = encode(code) if code.binary is None else encode_sass(code)
            texts = [str(instruction) for instruction in code.instructions()]
            about = (code.name, code.literal, code.local_bytes, code.block_starts(), texts)
            fewest, needs = fewest_instructions(code), needs_of(code)
            self._prepared[id(code)] = _Prepared(code, kernel, repr(about).encode(), fewest, needs, _takes_memory(code))
        return self._prepared[id(code)]

    def _check_budget(self, code: Code, shape: LaunchShape, fewest: int) -> None:
        """Refuse a launch that cannot end within the budget, before it has cost anything."""
        least = shape.ctas * shape.warps_per_cta * fewest
        if least > self._budget:
            raise WarploomError(
                f"{code.name}: {shape.ctas} blocks of {shape.warps_per_cta} warps execute at least {least} warp instructions, "
                f"but the budget is {self._budget}: launch fewer blocks, or raise the budget "
                "(--max-instructions, or max_instructions in Python)."
            )

    def _run(self, launch: RunningLaunch, prepared: _Prepared, shape: LaunchShape) -> tuple[Trace | None, LaunchStats]:
        store = self._store if self.recording else None
        key = _content_key(launch, prepared.text) if store is not None else ""
        trace = store.get(key) if store is not None and REGISTERS not in self.checks else None
        writer = None
        if store is not None and trace is None:
            writer = store.write(key, launch.kernel.code.name, shape.grid, shape.block, shape.warps_per_cta)
        try:
            reason, stats = launch.run(writer)
            if reason is ReturnReason.FAULT:
                raise KernelFault(str(fault_error(launch)), Fault(int(launch.machine[0]["fault"])))
        except BaseException:
            if writer is not None:
                writer.abandon()
            raise
        return (writer.finish() if writer is not None else trace), stats

    def place(self, variables: tuple[Variable, ...], at: Mapping[str, int]) -> None:
        """Place module-level variables that have no place yet; ``at`` gives addresses that somebody else chose."""
        new = [variable for variable in variables if variable.name not in self.symbols]
        for variable in new:
            if variable.space == "texref":
                raise WarploomError(f"texture reference {variable.name} is not bound: call bind_texture before the launch.")
            what = f"variable {variable.name}"
            if variable.name in at:
                self.memory.allocate_at(at[variable.name], variable.size, what)
            self.symbols[variable.name] = at.get(variable.name) or self.memory.allocate(variable.size, what)
        for variable in new:
            address = self.symbols[variable.name]
            contents = self.memory.view(address, variable.size)
            contents[: len(variable.data)] = np.frombuffer(variable.data, np.uint8)
            for offset, symbol, size in variable.pointers:
                if symbol.name not in self.symbols:
                    raise WarploomError(f"variable {variable.name} holds the address of {symbol.name}, which is no variable.")
                target = (self.symbols[symbol.name] + symbol.offset) % (1 << 8 * size)
                contents[offset : offset + size] = np.frombuffer(target.to_bytes(size, "little"), np.uint8)
            self.memory.note_copy(address, variable.size, variable.space == "const")


def _cluster(code: Code, shape: LaunchShape) -> tuple[int, int, int]:
    """The CTAs that are resident together, as the launch or the kernel says it."""
    own = code.binary.cluster if code.binary is not None else None
    cluster = shape.cluster or own or (1, 1, 1)
    if own is not None and cluster != own:
        raise WarploomError(f"{code.name}: the kernel demands clusters of {own}, not {cluster}.")
    if any(blocks % extent for blocks, extent in zip(shape.grid, cluster, strict=True)):
        raise WarploomError(f"{code.name}: the grid {shape.grid} does not consist of whole clusters of {cluster}.")
    if math.prod(cluster) > MOST_CLUSTER:
        raise WarploomError(f"{code.name}: clusters of {cluster} are too large: {MOST_CLUSTER} blocks are the most.")
    return cluster


def _takes_memory(code: Code) -> bool:
    """Whether code calls malloc."""
    calls = (instruction for instruction in code.instructions() if instruction.op.name in ("call", "CALL"))
    return any("malloc" in call.op.modifiers or Symbol("malloc") in call.srcs for call in calls)


def _content_key(launch: RunningLaunch, code: bytes) -> str:
    """A digest of all that the trace of a launch depends on."""
    digest = hashlib.sha256()
    shape = (launch.grid, launch.block, launch.cluster, launch.shared_bytes, *([launch.seed] if launch.seed else []))
    emulator = (file_digest(__file__), surroundings())
    digest.update(repr((emulator, shape, sorted(launch.symbols.items()))).encode())
    digest.update(code)
    digest.update(launch.parameters)
    digest.update(launch.textures.tobytes())
    for address, size, contents in launch.memory.contents():
        digest.update(f"{address} {size}".encode())
        digest.update(fingerprint(contents))
    return digest.hexdigest()[:32]
