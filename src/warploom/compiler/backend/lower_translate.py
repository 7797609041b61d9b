"""One PTX instruction to machine instructions."""

from __future__ import annotations

import functools

from warploom.base.errors import WarploomError
from warploom.compiler.backend.lower_layout import Layout
from warploom.compiler.code.instruction import (
    Address,
    Bank,
    Guard,
    Imm,
    Instruction,
    Operand,
    Operation,
    Param,
    Reg,
    Special,
    Symbol,
)
from warploom.compiler.code.memory_map import LOCAL_WINDOW, SHARED_WINDOW
from warploom.compiler.ptx import module as ptx
from warploom.compiler.ptx.opcodes import Opcode
from warploom.compiler.ptx.types import SIZE

_NAMES = {"barrier": "bar", "ldu": "ld", "ret": "exit", "prefetch": "nop", "prefetchu": "nop", "pmevent": "nop"}
_ADDRESSING = ("ld", "st", "atom", "red")
_CARRY_IN = ("addc", "subc", "madc")
_COORDINATES = {"1d": 1, "2d": 2, "3d": 3, "a1d": 2, "a2d": 3}
_WINDOWS = {"shared": SHARED_WINDOW, "local": LOCAL_WINDOW}

_NOT = Operation("not", "pred")
_LOW_WORD = Operation("cvt", "u32", "u64")


def bank_of(type_: str) -> Bank:
    """The bank that holds a value of a PTX type."""
    size = SIZE[type_]
    return Bank.D if size == 8 else Bank.R if size else Bank.P


@functools.cache
def _operation(opcode: Opcode) -> Operation:
    name = _NAMES.get(opcode.name, opcode.name)
    if name == "nop":
        return Operation("nop")
    space, modifiers = opcode.space, opcode.modifiers
    if name in _ADDRESSING and not space:
        space = "global" if opcode.name == "ldu" else "generic"
    if name == "exit":
        modifiers = ()
    return Operation(name, opcode.type, opcode.source_type, space, modifiers, opcode.vector)


