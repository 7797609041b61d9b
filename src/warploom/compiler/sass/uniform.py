"""Machine code for chips without uniform registers: what is one value for the warp becomes a register of each thread.

NVIDIA's code from compute capability 7.5 on keeps addresses, bounds and counters of loops that are the same in all lanes in
uniform registers and predicates. On a chip that has none, a compiler would keep them in registers of the thread, so here each
such value gets one that is free while it lives, and a further one only where none is. Instructions of the uniform datapath
become their twins for threads; those that have none (S2UR and R2UR, which take the value of one lane, and copies of tiles) keep
their names. Whatever they are, they write the lanes that execute them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from warploom.compiler.backend.recolour import adjacency
from warploom.compiler.code.instruction import Address, Bank, Block, Code, Instruction, Operation, Reg
from warploom.compiler.code.ranges import LiveRanges
from warploom.compiler.code.sass_classes import SASS_CLASSES
from warploom.compiler.code.slots import BARRIERS, PREDICATES, UNIFORM, UNIFORM_PREDICATES
from warploom.compiler.code.values import Value, Values
from warploom.compiler.sass.settling import settle

_OF_THREADS = {Bank.U: Bank.R, Bank.UD: Bank.D, Bank.UQ: Bank.Q, Bank.UP: Bank.P}
_WORDS = {Bank.U: 1, Bank.UD: 2, Bank.UQ: 4, Bank.UP: 1}
_RUNS = ("UTMALDG", "UTMASTG", "UTMAREDG")  # their text names the first of the registers that they read one after the other


def names_uniform_registers(code: Code) -> bool:
    """Whether code keeps values in uniform registers or predicates."""
    return any(register.bank in _OF_THREADS for i in code.instructions() for register in (*i.dsts, *i.reads))


def as_registers_of_threads(code: Code) -> Code:
    """The same program without uniform registers and predicates; code that names none as it is."""
    if not names_uniform_registers(code):
        return code
    ranges = LiveRanges(code)
    adjacent = adjacency(code, ranges)
    given = _Given(ranges.values, adjacent)
    for vector in sorted(_vectors(code, ranges.values), key=lambda vector: (-vector.span, vector.members[0].number)):
        given.place(vector)
    blocks, pc = [], 0
    for block in code.blocks:
        instructions = []
        for instruction in block.instructions:
            instructions.append(_renamed(instruction, pc, ranges.values, given.numbers))
            pc += 1
        blocks.append(Block(instructions, block.label))
    registers, predicates = (
        1 + max((number for value, number in given.numbers.items() if _file(ranges.values.values[value]) == first), default=-1)
        for first in (0, PREDICATES)
    )
    return settle(
        replace(code, blocks=blocks, registers=max(code.registers, registers), predicates=max(code.predicates, predicates))
    )


@dataclass
class _Vector:
    """Values that lie one behind the other because some instruction takes them for one; most are alone."""

    members: list[Value]
    span: int  # registers from the first to the last
    alignment: int  # its first register is a multiple of this

    @property
    def first(self) -> int:
        """The slot that the places of its members are counted from."""
        return min(member.slot for member in self.members) // self.alignment * self.alignment


class _Given:
    """The registers and predicates of a thread, and the values in them."""

    def __init__(self, values: Values, adjacent: list[int]):
        self.adjacent = adjacent
        self.numbers: dict[int, int] = {}  # of a value that was uniform: its register, or its predicate
        self.holders: dict[int, int] = {}  # slot of a thread -> the values that it holds at one time or another, as a mask
        for value in values:
            if value.slot < UNIFORM:
                self._hold(value.slot, value)

    def place(self, vector: _Vector) -> None:
        """Give a vector the lowest registers in which nothing lives that would be lost."""
        file = _file(vector.members[0])
        place = 0
        while any(self._taken(file + place + member.slot - vector.first, member) for member in vector.members):
            place += vector.alignment
        for member in vector.members:
            number = place + member.slot - vector.first
            self.numbers[member.number] = number
            self._hold(file + number, member)

    def _taken(self, slot: int, value: Value) -> bool:
        return self.holders.get(slot, 0) & self.adjacent[value.number] != 0

    def _hold(self, slot: int, value: Value) -> None:
        self.holders[slot] = self.holders.get(slot, 0) | 1 << value.number


def _file(value: Value) -> int:
    """The first slot of the thread's registers or predicates, whichever a uniform value goes to."""
    return PREDICATES if value.slot >= UNIFORM_PREDICATES else 0


def _vectors(code: Code, values: Values) -> list[_Vector]:
    """All uniform values, those together that share a pair or the like with one another."""
    together: dict[int, _Vector] = {}  # by the number of a member
    for value in values:
        if UNIFORM <= value.slot < BARRIERS:
            together[value.number] = _Vector([value], 1, 1)
    for pc, instruction in enumerate(code.instructions()):
        for first, words in _taken_together(instruction):
            for table in (values.used, values.defined):
                parts = [table[pc, UNIFORM + first + word] for word in range(words) if (pc, UNIFORM + first + word) in table]
                if len(parts) < words:  # this one is only read, or only written
                    continue
                members = {member.number: member for part in parts for member in together[part.number].members}
                slots = [member.slot for member in members.values()]
                alignment = max(_alignment(first, words), *(together[number].alignment for number in members))
                start = min(slots) // alignment * alignment
                joined = _Vector(list(members.values()), 1 + max(slots) - start, alignment)
                together |= dict.fromkeys(members, joined)
    return list({id(vector): vector for vector in together.values()}.values())


def _taken_together(instruction: Instruction) -> Iterator[tuple[int, int]]:
    """The first of uniform registers that an instruction takes for a vector, and how many they are."""
    for register in (*instruction.reads, *instruction.dsts):
        if register.bank in (Bank.UD, Bank.UQ):
            yield register.number, _WORDS[register.bank]
    if instruction.op.name in _RUNS:
        near = instruction.srcs[0]
        assert isinstance(near, Address) and near.uniform is not None
        last = max(source.number for source in instruction.srcs if isinstance(source, Reg) and source.bank is Bank.U)
        yield near.uniform.number, 1 + last - near.uniform.number


def _alignment(first: int, words: int) -> int:
    """What the first register of a vector is a multiple of, as far as it is so now."""
    wanted = 4 if words > 2 else 2
    while first % wanted:
        wanted //= 2
    return wanted


def _for_threads(op: Operation) -> Operation:
    """The operation that does for lanes what one of the uniform datapath does for a warp; others as they are."""
    twin = "VOTE" if op.name == "VOTEU" else op.name[1:] if op.name[0] == "U" else op.name
    return op._replace(name=twin) if twin in SASS_CLASSES else op


def _renamed(instruction: Instruction, pc: int, values: Values, numbers: dict[int, int]) -> Instruction:
    """An instruction on registers of the thread."""

    def name(register: Reg, table: dict[tuple[int, int], Value]) -> Reg:
        if register.bank not in _OF_THREADS:
            return register
        slot = (UNIFORM_PREDICATES if register.bank is Bank.UP else UNIFORM) + register.number
        return Reg(numbers[table[pc, slot].number], _OF_THREADS[register.bank])

    sources = {register: name(register, values.used) for register in instruction.reads}
    return replace(
        instruction.with_registers(sources),
        op=_for_threads(instruction.op),
        dsts=tuple(name(dst, values.defined) for dst in instruction.dsts),
    )
