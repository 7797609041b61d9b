"""Words for what went wrong in a launch: where, what, and what is near."""

from __future__ import annotations

from typing import TYPE_CHECKING

from warploom.base.errors import SimulationError
from warploom.compiler.code.memory_map import SHARED_WINDOW
from warploom.compiler.code.table import Space
from warploom.emulator.extents import MOST_THREADS
from warploom.emulator.launch import MOST_LOG_BYTES
from warploom.emulator.records import Fault, Kind, Status

if TYPE_CHECKING:
    from warploom.emulator.launch import RunningLaunch

_VERBS: dict[int, str] = {Kind.LOAD: "reads", Kind.STORE: "writes", Kind.ATOMIC: "updates"}


class KernelFault(SimulationError):
    """A kernel that was stopped, and by what."""

    def __init__(self, message: str, fault: Fault = Fault.TRAP) -> None:
        super().__init__(message)
        self.fault = fault

    def __reduce__(self) -> tuple[type[KernelFault], tuple[str, Fault]]:
        return KernelFault, (str(self), self.fault)


def fault_error(launch: RunningLaunch) -> SimulationError:
    """The error that describes a stopped launch."""
    state, kernel = launch.machine[0], launch.kernel
    code = kernel.code
    fault, pc = Fault(int(state["fault"])), int(state["fault_pc"])
    instructions = list(code.instructions())
    instruction = instructions[pc] if pc < len(instructions) else None
    record = kernel.instructions[min(pc, len(instructions) - 1)]
    address = int(state["fault_address"])
    size = int(record["size"]) * int(record["elements"])
    thread = int(state["fault_warp"]) * 32 + int(state["fault_lane"])
    line = f"{code.source}:{instruction.line}: " if instruction is not None and code.source and instruction.line else ""
    block = _position(int(state["fault_cta"]), launch.grid)
    place = f"{line}kernel {code.name}, block {block}, thread {_position(thread, launch.block)}: "
    does = f"'{instruction}' (instruction {pc}) {_VERBS.get(int(record['kind']), 'executes')}"
    if fault is Fault.ASSERTION and launch.supplied is not None:
        return SimulationError(launch.supplied.failed)
    if fault is Fault.BOUNDS:
        return SimulationError(f"{place}{does} {size} bytes at {address:#x}, {_near(launch, address)}.")
    if fault is Fault.ALIGNMENT:
        return SimulationError(
            f"{place}{does} {size} bytes at {address:#x}, which is not a multiple of {size}; {_near(launch, address)}."
        )
    if fault is Fault.READ_ONLY:
        space = Space(int(state["fault_space"])).name.lower()
        return SimulationError(f"{place}'{instruction}' (instruction {pc}) cannot access {space} memory at {address:#x}.")
    if fault is Fault.TEXTURE:
        what = f"{address} is not the handle of a texture with as many dimensions as this instruction uses"
        return SimulationError(f"{place}'{instruction}' (instruction {pc}): {what}.")
    if fault is Fault.SURFACE:
        what = f"{address} is not the handle of a surface that has the place which is accessed"
        return SimulationError(f"{place}'{instruction}' (instruction {pc}): {what}.")
    if fault is Fault.TENSOR_MAP:
        what = f"at {address:#x} there is no tensor map of so many dimensions, or one for what is not copied here: columns "
        what += "(im2col), interleaved layouts, rounding to TF32, flushed subnormals"
        return SimulationError(f"{place}'{instruction}' (instruction {pc}): {what}.")
    if fault is Fault.JUMP:
        return SimulationError(f"{place}'{instruction}' (instruction {pc}) goes to {address:#x}, which is outside of the code.")
    if fault is Fault.DEADLOCK and int(state["fault_detail"]) < 0:
        return SimulationError(f"{place}after '{instruction}' (instruction {pc}) all lanes of the warp wait for each other.")
    if fault is Fault.DEADLOCK:
        return SimulationError(
            f"{line}kernel {code.name}, block {block}: deadlock: {_waits(launch)}; no other warp is left to come."
        )
    if fault is Fault.BUDGET:
        return SimulationError(
            f"{place}the launch has executed {int(state['executed'])} warp instructions, all that its budget allows, and was at "
            f"'{instruction}' (instruction {pc}): unless it is an endless loop, raise the budget "
            "(--max-instructions, or max_instructions in Python)."
        )
    if fault is Fault.LOG_TOO_LONG:
        return SimulationError(
            f"{place}the trace of blocks that run at the same time needs more than {MOST_LOG_BYTES >> 30} GiB of memory after "
            f"{int(state['executed'])} warp instructions and was at '{instruction}' (instruction {pc}): unless it is an endless "
            "loop, let each block do less, or execute without timing (--emulate-only)."
        )
    if fault is Fault.TRAP:
        return SimulationError(f"{place}the program executed '{instruction}' (instruction {pc}).")
    if fault is Fault.BARRIER_ID:
        return SimulationError(f"{place}'{instruction}' (instruction {pc}) names barrier {address}; there are 0 to 15.")
    if fault is Fault.MEMBERS:
        what = f"names the lanes {address:#010x}, which the calling lane is not among: name every lane that calls"
        return SimulationError(f"{place}'{instruction}' (instruction {pc}) {what}; a GPU stops here or answers anything.")
    if fault is Fault.BARRIER_COUNT:
        what = f"counts {address} threads; name a multiple of 32, at most {MOST_THREADS}"
        return SimulationError(f"{place}'{instruction}' (instruction {pc}) {what}.")
    if fault is Fault.UNRECORDED:
        what = f"does more at once than a trace has room for ({address}); execute without timing (--emulate-only)"
        return SimulationError(f"{place}'{instruction}' (instruction {pc}) {what}.")
    return SimulationError(f"{place}'{instruction}' (instruction {pc}) wrote a value that its encoding does not give back.")


