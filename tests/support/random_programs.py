"""Random structured programs: as PTX for the emulator, and as Python that runs one thread at a time, plainly.

A program works on 32-bit variables, two 64-bit ones and two floats. It has nested branches, loops with breaks and continues,
guarded statements, loads, stores to the thread's own words, and at its top level barriers, behind which threads read the words
of a neighbour. After the last barrier threads may leave early.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

M32, M64 = (1 << 32) - 1, (1 << 64) - 1
WORDS, LONGS, FLOATS = 6, 2, 2
INPUTS = 64


def signed(value: int) -> int:
    return value - (1 << 32) if value >> 31 else value


OPERATIONS: dict[str, Callable[[int, int], int]] = {
    "add.s32": lambda a, b: a + b & M32,
    "sub.s32": lambda a, b: a - b & M32,
    "mul.lo.s32": lambda a, b: a * b & M32,
    "and.b32": lambda a, b: a & b,
    "or.b32": lambda a, b: a | b,
    "xor.b32": lambda a, b: a ^ b,
    "min.s32": lambda a, b: min(signed(a), signed(b)) & M32,
    "max.u32": max,
    "mul.hi.u32": lambda a, b: a * b >> 32,
    "shl.b32": lambda a, b: a << b & M32 if b < 32 else 0,
    "shr.u32": lambda a, b: a >> b if b < 32 else 0,
    "shr.s32": lambda a, b: signed(a) >> min(b, 31) & M32,
    "div.u32": lambda a, b: a // b if b else M32,
}
COMPARISONS = {
    "lt.s32": lambda a, b: signed(a) < signed(b),
    "ge.u32": lambda a, b: a >= b,
    "eq.b32": lambda a, b: a == b,
    "ne.s32": lambda a, b: a != b,
}


@dataclass
class Statement:
    kind: str
    parts: tuple[Any, ...] = ()
    body: list[Statement] = field(default_factory=list)
    other: list[Statement] = field(default_factory=list)


class Maker:
    """Makes a program out of random numbers."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def operand(self) -> Any:
        pick = self.random
        return ("word", pick.randrange(WORDS)) if pick.random() < 0.75 else ("number", pick.choice([0, 1, 2, 5, 31, 255, M32]))

    def condition(self) -> tuple[Any, ...]:
        return (self.random.choice(list(COMPARISONS)), self.operand(), self.operand())

    def simple(self) -> Statement:
        pick = self.random
        word = pick.randrange(WORDS)
        kind = pick.choice(["compute", "compute", "compute", "guarded", "select", "load", "store", "long", "float", "mad"])
        if kind in ("compute", "guarded"):
            parts: tuple[Any, ...] = (word, pick.choice(list(OPERATIONS)), self.operand(), self.operand())
            return Statement(kind, (*parts, self.condition(), pick.random() < 0.5) if kind == "guarded" else parts)
        if kind == "select":
            return Statement(kind, (word, self.operand(), self.operand(), self.condition()))
        if kind in ("load", "store"):
            return Statement(kind, (word, self.operand()))
        if kind == "long":
            return Statement(kind, (pick.randrange(LONGS), pick.randrange(LONGS), self.operand(), self.operand(), word))
        if kind == "float":
            return Statement(kind, (pick.randrange(FLOATS), pick.choice(["add", "mul"]), pick.randrange(FLOATS), self.operand()))
        return Statement(kind, (word, self.operand(), self.operand(), self.operand()))

    def block(self, depth: int, in_loop: bool, may_leave: bool) -> list[Statement]:
        made = []
        for _ in range(self.random.randint(1, 4)):
            roll = self.random.random()
            if depth > 0 and roll < 0.25:
                body, other = self.block(depth - 1, in_loop, may_leave), self.block(depth - 1, in_loop, may_leave)
                made.append(Statement("if", self.condition(), body, other if self.random.random() < 0.7 else []))
            elif depth > 0 and roll < 0.4:
                made.append(
                    Statement("loop", (self.operand(), self.random.randint(1, 6)), self.block(depth - 1, True, may_leave))
                )
            elif in_loop and roll < 0.55:
                made.append(Statement(self.random.choice(["break", "continue"]), self.condition()))
            elif may_leave and roll < 0.6:
                made.append(Statement("leave", self.condition()))
            else:
                made.append(self.simple())
        return made

    def program(self) -> list[Statement]:
        made = []
        for _ in range(self.random.randint(1, 3)):
            made += self.block(3, False, False)
            made.append(
                Statement(
                    "exchange", (self.random.randrange(WORDS), self.random.randrange(WORDS), self.random.choice([1, 3, 32]))
                )
            )
        return made + self.block(3, False, True)


