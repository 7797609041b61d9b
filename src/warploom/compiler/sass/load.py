"""A kernel of a cubin as machine code: its sections put one after another, cut into blocks, targets resolved."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from warploom.base.errors import WarploomError
from warploom.base.spelling import did_you_mean
from warploom.compiler.code.instruction import (
    BRANCHES,
    EXITS,
    WAITS,
    Bank,
    Binary,
    Block,
    Code,
    Guard,
    Imm,
    Instruction,
    Modified,
    Operand,
    Operation,
    Parameter,
    Reg,
    Symbol,
    Variable,
)
from warploom.compiler.code.instruction import Address as MemoryAddress
from warploom.compiler.code.supplied import NAMES
from warploom.compiler.sass.control import control_bits
from warploom.compiler.sass.cubin import Cubin, Relocation
from warploom.compiler.sass.disassembly import INSTRUCTION_BYTES, Line, Section
from warploom.compiler.sass.forms import has_wide_addresses, result_count, widths
from warploom.compiler.sass.operands import parse_operand, register, split_operands, wide_address, widened
from warploom.compiler.sass.outside import give_calls_their_functions
from warploom.compiler.sass.shapes import SHAPES

_GUARD = re.compile(r"@(!?)(U?P[0-9T])\s+")
_TARGET = re.compile(r"`\((.*)\)$")
_CALL_STACK = 1024  # bytes of stack that a launch adds for calls whose depth the file does not say, as CUDA does
_ADDRESSES = (2, 4)  # the relocations of a 64-bit address in data: as it is, and generic
_LOWER, _UPPER = 0x38, 0x39  # of half an address in an instruction
_CALLS = (0x3A, 0x4B)  # of the function that an instruction calls, which its text names
_GLOBAL = (".nv.global", ".nv.global.init")
_SHARED_CONSTANTS = re.compile(r"\.nv\.constant[1-9]\d*")  # a bank that all kernels of the file see
_HALF = re.compile(r"32@(?:lo|hi)\(")


@dataclass
class _Kernel:
    """One kernel on its way from text to code."""

    cubin: Cubin
    listing: Mapping[str, Section]
    kernel: str
    place: str
    starts: dict[str, int] = field(default_factory=dict)  # of each section, in instructions
    lines: list[tuple[str, Line]] = field(default_factory=list)
    functions: dict[str, tuple[str, int]] = field(default_factory=dict)  # name: section, address
    linked: dict[tuple[str, int], Relocation] = field(default_factory=dict)  # section, address: what an instruction names

    def __post_init__(self) -> None:
        self.linked = {(each.section, each.offset): each for each in self.cubin.relocations if each.section in self.listing}

    def gather(self) -> None:
        """Put the kernel's section first, and after it those of the functions that it calls, directly or not."""
        for symbol in self.cubin.symbols:
            if symbol.kind == "STT_FUNC" and symbol.section in self.listing:
                self.functions[symbol.name] = (symbol.section, symbol.value)
        pending = [f".text.{self.kernel}"]
        while pending:
            name = pending.pop(0)
            if name in self.starts:
                continue
            self.starts[name] = len(self.lines)
            section = self.listing[name]
            self.lines += [(name, line) for line in section.lines]
            for line in section.lines:
                for called in re.findall(r"`\(([^)]*)\)|@\(?([\w$.]+)", line.text):
                    for word in called:
                        if word in self.functions:
                            pending.append(self.functions[word][0])

    def position(self, name: str, section: str) -> int | None:
        """Where a label or function lies, in instructions; None for what is not in this code."""
        labels = self.listing[section].labels
        if name in labels:
            return self.starts[section] + labels[name] // INSTRUCTION_BYTES
        if name in self.functions:
            home, value = self.functions[name]
            return self.starts[home] + value // INSTRUCTION_BYTES
        return None

    def half_address(self, section: str, line: Line) -> Operand | None:
        """What half of an address an instruction of linked code has among its operands; all of them lie below 4 GiB."""
        found = self.linked.get((section, line.address))
        if found is None or found.kind in _CALLS:
            return None
        symbol, offset = found.symbol, (found.symbol.value + found.addend) & 0xFFFFFFFF
        if found.kind == _UPPER:
            return Imm(0)
        if found.kind == _LOWER and symbol.section in self.starts:
            return Imm(self.starts[symbol.section] * INSTRUCTION_BYTES + offset)
        if found.kind == _LOWER and _is_placed(symbol.section):
            return Symbol(symbol.section, offset)
        raise WarploomError(f"{self.place}, {line.address:#x}: the address of {symbol.name} in '{line.text}' is not known.")


