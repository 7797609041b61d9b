"""Register numbers for code that must stay as it was written: nothing is scheduled, coalesced, added or removed.

Numbers are handed out so that unrelated values rarely share one: each new value takes the number that has been free the longest.
"""

from __future__ import annotations

from dataclasses import replace

from warploom.base.errors import WarploomError
from warploom.compiler.backend.allocation import MOST_REGISTERS, Allocation, own_origins
from warploom.compiler.backend.interference import Interference, build_interference
from warploom.compiler.code.graph import flow_graph
from warploom.compiler.code.instruction import Bank, Block, Code, Reg
from warploom.compiler.code.liveness import thread_liveness

MOST_PREDICATES = 63


def allocate_literal(code: Code, registers: int | None) -> Allocation:
    """Allocate `code` one to one; `registers` is the count per thread that its launch description gives."""
    graph = flow_graph(code)
    interference = build_interference(code, thread_liveness(code, graph), [0] * len(graph))
    order: dict[Reg, None] = {}
    for instruction in code.instructions():
        order.update(dict.fromkeys(instruction.dsts))
    order.update(dict.fromkeys(interference.registers))
    numbers = _number(code, interference, list(order))
    blocks = [Block([i.with_registers(numbers) for i in block.instructions], block.label) for block in code.blocks]
    used = [word for register in numbers.values() for word in register.words]
    predicates = [register.number for register in numbers.values() if register.bank is Bank.P]
    allocated = replace(
        code,
        blocks=blocks,
        registers=registers or max(used, default=0) + 1,
        predicates=max(predicates, default=-1) + 1,
        allocated=True,
        literal=True,
    )
    return Allocation(code, allocated, own_origins(code))


def _number(code: Code, graph: Interference, order: list[Reg]) -> dict[Reg, Reg]:
    node_of = {register: node for node, register in enumerate(graph.registers)}
    holders = {True: [0] * MOST_PREDICATES, False: [0] * MOST_REGISTERS}
    taken_at = {True: [0] * MOST_PREDICATES, False: [0] * MOST_REGISTERS}  # when each number was last handed out; 0: never
    numbers: dict[Reg, Reg] = {}
    for now, register in enumerate(order, start=1):
        node = node_of[register]
        file, last = holders[register.bank is Bank.P], taken_at[register.bank is Bank.P]
        words = 2 if register.bank is Bank.D else 1
        free = [
            number
            for number in range(0, len(file) - words + 1, words)
            if not any(file[number + word] & graph.adjacent[node] for word in range(words))
        ]
        if not free:
            kind = "predicates" if register.bank is Bank.P else "registers"
            where = f"{code.source}: " if code.source else ""
            raise WarploomError(
                f"{where}kernel {code.name} needs more than {len(file)} {kind} in literal mode: compile it without."
            )
        number = min(free, key=lambda n: (max(last[n + word] for word in range(words)), n))
        for word in range(words):
            file[number + word] |= 1 << node
            last[number + word] = now
        numbers[register] = Reg(number, register.bank)
    return numbers
