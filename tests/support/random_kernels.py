"""Random structured virtual code for property tests, and an interpreter of one thread to compare what code computes.

The code reads its inputs from global memory, computes with 32-bit, 64-bit and predicate registers through nested branches,
loops and guarded definitions, and stores results to global memory.
"""

from __future__ import annotations

import random
from collections.abc import Iterable
from types import SimpleNamespace
from typing import Any

from warploom.compiler.code.dominators import reconvergence_points
from warploom.compiler.code.instruction import (
    Address,
    Bank,
    Block,
    Code,
    Guard,
    Imm,
    Instruction,
    Operand,
    Operation,
    Reg,
    Special,
)

MASK32, MASK64 = 0xFFFF_FFFF, 0xFFFF_FFFF_FFFF_FFFF


def options(**changed: Any) -> SimpleNamespace:
    """Backend options with defaults."""
    values = {"max_registers": None, "schedule": True, "literal": False, "registers": None, "verify": True} | changed
    return SimpleNamespace(**values)


class Generator:
    """Builds one random kernel. Loops count down, so that every kernel ends."""

    def __init__(self, seed: int, size: int = 30, variables: int = 8, pairs: bool = True) -> None:
        self.random = random.Random(seed)
        self.blocks = [Block()]
        self.budget = size
        self.pairs = pairs
        self.fresh = 0
        self.r = [self.new(Bank.R) for _ in range(variables)]
        self.d = [self.new(Bank.D) for _ in range(max(variables // 3, 1))]
        self.p = [self.new(Bank.P) for _ in range(max(variables // 3, 1))]
        self.stored = 0

    def new(self, bank: Bank) -> Reg:
        self.fresh += 1
        return Reg(self.fresh - 1, bank)

    def emit(
        self,
        name: str,
        type_: str = "",
        dsts: Iterable[Reg] = (),
        srcs: Iterable[Operand] = (),
        guard: Guard | None = None,
        target: int | None = None,
        **fields: Any,
    ) -> None:
        op = Operation(name, type_, **fields)
        self.blocks[-1].instructions.append(Instruction(op, tuple(dsts), tuple(srcs), guard, target))

    def pick(self, registers: list[Reg]) -> Reg:
        return self.random.choice(registers)

    def kernel(self) -> Code:
        self.emit("mov", "u32", [self.r[0]], [Special("tid.x")])
        for number, register in enumerate(self.r[1:]):
            self.emit("ld", "u32", [register], [Address(None, 4 * number)], space="global")
        for number, register in enumerate(self.d if self.pairs else ()):
            self.emit("ld", "u64", [register], [Address(None, 128 + 8 * number)], space="global")
        for register in self.p:
            self.emit("setp", "s32", [register], [self.pick(self.r), Imm(7)], modifiers=("lt",))
        self.body(depth=0)
        for register in self.r[: self.random.randrange(1, len(self.r) + 1)]:
            self.store(register, "u32")
        if self.pairs:
            self.store(self.d[0], "u64")
        self.emit("exit")
        return Code("random", self.blocks)

    def store(self, register: Reg, type_: str) -> None:
        self.emit("st", type_, [], [Address(None, 0x1000 + 8 * self.stored), register], space="global")
        self.stored += 1

    def guard(self) -> Guard | None:
        if self.random.random() < 0.15:
            return Guard(self.pick(self.p), self.random.random() < 0.5)
        return None

    def body(self, depth: int) -> None:
        for _ in range(self.random.randrange(2, 7)):
            if self.budget <= 0:
                return
            kind = self.random.random()
            if kind < 0.12 and depth < 3:
                self.branch(depth)
            elif kind < 0.2 and depth < 3:
                self.loop(depth)
            else:
                self.simple()

    def branch(self, depth: int) -> None:
        here = self.blocks[-1]
        predicate = self.pick(self.p)
        self.blocks.append(Block())
        self.body(depth + 1)
        then_end = self.blocks[-1]
        has_else = self.random.random() < 0.6
        other = len(self.blocks)
        self.blocks.append(Block())
        if has_else:
            self.body(depth + 1)
            join = len(self.blocks)
            self.blocks.append(Block())
            then_end.instructions.append(Instruction(Operation("bra"), target=join))
        here.instructions.append(Instruction(Operation("bra"), guard=Guard(predicate, self.random.random() < 0.5), target=other))

    def loop(self, depth: int) -> None:
        counter, again = self.new(Bank.R), self.new(Bank.P)
        self.emit("mov", "u32", [counter], [Imm(self.random.randrange(1, 4))])
        header = len(self.blocks)
        self.blocks.append(Block())
        self.body(depth + 1)
        leave = None
        if self.random.random() < 0.3:  # a break in the middle
            leave = self.blocks[-1]
            predicate = self.pick(self.p)
            self.blocks.append(Block())
            self.body(depth + 1)
        self.emit("sub", "u32", [counter], [counter, Imm(1)])
        self.emit("setp", "s32", [again], [counter, Imm(0)], modifiers=("gt",))
        self.emit("bra", guard=Guard(again), target=header)
        self.blocks.append(Block())
        if leave is not None:
            leave.instructions.append(Instruction(Operation("bra"), guard=Guard(predicate), target=len(self.blocks) - 1))

    def simple(self) -> None:
        self.budget -= 1
        pick, guard = self.pick, self.guard()
        kind = self.random.randrange(13)
        if kind in (6, 7, 8, 11) and not self.pairs:
            kind = 0
        if kind < 4:
            name = self.random.choice(["add", "sub", "mul", "xor"])
            modifiers = ("lo",) if name == "mul" else ()
            second: Operand = self.random.choice((pick(self.r), Imm(self.random.randrange(100))))
            self.emit(name, "b32" if name == "xor" else "u32", [pick(self.r)], [pick(self.r), second], guard, modifiers=modifiers)
        elif kind == 4:
            self.emit("mov", "u32", [pick(self.r)], [pick(self.r)], guard)
        elif kind == 5:
            source: Operand = self.random.choice((Imm(self.random.randrange(50)), Special("ntid.x")))
            self.emit("mov", "u32", [pick(self.r)], [source], guard)
        elif kind == 6:
            self.emit("add", "u64", [pick(self.d)], [pick(self.d), pick(self.d)], guard)
        elif kind == 7:
            self.emit("mov", "b64", [pick(self.d)], [pick(self.r), pick(self.r)], guard)
        elif kind == 8 and len(self.r) > 1:
            self.emit("mov", "b64", self.random.sample(self.r, 2), [pick(self.d)], guard)
        elif kind == 9:
            relation = self.random.choice(["lt", "eq", "gt"])
            self.emit("setp", "s32", [pick(self.p)], [pick(self.r), pick(self.r)], guard, modifiers=(relation,))
        elif kind == 10:
            self.emit("selp", "b32", [pick(self.r)], [pick(self.r), pick(self.r), pick(self.p)], guard)
        elif kind == 11:
            self.emit("mov", "u64", [pick(self.d)], [pick(self.d)], guard)
        else:
            self.emit("ld", "u32", [pick(self.r)], [Address(None, 4 * self.random.randrange(16))], guard, space="global")
            if self.random.random() < 0.5:
                offset = 4 * self.random.randrange(16)
                self.emit("st", "u32", [], [Address(None, offset), pick(self.r)], self.guard(), space="global")


def random_kernel(seed: int, size: int = 30, variables: int = 8, pairs: bool = True) -> Code:
    """A random kernel, with 64-bit values or without; the same for the same arguments."""
    return Generator(seed, size, variables, pairs).kernel()


class Thread:
    """The registers of one thread and what instructions do to them. Registers never written hold zero."""

    def __init__(self, code: Code, memory: dict[int, int], tid: int) -> None:
        self.code, self.memory = code, memory
        self.local: dict[int, int] = {}
        self.file: dict = {}
        self.specials = {"tid.x": tid, "ntid.x": 32}

    def words(self, register: Reg) -> list:
        if register.bank is Bank.P:
            return [("P", register.number)]
        if self.code.allocated:
            return [("R", word) for word in register.words]
        return [(register.bank, register.number, half) for half in range(2 if register.bank is Bank.D else 1)]

    def read(self, operand: Operand) -> int:
        if isinstance(operand, Reg):
            return sum(self.file.get(word, 0) << (32 * place) for place, word in enumerate(self.words(operand)))
        if isinstance(operand, Imm):
            return operand.bits
        assert isinstance(operand, Special)
        return self.specials[operand.name]

    def write(self, register: Reg, value: int) -> None:
        for place, word in enumerate(self.words(register)):
            self.file[word] = value >> (32 * place) & MASK32 if register.bank is not Bank.P else int(bool(value))

    def executes(self, instruction: Instruction) -> bool:
        guard = instruction.guard
        return guard is None or bool(self.read(guard.predicate)) != guard.negated

    def execute(self, instruction: Instruction) -> None:
        """Do what an instruction other than a branch does; its guard has been looked at."""
        op, dsts, srcs, read, write = instruction.op, instruction.dsts, instruction.srcs, self.read, self.write
        if op.name in ("ld", "st"):
            space = self.local if op.space == "local" else self.memory
            assert isinstance(srcs[0], Address)
            where = srcs[0].offset + (read(srcs[0].base) if isinstance(srcs[0].base, Reg) else 0)
            size = 2 if op.type.endswith("64") else 1
            if op.name == "ld":
                write(dsts[0], sum(space.get(where + 4 * word, 0) << (32 * word) for word in range(size)))
            else:
                value = read(srcs[1])
                for word in range(size):
                    space[where + 4 * word] = value >> (32 * word) & MASK32
        elif op.name == "mov":
            if len(dsts) == 2:
                value = read(srcs[0])
                write(dsts[0], value & MASK32)
                write(dsts[1], value >> 32)
            else:
                write(dsts[0], sum(read(src) << (32 * half) for half, src in enumerate(srcs)))
        elif op.name == "setp":
            a, b = signed(read(srcs[0])), signed(read(srcs[1]))
            write(dsts[0], {"lt": a < b, "eq": a == b, "gt": a > b, "ne": a != b}[op.modifiers[0]])
        elif op.name == "selp":
            write(dsts[0], read(srcs[0]) if read(srcs[2]) else read(srcs[1]))
        else:
            a, b = map(read, srcs)
            mask = MASK64 if op.type.endswith("64") else MASK32
            write(dsts[0], {"add": a + b, "sub": a - b, "mul": a * b, "xor": a ^ b}[op.name] & mask)


def signed(value: int) -> int:
    return (value & MASK32) - ((value & 0x8000_0000) << 1)


def random_memory(noise: random.Random) -> dict[int, int]:
    return {4 * word: noise.randrange(0, 12) for word in range(64)}


def run_thread(code: Code, seed: int, budget: int = 20_000) -> dict[int, int]:
    """Execute one thread and return the words of global memory."""
    noise = random.Random(seed)
    thread = Thread(code, random_memory(noise), noise.randrange(32))
    block = place = 0
    for _ in range(budget):
        while place >= len(code.blocks[block].instructions):
            block, place = block + 1, 0
        instruction = code.blocks[block].instructions[place]
        place += 1
        if not thread.executes(instruction):
            continue
        if instruction.op.name == "exit":
            return thread.memory
        if instruction.op.name == "bra":
            assert instruction.target is not None
            block, place = instruction.target, 0
        else:
            thread.execute(instruction)
    raise AssertionError("the thread did not end")


def run_warp(code: Code, seed: int, lanes: int = 4, budget: int = 20_000) -> list[tuple[int, list[bool], list[bool]]]:
    """Execute a warp with a stack of reconvergence points; per step: pc, active lanes, lanes in which the guard holds."""
    noise = random.Random(seed)
    memory = random_memory(noise)
    threads = [Thread(code, memory, lane * noise.randrange(1, 5)) for lane in range(lanes)]
    starts = code.block_starts()
    instructions = list(code.instructions())
    meeting = reconvergence_points(code)
    stack = [(0, len(code), list(range(lanes)))]  # (pc, where it ends, lanes)
    steps: list[tuple[int, list[bool], list[bool]]] = []
    while stack:
        pc, end, active = stack.pop()
        if pc == end or not active:
            continue
        assert len(steps) < budget, "the warp did not end"
        instruction = instructions[pc]
        holds = [lane in active and threads[lane].executes(instruction) for lane in range(lanes)]
        steps.append((pc, [lane in active for lane in range(lanes)], holds))
        if instruction.op.name == "exit":
            stack.append((pc + 1, end, [lane for lane in active if not holds[lane]]))
        elif instruction.op.name == "bra":
            assert instruction.target is not None
            target = starts[instruction.target]
            taken = [lane for lane in active if holds[lane]]
            others = [lane for lane in active if not holds[lane]]
            if taken and others:
                join = meeting[pc]
                stack.append((join, end, active))
                arms = [(target, join, taken), (pc + 1, join, others)]
                if noise.random() < 0.5:
                    arms.reverse()
                stack += arms
            else:
                stack.append((target if taken else pc + 1, end, active))
        else:
            for lane in active:
                if holds[lane]:
                    threads[lane].execute(instruction)
            stack.append((pc + 1, end, active))
    return steps
