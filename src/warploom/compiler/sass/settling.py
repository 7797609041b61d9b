"""Control bits made right again for SASS whose registers have other numbers or into which instructions were put.

Hardware does not look for dependences: an instruction of variable latency holds a counter until its operands are read or its
results written, and who depends on it waits for that counter. Other register numbers make other dependences (a register may be
written while an earlier store still has to read it), so what each instruction must wait for is worked out anew. Waits are added,
never taken away.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

from warploom.compiler.code.graph import flow_graph
from warploom.compiler.code.instruction import CONTROL_COUNTERS, INSERTED, Block, Code, Control, Instruction, Reg
from warploom.compiler.code.op_class import OpClass
from warploom.compiler.code.sass_classes import SASS_CLASSES
from warploom.compiler.code.slots import SlotAccess, slots_of

FIXED_LATENCY = 5  # cycles after which the results of arithmetic can be read by any unit
NO_REUSE = (False, False, False)
PASSES_BY = Control(1, False, None, None, 0, NO_REUSE)
Pending = tuple[tuple[int, int], ...]  # per counter, slots still to be written and slots still to be read
_NOTHING: Pending = ((0, 0),) * CONTROL_COUNTERS


def settle(code: Code) -> Code:
    """SASS with right control bits, as a copy; other code as it is."""
    if code.binary is None:
        return code
    blocks = [Block([_with_control(i) for i in block.instructions], block.label) for block in code.blocks]
    code = replace(code, blocks=blocks)
    _let_moves_wait(code)
    _give_read_counters(code)
    _add_waits(code)
    _drop_stale_reuse(code)
    return code


def _with_control(instruction: Instruction) -> Instruction:
    """A copy with control bits: those it has, or for what a pass put in, as long as its results take."""
    if instruction.control is not None:
        return replace(instruction)
    control = PASSES_BY._replace(stall=FIXED_LATENCY) if instruction.dsts else PASSES_BY
    return replace(instruction, control=control, address=INSERTED)


def _let_moves_wait(code: Code) -> None:
    """What was put in and reads registers comes when all arithmetic before it is done."""
    graph = flow_graph(code)
    for number, block in enumerate(code.blocks):
        for position, instruction in enumerate(block.instructions):
            if instruction.address != INSERTED or not any(instruction.reads):
                continue
            before = [block.instructions[position - 1]] if position else []
            if not position:
                before = [code.blocks[other].instructions[-1] for other in graph.predecessors[number]]
            for earlier in before:
                control = _control(earlier)
                earlier.control = control._replace(stall=max(control.stall, FIXED_LATENCY))


def _control(instruction: Instruction) -> Control:
    assert instruction.control is not None
    return instruction.control


def _give_read_counters(code: Code) -> None:
    """Memory instructions that hold no counter (stores whose operands nobody overwrote) get the one that is used least."""
    used: Counter[int] = Counter(dict.fromkeys(range(CONTROL_COUNTERS), 0))
    for instruction in code.instructions():
        control = _control(instruction)
        used.update(number for number in (control.write_barrier, control.read_barrier) if number is not None)
    spare = min(used, key=lambda number: (used[number], -number))
    for instruction in code.instructions():
        control = _control(instruction)
        holds_none = control.write_barrier is None and control.read_barrier is None
        if holds_none and SASS_CLASSES.get(instruction.op.name) is OpClass.MEMORY and any(reg.words for reg in instruction.reads):
            instruction.control = control._replace(read_barrier=spare)


def _add_waits(code: Code) -> None:
    graph = flow_graph(code)
    _, accesses = slots_of(code)
    leaving: list[Pending] = [_NOTHING] * len(graph)
    arriving: list[Pending] = [_NOTHING] * len(graph)
    changed = True
    while changed:
        changed = False
        for number in graph.order:
            arriving[number] = _joined(leaving[block] for block in graph.predecessors[number])
            pending = arriving[number]
            for instruction, access in zip(code.blocks[number].instructions, accesses[number], strict=True):
                pending = _after(pending, _control(instruction), access)
            if pending != leaving[number]:
                leaving[number], changed = pending, True
    for number in graph.order:
        pending = arriving[number]
        for instruction, access in zip(code.blocks[number].instructions, accesses[number], strict=True):
            control = _control(instruction)
            instruction.control = control._replace(wait=control.wait | _needed(pending, access))
            pending = _after(pending, control, access)


def _joined(ways: Iterator[Pending]) -> Pending:
    joined = list(_NOTHING)
    for way in ways:
        joined = [(a | c, b | d) for (a, b), (c, d) in zip(joined, way, strict=True)]
    return tuple(joined)


def _needed(pending: Pending, access: SlotAccess) -> int:
    """The counters that an instruction must wait for."""
    touched = access.reads | access.writes
    return sum(1 << n for n, (written, read) in enumerate(pending) if written & touched or read & access.writes)


def _after(pending: Pending, control: Control, access: SlotAccess) -> Pending:
    waited = control.wait | _needed(pending, access)
    left = [(0, 0) if waited >> number & 1 else both for number, both in enumerate(pending)]
    if control.write_barrier is not None and control.write_barrier < CONTROL_COUNTERS:
        written, read = left[control.write_barrier]
        left[control.write_barrier] = written | access.writes, read | access.reads  # what is written has been read before
    if control.read_barrier is not None and control.read_barrier < CONTROL_COUNTERS:
        written, read = left[control.read_barrier]
        left[control.read_barrier] = written, read | access.reads
    return tuple(left)


def _drop_stale_reuse(code: Code) -> None:
    """An operand is kept for the next instruction: not across one that was put in, whose own operands may drive it out."""
    for block in code.blocks:
        for instruction, following in zip(block.instructions, block.instructions[1:], strict=False):
            if following.address == INSERTED and any(isinstance(source, Reg) for source in following.srcs):
                instruction.control = _control(instruction)._replace(reuse=NO_REUSE)