def _waits(launch: RunningLaunch) -> str:
    """Which warps of the stopped CTA wait where, and for how many; warps at one instruction are named together."""
    cta, warps = launch.stopped()
    instructions = list(launch.kernel.code.instructions())
    groups: dict[tuple[int, int], list[int]] = {}
    for warp in warps[warps["status"] == Status.WAITING]:
        groups.setdefault((int(warp["barrier"]), int(warp["barrier_pc"])), []).append(int(warp["number"]))
    parts = []
    for (barrier, pc), numbers in groups.items():
        who = f"warp {numbers[0]} waits" if len(numbers) == 1 else f"warps {_numbers(numbers)} wait"
        wanted = int(cta["expected"][barrier])
        count = f", where {int(cta['arrived'][barrier])} of {wanted} warps have come" if wanted else ""
        line = f" of line {instructions[pc].line}" if instructions[pc].line else ""
        parts.append(f"{who} at barrier {barrier} ('{instructions[pc]}'{line}, instruction {pc}){count}")
    ready = [int(number) for number in warps["number"][warps["status"] == Status.READY]]
    if ready:
        parts.append(f"warps {_numbers(ready)} wait for their cluster")
    ended = [int(number) for number in warps["number"][warps["status"] == Status.DONE]]
    if ended:
        parts.append(f"warp {ended[0]} has ended" if len(ended) == 1 else f"warps {_numbers(ended)} have ended")
    return ", ".join(parts)


def _numbers(numbers: list[int]) -> str:
    """Ascending numbers, runs of them drawn together: 0-3, 7."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][1] + 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return ", ".join(str(first) if first == last else f"{first}-{last}" for first, last in runs)


def _position(index: int, shape: tuple[int, int, int]) -> str:
    x, rest = index % shape[0], index // shape[0]
    return f"({x}, {rest % shape[1]}, {rest // shape[1]})"


def _near(launch: RunningLaunch, address: int) -> str:
    """What an address is close to, in its space."""
    space = Space(int(launch.machine[0]["fault_space"]))
    if space is Space.SHARED:
        return f"but the block has {launch.shared_bytes} bytes of shared memory"
    if space is Space.LOCAL:
        return f"but a thread has {launch.kernel.code.local_bytes} bytes of local memory"
    if space is Space.PARAM:
        return f"but the kernel has {len(launch.parameters)} bytes of parameters"
    if address >= SHARED_WINDOW and address >> 32:
        return "beyond the 4 GiB that addresses can reach"
    return launch.memory.nearest(address)
