"""Proves an allocation: every read finds the value that the virtual program meant, on every path.

The virtual and the allocated code are walked side by side. The state says, for each place (a register, a predicate, a spill
slot), which values it certainly holds; a value that no path has defined yet counts as held everywhere. A write replaces what
its place held, so that two values that are live at the same time in one register show up when the loser is read; paths meet
by intersection. Nothing of the allocator's own analyses is used.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from warploom.backend.allocation import Allocation
from warploom.backend.moves import copied_parts, is_copy
from warploom.backend.rematerialise import repeatable, repeatable_values
from warploom.code.graph import FlowGraph, flow_graph
from warploom.code.instruction import Address, Bank, Imm, Instruction, Operand, Reg

Place = tuple[str, int]  # ("R", register), ("P", predicate) or ("S", byte offset of a spilled word)
State = dict[Place, int]  # which parts of values a place holds, as a mask; a place not listed holds what is undefined


class AllocationError(RuntimeError):
    """The allocator made a mistake."""


def verify_allocation(allocation: Allocation) -> None:
    """Raise `AllocationError` unless the allocated code computes with the values of the virtual code."""
    _Proof(allocation).run()


@dataclass
class _Step:
    """A virtual instruction with its allocated form (None if removed), or an inserted instruction alone."""

    virtual: Instruction | None
    allocated: Instruction | None
    where: str


def _places(register: Reg) -> list[Place]:
    if register.bank is Bank.P:
        return [("P", register.number)]
    return [("R", word) for word in register.words]


def _polarity(instruction: Instruction) -> bool | None:
    return instruction.guard.negated if instruction.guard else None


class _Proof:
    def __init__(self, allocation: Allocation):
        self.allocation = allocation
        self.virtual, self.allocated = allocation.virtual, allocation.allocated
        self.parts: dict[Reg, int] = {}  # virtual register -> position of its first part
        count = 0
        for instruction in self.virtual.instructions():
            for register in (*instruction.reads, *instruction.dsts):
                if register not in self.parts:
                    self.parts[register] = count
                    count += 2 if register.bank is Bank.D else 1
        self.everything = (1 << count) - 1
        self.constant_values: dict[tuple, list[Reg]] = {}  # a repeatable instruction -> the values that it computes
        for register, instruction in repeatable_values(self.virtual).items():
            self.constant_values.setdefault((instruction.op, instruction.srcs), []).append(register)
        self.steps = [self._pair(number) for number in range(len(self.virtual.blocks))]

    def run(self) -> None:
        self._check_shape()
        graph = flow_graph(self.virtual)
        leaving: dict[int, tuple[State, int]] = {}
        entering: dict[int, tuple[State, int]] = {}
        changed = True
        while changed:
            changed = False
            for number in graph.order:
                state = self._meet(graph, number, leaving)
                if entering.get(number) != state:
                    entering[number] = state
                    leaving[number] = self._walk(number, state, check=False)
                    changed = True
        for number in graph.order:
            self._walk(number, entering[number], check=True)

    # Before the walk: which instruction became which.

    def _pair(self, number: int) -> list[_Step]:
        source = self.virtual.blocks[number].instructions
        start = self.virtual.block_starts()[number]
        result: list[_Step] = []
        following = 0
        block = self.allocated.blocks[number]
        for place, (instruction, origin) in enumerate(zip(block.instructions, self.allocation.origins[number], strict=True)):
            where = f"{self.allocated.name}, block {number}, instruction {place} ({instruction})"
            index = origin.pc - start
            if not following <= index < len(source) + origin.inserted:
                raise AllocationError(f"{where}: comes out of order")
            result += [self._removed(source[i], number, i) for i in range(following, index)]
            result.append(_Step(None if origin.inserted else source[index], instruction, where))
            following = index if origin.inserted else index + 1
        result += [self._removed(source[i], number, i) for i in range(following, len(source))]
        return result

    def _removed(self, instruction: Instruction, number: int, place: int) -> _Step:
        where = f"{self.virtual.name}, block {number}, virtual instruction {place} ({instruction})"
        if not is_copy(instruction) and not repeatable(instruction):
            raise AllocationError(f"{where}: has been lost")
        return _Step(instruction, None, where)

    def _check_shape(self) -> None:
        if len(self.virtual.blocks) != len(self.allocated.blocks):
            raise AllocationError(f"{self.allocated.name}: has another number of blocks than its virtual code")
        for instruction in self.allocated.instructions():
            for register in (*instruction.reads, *instruction.dsts):
                limit = self.allocated.predicates if register.bank is Bank.P else self.allocated.registers
                odd = register.bank is Bank.D and register.number % 2
                if not self.allocated.literal and (odd or any(index >= limit for _, index in _places(register))):
                    raise AllocationError(
                        f"{self.allocated.name}: {register} of '{instruction}' is misaligned or beyond the count"
                    )

    def _written(self, instructions: Iterable[Instruction]) -> int:
        mask = 0
        for instruction in instructions:
            for dst in instruction.dsts:
                mask |= self._mask(dst)
        return mask

    def _mask(self, register: Reg) -> int:
        return (3 if register.bank is Bank.D else 1) << self.parts[register]

    # The walk.

    def _meet(self, graph: FlowGraph, number: int, leaving: dict[int, tuple[State, int]]) -> tuple[State, int]:
        arriving = [leaving[p] for p in graph.predecessors[number] if p in leaving]
        if number == graph.order[0]:
            arriving.append(({}, self.everything))
        undefined = self.everything
        for _, ground in arriving:
            undefined &= ground
        result: State = {}
        for place in {place for state, _ in arriving for place in state}:
            held = self.everything
            for state, ground in arriving:
                held &= state.get(place, ground)
            result[place] = held
        return result, undefined

    def _walk(self, number: int, entering: tuple[State, int], check: bool) -> tuple[State, int]:
        """The state after a block. The ground is what every unlisted place holds: the parts still undefined."""
        state, undefined = dict(entering[0]), entering[1]
        for step in self.steps[number]:
            if step.virtual is None:
                assert step.allocated is not None
                self._inserted(step, step.allocated, state, undefined)
                continue
            if check and step.allocated is not None:
                self._compare(step, step.virtual, step.allocated, state, undefined)
            before = dict(state)
            defined = self._written([step.virtual])
            still = self._redefined(step.virtual, undefined, defined)  # a copy of what is undefined is undefined
            self._define(step.virtual, state, undefined)
            if step.allocated is not None:
                self._place(step.virtual, step.allocated, before, state, undefined, still)
            undefined = still
        return state, undefined

    def _define(self, virtual: Instruction, state: State, undefined: int) -> None:
        """What a virtual instruction does to the meaning of every place: its results are new values."""
        gone = self._written([virtual])
        if not gone:
            return
        for place, held in state.items():
            state[place] = self._redefined(virtual, held, gone)

    def _redefined(self, virtual: Instruction, held: int, gone: int) -> int:
        if not is_copy(virtual):
            return held & ~gone
        result = held & ~gone
        for (dst, word), (src, part) in copied_parts(virtual):
            there = held >> (self.parts[src] + part) & 1
            if virtual.guard is not None:
                there &= held >> (self.parts[dst] + word) & 1
            result |= there << (self.parts[dst] + word)
        return result

    def _place(
        self, virtual: Instruction, allocated: Instruction, before: State, state: State, undefined: int, still: int
    ) -> None:
        """What an allocated instruction puts where."""
        gone = self._written([virtual])
        if is_copy(virtual) and is_copy(allocated):
            for (dst, word), (src, part) in copied_parts(allocated):
                target, source = _places(dst)[word], _places(src)[part]
                held = before.get(source, undefined)
                if virtual.guard is None:
                    state[target] = self._redefined(virtual, held, gone)
                else:
                    old = before.get(target, undefined)
                    kept = held & old & ~gone
                    for (web, web_word), (origin, origin_part) in copied_parts(virtual):
                        both = held >> (self.parts[origin] + origin_part) & old >> (self.parts[web] + web_word) & 1
                        kept |= both << (self.parts[web] + web_word)
                    state[target] = kept
            return
        for web, register in zip(virtual.dsts, allocated.dsts, strict=True):
            for word, place in enumerate(_places(register)):
                bit = 1 << (self.parts[web] + word)
                if virtual.guard is not None:
                    bit &= before.get(place, undefined)
                state[place] = still | bit

    def _inserted(self, step: _Step, instruction: Instruction, state: State, undefined: int) -> None:
        """Spill code and recomputed constants."""
        op, dsts, srcs = instruction.op, instruction.dsts, instruction.srcs
        target_places: list[Place]
        contents: list[int]
        if op.name == "ld" and op.space == "local":
            target_places = _places(dsts[0])
            contents = [state.get(place, undefined) for place in self._slot(step, srcs[0], len(target_places))]
        elif op.name == "st" and op.space == "local" and isinstance(srcs[1], Reg):
            sources = _places(srcs[1])
            target_places = self._slot(step, srcs[0], len(sources))
            contents = [state.get(place, undefined) for place in sources]
        elif op.name == "selp" and srcs[:2] == (Imm(1), Imm(0)) and isinstance(srcs[2], Reg):
            target_places, contents = _places(dsts[0]), [state.get(place, undefined) for place in _places(srcs[2])]
        elif op.name == "setp" and op.modifiers == ("ne",) and srcs[1] == Imm(0) and isinstance(srcs[0], Reg):
            target_places, contents = _places(dsts[0]), [state.get(place, undefined) for place in _places(srcs[0])]
        elif repeatable(instruction):
            target_places = _places(dsts[0])
            webs = self.constant_values.get((op, srcs), [])
            contents = [undefined | sum(1 << (self.parts[web] + word) for web in webs) for word in range(len(target_places))]
        else:
            raise AllocationError(f"{step.where}: was inserted but is neither spill code nor a constant")
        for place, held in zip(target_places, contents, strict=True):
            state[place] = held if instruction.guard is None else held & state.get(place, undefined)

    def _slot(self, step: _Step, operand: Operand, words: int) -> list[Place]:
        if not isinstance(operand, Address) or operand.base is not None:
            raise AllocationError(f"{step.where}: spills to a computed address")
        if operand.offset < self.virtual.local_bytes or operand.offset + 4 * words > self.allocated.local_bytes:
            raise AllocationError(f"{step.where}: spills outside of its frame")
        return [("S", operand.offset + 4 * word) for word in range(words)]

    def _compare(self, step: _Step, virtual: Instruction, allocated: Instruction, state: State, undefined: int) -> None:
        """The same operation on the same values."""
        same = _polarity(virtual) == _polarity(allocated)
        if same and is_copy(virtual) and is_copy(allocated):
            if virtual.guard and allocated.guard:
                self._read(step, virtual.guard.predicate, allocated.guard.predicate, state, undefined)
            return  # what it moves is followed exactly; a wrong move shows where its result is read
        same &= (
            virtual.op == allocated.op
            and virtual.target == allocated.target
            and len(virtual.srcs) == len(allocated.srcs)
            and [dst.bank for dst in virtual.dsts] == [dst.bank for dst in allocated.dsts]
        )
        if not same:
            raise AllocationError(f"{step.where}: was '{virtual}'")
        for meant, given in zip(virtual.srcs, allocated.srcs, strict=True):
            if isinstance(meant, Reg) and isinstance(given, Reg):
                continue
            if isinstance(meant, Address) and isinstance(given, Address) and isinstance(meant.base, Reg):
                if not isinstance(given.base, Reg) or meant.offset != given.offset:
                    raise AllocationError(f"{step.where}: was '{virtual}'")
            elif meant != given:
                raise AllocationError(f"{step.where}: was '{virtual}'")
        for web, register in zip(virtual.reads, allocated.reads, strict=True):
            self._read(step, web, register, state, undefined)
        taken: set[Place] = set()
        for dst in allocated.dsts:
            if taken.intersection(_places(dst)):
                raise AllocationError(f"{step.where}: writes two results to one register")
            taken.update(_places(dst))

    def _read(self, step: _Step, web: Reg, register: Reg, state: State, undefined: int) -> None:
        if web.bank is not register.bank:
            raise AllocationError(f"{step.where}: {register} stands for {web} of another bank")
        for word, place in enumerate(_places(register)):
            held = state.get(place, undefined)
            if not held >> (self.parts[web] + word) & 1:
                others = [str(r) for r in self.parts if held & ~undefined & self._mask(r)]
                raise AllocationError(
                    f"{step.where}: reads {web} from {register}, which on some path holds {', '.join(others) or 'something else'}"
                )