class Writer:
    """The program as PTX."""

    def __init__(self, program: list[Statement], block: int) -> None:
        self.lines: list[str] = []
        self.labels = 0
        self.block = block
        self._write(program, "", "")

    def label(self) -> str:
        self.labels += 1
        return f"L{self.labels}"

    def emit(self, text: str) -> None:
        self.lines.append(text)

    @staticmethod
    def operand(operand: Any) -> str:
        return f"w{operand[1]}" if operand[0] == "word" else str(operand[1])

    def condition(self, condition: Any) -> None:
        comparison, a, b = condition
        self.emit(f"mov.b32 ta, {self.operand(a)}; setp.{comparison} p, ta, {self.operand(b)};")

    def _write(self, statements: list[Statement], after: str, next_round: str) -> None:
        for statement in statements:
            getattr(self, f"_{statement.kind}")(statement, after, next_round)

    def _compute(self, s: Statement, after: str, again: str) -> None:
        word, operation, a, b = s.parts
        self.emit(f"mov.b32 ta, {self.operand(a)}; {operation} w{word}, ta, {self.operand(b)};")

    def _guarded(self, s: Statement, after: str, again: str) -> None:
        word, operation, a, b, condition, negated = s.parts
        self.condition(condition)
        self.emit(f"mov.b32 tb, {self.operand(a)}; @{'!' if negated else ''}p {operation} w{word}, tb, {self.operand(b)};")

    def _select(self, s: Statement, after: str, again: str) -> None:
        word, a, b, condition = s.parts
        self.condition(condition)
        self.emit(f"selp.b32 w{word}, {self.operand(a)}, {self.operand(b)}, p;")

    def _mad(self, s: Statement, after: str, again: str) -> None:
        word, a, b, c = s.parts
        self.emit(f"mov.b32 ta, {self.operand(a)}; mad.lo.s32 w{word}, ta, {self.operand(b)}, {self.operand(c)};")

    def _load(self, s: Statement, after: str, again: str) -> None:
        word, index = s.parts
        self.emit(
            f"mov.b32 ta, {self.operand(index)}; and.b32 ta, ta, {INPUTS - 1}; mul.wide.u32 at, ta, 4; add.s64 at, input, at;"
        )
        self.emit(f"ld.global.u32 w{word}, [at];")

    def _store(self, s: Statement, after: str, again: str) -> None:
        word, _ = s.parts
        self.emit(f"ld.global.u32 ta, [own+24]; xor.b32 ta, ta, w{word}; st.global.u32 [own+24], ta;")

    def _long(self, s: Statement, after: str, again: str) -> None:
        target, source, a, b, word = s.parts
        self.emit(f"mov.b32 ta, {self.operand(a)}; mul.wide.u32 at, ta, {self.operand(b)}; add.s64 l{target}, l{source}, at;")
        self.emit(f"shr.u64 at, l{target}, 7; cvt.u32.u64 tb, at; xor.b32 w{word}, w{word}, tb;")

    def _float(self, s: Statement, after: str, again: str) -> None:
        target, operation, source, a = s.parts
        self.emit(f"mov.b32 ta, {self.operand(a)}; and.b32 ta, ta, 1023; cvt.rn.f32.u32 tf, ta;")
        self.emit(f"{operation}.rn.f32 f{target}, f{source}, tf;")

    def _if(self, s: Statement, after: str, again: str) -> None:
        otherwise, end = self.label(), self.label()
        self.condition(s.parts)
        self.emit(f"@!p bra {otherwise};")
        self._write(s.body, after, again)
        self.emit(f"bra {end};\n{otherwise}:")
        self._write(s.other, after, again)
        self.emit(f"{end}:")

    def _loop(self, s: Statement, after: str, again: str) -> None:
        """Every loop has a counter of its own: up to `most` rounds, fewer as an operand says."""
        start, step, end = self.label(), self.label(), self.label()
        bound, most = s.parts
        counter = f"c{self.labels}"
        self.emit(
            f".reg .b32 {counter}, {counter}b; mov.b32 {counter}b, {self.operand(bound)}; and.b32 {counter}b, {counter}b, 7;"
        )
        self.emit(f"min.u32 {counter}b, {counter}b, {most}; mov.b32 {counter}, 0;\n{start}:")
        self.emit(f"setp.ge.u32 p, {counter}, {counter}b; @p bra {end};")
        self._write(s.body, end, step)
        self.emit(f"{step}: add.u32 {counter}, {counter}, 1; bra {start};\n{end}:")

    def _break(self, s: Statement, after: str, again: str) -> None:
        self.condition(s.parts)
        self.emit(f"@p bra {after};")

    def _continue(self, s: Statement, after: str, again: str) -> None:
        self.condition(s.parts)
        self.emit(f"@p bra {again};")

    def _leave(self, s: Statement, after: str, again: str) -> None:
        self.condition(s.parts)
        self._results("@p ")
        self.emit("@p exit;")

    def _exchange(self, s: Statement, after: str, again: str) -> None:
        word, other, distance = s.parts
        self.emit(f"shl.b32 ta, tid, 2; mov.u32 tb, buffer; add.u32 ta, ta, tb; st.shared.u32 [ta], w{word}; bar.sync 0;")
        self.emit(f"xor.b32 ta, tid, {distance}; setp.ge.u32 p, ta, {self.block}; selp.b32 ta, tid, ta, p; shl.b32 ta, ta, 2;")
        self.emit(f"add.u32 ta, ta, tb; ld.shared.u32 w{other}, [ta]; bar.sync 0;")

    def _results(self, guard: str = "") -> None:
        for number in range(WORDS):
            self.emit(f"{guard}st.global.u32 [own+{4 * number}], w{number};")
        for number in range(LONGS):
            self.emit(f"{guard}st.global.u64 [own+{32 + 8 * number}], l{number};")
        for number in range(FLOATS):
            self.emit(f"{guard}st.global.f32 [own+{48 + 4 * number}], f{number};")

    def text(self) -> str:
        self._results()
        registers = ", ".join(f"w{n}" for n in range(WORDS))
        start = "".join(f"mad.lo.s32 w{n}, i, {2 * n + 1}, {n};\n" for n in range(WORDS))
        start += "".join(f"mul.wide.u32 l{n}, w{n}, w{n + 1};\n" for n in range(LONGS))
        start += "".join(f"cvt.rn.f32.u32 f{n}, w{n};\n" for n in range(FLOATS))
        return (
            ".version 9.0\n.target sm_75\n.address_size 64\n.visible .entry k(.param .u64 a, .param .u64 b)\n{\n"
            f".shared .align 4 .b8 buffer[{4 * self.block}];\n.reg .b32 {registers}, ta, tb, tid, i, t0, t1;\n"
            f".reg .b64 {', '.join(f'l{n}' for n in range(LONGS))}, at, input, own;\n"
            f".reg .f32 {', '.join(f'f{n}' for n in range(FLOATS))}, tf;\n.reg .pred p;\n"
            "ld.param.u64 input, [a]; ld.param.u64 own, [b]; cvta.to.global.u64 input, input; cvta.to.global.u64 own, own;\n"
            "mov.u32 tid, %tid.x; mov.u32 t0, %ctaid.x; mov.u32 t1, %ntid.x; mad.lo.s32 i, t0, t1, tid;\n"
            "mul.wide.u32 at, i, 64; add.s64 own, own, at;\n" + start + "\n".join(self.lines) + "\nret;\n}\n"
        )


