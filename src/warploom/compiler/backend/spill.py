"""Makes virtual code fit a number of registers.

Constants, and what a few cheap operations make of them, are computed again where they are used; other values wait in local
memory, predicates in registers.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass, field, replace

from warploom.compiler.backend.allocation import CodeOrigin, own_origins
from warploom.compiler.backend.rematerialise import chain_lengths, repeatable_values
from warploom.compiler.code.instruction import Address, Bank, Block, Code, Imm, Instruction, Operation, Reg
from warploom.compiler.code.liveness import Liveness
from warploom.compiler.code.slots import bits

_RECOMPUTED = 0.2  # what recomputing a value costs, against a load from local memory


@dataclass
class Draft:
    """Virtual code on its way to an allocation.

    ``origins`` runs parallel to the instructions and says where each was in the code that the draft began with.
    """

    code: Code
    origins: list[list[CodeOrigin]]
    temporaries: set[Reg] = field(default_factory=set)  # made by spilling, with ranges that cannot become shorter
    next_number: int = 0

    @classmethod
    def of(cls, code: Code) -> Draft:
        """A draft of web-split code."""
        numbers = [register.number for i in code.instructions() for register in (*i.reads, *i.dsts)]
        return cls(code, own_origins(code), next_number=max(numbers, default=-1) + 1)

    def new_register(self, bank: Bank) -> Reg:
        """A temporary."""
        register = Reg(self.next_number, bank)
        self.next_number += 1
        self.temporaries.add(register)
        return register


def choose_victims(draft: Draft, liveness: Liveness, depths: list[int], limit: int, predicates: bool) -> list[Reg]:
    """Values to take out of registers (or out of predicates) so that no more than `limit` are live anywhere, best first.

    The best value is the one that relieves the most crowded points for what its loads and stores cost. The result is empty when
    something must give but nothing can.
    """
    registers = liveness.slots.registers
    costs = spill_costs(draft.code, liveness, depths)
    weights = [2 if register.bank is Bank.D else 1 for register in registers]
    excess, candidates = _crowded_points(draft, liveness, limit, predicates)
    points_of: dict[int, list[int]] = {}
    for point, slots in enumerate(candidates):
        for slot in slots:
            points_of.setdefault(slot, []).append(point)
    gain = {slot: len(points) for slot, points in points_of.items()}

    def worth(slot: int) -> float:
        return gain[slot] * weights[slot] / costs[slot]

    heap = [(-worth(slot), slot) for slot in gain]
    heapq.heapify(heap)
    victims: list[Reg] = []
    while heap:
        promised, slot = heapq.heappop(heap)
        if not gain[slot]:
            continue
        if -promised > worth(slot):  # others have relieved some of its points since
            heapq.heappush(heap, (-worth(slot), slot))
            continue
        victims.append(registers[slot])
        for point in points_of[slot]:
            if excess[point] > 0:
                excess[point] -= weights[slot]
                if excess[point] <= 0:
                    for other in candidates[point]:
                        gain[other] -= 1
        gain[slot] = 0
    return victims


def _crowded_points(draft: Draft, liveness: Liveness, limit: int, predicates: bool) -> tuple[list[int], list[list[int]]]:
    """Before and after each instruction where too much is live: by how much, and which values would free a place there."""
    file = wide = spillable = 0
    for slot, register in enumerate(liveness.slots.registers):
        if (register.bank is Bank.P) == predicates:
            file |= 1 << slot
            wide |= (register.bank is Bank.D) << slot
            spillable |= (register not in draft.temporaries) << slot
    excess, candidates = [], []
    accesses = (access for block in liveness.accesses for access in block)
    for before, after, access in zip(liveness.before, liveness.after, accesses, strict=True):
        # What the instruction itself reads or writes needs its place whether it is spilled or not.
        for live, busy in ((before & file, access.reads), ((after | access.writes) & file, access.writes)):
            too_many = live.bit_count() + (live & wide).bit_count() - limit
            if too_many > 0:
                excess.append(too_many)
                candidates.append(list(bits(live & spillable & ~busy)))
    return excess, candidates


def spill_costs(code: Code, liveness: Liveness, depths: list[int]) -> list[float]:
    """Per slot, what it costs to keep it in memory: loads and stores weighted by loop depth, less where it can be recomputed."""
    registers = liveness.slots.registers
    cheap = chain_lengths(repeatable_values(code))
    costs = [0.01] * len(registers)
    for number, accesses in enumerate(liveness.accesses):
        weight = 8.0 ** min(depths[number], 8)
        for access in accesses:
            for slot in bits(access.reads):
                costs[slot] += weight * min(1.0, _RECOMPUTED * cheap.get(registers[slot], 1 / _RECOMPUTED))
            for slot in bits(access.writes):
                if registers[slot] not in cheap:
                    costs[slot] += weight
    return costs


def spill(draft: Draft, victims: list[Reg], reach: int) -> Draft:
    """The draft with `victims` recomputed, in local memory, or (predicates) in registers.

    A value brought back stays in its temporary for `reach` further instructions of the block.
    """
    return _Rewriter(draft, victims, reach).run()


class _Rewriter:
    def __init__(self, draft: Draft, victims: list[Reg], reach: int):
        self.draft, self.reach = draft, reach
        self.recipes = repeatable_values(draft.code)
        self.templates = {register for register in victims if register in self.recipes}
        self.homes: dict[Reg, int | Reg] = {}
        self.local_bytes = draft.code.local_bytes
        self.loads, self.stores = draft.code.spill_loads, draft.code.spill_stores
        for victim in victims:
            if victim in self.templates:
                continue
            if victim.bank is Bank.P:
                self.homes[victim] = Reg(draft.next_number, Bank.R)  # no temporary: it may be spilled in turn
                draft.next_number += 1
            else:
                size = 8 if victim.bank is Bank.D else 4
                self.local_bytes = -(-self.local_bytes // size) * size
                self.homes[victim] = self.local_bytes
                self.local_bytes += size

    def run(self) -> Draft:
        blocks, origins = [], []
        for block, block_origins in zip(self.draft.code.blocks, self.draft.origins, strict=True):
            self.output: list[Instruction] = []
            self.output_origins: list[CodeOrigin] = []
            self.held: dict[Reg, tuple[Reg, int]] = {}  # victim -> its temporary, and until which place it may be used
            for place, (instruction, origin) in enumerate(zip(block.instructions, block_origins, strict=True)):
                self._rewrite(place, instruction, origin)
            blocks.append(Block(self.output, block.label))
            origins.append(self.output_origins)
        self._drop_unread(blocks, origins)
        code = replace(
            self.draft.code, blocks=blocks, local_bytes=self.local_bytes, spill_loads=self.loads, spill_stores=self.stores
        )
        return Draft(code, origins, self.draft.temporaries, self.draft.next_number)

    def _drop_unread(self, blocks: list[Block], origins: list[list[CodeOrigin]]) -> None:
        """Take out what nothing reads any more, because the values that were made of it are computed again elsewhere."""
        while True:
            read = {register for block in blocks for instruction in block.instructions for register in instruction.reads}
            unread = {dst for dst in self.recipes if dst not in read and dst not in self.draft.temporaries}
            lost = False
            for number, block in enumerate(blocks):
                kept = [place for place, one in enumerate(block.instructions) if not unread.intersection(one.dsts)]
                lost = lost or len(kept) < len(block.instructions)
                blocks[number] = Block([block.instructions[place] for place in kept], block.label)
                origins[number] = [origins[number][place] for place in kept]
            if not lost:
                return

    def _emit(self, instruction: Instruction, origin: CodeOrigin) -> None:
        self.output.append(instruction)
        self.output_origins.append(origin)

    def _rewrite(self, place: int, instruction: Instruction, origin: CodeOrigin) -> None:
        if instruction.dsts and instruction.dsts[0] in self.templates:
            return  # recomputed at each use instead
        reads: dict[Reg, Reg] = {}
        for register in dict.fromkeys(instruction.reads):
            if register in self.homes or register in self.templates:
                reads[register] = self._fetch(register, place, origin)
        writes: dict[Reg, Reg] = {}
        for dst in instruction.dsts:
            if dst in self.homes:
                # Under a guard the old value must survive where the guard fails: bring it back, then store what results.
                guarded = instruction.guard is not None
                writes[dst] = self._fetch(dst, place, origin, fresh=True) if guarded else self.draft.new_register(dst.bank)
        if reads or writes:
            renamed = instruction.with_registers(reads)
            dsts = tuple(writes.get(dst, dst) for dst in instruction.dsts)
            self._emit(replace(renamed, dsts=dsts), origin)
            for victim, temporary in writes.items():
                self._store(victim, temporary, place, origin)
        else:
            self._emit(instruction, origin)

    def _fetch(self, victim: Reg, place: int, origin: CodeOrigin, fresh: bool = False) -> Reg:
        held = self.held.get(victim)
        if held is not None and place <= held[1] and not fresh:
            return held[0]
        home = self.homes.get(victim)
        if home is None:
            temporary = self._compute(victim, place, origin)
            self.held[victim] = (temporary, place + self.reach)
            return temporary
        temporary = self.draft.new_register(victim.bank)
        if isinstance(home, Reg):
            self._emit(Instruction(Operation("setp", "s32", modifiers=("ne",)), (temporary,), (home, Imm(0))), origin.before)
        else:
            kind = "b64" if victim.bank is Bank.D else "b32"
            self._emit(Instruction(Operation("ld", kind, space="local"), (temporary,), (Address(None, home),)), origin.before)
            self.loads += 1
        self.held[victim] = (temporary, place + self.reach)
        return temporary

    def _compute(self, register: Reg, place: int, origin: CodeOrigin) -> Reg:
        """Compute a value again, from constants on."""
        recipe = self.recipes[register]
        sources = {
            read: self._fetch(read, place, origin) if read in self.templates else self._compute(read, place, origin)
            for read in dict.fromkeys(recipe.reads)
        }
        temporary = self.draft.new_register(register.bank)
        self._emit(replace(recipe.with_registers(sources), dsts=(temporary,)), origin.before)
        return temporary

    def _store(self, victim: Reg, temporary: Reg, place: int, origin: CodeOrigin) -> None:
        home = self.homes[victim]
        if isinstance(home, Reg):
            self._emit(Instruction(Operation("selp", "b32"), (home,), (Imm(1), Imm(0), temporary)), origin.after)
        else:
            op = Operation("st", "b64" if victim.bank is Bank.D else "b32", space="local")
            self._emit(Instruction(op, (), (Address(None, home), temporary)), origin.after)
            self.stores += 1
        self.held[victim] = (temporary, place + self.reach)
