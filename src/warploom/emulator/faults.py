"""Words for what went wrong in a launch: where, what, and what is near."""

from __future__ import annotations

from typing import TYPE_CHECKING

from warploom.code.table import Space
from warploom.emulator.memory import SHARED_WINDOW
from warploom.emulator.records import Fault, Kind
from warploom.errors import SimulationError

if TYPE_CHECKING:
    from warploom.emulator.launch import Launch

_VERBS = {Kind.LOAD: "reads", Kind.STORE: "writes", Kind.ATOMIC: "updates"}


def fault_error(launch: Launch) -> SimulationError:
    """The error that describes a stopped launch."""
    state, program = launch.machine[0], launch.program
    code = program.code
    fault, pc = Fault(int(state["fault"])), int(state["fault_pc"])
    instructions = list(code.instructions())
    instruction = instructions[pc] if pc < len(instructions) else None
    record = program.instructions[min(pc, len(instructions) - 1)]
    address = int(state["fault_address"])
    size = int(record["size"]) * int(record["elements"])
    thread = int(state["fault_warp"]) * 32 + int(state["fault_lane"])
    line = f"{code.source}:{instruction.line}: " if instruction is not None and code.source and instruction.line else ""
    block = _position(int(state["fault_cta"]), launch.grid)
    place = f"{line}kernel {code.name}, block {block}, thread {_position(thread, launch.block)}: "
    does = f"'{instruction}' (instruction {pc}) {_VERBS.get(Kind(int(record['kind'])), 'executes')}"
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
    if fault is Fault.JUMP:
        return SimulationError(f"{place}'{instruction}' (instruction {pc}) goes to {address:#x}, which is outside of the code.")
    if fault is Fault.DEADLOCK and int(state["fault_detail"]) < 0:
        return SimulationError(f"{place}after '{instruction}' (instruction {pc}) all lanes of the warp wait for each other.")
    if fault is Fault.DEADLOCK:
        return SimulationError(
            f"{place}'{instruction}' (instruction {pc}) waits at barrier {int(state['fault_detail'])} for warps that never come: "
            "they have ended or wait elsewhere."
        )
    if fault is Fault.BUDGET:
        return SimulationError(
            f"{place}the launch has executed its budget of {launch.budget} warp instructions and was at '{instruction}' "
            f"(instruction {pc}): raise the budget if it is not an endless loop."
        )
    if fault is Fault.TRAP:
        return SimulationError(f"{place}the program executed '{instruction}' (instruction {pc}).")
    if fault is Fault.BARRIER_ID:
        return SimulationError(f"{place}'{instruction}' (instruction {pc}) names barrier {address}; there are 0 to 15.")
    if fault is Fault.BARRIER_COUNT:
        return SimulationError(f"{place}'{instruction}' (instruction {pc}) counts {address} threads, not a multiple of 32.")
    return SimulationError(f"{place}'{instruction}' (instruction {pc}) wrote a value that its encoding does not give back.")


def _position(index: int, shape: tuple[int, int, int]) -> str:
    x, rest = index % shape[0], index // shape[0]
    return f"({x}, {rest % shape[1]}, {rest // shape[1]})"


def _near(launch: Launch, address: int) -> str:
    """What an address is close to, in its space."""
    space = Space(int(launch.machine[0]["fault_space"]))
    if space is Space.SHARED:
        return f"but the block has {launch.shared_bytes} bytes of shared memory"
    if space is Space.LOCAL:
        return f"but a thread has {launch.program.code.local_bytes} bytes of local memory"
    if space is Space.PARAM:
        return f"but the kernel has {len(launch.parameters)} bytes of parameters"
    if address >= SHARED_WINDOW and address >> 32:
        return "beyond the 4 GiB that addresses can reach"
    return launch.memory.nearest(address)
