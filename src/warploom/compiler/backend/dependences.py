"""What must stay in order inside a block: registers, memory, barriers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from warploom.compiler.code.classes import OpClass, is_added, op_class
from warploom.compiler.code.instruction import Address, Instruction, Reg, Special, Symbol
from warploom.compiler.code.slots import SlotAccess, bits

_LONG = 200  # cycles until a value comes from device memory
_LATENCIES = {OpClass.MEMORY: 24, OpClass.SFU: 20, OpClass.INT_DIV: 60, OpClass.F32_DIV: 60, OpClass.F64_DIV: 100}
_USUAL_LATENCY = 8
_WARP_WIDE = ("shfl", "vote", "activemask", "match", "redux")
_SPACES = ("global", "shared", "local")
_ORDERING = frozenset(("acquire", "release", "acq_rel", "sc"))  # orders accesses to other memory as well
_STRONG = _ORDERING | {"volatile", "relaxed", "mmio"}  # not to be reordered with its like
_MOST_COMPARED = 64  # accesses to one space that a later one is compared with; beyond that it waits for all of them


@dataclass(slots=True)
class Node:
    """An instruction in the dependence graph of its block."""

    successors: dict[int, int]  # place of a later instruction -> cycles that it must wait
    predecessors: int = 0  # how many


def latency(instruction: Instruction) -> int:
    """Roughly how many cycles until a result can be read: enough to tell what is worth starting early."""
    op = instruction.op
    if op.name in ("ld", "ldu", "atom", "tex", "tld4") and op.space not in ("shared", "const", "param"):
        return _LONG
    return _LATENCIES.get(op_class(op), _USUAL_LATENCY)


class _Bytes(NamedTuple):
    """The bytes that an access touches: from `start` to `end` relative to `base`, as far as that is known."""

    base: object  # equal for equal addresses; None when nothing is known
    start: int
    end: int
    space: str

    def may_overlap(self, other: _Bytes) -> bool:
        if self.base is None or other.base is None or self.space != other.space:
            return True
        if self.base == other.base:
            return self.start < other.end and other.start < self.end
        # Two different variables of the module are apart; a register may point anywhere.
        return not (isinstance(self.base, Symbol) and isinstance(other.base, Symbol))


class _Memory:
    """The accesses to one space since its last fence."""

    def __init__(self) -> None:
        self.loads: list[int] = []
        self.stores: list[int] = []
        self.fence = -1


def dependence_graph(instructions: list[Instruction], accesses: list[SlotAccess]) -> list[Node]:
    """The dependences between the instructions of a block; what may leave the block depends on all the others."""
    return _Builder(instructions, accesses).build()


class _Builder:
    def __init__(self, instructions: list[Instruction], accesses: list[SlotAccess]):
        self.instructions, self.accesses = instructions, accesses
        self.nodes = [Node({}) for _ in instructions]
        self.spaces = {space: _Memory() for space in _SPACES}
        self.versions: dict[Reg, int] = {}  # how often a register has been written so far: equal versions, equal addresses
        self.addresses: dict[int, _Bytes] = {}

    def edge(self, before: int, after: int, cycles: int) -> None:
        successors = self.nodes[before].successors
        known = successors.get(after)
        if known is None:
            self.nodes[after].predecessors += 1
            successors[after] = cycles
        elif known < cycles:
            successors[after] = cycles

    def build(self) -> list[Node]:
        writer: dict[int, int] = {}
        readers: dict[int, list[int]] = {}
        ordered = -1  # the last operation that involves the whole warp
        wall = -1  # nothing moves over it
        for place, (instruction, access) in enumerate(zip(self.instructions, self.accesses, strict=True)):
            for slot in bits(access.reads):
                if slot in writer:
                    self.edge(writer[slot], place, latency(self.instructions[writer[slot]]))
                readers.setdefault(slot, []).append(place)
            for slot in bits(access.writes):
                for reader in readers.get(slot, ()):
                    if reader != place:
                        self.edge(reader, place, 0)
                if slot in writer:
                    self.edge(writer[slot], place, 1)
                writer[slot] = place
                readers[slot] = []
            self._memory(place, instruction)
            if instruction.op.name in _WARP_WIDE or op_class(instruction.op) is OpClass.CONTROL:
                if ordered >= 0:
                    self.edge(ordered, place, 0)
                ordered = place
            if instruction.ends_block or _is_wall(instruction):
                for earlier in range(wall + 1, place):
                    self.edge(earlier, place, 0)
                if wall >= 0:
                    self.edge(wall, place, 0)
                wall = place
            elif wall >= 0:
                self.edge(wall, place, 0)
            for dst in instruction.dsts:
                self.versions[dst] = self.versions.get(dst, 0) + 1
        return self.nodes

    def _memory(self, place: int, instruction: Instruction) -> None:
        op = instruction.op
        kind = op_class(op)
        if kind not in (OpClass.MEMORY, OpClass.CONTROL) or instruction.ends_block:
            return
        if op.name in ("tex", "tld4") or op.space in ("const", "param") or "nc" in op.modifiers:
            return  # read-only
        simple = op.name in ("ld", "ldu", "st") and not _STRONG.intersection(op.modifiers)
        everywhere = op.space in ("", "generic") or bool(_ORDERING.intersection(op.modifiers))
        self.addresses[place] = self._address(instruction)
        for name, space in self.spaces.items():
            if not everywhere and op.space != name:
                continue
            if not simple or len(space.loads) + len(space.stores) > _MOST_COMPARED:
                for earlier in (*space.loads, *space.stores):
                    self.edge(earlier, place, 0)
                if space.fence >= 0:
                    self.edge(space.fence, place, 0)
                space.loads, space.stores, space.fence = [], [], place
                continue
            if space.fence >= 0:
                self.edge(space.fence, place, 0)
            for earlier in space.stores if op.name in ("ld", "ldu") else (*space.loads, *space.stores):
                if self.addresses[earlier].may_overlap(self.addresses[place]):
                    self.edge(earlier, place, 0)
            (space.loads if op.name in ("ld", "ldu") else space.stores).append(place)

    def _address(self, instruction: Instruction) -> _Bytes:
        op = instruction.op
        address = next((src for src in instruction.srcs if isinstance(src, Address)), None)
        if address is None:
            return _Bytes(None, 0, 0, op.space)
        base, start = address.base, address.offset
        origin: object = "absolute" if base is None else base
        if isinstance(base, Reg):
            origin = (base, self.versions.get(base, 0))
        elif isinstance(base, Symbol):
            origin, start = Symbol(base.name), start + base.offset
        width, _, elements = op.type.partition("x")  # such as u32 or f16x2
        digits = "".join(filter(str.isdigit, width))
        size = op.vector * int(elements or 1) * max(int(digits or 64) // 8, 1)
        return _Bytes(origin, start, start + size, op.space)


def _is_wall(instruction: Instruction) -> bool:
    if is_added(instruction.op) or instruction.op.name == "brkpt":
        return True
    return any(isinstance(src, Special) and src.name.startswith(("clock", "globaltimer")) for src in instruction.srcs)
