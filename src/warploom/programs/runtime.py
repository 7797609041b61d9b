"""The CUDA runtime of one program: what the library in the program asks for is done here, in the order in which it is asked.

Every call is carried out before its answer leaves, so that streams are in order and always at their end.
"""

from __future__ import annotations

import struct
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from warploom.base.checks import FAULTS, MEMORY
from warploom.base.errors import WarploomError
from warploom.chip.machines import Machine
from warploom.chip.sm import baseline_policies
from warploom.chip.sm.occupancy import occupancy
from warploom.compiler.code.instruction import Code
from warploom.compiler.code.lanes import LANES
from warploom.compiler.sass.fatbin import read_image
from warploom.emulator.budget import DEFAULT_BUDGET
from warploom.emulator.device_memory import LAST_ADDRESS, DeviceMemory
from warploom.emulator.emulator import MOST_SHARED_BYTES, ExecutedLaunch
from warploom.emulator.extents import MOST_THREADS, extent_problem
from warploom.emulator.faults import KernelFault
from warploom.emulator.records import Fault
from warploom.emulator.sass.constants import own_shared_bytes
from warploom.emulator.shape import LaunchShape
from warploom.emulator.sparse_bytes import SparseBytes
from warploom.emulator.trace.store import TraceStore
from warploom.emulator.turns import USUAL
from warploom.emulator.watch.findings import Finding
from warploom.programs.blocks import PitchedRows
from warploom.programs.codes import CopyKind, CudaError, CudaStatus, MemoryKind
from warploom.programs.device import Device
from warploom.programs.modules import KernelShape, ProgramModules
from warploom.programs.parameters import masked
from warploom.programs.program import PTX
from warploom.programs.properties import (
    MOST_ATTRIBUTE,
    USUAL_SHARED_BYTES,
    attributes,
    compute_capability,
    device_name,
    properties,
)
from warploom.programs.recorder import Recorder
from warploom.programs.steps import LAST_ADDRESS as LAST_OF_ALL
from warploom.programs.tensor_maps import map_of
from warploom.programs.textures import make_texture

FIRST_ADDRESS = 0x5000_0000
"""Where device memory begins in a program: above the heaps of programs that are not position-independent. That of code made of
PTX lies below 4 GiB."""
HEAP_SIZE = 2  # cudaLimitMallocHeapSize
_FAULTS = {
    Fault.BOUNDS: CudaStatus.ILLEGAL_ADDRESS,
    Fault.READ_ONLY: CudaStatus.ILLEGAL_ADDRESS,
    Fault.ALIGNMENT: CudaStatus.MISALIGNED_ADDRESS,
    Fault.BUDGET: CudaStatus.LAUNCH_TIMEOUT,
    Fault.DEADLOCK: CudaStatus.LAUNCH_TIMEOUT,
    Fault.JUMP: CudaStatus.INVALID_PC,
    Fault.ASSERTION: CudaStatus.ASSERT,
}

Answer = tuple[Sequence[int], bytes]


@dataclass(frozen=True)
class Settings:
    """Under what a program is run."""

    machine: Machine
    code: str  # "ptx" or an architecture
    compile: Callable[[ProgramModules, str, LaunchShape], Code]  # a kernel by name, for a launch
    cycles: Callable[[ExecutedLaunch], int] | None = None  # times a launch; None: programs are executed only
    launched: Callable[[ExecutedLaunch, int | None], None] | None = None  # hears of every launch, with its cycles
    check: tuple[str, ...] = ()  # see `warploom.base.checks`
    order: str = USUAL  # of the warps, see `warploom.emulator.turns`
    found: Callable[[Iterable[Finding]], None] | None = None  # hears what checks have found, when the program ends
    budget: int = DEFAULT_BUDGET
    lenient: bool = False  # accesses that miss their arrays by a little are let through, as hardware does


def memory_bytes(machine: Machine, code: str) -> int:
    """The device memory that a program has: the machine's, as far as the addresses of its code reach."""
    reach = LAST_ADDRESS - FIRST_ADDRESS if code == PTX else LAST_OF_ALL - FIRST_ADDRESS
    return min(machine.dram.mebibytes << 20, reach)


