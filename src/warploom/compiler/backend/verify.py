"""Proves an allocation: every read finds the value that the virtual program meant, on every path.

The virtual and the allocated code are walked side by side. The state says, for each place (a register, a predicate, a spill
slot), which values it certainly holds; a value that no path has defined yet counts as held everywhere. A write replaces what
its place held, so that two values that are live at the same time in one register show up when the loser is read; paths meet
by intersection. Nothing of the allocator's own analyses is used.
"""

from __future__ import annotations

from dataclasses import dataclass

from warploom.compiler.backend.allocation import Allocation
from warploom.compiler.backend.contents import Contents, Move, Place, meet
from warploom.compiler.backend.moves import copied_parts, is_copy
from warploom.compiler.backend.rematerialise import continues_chain, repeatable, repeatable_values
from warploom.compiler.code.graph import FlowGraph, flow_graph
from warploom.compiler.code.instruction import Address, Bank, Imm, Instruction, Operand, Reg


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


def _form(instruction: Instruction) -> tuple:
    """What an instruction computes, with its registers left open."""
    return (instruction.op, tuple(None if isinstance(src, Reg) else src for src in instruction.srcs))


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
        self.recipes = repeatable_values(self.virtual)
        self.alike: dict[tuple, list[Reg]] = {}  # the values that instructions of one form compute again
        for register, instruction in self.recipes.items():
            self.alike.setdefault(_form(instruction), []).append(register)
        starts = self.virtual.block_starts()
        self.steps = [self._pair(number, starts[number]) for number in range(len(self.virtual.blocks))]

    def run(self) -> None:
        self._check_shape()
        graph = flow_graph(self.virtual)
        leaving: dict[int, Contents] = {}
        entering: dict[int, Contents] = {}
        changed = True
        while changed:
            changed = False
            for number in graph.order:
                contents = self._meet(graph, number, leaving)
                if entering.get(number) != contents:
                    entering[number] = contents
                    leaving[number] = self._walk(number, contents, check=False)
                    changed = True
        for number in graph.order:
            self._walk(number, entering[number], check=True)

    # Before the walk: which instruction became which.

    def _pair(self, number: int, start: int) -> list[_Step]:
        source = self.virtual.blocks[number].instructions
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
        again = repeatable(instruction) or (len(instruction.dsts) == 1 and instruction.dsts[0] in self.recipes)
        if not is_copy(instruction) and not again:
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

    def _parts(self, register: Reg) -> list[int]:
        first = self.parts[register]
        return [first, first + 1] if register.bank is Bank.D else [first]

    def _moves(self, copy: Instruction) -> list[Move]:
        return [(self.parts[dst] + word, self.parts[src] + part) for (dst, word), (src, part) in copied_parts(copy)]

    # The walk.

    def _meet(self, graph: FlowGraph, number: int, leaving: dict[int, Contents]) -> Contents:
        arriving = [leaving[p] for p in graph.predecessors[number] if p in leaving]
        if number == graph.order[0]:
            arriving.append(Contents(self.everything))
        return meet(arriving)

    def _walk(self, number: int, entering: Contents, check: bool) -> Contents:
        """What places hold after a block."""
        contents = entering.copy()
        for step in self.steps[number]:
            if step.virtual is None:
                assert step.allocated is not None
                self._inserted(step, step.allocated, contents)
                continue
            if check and step.allocated is not None:
                self._compare(step, step.virtual, step.allocated, contents)
            if step.allocated is None:
                self._define(step.virtual, contents)
            elif is_copy(step.virtual) and is_copy(step.allocated):
                self._copy(step.virtual, step.allocated, contents)
            else:
                self._compute(step.virtual, step.allocated, contents)
        return contents

    def _define(self, virtual: Instruction, contents: Contents) -> None:
        """What a virtual instruction does to the meaning of every place: its results are new values, or copies of old ones."""
        if is_copy(virtual):
            contents.move(self._moves(virtual), virtual.guard is not None)
        else:
            contents.define(part for dst in virtual.dsts for part in self._parts(dst))

    def _copy(self, virtual: Instruction, allocated: Instruction, contents: Contents) -> None:
        """A copy brings to its target what its source held, for which the copied parts are now another name."""
        moves = self._moves(virtual)
        gone = {written for written, _ in moves}
        brought: list[tuple[Place, set[int]]] = []
        for (dst, word), (src, part) in copied_parts(allocated):
            target, source = _places(dst)[word], _places(src)[part]
            held = contents.at(source)
            if virtual.guard is not None:
                held |= contents.at(target)  # those of either that are in both
                held = frozenset(one for one in held if contents.holds(source, one) and contents.holds(target, one))
            kept = set(held - gone)
            for written, read in moves:
                if contents.holds(source, read) and (virtual.guard is None or contents.holds(target, written)):
                    kept.add(written)
            brought.append((target, kept))
        self._define(virtual, contents)
        for target, kept in brought:
            contents.put(target, kept)

    def _compute(self, virtual: Instruction, allocated: Instruction, contents: Contents) -> None:
        """An instruction puts its results in their places; under a guard a place has the result only if it had the old value."""
        results: list[tuple[Place, list[int]]] = []
        for web, register in zip(virtual.dsts, allocated.dsts, strict=True):
            for part, place in zip(self._parts(web), _places(register), strict=True):
                certain = virtual.guard is None or contents.holds(place, part)
                results.append((place, [part] if certain else []))
        self._define(virtual, contents)
        for place, parts in results:
            contents.put(place, parts)

    def _inserted(self, step: _Step, instruction: Instruction, contents: Contents) -> None:
        """Spill code and recomputed values."""
        op, dsts, srcs = instruction.op, instruction.dsts, instruction.srcs
        targets: list[Place]
        brought: list[frozenset[int]]
        if op.name == "ld" and op.space == "local":
            targets = _places(dsts[0])
            brought = [contents.at(place) for place in self._slot(step, srcs[0], len(targets))]
        elif op.name == "st" and op.space == "local" and isinstance(srcs[1], Reg):
            sources = _places(srcs[1])
            targets = self._slot(step, srcs[0], len(sources))
            brought = [contents.at(place) for place in sources]
        elif op.name == "selp" and srcs[:2] == (Imm(1), Imm(0)) and isinstance(srcs[2], Reg):
            targets, brought = _places(dsts[0]), [contents.at(place) for place in _places(srcs[2])]
        elif op.name == "setp" and op.modifiers == ("ne",) and srcs[1] == Imm(0) and isinstance(srcs[0], Reg):
            targets, brought = _places(dsts[0]), [contents.at(place) for place in _places(srcs[0])]
        elif repeatable(instruction) or continues_chain(instruction):
            targets = _places(dsts[0])
            webs = [web for web in self.alike.get(_form(instruction), ()) if self._reads_alike(web, instruction, contents)]
            brought = [frozenset(self.parts[web] + word for web in webs) for word in range(len(targets))]
        else:
            raise AllocationError(f"{step.where}: was inserted but is neither spill code nor a constant")
        for place, parts in zip(targets, brought, strict=True):
            contents.put(place, parts if instruction.guard is None else parts & contents.at(place))

    def _reads_alike(self, web: Reg, instruction: Instruction, contents: Contents) -> bool:
        """Whether an inserted instruction finds in registers the values of which a value is computed."""
        return all(
            meant.bank is given.bank
            and all(contents.holds(place, part) for part, place in zip(self._parts(meant), _places(given), strict=True))
            for meant, given in zip(self.recipes[web].reads, instruction.reads, strict=True)
        )

    def _slot(self, step: _Step, operand: Operand, words: int) -> list[Place]:
        if not isinstance(operand, Address) or operand.base is not None:
            raise AllocationError(f"{step.where}: spills to a computed address")
        if operand.offset < self.virtual.local_bytes or operand.offset + 4 * words > self.allocated.local_bytes:
            raise AllocationError(f"{step.where}: spills outside of its frame")
        return [("S", operand.offset + 4 * word) for word in range(words)]

    def _compare(self, step: _Step, virtual: Instruction, allocated: Instruction, contents: Contents) -> None:
        """The same operation on the same values."""
        same = _polarity(virtual) == _polarity(allocated)
        if same and is_copy(virtual) and is_copy(allocated):
            if virtual.guard and allocated.guard:
                self._read(step, virtual.guard.predicate, allocated.guard.predicate, contents)
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
            self._read(step, web, register, contents)
        taken: set[Place] = set()
        for dst in allocated.dsts:
            if taken.intersection(_places(dst)):
                raise AllocationError(f"{step.where}: writes two results to one register")
            taken.update(_places(dst))

    def _read(self, step: _Step, web: Reg, register: Reg, contents: Contents) -> None:
        if web.bank is not register.bank:
            raise AllocationError(f"{step.where}: {register} stands for {web} of another bank")
        for part, place in zip(self._parts(web), _places(register), strict=True):
            if not contents.holds(place, part):
                held = contents.at(place)
                others = [str(other) for other in self.parts if held.intersection(self._parts(other))]
                raise AllocationError(
                    f"{step.where}: reads {web} from {register}, which on some path holds {', '.join(others) or 'something else'}"
                )
