"""Which branches the lanes of one warp may take differently.

A value varies between lanes if it comes from the lane's identity or from memory that differs, or if lanes that were apart
bring different definitions of it to the point where they meet. Everything else is uniform: parameters, block indices, loads
from one address.
"""

from __future__ import annotations

from dataclasses import dataclass

from warploom.compiler.code.barriers import Barriers, is_exclusive
from warploom.compiler.code.convergence import apart_in_sass, partings
from warploom.compiler.code.dominators import immediate_post_dominators
from warploom.compiler.code.graph import FlowGraph, flow_graph
from warploom.compiler.code.instruction import BRANCHES, Bank, Code, Instruction, Reg, Special
from warploom.compiler.code.liveness import Liveness, thread_liveness
from warploom.compiler.code.slots import UNIFORM, bits
from warploom.compiler.code.values import Value, Values, value_instances

_VARYING_SPECIALS = ("tid", "laneid", "lanemask")
_UNIFORM_SPACES = ("param", "const", "global", "shared")  # one address gives one value; local and generic may be a lane's own
_VARYING_RESULTS = ("atom", "shfl", "match")
_WARP_WIDE = ("vote", "activemask", "redux")  # every lane named in the member mask gets the same result
_UNIFORM_BANKS = (Bank.U, Bank.UD, Bank.UQ, Bank.UP, Bank.URZ, Bank.UPT)
_UNIFORM_IN_SASS = ("VOTE", "REDUX", "S2UR")  # whatever their sources are
_VARYING_IN_SASS = ("LD", "LDL", "ATOM", "ATOMG", "ATOMS", "SHFL", "MATCH", "LDSM", "MOVM", "HMMA", "IMMA", "DMMA", "BMMA")
_UNIFORM_SPECIALS = ("SR_CTAID", "SR_NTID", "SR_NCTAID", "SRZ")
_OF_THREADS = (1 << UNIFORM) - 1  # the slots of registers that every lane has its own of
_BY_GROUP = ("DIV", "ANY")  # branches of SASS that all lanes of a group take alike


@dataclass(frozen=True)
class Divergence:
    """The result of the analysis."""

    branches: frozenset[int]  # blocks that end in a divergent branch, or where lanes that stay on one way part
    varying: frozenset[int]  # numbers of the values that may differ between lanes
    values: Values


def analyse_divergence(code: Code, graph: FlowGraph | None = None) -> Divergence:
    """Find the divergent branches and the varying values of a kernel."""
    graph = graph or flow_graph(code)
    return _Analysis(code, graph, value_instances(code, graph)).run()