class Translator:
    """Translates the instructions of one kernel, in order.

    In literal mode every PTX instruction becomes exactly one machine instruction (a negated predicate operand, which machine code
    does not have, is the one exception); otherwise parameters are read in place and address space conversions become arithmetic.
    """

    def __init__(self, module: ptx.Module, kernel: ptx.Function, layout: Layout, first_free: int, *, literal: bool) -> None:
        self._module = module
        self._kernel = kernel
        self._layout = layout
        self._literal = literal
        self._next = first_free
        self._registers: dict[int, Reg] = {}
        self._carry: Reg | None = None

    def fresh(self, bank: Bank) -> Reg:
        """A virtual register of its own."""
        self._next += 1
        return Reg(self._next - 1, bank)

    def begin_block(self) -> None:
        """The carry flag does not live from block to block."""
        self._carry = None

    def _fail(self, instruction: ptx.PtxInstruction, what: str) -> WarploomError:
        return WarploomError(f"{self._module.place(instruction.line)}: {what} in '{self._module.statement(instruction)}'.")

    def register(self, register: ptx.Register) -> Reg:
        """The machine register of a PTX register; their numbers are the same."""
        found = self._registers.get(register.number)
        if found is None:
            found = self._registers[register.number] = Reg(register.number, bank_of(register.type))
        return found

    def guard(self, instruction: ptx.PtxInstruction) -> Guard | None:
        """The guard of an instruction."""
        return Guard(self.register(instruction.guard[0]), instruction.guard[1]) if instruction.guard else None

    def translate(self, instruction: ptx.PtxInstruction) -> list[Instruction]:
        """The machine instructions for one of PTX that is not a branch."""
        name = instruction.opcode.name
        if name in ("ld", "ldu"):
            made = self._load(instruction)
        elif name == "st":
            made = self._store(instruction)
        elif name == "cvta":
            made = self._convert_address(instruction)
        elif name == "cvt":
            made = self._convert(instruction)
        elif name == "tex":
            made = self._texture(instruction)
        else:
            made = self._plain(instruction)
        guard = self.guard(instruction)
        for one in made:
            one.line = instruction.line
            if one.op is not _NOT and one.op is not _LOW_WORD:
                one.guard = guard
        return made

    def value(self, operand: ptx.Operand, instruction: ptx.PtxInstruction) -> Operand:
        """The machine operand for a source of an instruction."""
        if isinstance(operand, ptx.Register):
            return self.register(operand)
        if isinstance(operand, ptx.PtxConstant):
            return Imm(operand.bits)
        if isinstance(operand, ptx.SpecialRegister):
            return Special(operand.name)
        if isinstance(operand, ptx.SymbolAddress):
            return self._symbol(operand.variable, operand.offset, SIZE[instruction.opcode.type or "u64"])
        if isinstance(operand, ptx.ParameterAddress):
            return Imm(operand.parameter.offset + operand.offset)
        if isinstance(operand, ptx.MemoryOperand):
            return self._address(operand)
        raise self._fail(instruction, "this operand has no meaning here")

    def _symbol(self, variable: ptx.PtxVariable, offset: int, size: int) -> Imm | Symbol:
        place = self._layout.offsets.get(variable)
        if place is not None:
            return Imm((place + offset) & ((1 << 8 * size) - 1))
        return Symbol(variable.name, offset)

    def _address(self, memory: ptx.MemoryOperand) -> Address:
        base = memory.base
        if isinstance(base, ptx.Register):
            return Address(self.register(base), memory.offset)
        if isinstance(base, ptx.PtxParameter):
            return Address(None, base.offset + memory.offset)
        if isinstance(base, ptx.PtxVariable):
            place = self._layout.offsets.get(base)
            return Address(Symbol(base.name), memory.offset) if place is None else Address(None, place + memory.offset)
        return Address(None, memory.offset)

    def _plain(self, instruction: ptx.PtxInstruction) -> list[Instruction]:
        opcode = instruction.opcode
        op = _operation(opcode)
        made: list[Instruction] = []
        if op.name == "nop":
            return [Instruction(op)] if self._literal else []
        dsts: list[Reg] = []
        srcs: list[Operand] = []
        destinations = self._destination_count(opcode)
        for place, operand in enumerate(instruction.operands):
            if place < destinations:
                dsts += self._destinations(operand, opcode, place)
            elif isinstance(operand, ptx.Negated):
                positive = self.fresh(Bank.P)
                made.append(Instruction(_NOT, (positive,), (self.register(operand.predicate),)))
                srcs.append(positive)
            elif isinstance(operand, ptx.Vector):
                srcs += [self.value(element, instruction) for element in operand.elements]
            else:
                srcs.append(self.value(operand, instruction))
        if op.space == "generic":
            op = self._resolved(op, instruction)
        if op.name in _CARRY_IN or "cc" in op.modifiers:
            self._thread_carry(instruction, op, dsts, srcs)
        if not dsts and destinations and op.name == "setp":
            return []
        made.append(Instruction(op, tuple(dsts), tuple(srcs)))
        return made

    @staticmethod
    def _destination_count(opcode: Opcode) -> int:
        first = opcode.rules[0].kind if opcode.rules else ""
        return 2 if first in ("p|q", "d|p") else 1 if first in ("d", "dm", "vd") else 0

    def _destinations(self, operand: ptx.Operand, opcode: Opcode, place: int) -> list[Reg]:
        if isinstance(operand, ptx.Vector):
            size = SIZE[opcode.type] // len(operand.elements)
            bank = Bank.R if opcode.name == "mov" and size <= 4 else bank_of(opcode.type)
            return [self.register(item) if isinstance(item, ptx.Register) else self.fresh(bank) for item in operand.elements]
        if isinstance(operand, ptx.Sink):
            # a second destination that is not wanted is not written; a first one needs a place to go to
            if place == 1:
                return []
            return [self.fresh(Bank.P if opcode.name == "setp" else Bank.R)]
        assert isinstance(operand, ptx.Register)
        return [self.register(operand)]

    def _resolved(self, op: Operation, instruction: ptx.PtxInstruction) -> Operation:
        """A generic access to a named variable is an access to the variable's space."""
        for operand in instruction.operands:
            if isinstance(operand, ptx.MemoryOperand) and isinstance(operand.base, ptx.PtxVariable):
                return op._replace(space=operand.base.space)
        return op

    def _thread_carry(self, instruction: ptx.PtxInstruction, op: Operation, dsts: list[Reg], srcs: list[Operand]) -> None:
        if op.name in _CARRY_IN:
            if self._carry is None:
                raise self._fail(instruction, "no instruction before this one in its block sets the carry flag that it reads")
            srcs.append(self._carry)
        if "cc" in op.modifiers:
            if self._carry is None or instruction.guard is None:
                self._carry = self.fresh(Bank.P)
            dsts.append(self._carry)

    def _load(self, instruction: ptx.PtxInstruction) -> list[Instruction]:
        op = _operation(instruction.opcode)
        target, memory = instruction.operands
        assert isinstance(memory, ptx.MemoryOperand)
        if op.space == "generic":
            op = self._resolved(op, instruction)
        elements = target.elements if isinstance(target, ptx.Vector) else (target,)
        if op.space == "param" and not self._literal and isinstance(memory.base, ptx.PtxParameter):
            return self._parameters_in_place(op, elements, memory)
        wide = SIZE[op.type] == 8
        dsts: list[Reg] = []
        extensions: list[Instruction] = []
        for element in elements:
            if not isinstance(element, ptx.Register):
                dsts.append(self.fresh(Bank.D if wide else Bank.R))
                continue
            register = self.register(element)
            if register.bank is Bank.D and not wide and not self._literal:
                narrow = self.fresh(Bank.R)
                sign = "s" if op.type[0] == "s" else "u"
                extensions.append(Instruction(Operation("cvt", f"{sign}64", f"{sign}32"), (register,), (narrow,)))
                register = narrow
            dsts.append(register)
        loads = [Instruction(part, tuple(dsts[first:last]), (address,)) for part, first, last, address in self._parts(op, memory)]
        return [*loads, *extensions]

    def _parts(self, op: Operation, memory: ptx.MemoryOperand) -> list[tuple[Operation, int, int, Address]]:
        """A vector access as hardware does it, 16 bytes at most at a time: operation, elements from and to, address."""
        address = self._address(memory)
        size = SIZE[op.type]
        step = max(min(op.vector, 16 // size), 1)
        return [
            (op._replace(vector=step), first, first + step, Address(address.base, address.offset + first * size))
            for first in range(0, op.vector, step)
        ]

    def _parameters_in_place(
        self, op: Operation, elements: tuple[ptx.Operand, ...], memory: ptx.MemoryOperand
    ) -> list[Instruction]:
        """ld.param: the parameter is an operand of its own, as hardware reads its constant bank."""
        made = []
        size = SIZE[op.type]
        assert isinstance(memory.base, ptx.PtxParameter)
        offset = memory.base.offset + memory.offset
        for element in elements:
            if isinstance(element, ptx.Register):
                held = SIZE[element.type]
                sign = "s" if op.type[0] == "s" else "u"
                move = (
                    Operation("mov", f"b{8 * size}")
                    if held == size
                    else Operation("cvt", f"{sign}{8 * held}", f"{sign}{8 * size}")
                )
                made.append(Instruction(move, (self.register(element),), (Param(offset, size),)))
            offset += size
        return made

    def _store(self, instruction: ptx.PtxInstruction) -> list[Instruction]:
        op = _operation(instruction.opcode)
        memory, source = instruction.operands
        assert isinstance(memory, ptx.MemoryOperand)
        if op.space == "generic":
            op = self._resolved(op, instruction)
        if op.space == "param" and (not isinstance(memory.base, ptx.PtxParameter) or memory.base in self._kernel.parameters):
            raise self._fail(instruction, "a kernel's parameters cannot be written")
        made: list[Instruction] = []
        values: list[Operand] = []
        elements: tuple[ptx.Operand, ...] = source.elements if isinstance(source, ptx.Vector) else (source,)
        for element in elements:
            value = self.value(element, instruction)
            if isinstance(value, Reg) and value.bank is Bank.D and SIZE[op.type] < 8 and not self._literal:
                made.append(self._low_word(value))
                value = made[-1].dsts[0]
            values.append(value)
        made += [Instruction(part, (), (address, *values[first:last])) for part, first, last, address in self._parts(op, memory)]
        return made

    def _low_word(self, register: Reg) -> Instruction:
        return Instruction(_LOW_WORD, (self.fresh(Bank.R),), (register,))

    def _convert(self, instruction: ptx.PtxInstruction) -> list[Instruction]:
        op = _operation(instruction.opcode)
        target, source = instruction.operands
        assert isinstance(target, ptx.Register)
        register, value = self.register(target), self.value(source, instruction)
        if self._literal:
            return [Instruction(op, (register,), (value,))]
        made: list[Instruction] = []
        if isinstance(value, Reg) and value.bank is Bank.D and SIZE[op.source_type] < 8:
            made.append(self._low_word(value))
            value = made[-1].dsts[0]
        if register.bank is Bank.D and SIZE[op.type] < 8:
            narrow = self.fresh(Bank.R)
            sign = "s" if op.type[0] == "s" else "u"
            made.append(Instruction(op, (narrow,), (value,)))
            made.append(Instruction(Operation("cvt", f"{sign}64", f"{sign}32"), (register,), (narrow,)))
        else:
            made.append(Instruction(op, (register,), (value,)))
        return made

    def _convert_address(self, instruction: ptx.PtxInstruction) -> list[Instruction]:
        opcode = instruction.opcode
        target, source = instruction.operands
        assert isinstance(target, ptx.Register)
        if opcode.space == "param":
            raise self._fail(instruction, "generic addresses of parameters are not supported")
        register, value = self.register(target), self.value(source, instruction)
        if self._literal:
            return [Instruction(_operation(opcode), (register,), (value,))]
        window = _WINDOWS.get(opcode.space)
        bits = 8 * SIZE[opcode.type]
        if window is None:
            return [Instruction(Operation("mov", f"b{bits}"), (register,), (value,))]
        if "to" in opcode.modifiers:
            window = -window & ((1 << bits) - 1)
        return [Instruction(Operation("add", f"u{bits}"), (register,), (value, Imm(window)))]

    def _texture(self, instruction: ptx.PtxInstruction) -> list[Instruction]:
        op = _operation(instruction.opcode)
        target, texel = instruction.operands
        assert isinstance(texel, ptx.Texel)
        texture = texel.texture
        first: Operand = self.register(texture) if isinstance(texture, ptx.Register) else Symbol(texture.name)
        coordinates = texel.coordinates[: _COORDINATES[op.space]]
        srcs = (first, *(self.value(coordinate, instruction) for coordinate in coordinates))
        return [Instruction(op, tuple(self._destinations(target, instruction.opcode, 0)), srcs)]


def branch_chain(translator: Translator, instruction: ptx.PtxInstruction, blocks: dict[int, int]) -> list[list[Instruction]]:
    """brx.idx as a chain of comparisons: one group per block, the last an unconditional branch."""
    index = translator.value(instruction.operands[0], instruction)
    groups: list[list[Instruction]] = []
    guard = translator.guard(instruction)
    line = instruction.line
    for number, label in enumerate(instruction.targets):
        target = blocks[label.position]
        if number + 1 == len(instruction.targets) and guard is None:
            groups.append([Instruction(Operation("bra"), target=target, line=line)])
            continue
        equal = translator.fresh(Bank.P)
        compare = Instruction(Operation("setp", "u32", modifiers=("eq",)), (equal,), (index, Imm(number)), line=line)
        group = [compare]
        if guard is not None:
            allowed = translator.fresh(Bank.P)
            predicate = guard.predicate
            if guard.negated:
                predicate = translator.fresh(Bank.P)
                group.append(Instruction(_NOT, (predicate,), (guard.predicate,), line=line))
            group.append(Instruction(Operation("and", "pred"), (allowed,), (equal, predicate), line=line))
            equal = allowed
        group.append(Instruction(Operation("bra"), guard=Guard(equal), target=target, line=line))
        groups.append(group)
    return groups
