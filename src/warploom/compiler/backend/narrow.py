"""Computes in 32 bits the 64-bit values of which only one half is ever used, addresses above all.

Device memory lies below 4 GiB, so an address needs its low word alone. A demand analysis finds, from the uses back to the
definitions, which words of each 64-bit value anybody needs; a value of which one word is needed, and whose definitions can all
give that word by itself, becomes a 32-bit register. Values that are stored, compared or returned whole stay as they are.
"""

from __future__ import annotations

from dataclasses import replace

from warploom.compiler.backend.definitions import highest_number
from warploom.compiler.code.instruction import Address, Bank, Code, Imm, Instruction, Operand, Operation, Param, Reg, Symbol

LOW, HIGH, BOTH = 1, 2, 3

_WORD = {"s64": "s32", "u64": "u32", "b64": "b32"}
_BY_BITS = ("and", "or", "xor", "not", "selp")
_CARRIES_UP = ("add", "sub", "neg", "mul", "mad")  # the low word of the result needs the low words of the sources alone
_MOVE = Operation("mov", "b32")


def narrow_addresses(code: Code) -> None:
    """Change the code in place."""
    demand = _Demand(code).solve()
    halves = {register: mask for register, mask in demand.items() if mask != BOTH}
    rewriter = _Rewriter(halves, highest_number(code))
    for block in code.blocks:
        rewritten: list[Instruction] = []
        for instruction in block.instructions:
            rewritten += rewriter.rewrite(instruction)
        block.instructions = rewritten


def _immediate(operand: Operand) -> int | None:
    return operand.bits if isinstance(operand, Imm) else None


def _needs(instruction: Instruction, mask: int) -> tuple[int, ...] | None:
    """Which words of each 64-bit source give one word of the result; None if the word cannot be computed by itself."""
    op, srcs = instruction.op, instruction.srcs
    name, bits64 = op.name, op.type in _WORD
    if len(instruction.dsts) != 1:
        return None
    if name == "mov" and bits64:
        if len(srcs) == 2:
            return (0, 0)
        return (mask,) if len(srcs) == 1 and isinstance(srcs[0], Reg | Imm | Param | Symbol) else None
    if name == "ld" and op.vector == 1 and bits64 and "volatile" not in op.modifiers:
        return (LOW,)
    if name in _BY_BITS and bits64:
        return (mask,) * len(srcs)
    if name == "cvt" and op.type in ("s64", "u64") and not op.modifiers and op.source_type[0] in "su":
        if op.source_type.endswith("64"):
            return (mask,)
        return (0,) if mask == LOW or op.source_type in ("u8", "u16", "u32", "s32") else None
    if name == "shl" and bits64:
        if mask == LOW:
            return (LOW, 0)
        amount = _immediate(srcs[1])
        return (LOW, 0) if amount is not None and 32 <= amount < 64 else None
    if name == "shr" and bits64:
        amount = _immediate(srcs[1])
        return (HIGH, 0) if mask == LOW and amount is not None and 32 <= amount < 64 else None
    if name in ("mul", "mad") and op.modifiers == ("wide",):
        if mask == HIGH:
            return (0, 0) if name == "mul" else None
        return (0, 0, LOW)[: len(srcs)]
    if name in _CARRIES_UP and bits64 and mask == LOW and op.modifiers in ((), ("lo",)):
        return (LOW,) * len(srcs)
    return None