def load_kernel(cubin: Cubin, listing: Mapping[str, Section], kernel: str, source: str) -> Code:
    """The machine code of a kernel; a kernel that is not there is refused."""
    if kernel not in cubin.kernels or f".text.{kernel}" not in listing:
        raise WarploomError(f"{source}: there is no kernel {kernel!r}{did_you_mean(kernel, list(cubin.kernels))}")
    about = _Kernel(cubin, listing, kernel, f"{source}: kernel {kernel}")
    about.gather()
    instructions, targets = _instructions(about)
    instructions = instructions[: _end(instructions, targets)]
    give_calls_their_functions(instructions, cubin)
    facts = cubin.facts(kernel)
    variables, banks = _variables(cubin, kernel)
    parameters = tuple(
        Parameter(f"parameter {number}", f"b{8 * size}" if size in (1, 2, 4, 8) else "b8", offset, size)
        for number, (offset, size) in enumerate(facts.parameters)
    )
    predicates = [reg.number for i in instructions for reg in (*i.dsts, *i.reads) if reg.bank is Bank.P]
    return Code(
        name=kernel,
        blocks=_blocks(about, instructions, targets),
        parameters=parameters,
        variables=variables,
        shared_bytes=facts.shared_bytes,
        local_bytes=-(-facts.frame_bytes // 16) * 16 + (_CALL_STACK if _calls_itself(instructions) else 0),
        registers=facts.registers,
        predicates=max(predicates, default=-1) + 1,
        allocated=True,
        required_block=facts.required_block,
        source=source,
        binary=Binary(cubin.architecture, facts.parameter_offset, banks, facts.cluster),
    )


def _calls_itself(instructions: list[Instruction]) -> bool:
    """Whether functions keep return addresses on the stack, which they do when they may be called again from within."""
    names = {instruction.op.name for instruction in instructions}
    return {"CALL", "STL"} <= names


def _instructions(about: _Kernel) -> tuple[list[Instruction], dict[int, int]]:
    """All instructions in layout order, and the instruction that each branch goes to."""
    instructions: list[Instruction] = []
    targets: dict[int, int] = {}
    for pc, (section, line) in enumerate(about.lines):
        instruction, target = _instruction(line, f"{about.place}, {line.address:#x}", about.half_address(section, line))
        if target is not None:
            where = about.position(target, section)
            through_registers = instruction.op.name == "RET" or (instruction.op.name == "CALL" and instruction.srcs)
            if where is not None and (through_registers or instruction.op.name == "LEPC"):
                # A jump through registers: the place that the address in them is counted from. LEPC: the address.
                instruction.srcs = (*instruction.srcs, Imm(where * INSTRUCTION_BYTES))
            elif where is not None:
                targets[pc] = where
            else:  # of a function elsewhere: shown, and refused by name when it has to be executed
                instruction.srcs = (*instruction.srcs, Symbol(target))
        if instruction.op.name == "BRX":  # counted from the next instruction, with a distance
            distance = instruction.srcs[-1]
            assert isinstance(distance, Imm)
            start = (pc + 1) * INSTRUCTION_BYTES + distance.bits & 0xFFFFFFFF
            instruction.srcs = (*instruction.srcs[:-1], Imm(start))
        instruction.address = pc * INSTRUCTION_BYTES
        instructions.append(instruction)
    return instructions, targets


def _instruction(line: Line, place: str, half_address: Operand | None) -> tuple[Instruction, str | None]:
    """One instruction, and the label that it names."""
    text, guard = line.text, None
    if (found := _GUARD.match(text)) is not None:
        predicate = register(found.group(2))
        assert predicate is not None
        guard = Guard(predicate, bool(found.group(1)))
        text = text[found.end() :]
    opcode, _, rest = text.partition(" ")
    name, *modifiers = opcode.split(".")
    if name in ("RET", "BRX", "CALL"):  # their operands are not all separated by commas
        rest = re.sub(r"([\w.]) +(`\(|-?0x)", r"\1, \2", rest)
    texts = split_operands(rest)
    target = None
    if texts and (label := _TARGET.match(texts[-1])) is not None:
        target = label.group(1)
        texts.pop()
    if name in ("BSSY", "BSYNC", "BREAK", "BMOV", "WARPSYNC"):
        texts = [part for part in texts if part != "PT"]
    immediate = line.low >> 32
    operands = [half_address if half_address and _HALF.match(part) else parse_operand(part, immediate, place) for part in texts]
    if name.startswith(("H", "VH")):
        operands = _halves_joined(texts, operands)
    instruction = _shaped(Operation(name, modifiers=tuple(modifiers)), operands, place)
    instruction.guard, instruction.control, instruction.line = guard, control_bits(line.high), line.source_line
    return instruction, target


def _halves_joined(texts: list[str], operands: list[Operand]) -> list[Operand]:
    """Operands in which the two halves of a constant, which text shows one after the other, are one operand."""
    numbers = [at for at, (text, o) in enumerate(zip(texts, operands, strict=True)) if isinstance(o, Imm) and "0x" not in text]
    return operands if len(numbers) != 2 else operands[: numbers[1]] + operands[numbers[1] + 1 :]


def _shaped(op: Operation, operands: list[Operand], place: str) -> Instruction:
    """Results and sources apart, registers as wide as the opcode takes them."""
    if op.name in SHAPES:
        try:
            dsts, srcs = SHAPES[op.name](op, operands)
        except (AssertionError, IndexError, StopIteration, ValueError):
            raise WarploomError(f"{place}: this form of {op} is not known.") from None
        return Instruction(op, tuple(_register(dst, place) for dst in dsts), tuple(srcs))
    count = 0 if op.modifiers[:1] == ("CCTL",) else result_count(op.name, operands)
    result_words, source_words = widths(op.name, op.modifiers)
    results = tuple(_register(widened(operand, result_words), place) for operand in operands[:count])
    sources: list[Operand] = []
    position = 0
    for operand in operands[count:]:
        inner = operand.operand if isinstance(operand, Modified) else operand
        if isinstance(inner, Reg) and inner.bank in (Bank.P, Bank.UP, Bank.PT, Bank.UPT):
            sources.append(operand)
            continue
        if isinstance(operand, MemoryAddress) and has_wide_addresses(op.name):
            sources.append(wide_address(operand))
        else:
            sources.append(widened(operand, source_words[min(position, len(source_words) - 1)]))
        position += 1
    return Instruction(op, results, tuple(sources))


def _register(operand: Operand, place: str) -> Reg:
    if not isinstance(operand, Reg):
        raise WarploomError(f"{place}: {operand} stands where a result is expected.")
    return operand


def _end(instructions: list[Instruction], targets: dict[int, int]) -> int:
    """How many instructions there are without the branch to itself and the padding after the last."""
    end = len(instructions)
    while end and instructions[end - 1].op.name == "NOP" and end - 1 not in targets.values():
        end -= 1
    if end and targets.get(end - 1) == end - 1:
        end -= 1
    return end


def _blocks(about: _Kernel, instructions: list[Instruction], targets: dict[int, int]) -> list[Block]:
    """Cut the instructions where control enters or leaves, and give every branch the number of its block."""
    count = len(instructions)
    leaving = BRANCHES | EXITS | WAITS
    leaders = {0} | {target for pc, target in targets.items() if pc < count and target < count}
    leaders |= {pc + 1 for pc, i in enumerate(instructions) if i.op.name in leaving and pc + 1 < count}
    tables = _jump_targets(about, instructions)
    leaders |= {target for reached in tables.values() for target in reached}
    ordered = sorted(leaders)

    def block_of(pc: int) -> int:
        return bisect_right(ordered, pc) - 1

    for pc, instruction in enumerate(instructions):
        if pc in targets and targets[pc] < count:
            instruction.target = block_of(targets[pc])
        if pc in tables:
            instruction.targets = tuple(sorted({block_of(target) for target in tables[pc]}))
    _give_returns(instructions, targets, tables, block_of)
    names = {position: label for section in about.starts for label, position in _labels(about, section)}
    ends = [*ordered[1:], count]
    return [Block(instructions[start:end], names.get(start, "")) for start, end in zip(ordered, ends, strict=True) if start < end]


def _labels(about: _Kernel, section: str) -> list[tuple[str, int]]:
    found = about.listing[section].labels.items()
    return [(label, about.starts[section] + address // INSTRUCTION_BYTES) for label, address in found]


def _jump_targets(about: _Kernel, instructions: list[Instruction]) -> dict[int, list[int]]:
    """Where jumps through registers may go: branches as the file lists it, calls to any function of this code."""
    count = len(instructions)
    listed = {}
    for section, start in about.starts.items():
        for address, targets in about.cubin.indirect_branches(section.removeprefix(".text.")).items():
            places = [start + target // INSTRUCTION_BYTES for target in targets]
            listed[start + address // INSTRUCTION_BYTES] = [place for place in places if place < count]
    homes = [(home, value) for home, value in about.functions.values() if home in about.starts]
    functions = [about.starts[home] + value // INSTRUCTION_BYTES for home, value in homes]
    for pc, instruction in enumerate(instructions):
        if instruction.op.name == "CALL" and any(isinstance(source, Reg) for source in instruction.srcs):
            inside = [place for place in functions if 0 < place < count]
            if "ABS" in instruction.op.modifiers:  # a function that CUDA supplies comes back; any other may be one of ours
                named = any(isinstance(source, Symbol) for source in instruction.srcs)
                listed[pc] = [] if named else [*inside, *([pc + 1] if pc + 1 < count else [])]
            else:
                listed[pc] = inside
    return listed


def _give_returns(
    instructions: list[Instruction], targets: dict[int, int], indirect: dict[int, list[int]], block_of: Callable[[int], int]
) -> None:
    """Tell each return where it may go: behind the calls of the function that it ends."""
    sites: dict[int, set[int]] = {}
    for pc, instruction in enumerate(instructions):
        if instruction.op.name == "CALL":
            for entry in [targets[pc]] if pc in targets else indirect.get(pc, ()):
                sites.setdefault(entry, set()).add(pc + 1)
    returns: dict[int, set[int]] = {}
    for entry, behind in sites.items():
        seen, pending = set(), [entry]
        while pending:
            pc = pending.pop()
            if pc in seen or pc >= len(instructions):
                continue
            seen.add(pc)
            instruction = instructions[pc]
            if instruction.op.name == "RET":
                returns.setdefault(pc, set()).update(behind)
            if instruction.op.name in BRANCHES and pc in targets and instruction.op.name != "CALL":
                pending.append(targets[pc])
            if instruction.falls_through or instruction.op.name == "CALL":
                pending.append(pc + 1)
    for pc, behind in returns.items():
        instructions[pc].targets = tuple(block_of(site) for site in sorted(behind) if site < len(instructions))


def module_variables(cubin: Cubin) -> tuple[Variable, ...]:
    """The variables that belong to no kernel in particular."""
    return _variables(cubin, "")[0]


def _variables(cubin: Cubin, kernel: str) -> tuple[tuple[Variable, ...], tuple[tuple[int, str], ...]]:
    """The constant banks that the kernel sees, and the module's variables; addresses in them are filled in later."""
    variables, banks = [], []
    for name in cubin.sections:
        data, size = cubin.sections[name], cubin.size(name)
        bank = re.fullmatch(r"\.nv\.constant([1-9]\d*)(\..*)?", name)
        if bank is not None and bank.group(2) in (None, f".{kernel}") and size:
            banks.append((int(bank.group(1)), name))
        elif name not in _GLOBAL or not size:
            continue
        addresses = _addresses_in(cubin, name)
        pointers = tuple(
            (relocation.offset, Symbol(relocation.symbol.section, relocation.symbol.value + relocation.addend), 8)
            for relocation in addresses
            if _is_placed(relocation.symbol.section) and relocation.symbol.section in cubin.sections
        )
        space = "const" if bank is not None else "global"
        variables.append(Variable(name, space, size, 16, _with_supplied(addresses, data), pointers))
    return tuple(variables), tuple(banks)


def _is_placed(section: str) -> bool:
    """Whether what lies in a section has an address in every launch."""
    return section in _GLOBAL or _SHARED_CONSTANTS.fullmatch(section) is not None


def _addresses_in(cubin: Cubin, section: str) -> list[Relocation]:
    """The places in data that hold addresses."""
    found = [each for each in cubin.relocations if each.section == section and each.kind in _ADDRESSES]
    for each in found:
        if each.offset + 8 > len(cubin.sections[section]):
            raise WarploomError(f"{cubin.place}: the cubin is damaged: section {section} ends before {each.offset + 8:#x}.")
    return found


def _with_supplied(addresses: list[Relocation], data: bytes) -> bytes:
    """The contents of a section with the addresses of functions that CUDA supplies."""
    filled = bytearray(data)
    for relocation in addresses:
        if relocation.symbol.name in NAMES:
            address = NAMES[relocation.symbol.name].address
            filled[relocation.offset : relocation.offset + 8] = address.to_bytes(8, "little")
    return bytes(filled)