class Leave(Exception):
    pass


class Thread:
    """One thread, in plain Python. Its run is a generator that stops at barriers."""

    def __init__(self, index: int, tid: int, inputs: np.ndarray, shared: list[int], block: int) -> None:
        self.tid, self.inputs, self.shared, self.block = tid, inputs, shared, block
        self.words = [(index * (2 * n + 1) + n) & M32 for n in range(WORDS)]
        self.longs = [self.words[n] * self.words[n + 1] for n in range(LONGS)]
        self.floats = [np.float32(self.words[n]) for n in range(FLOATS)]
        self.stored = 0

    def value(self, operand: Any) -> int:
        return self.words[operand[1]] if operand[0] == "word" else operand[1]

    def holds(self, condition: Any) -> bool:
        comparison, a, b = condition
        return COMPARISONS[comparison](self.value(a), self.value(b))

    def run(self, program: list[Statement]) -> Iterator[None]:
        try:
            for statement in program:
                if statement.kind == "exchange":
                    word, other, distance = statement.parts
                    self.shared[self.tid] = self.words[word]
                    yield
                    neighbour = self.tid ^ distance
                    self.words[other] = self.shared[neighbour if neighbour < self.block else self.tid]
                    yield
                else:
                    self.execute(statement)
        except Leave:
            pass

    def execute(self, s: Statement) -> str:
        """Returns "break" or "continue" where a loop around it has to do so."""
        if s.kind in ("compute", "guarded"):
            word, operation, a, b = s.parts[:4]
            if s.kind == "compute" or self.holds(s.parts[4]) != s.parts[5]:
                self.words[word] = OPERATIONS[operation](self.value(a), self.value(b))
        elif s.kind == "select":
            word, a, b, condition = s.parts
            self.words[word] = self.value(a) if self.holds(condition) else self.value(b)
        elif s.kind == "mad":
            word, a, b, c = s.parts
            self.words[word] = (self.value(a) * self.value(b) + self.value(c)) & M32
        elif s.kind == "load":
            self.words[s.parts[0]] = int(self.inputs[self.value(s.parts[1]) % INPUTS])
        elif s.kind == "store":
            self.stored ^= self.words[s.parts[0]]
        elif s.kind == "long":
            target, source, a, b, word = s.parts
            self.longs[target] = (self.longs[source] + self.value(a) * self.value(b)) & M64
            self.words[word] ^= self.longs[target] >> 7 & M32
        elif s.kind == "float":
            target, operation, source, a = s.parts
            factor = np.float32(self.value(a) & 1023)
            with np.errstate(all="ignore"):
                self.floats[target] = self.floats[source] + factor if operation == "add" else self.floats[source] * factor
        elif s.kind == "if":
            return self.block_of(s.body if self.holds(s.parts) else s.other)
        elif s.kind == "loop":
            bound, most = s.parts
            for _ in range(min(self.value(bound) & 7, most)):
                if self.block_of(s.body) == "break":
                    break
        elif s.kind == "leave":
            if self.holds(s.parts):
                raise Leave
        elif self.holds(s.parts):
            return s.kind
        return ""

    def block_of(self, statements: list[Statement]) -> str:
        for statement in statements:
            outcome = self.execute(statement)
            if outcome:
                return outcome
        return ""

    def result(self) -> bytes:
        words = np.array([*self.words, self.stored, 0], "u4").tobytes()
        return words + np.array(self.longs, "u8").tobytes() + np.array(self.floats, "f4").tobytes() + bytes(8)


def run_plainly(program: list[Statement], inputs: np.ndarray, blocks: int, block: int) -> bytes:
    """What all threads leave behind, 64 bytes each."""
    result = b""
    for number in range(blocks):
        shared = [0] * block
        threads = [Thread(number * block + tid, tid, inputs, shared, block) for tid in range(block)]
        running = [thread.run(program) for thread in threads]
        while running:
            running = [one for one in running if next(one, running) is None]
        result += b"".join(thread.result() for thread in threads)
    return result