class _Analysis:
    """A fixed point: varying values make branches divergent, divergent branches make merged values vary."""

    def __init__(self, code: Code, graph: FlowGraph, values: Values):
        self.graph, self.values = graph, values
        self.instructions = list(code.instructions())
        self.post = immediate_post_dominators(graph)
        self.liveness: Liveness = thread_liveness(code, graph)
        self.starts = code.block_starts()
        self.block_of = [number for number, block in enumerate(code.blocks) for _ in block.instructions]
        self.varying: set[int] = set()
        self.branches: set[int] = set()
        self.pending: list[Value] = []
        self.reads: list[list[Value]] = [[] for _ in self.instructions]
        for (pc, _), value in values.used.items():
            self.reads[pc].append(value)
        self.writes: list[list[Value]] = [[] for _ in self.instructions]
        for (pc, _), value in values.defined.items():
            self.writes[pc].append(value)

    def run(self) -> Divergence:
        for pc in range(len(self.instructions)):
            self.visit(pc)
        while self.pending:
            for pc in self.pending.pop().uses:
                self.visit(pc)
        return Divergence(frozenset(self.branches), frozenset(self.varying), self.values)

    def visit(self, pc: int) -> None:
        instruction = self.instructions[pc]
        guard_varies = instruction.guard is not None and self._varies(pc, instruction.guard.predicate)
        exclusive = is_exclusive(instruction)
        if exclusive or (instruction.op.name in BRANCHES and self._parts(pc, instruction, guard_varies)):
            block = self.block_of[pc]
            ways = len(self.graph.successors[block])
            if block not in self.branches and (ways > 1 or exclusive) and self.post[block] >= 0:
                self.branches.add(block)
                self._merge(block) if self.graph.barriers is None else self._merge_at(block, self.graph.barriers)
        result_varies = self._result_varies if instruction.control is None else self._sass_result_varies
        if self.writes[pc] and (guard_varies or result_varies(pc, instruction)):
            for value in self.writes[pc]:
                self._mark(value)

    def _parts(self, pc: int, instruction: Instruction, guard_varies: bool) -> bool:
        """Whether lanes may go different ways at a branch: by its guard, and in SASS by any operand."""
        if instruction.control is None:
            return guard_varies
        by_group = not set(instruction.op.modifiers).isdisjoint(_BY_GROUP)
        return not by_group and any(value.number in self.varying for value in self.reads[pc])

    def _mark(self, value: Value) -> None:
        if value.number not in self.varying:
            self.varying.add(value.number)
            self.pending.append(value)

    def _varies(self, pc: int, register: Reg) -> bool:
        mask = self.values.slots.mask(register)
        return any(self.values.used[pc, slot].number in self.varying for slot in bits(mask))

    def _result_varies(self, pc: int, instruction: Instruction) -> bool:
        op = instruction.op
        if op.name in _VARYING_RESULTS and not (op.name == "match" and "all" in op.modifiers):
            return True
        if op.name in ("ld", "ldu") and op.space not in _UNIFORM_SPACES:
            return True
        if op.name in _WARP_WIDE:
            members = instruction.srcs[-1] if instruction.srcs else None
            return isinstance(members, Reg) and self._varies(pc, members)
        if any(isinstance(src, Special) and src.name.startswith(_VARYING_SPECIALS) for src in instruction.srcs):
            return True
        return any(value.number in self.varying for value in self.reads[pc])

    def _sass_result_varies(self, pc: int, instruction: Instruction) -> bool:
        if instruction.op.name in _UNIFORM_IN_SASS or all(dst.bank in _UNIFORM_BANKS for dst in instruction.dsts):
            return False
        specials = [source.name for source in instruction.srcs if isinstance(source, Special)]
        if instruction.op.name in ("S2R", "CS2R") and not all(name.startswith(_UNIFORM_SPECIALS) for name in specials):
            return True
        return instruction.op.name in _VARYING_IN_SASS or any(value.number in self.varying for value in self.reads[pc])

    def _merge_at(self, branch: int, barriers: Barriers) -> None:
        """The same in SASS, where groups meet only behind what they wait at, and may execute one instruction at different times.

        So even a value of one definition may differ.
        """
        region = apart_in_sass(self.graph, barriers, branch, self.graph.successors[branch])
        for block in sorted(region & barriers.waiting):
            if block + 1 < len(self.graph):
                for slot in bits(self.liveness.block_in[block + 1] & _OF_THREADS):
                    value = self.values.entering(block + 1, slot)
                    if value is not None and any(self.block_of[pc] in region for pc in value.definitions):
                        self._mark(value)

    def _merge(self, branch: int) -> None:
        """Mark the values of which lanes separated by a branch may bring different definitions to where they meet."""
        meeting, graph = self.post[branch], self.graph
        arms = [self._arm(successor, branch, meeting) for successor in graph.successors[branch]]
        region = partings(graph, (branch,))[branch].region
        meetings = frozenset.intersection(*arms) if len(arms) > 1 else frozenset()
        cyclic = branch in region  # lanes may leave after different numbers of iterations
        for block in sorted(meetings | ({meeting} if meeting < len(graph) else set())):
            for slot in bits(self.liveness.block_in[block]):
                value = self.values.entering(block, slot)
                if value is None or value.number in self.varying or (len(value.definitions) < 2 and not cyclic):
                    continue
                if any(self.block_of[pc] in region for pc in value.definitions):
                    self._mark(value)

    def _arm(self, start: int, branch: int, meeting: int) -> frozenset[int]:
        """The blocks reached from one successor of a branch without passing the branch again or the meeting point."""
        seen: set[int] = set()
        pending = [start] if start != meeting else []
        while pending:
            block = pending.pop()
            if block not in seen and block != branch:
                seen.add(block)
                pending.extend(successor for successor in self.graph.successors[block] if successor != meeting)
        return frozenset(seen)