class Runtime:
    """One program's device."""

    def __init__(self, settings: Settings, name: str, recorder: Recorder | None = None, store: TraceStore | None = None) -> None:
        self.settings, self.name, self.recorder = settings, name, recorder
        self._bytes = SparseBytes(memory_bytes(settings.machine, settings.code))
        self.file = self._bytes.file
        self.memory = DeviceMemory(FIRST_ADDRESS, self._bytes, lenient=settings.lenient)
        self.modules = ProgramModules(settings.code)
        self.device = Device(
            lambda kernel, shape: settings.compile(self.modules, kernel, shape),
            record=(store or TraceStore()) if settings.cycles is not None else None,
            check=settings.check,
            order=settings.order,
            budget=settings.budget,
            memory=self.memory,
            say=lambda text: self._printed.extend(text.encode()),
        )
        self._printed = bytearray()  # by kernels, and not yet handed to the program
        self.kernels: list[KernelShape] = []
        self.kinds: dict[int, MemoryKind] = {}  # of allocations that the program made
        self.broken = CudaStatus.SUCCESS  # once a kernel was stopped, all calls return this
        self.owed = 0  # an error of a launch that the program did not wait for
        self.nanoseconds = 0.0  # simulated
        self._loaded: set[int] = set()  # modules whose variables lie in memory
        self._copy: tuple[int, ...] | None = None  # that the library is about to make
        self._said: set[str] = set()
        self._faults: list[Finding] = []
        if recorder is not None:
            recorder.begin(name, settings.lenient)
        self._attributes = attributes(settings.machine, settings.code)

    def printed(self) -> bytes:
        """What kernels have printed since this was asked for."""
        text = bytes(self._printed)
        self._printed.clear()
        return text

    def limit(self, number: int, value: int) -> Answer:
        """A limit is set; the size of the heap on the device cannot change once it is used."""
        heap = self.device.emulator.supplied.heap
        if number == HEAP_SIZE:
            if heap.start:
                raise CudaError(CudaStatus.INVALID_VALUE)
            heap.size = value
        return (), b""

    def close(self) -> None:
        """Give the memory back, and tell what checks have found."""
        if self.settings.found is not None:
            self.settings.found((*self.device.emulator.findings, *self._faults, *self._leaks()))
        self._bytes.close()

    def _leaks(self) -> list[Finding]:
        """Memory that the program has not given back, where that is watched."""
        if MEMORY not in self.settings.check:
            return []
        left = [entry for entry in self.memory.allocations if self.kinds.get(entry[0]) in (MemoryKind.DEVICE, MemoryKind.MANAGED)]
        own = set(self.device.emulator.symbols.values())
        return [
            Finding(MEMORY, "", f"{self.name}: {what}, {end - start} bytes at {start:#x}, was not freed when the program ended.")
            for start, end, what in left
            if start not in own
        ]

    def say(self, text: str) -> None:
        """One line for the person who runs the program; never twice the same."""
        if text not in self._said:
            self._said.add(text)
            print(f"warploom: {text}", file=sys.stderr, flush=True)

    def hello(self, _process: int) -> Answer:
        """The library has connected."""
        return (FIRST_ADDRESS, self.memory.total_bytes), b""

    # Modules

    def module(self, data: bytes) -> Answer:
        """A fat binary, a cubin or PTX is registered or loaded."""
        try:
            number = self.modules.add(read_image(data, self.name), self.name)
        except WarploomError as problem:
            self.say(str(problem))
            raise CudaError(CudaStatus.INVALID_KERNEL_IMAGE) from None
        if self.recorder is not None:
            self.recorder.module(number, data)
        return (number,), b""

    def kernels_of(self, module: int) -> Answer:
        """Read a module that the program loads; the names of its kernels."""
        self._load(module)
        text = b"".join(name.encode() + b"\0" for name in self.modules.modules[module].kernels)
        return (len(self.modules.modules[module].kernels), len(text)), text

    def unload(self, _module: int) -> Answer:
        """The program is about to end; what it has loaded stays for the recording."""
        return (), b""

    def kernel(self, module: int, name: bytes) -> Answer:
        """What a launch must know of a kernel."""
        self._load(module)
        try:
            shape = self.modules.find(module, name.decode())
        except WarploomError as problem:
            self.say(str(problem))
            raise CudaError(CudaStatus.INVALID_DEVICE_FUNCTION) from None
        self.kernels.append(shape)
        table = b"".join(struct.pack("<II", offset, size) for offset, size in shape.parameters)
        if self.recorder is not None:
            self.recorder.kernel(len(self.kernels) - 1, module, name.decode())
        return (len(self.kernels) - 1, shape.bytes, len(shape.parameters)), table

    def variable(self, module: int, seen_by_host: int, name: bytes) -> Answer:
        """Where a variable of a module lies."""
        self._load(module)
        found = self.modules.modules[module].symbol(name.decode())
        if found is None or found[0] not in self.device.emulator.symbols:
            raise CudaError(CudaStatus.INVALID_SYMBOL)
        piece, offset, size = found
        if seen_by_host:
            self.kinds.setdefault(self.device.emulator.symbols[piece], MemoryKind.MANAGED)
        return (self.device.emulator.symbols[piece] + offset, size), b""

    def _load(self, module: int) -> None:
        """Place the variables of a module."""
        if module in self._loaded:
            return
        try:
            variables = self.modules.modules[module].variables()
        except WarploomError as problem:
            self.say(str(problem))
            raise CudaError(CudaStatus.INVALID_KERNEL_IMAGE) from None
        self.device.emulator.place(variables, {})
        self._loaded.add(module)
        if self.recorder is not None:
            self.recorder.variables(module, self._symbol_places(module))

    def _symbol_places(self, module: int) -> dict[str, tuple[int, int]]:
        """Where the program's own names of variables lie."""
        loaded = self.modules.modules[module]
        places = {}
        for name in loaded.names():
            found = loaded.symbol(name)
            if found is not None and found[0] in self.device.emulator.symbols:
                places[name] = (self.device.emulator.symbols[found[0]] + found[1], found[2])
        return places

    # Memory

    def allocate(self, size: int, kind: int) -> Answer:
        """Memory of a kind."""
        try:
            address = self.memory.allocate(size, f"{MemoryKind(kind).words} {len(self.kinds)}")
        except WarploomError as problem:
            self.say(str(problem))
            raise CudaError(CudaStatus.MEMORY_ALLOCATION) from None
        self.kinds[address] = MemoryKind(kind)
        if self.recorder is not None:
            self.recorder.allocate(address, size, kind)
        return (address,), b""

    def free(self, address: int, kind: int) -> Answer:
        """An allocation is given back."""
        fits = (MemoryKind.DEVICE, MemoryKind.MANAGED) if kind == MemoryKind.DEVICE else (MemoryKind(kind),)
        if self.kinds.get(address) not in fits:
            raise CudaError(CudaStatus.INVALID_VALUE)
        del self.kinds[address]
        self.memory.free(address)
        if self.recorder is not None:
            self.recorder.free(address)
        return (), b""

    def reserve(self, size: int, alignment: int) -> Answer:
        """A range of addresses is set aside."""
        try:
            return (self.memory.reserve(size, alignment),), b""
        except WarploomError as problem:
            self.say(str(problem))
            raise CudaError(CudaStatus.MEMORY_ALLOCATION) from None

    def unreserve(self, address: int, size: int) -> Answer:
        """A range is given back."""
        self.memory.unreserve(address, size)
        return (), b""

    def map(self, address: int, size: int) -> Answer:
        """Memory appears in a range that was set aside."""
        try:
            self.memory.allocate_at(address, size, f"mapped memory {len(self.kinds)}")
        except WarploomError as problem:
            self.say(str(problem))
            raise CudaError(CudaStatus.INVALID_VALUE) from None
        self.kinds[address] = MemoryKind.DEVICE
        if self.recorder is not None:
            self.recorder.allocate(address, size, MemoryKind.DEVICE)
        return (), b""

    def memory_info(self) -> Answer:
        """Free and total bytes."""
        return (self.memory.free_bytes, self.memory.total_bytes), b""

    def pointer(self, address: int) -> Answer:
        """What is known of an address."""
        found = self.memory.find(address)
        if found is None:
            raise CudaError(CudaStatus.INVALID_VALUE)
        return (self.kinds.get(found[0], MemoryKind.DEVICE), found[0], found[1] - found[0]), b""

    def copy(self, *words: int) -> Answer:
        """Whether a copy may be made; the library makes it, for it sees both sides."""
        to, to_pitch, to_slice, source, source_pitch, source_slice, width, rows, slices, kind = words
        to_device = kind in (CopyKind.TO_DEVICE, CopyKind.ON_DEVICE) or (kind == CopyKind.DEFAULT and self._on_device(to))
        from_device = kind in (CopyKind.FROM_DEVICE, CopyKind.ON_DEVICE) or (kind == CopyKind.DEFAULT and self._on_device(source))
        if kind > CopyKind.DEFAULT:
            raise CudaError(CudaStatus.INVALID_DIRECTION)
        if to_device:
            target = PitchedRows(to, to_pitch, to_slice, width, rows, slices)
            self._check_range("cudaMemcpy", target)
            self.memory.note_copy(to, target.span)
        if from_device:
            self._check_range("cudaMemcpy", PitchedRows(source, source_pitch, source_slice, width, rows, slices))
        if self.recorder is None or not (to_device or from_device):
            return (0,), b""
        self._copy = (int(to_device), int(from_device), *words[:9])
        return (1,), b""

    def copied(self) -> Answer:
        """The library has made the copy."""
        assert self.recorder is not None and self._copy is not None
        self.recorder.copy(self.memory, *self._copy)
        return (), b""

    def fill(self, *words: int) -> Answer:
        """Give all bytes of a block one value."""
        block, byte = PitchedRows(*words[:6]), words[6]
        self._check_range("cudaMemset", block)
        block.fill(self.memory, byte)
        if self.recorder is not None:
            self.recorder.fill(block, byte)
        return (), b""

    def _on_device(self, address: int) -> bool:
        found = self.memory.find(address)
        return found is not None and self.kinds.get(found[0]) != MemoryKind.PINNED

    def _check_range(self, call: str, block: PitchedRows) -> None:
        if block.overlaps:
            self.say(f"{call}: rows or slices begin before those in front of them end")
            raise CudaError(CudaStatus.INVALID_VALUE)
        if block.address + block.span > self.memory.end_from(block.address):
            nearest = self.memory.nearest(block.address)
            self.say(f"{call}: {block.span} bytes at {block.address:#x} are no part of an allocation: {nearest}")
            raise CudaError(CudaStatus.INVALID_VALUE)

    # Launches

    def launch(self, number: int, *words: int) -> Answer:
        """Run a kernel to its end."""
        gx, gy, gz, bx, by, bz, dynamic, _stream, cooperative, together, parameters = words
        shape, grid, block = self.kernels[number], (gx, gy, gz), (bx, by, bz)
        if min(*grid, *block) < 1 or extent_problem("grid", grid) or extent_problem("block", block):
            raise CudaError(CudaStatus.INVALID_CONFIGURATION)
        if dynamic > MOST_SHARED_BYTES:
            raise CudaError(CudaStatus.INVALID_VALUE)
        assert isinstance(parameters, bytes)
        given = masked(parameters, shape.used)
        if self.recorder is not None:
            cluster = unpacked_cluster(together)
            self.recorder.launch(self.memory, self.kinds, number, grid, block, dynamic, cooperative, cluster, given)
        try:
            self._run(shape, grid, block, dynamic, unpacked_cluster(together), given)
        except KernelFault as fault:  # as on hardware, the launch itself succeeds and what comes after does not
            self.say(str(fault))
            self._faults.append(Finding(FAULTS, shape.name, str(fault)))
            self.broken = _FAULTS.get(fault.fault, CudaStatus.LAUNCH_FAILURE)
            if self.recorder is not None:
                self.recorder.failed(str(fault))
        except WarploomError as problem:
            self.say(str(problem))
            if self.recorder is not None:
                self.recorder.failed(str(problem))
            raise CudaError(CudaStatus.NOT_SUPPORTED) from None
        if self.recorder is not None:
            self.recorder.launched(self.memory, self.kinds)
        return (), b""

    def _run(
        self,
        shape: KernelShape,
        grid: tuple[int, ...],
        block: tuple[int, ...],
        dynamic: int,
        cluster: tuple[int, ...] | None,
        parameters: bytes,
    ) -> None:
        arguments = [parameters[offset : offset + size] for offset, size in shape.parameters]
        self.device.launch(shape.name, grid, block, *arguments, shared_bytes=dynamic, cluster=cluster)
        record = self.device.launches[-1]
        clock = self.settings.machine.chip.clock_core_mhz
        cycles = self.settings.cycles(record) if self.settings.cycles is not None else None
        if self.settings.launched is not None:
            self.settings.launched(record, cycles)
        if cycles is None:  # nothing is timed: one warp instruction per cycle in each SM
            self.nanoseconds += record.stats.warp_instructions / self.settings.machine.chip.sms * 1000 / clock
        else:
            self.nanoseconds += cycles * 1000 / clock
        self.device.launches[-1] = replace(record, trace=None)  # traces of a long program do not fit

    def synchronize(self) -> Answer:
        """Everything has been done already."""
        return (), b""

    def event(self) -> Answer:
        """Simulated time."""
        return (round(self.nanoseconds),), b""

    # What can be asked of the device

    def properties(self, major: int) -> Answer:
        """cudaDeviceProp."""
        data = properties(self._attributes, device_name(self.settings.machine), self.memory.total_bytes, major)
        return (len(data),), data

    def attributes(self) -> Answer:
        """All attributes by number, from 0, which means nothing."""
        values = [self._attributes.get(number, 0) for number in range(MOST_ATTRIBUTE + 1)]
        return (len(values),), struct.pack(f"<{len(values)}i", *values)

    def device_name(self) -> Answer:
        """What the device is called."""
        return (), device_name(self.settings.machine)

    def function(self, number: int) -> Answer:
        """What is known of a kernel's code."""
        code = self._code(number, LANES, 0)
        constant = sum(variable.size for variable in code.variables if variable.space == "const")
        threads = min(MOST_THREADS, self.settings.machine.sm.threads_per_sm)
        major, minor = compute_capability(self.settings.code)
        shared = own_shared_bytes(code)
        version, dynamic = 10 * major + minor, USUAL_SHARED_BYTES - shared
        return (code.registers, shared, constant, code.local_bytes, threads, version, max(0, dynamic)), b""

    def occupancy(self, number: int, threads: int, dynamic: int) -> Answer:
        """How many blocks of a kernel an SM holds."""
        code = replace(self._code(number, threads, dynamic), threads=threads, dynamic_shared_bytes=dynamic)
        try:
            fits = occupancy(code, self.settings.machine, baseline_policies().allocation, -(-threads // LANES))
        except WarploomError:
            return (0,), b""
        return (fits.ctas,), b""

    def _code(self, number: int, threads: int, dynamic: int) -> Code:
        try:
            return self.device.code(self.kernels[number].name, LaunchShape((1, 1, 1), (threads, 1, 1), dynamic))
        except WarploomError as problem:
            self.say(str(problem))
            raise CudaError(CudaStatus.NOT_SUPPORTED) from None

    # Textures

    def texture(self, *words: int) -> Answer:
        """A texture object over memory."""
        try:
            handle = make_texture(self.device, *words)
        except WarploomError as problem:
            self.say(str(problem))
            raise CudaError(CudaStatus.NOT_SUPPORTED) from None
        if self.recorder is not None:
            self.recorder.texture(handle, words)
        return (handle,), b""

    def tensor_map(self, described: bytes) -> Answer:
        """The map of a tensor for copies of tiles; what CUDA's driver refuses is refused."""
        try:
            return (), map_of(described)
        except WarploomError as problem:
            self.say(f"cuTensorMapEncode: {problem}")
            raise CudaError(CudaStatus.INVALID_VALUE) from None

    def no_texture(self, _handle: int) -> Answer:
        """A texture object is not needed any more; its number is not used again."""
        return (), b""


def unpacked_cluster(packed: int) -> tuple[int, int, int] | None:
    """The extents of a cluster, where a launch names one."""
    return (packed & 0xFFFF, packed >> 16 & 0xFFFF, packed >> 32) if packed else None