class _Demand:
    """The words of each 64-bit register that some use needs."""

    def __init__(self, code: Code) -> None:
        self._code = code
        self._definitions: dict[Reg, list[Instruction]] = {}
        self._read: set[Reg] = set()
        self._demand: dict[Reg, int] = {}
        self._grown: list[Reg] = []
        for instruction in code.instructions():
            self._read.update(instruction.reads)
            for dst in instruction.dsts:
                if dst.bank is Bank.D:
                    self._definitions.setdefault(dst, []).append(instruction)

    def solve(self) -> dict[Reg, int]:
        for instruction in self._code.instructions():
            self._uses(instruction)
        while self._grown:
            for definition in self._definitions.get(self._grown.pop(), ()):
                self._sources(definition)
        return self._demand

    def _require(self, operand: Operand, mask: int) -> None:
        if isinstance(operand, Reg) and operand.bank is Bank.D:
            known = self._demand.get(operand, 0)
            if known | mask != known:
                self._demand[operand] = known | mask
                self._grown.append(operand)

    def _uses(self, instruction: Instruction) -> None:
        """What an instruction needs whatever becomes of its 64-bit result."""
        op, srcs = instruction.op, instruction.srcs
        for src in srcs:
            if isinstance(src, Address) and isinstance(src.base, Reg):
                self._require(src.base, LOW)
        if any(dst.bank is Bank.D for dst in instruction.dsts):
            return
        to_word = op.name == "cvt" and op.type[0] in "su" and op.source_type in ("s64", "u64") and not op.modifiers
        if to_word or op.name in ("tex", "isspacep"):
            self._require(srcs[0], LOW)
        elif op.name == "mov" and len(instruction.dsts) == 2 and op.type in _WORD:
            low, high = instruction.dsts
            self._require(srcs[0], LOW * (low in self._read) | HIGH * (high in self._read))
        else:
            for src in srcs:
                self._require(src, BOTH)

    def _sources(self, definition: Instruction) -> None:
        """What a definition needs so that the demanded words of its result can be computed."""
        masks = {self._demand.get(dst, 0) for dst in definition.dsts if dst.bank is Bank.D} - {0}
        mask = masks.pop() if len(masks) == 1 else BOTH
        needs = _needs(definition, mask) if mask != BOTH else None
        if needs is None:
            for dst in definition.dsts:
                self._require(dst, BOTH)
            for src in definition.srcs:
                self._require(src, BOTH)
            return
        for src, need in zip(definition.srcs, needs, strict=True):
            if need:
                self._require(src, need)


