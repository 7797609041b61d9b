"""A slow, obviously right interpreter of straight-line integer code for one thread, literal or lowered."""

from __future__ import annotations

from collections.abc import Callable

from warploom.compiler.code.instruction import Address, Bank, Code, Imm, Instruction, Operand, Operation, Param, Reg

MASK64 = (1 << 64) - 1


def signed(value: int, bits: int) -> int:
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> (bits - 1) else value


class Thread:
    """Registers, parameters and byte-addressed memory; unwritten memory holds bytes that depend on their address."""

    def __init__(self, parameters: bytes) -> None:
        self.parameters = parameters
        self.registers: dict[Reg, int] = {}
        self.memory: dict[int, int] = {}

    def load(self, address: int, size: int) -> int:
        return sum(self.memory.get(address + i, (address + i) * 37 & 0xFF) << 8 * i for i in range(size))

    def store(self, address: int, size: int, value: int) -> None:
        for i in range(size):
            self.memory[address + i] = value >> 8 * i & 0xFF

    def value(self, operand: Operand) -> int:
        if isinstance(operand, Reg):
            return self.registers.get(operand, 0)
        if isinstance(operand, Imm):
            return operand.bits
        if isinstance(operand, Param):
            return int.from_bytes(self.parameters[operand.offset : operand.offset + operand.size], "little")
        raise AssertionError(operand)

    def address(self, operand: Operand) -> int:
        assert isinstance(operand, Address)
        base = 0 if operand.base is None else self.value(operand.base)
        return (base + operand.offset) & 0xFFFFFFFF

    def run(self, code: Code) -> Thread:
        assert len(code.blocks) == 1
        for instruction in code.blocks[0].instructions:
            if instruction.op.name == "exit":
                break
            if instruction.guard is not None:
                taken = self.registers.get(instruction.guard.predicate, 0) != instruction.guard.negated
                if not taken:
                    continue
            self.step(instruction)
        return self

    def step(self, instruction: Instruction) -> None:
        op, srcs, dsts = instruction.op, instruction.srcs, instruction.dsts
        bits = int(op.type[1:]) if op.type != "pred" else 1
        name = op.name
        if name == "st":
            self.store(self.address(srcs[0]), bits // 8, self.value(srcs[1]))
            return
        if name == "ld":
            if op.space == "param":
                where = srcs[0]
                assert isinstance(where, Param | Address)
                result = int.from_bytes(self.parameters[where.offset : where.offset + bits // 8], "little")
            else:
                result = self.load(self.address(srcs[0]), bits // 8)
            self.write(dsts[0], signed(result, bits) if op.type[0] == "s" else result)
            return
        values = [self.value(src) for src in srcs]
        if name == "mov" and len(dsts) == 2:
            self.write(dsts[0], values[0] & 0xFFFFFFFF)
            self.write(dsts[1], values[0] >> 32)
            return
        if name == "mov" and len(srcs) == 2:
            self.write(dsts[0], values[0] & 0xFFFFFFFF | (values[1] & 0xFFFFFFFF) << 32)
            return
        self.write(dsts[0], self.compute(op, bits, values))

    def compute(self, op: Operation, bits: int, values: list[int]) -> int:
        name = op.name
        if name == "cvt":
            source = int(op.source_type[1:])
            value = signed(values[0], source) if op.source_type[0] == "s" else values[0] & ((1 << source) - 1)
            return signed(value, bits) if op.type[0] == "s" else value & ((1 << bits) - 1)
        if name == "selp":
            return values[0] if values[2] else values[1]
        if name == "cvta":
            return values[0]
        typed = [signed(value, bits) if op.type[0] == "s" else value & ((1 << bits) - 1) for value in values]
        if name in ("shl", "shr"):
            amount = min(values[1] & 0xFFFFFFFF, bits)
            return typed[0] << amount if name == "shl" else typed[0] >> amount
        if name in ("mul", "mad"):
            product = typed[0] * typed[1]
            if op.modifiers == ("hi",):
                product >>= bits
            return product + (values[2] if name == "mad" else 0)
        if name == "setp":
            left, right = typed
            return int({"lt": left < right, "eq": left == right, "ge": left >= right}[op.modifiers[0]])
        operations: dict[str, Callable[..., int]] = {
            "mov": lambda a: a,
            "not": lambda a: ~a,
            "neg": lambda a: -a,
            "add": lambda a, b: a + b,
            "sub": lambda a, b: a - b,
            "and": lambda a, b: a & b,
            "or": lambda a, b: a | b,
            "xor": lambda a, b: a ^ b,
            "min": min,
            "max": max,
        }
        return operations[name](*typed)

    def write(self, register: Reg, value: int) -> None:
        width = {Bank.D: 64, Bank.R: 32, Bank.P: 1}[register.bank]
        self.registers[register] = value & ((1 << width) - 1)