class _Rewriter:
    """Rewrites instructions for registers of which only one half is kept."""

    def __init__(self, halves: dict[Reg, int], first_free: int) -> None:
        self._halves = halves
        self._next = first_free
        self._before: list[Instruction] = []

    def _fresh(self) -> Reg:
        self._next += 1
        return Reg(self._next - 1, Bank.R)

    def _half(self, operand: Operand, mask: int) -> Operand:
        """One word of a 64-bit operand; a 32-bit operand as it is."""
        if isinstance(operand, Imm):
            return Imm(operand.bits & 0xFFFFFFFF if mask == LOW else operand.bits >> 32)
        if isinstance(operand, Param) and operand.size == 8:
            return Param(operand.offset + (0 if mask == LOW else 4), 4)
        if isinstance(operand, Symbol):
            return operand if mask == LOW else Imm(0)
        if not isinstance(operand, Reg) or operand.bank is not Bank.D:
            return operand
        if operand in self._halves:
            return Reg(operand.number, Bank.R)
        low, high = self._fresh(), self._fresh()
        self._before.append(Instruction(Operation("mov", "b64"), (low, high), (operand,)))
        return low if mask == LOW else high

    def rewrite(self, instruction: Instruction) -> list[Instruction]:
        """The instructions that take the place of one."""
        self._before = []
        dst = instruction.dsts[0] if instruction.dsts else None
        mask = self._halves.get(dst) if dst is not None else None
        if mask is not None and dst is not None:
            op, srcs = self._narrowed(instruction, mask)
            instruction = replace(instruction, op=op, dsts=(Reg(dst.number, Bank.R),), srcs=srcs)
        else:
            instruction = self._with_narrow_sources(instruction)
        instruction.srcs = tuple(self._address(src) if isinstance(src, Address) else src for src in instruction.srcs)
        for made in self._before:
            made.line = instruction.line
        return [*self._before, instruction]

    def _address(self, address: Address) -> Address:
        base = address.base
        if isinstance(base, Reg) and base in self._halves:
            return Address(Reg(base.number, Bank.R), address.offset)
        if isinstance(base, Param) and base.size == 8:
            return Address(Param(base.offset, 4), address.offset)
        return address

    def _narrowed(self, instruction: Instruction, mask: int) -> tuple[Operation, tuple[Operand, ...]]:
        """The operation that gives one word of a 64-bit result. `_needs` has said that there is one."""
        op, srcs = instruction.op, instruction.srcs
        name, type_ = op.name, _WORD.get(op.type, op.type)
        if name == "mov":
            return _MOVE, (srcs[mask == HIGH] if len(srcs) == 2 else self._half(srcs[0], mask),)
        if name == "ld":
            address = srcs[0]
            assert isinstance(address, Address)
            return op._replace(type="b32"), (Address(address.base, address.offset + (4 if mask == HIGH else 0)),)
        if name == "cvt":
            return self._conversion(op, srcs[0], mask)
        if name == "shl" and mask == HIGH:
            return _shifted("shl", "b32", self._half(srcs[0], LOW), srcs[1])
        if name == "shr":
            return _shifted("shr", type_, self._half(srcs[0], HIGH), srcs[1])
        if op.modifiers == ("wide",):
            part = ("hi",) if mask == HIGH else ("lo",)
            return op._replace(modifiers=part), (*srcs[:2], *(self._half(src, LOW) for src in srcs[2:]))
        if name == "shl":
            return op._replace(type=type_), (self._half(srcs[0], LOW), srcs[1])
        if name == "selp":
            return op._replace(type=type_), (self._half(srcs[0], mask), self._half(srcs[1], mask), srcs[2])
        return op._replace(type=type_), tuple(self._half(src, mask) for src in srcs)

    def _conversion(self, op: Operation, source: Operand, mask: int) -> tuple[Operation, tuple[Operand, ...]]:
        if op.source_type.endswith("64"):
            return _MOVE, (self._half(source, mask),)
        if mask == HIGH:
            if op.source_type == "s32":
                return Operation("shr", "s32"), (source, Imm(31))
            return _MOVE, (Imm(0),)
        if op.source_type.endswith("32"):
            return _MOVE, (source,)
        return op._replace(type=_WORD[op.type]), (source,)

    def _with_narrow_sources(self, instruction: Instruction) -> Instruction:
        """An instruction with a whole or no 64-bit result that reads halves."""
        op, srcs = instruction.op, instruction.srcs
        source = srcs[0] if srcs else None
        if op.name in ("tex", "isspacep"):
            if isinstance(source, Reg) and source not in self._halves:
                return instruction
            assert source is not None
            return replace(instruction, srcs=(self._half(source, LOW), *srcs[1:]))
        if op.name == "cvt" and op.type[0] in "su" and op.source_type in ("s64", "u64") and not op.modifiers:
            if op.type in ("s32", "u32"):
                return replace(instruction, op=_MOVE, srcs=(self._half(srcs[0], LOW),))
            if source in self._halves and isinstance(source, Reg):
                return replace(instruction, op=op._replace(source_type=_WORD[op.source_type]), srcs=(self._half(source, LOW),))
        if op.name == "mov" and len(instruction.dsts) == 2 and isinstance(source, Reg) and source in self._halves:
            wanted = instruction.dsts[0 if self._halves[source] == LOW else 1]
            return replace(instruction, op=_MOVE, dsts=(wanted,), srcs=(Reg(source.number, Bank.R),))
        return instruction


def _shifted(name: str, type_: str, source: Operand, amount: Operand) -> tuple[Operation, tuple[Operand, ...]]:
    """A shift by 32 or more of the other word."""
    assert isinstance(amount, Imm)
    return (Operation(name, type_), (source, Imm(amount.bits - 32))) if amount.bits > 32 else (_MOVE, (source,))
