"""Encodes integer arithmetic and logic. Instructions of the uniform datapath do the same on uniform registers."""

from __future__ import annotations

import numpy as np

from warploom.compiler.code.instruction import Bank, Imm, Instruction, Modified, Operand, Reg
from warploom.emulator.lanes import ROW_BYTES
from warploom.emulator.records import PredicateOperation
from warploom.emulator.sass.registry import encodes
from warploom.emulator.sass.rows import SassRows
from warploom.emulator.sass.words_lanes import COMMON_TABLES

COMBINERS = {"AND": PredicateOperation.AND, "OR": PredicateOperation.OR, "XOR": PredicateOperation.XOR}
_BYTES = ("B0", "B1", "B2", "B3")
_WHOLE_WORD = Imm(0xF)  # the mask of what is moved
_COMPARISONS = ("EQ", "NE", "LT", "LE", "GT", "GE")


def registers_of(instruction: Instruction) -> tuple[Reg, list[Reg]]:
    """The result that is a register (or holds nothing), and those that are predicates."""
    predicates = [dst for dst in instruction.dsts if dst.bank in (Bank.P, Bank.UP, Bank.PT, Bank.UPT)]
    others = [dst for dst in instruction.dsts if dst not in predicates]
    return (others[0] if others else Reg(0, Bank.RZ)), predicates


def parts_of(instruction: Instruction) -> tuple[Reg, list[Reg], list[Operand], list[Operand]]:
    """Its result, the predicates that it writes, its sources, and the predicates that it reads."""
    register, written = registers_of(instruction)
    read = [source for source in instruction.srcs if is_predicate(source)]
    return register, written, [source for source in instruction.srcs if source not in read], read


def _carries(rows: SassRows, read: list[Operand], written: list[Reg]) -> tuple[int, int]:
    """The predicates of the carries that come in and go out; one that is not there is never true, or -1."""
    return rows.predicate(read[0]) if read else rows.never, rows.predicate_result(written[0]) if written else -1


def is_predicate(operand: Operand) -> bool:
    inner = operand.operand if isinstance(operand, Modified) else operand
    return isinstance(inner, Reg) and inner.bank in (Bank.P, Bank.UP, Bank.PT, Bank.UPT)


def is_zero(operand: Operand) -> bool:
    inner = operand.operand if isinstance(operand, Modified) else operand
    if isinstance(inner, Reg):
        return inner.bank in (Bank.RZ, Bank.URZ) and not (isinstance(operand, Modified) and operand.inverted)
    return isinstance(inner, Imm) and inner.bits == 0 and operand is inner


def _negated(operand: Operand) -> bool:
    return isinstance(operand, Modified) and operand.negated


def _plain(operand: Operand) -> Operand:
    return operand.operand if isinstance(operand, Modified) else operand


@encodes("MOV", "UMOV", only=("COMPACT",))  # the mark of a move that the pass of a design has put in
def _move(rows: SassRows, instruction: Instruction, _record: np.void) -> None:
    rows.require(instruction.srcs[1:] in ((), (_WHOLE_WORD,)), "the emulator moves whole words only")
    rows.emit("mov.32", [rows.row(instruction.srcs[0])], rows.result(instruction.dsts[0]))


@encodes("IADD3", "UIADD3", only=("X", "64"))
def _add3(rows: SassRows, instruction: Instruction, _record: np.void) -> None:
    register, carries_out, sources, carries_in = parts_of(instruction)
    out = rows.result(register)
    if "64" in instruction.op.modifiers:
        rows.require(not (carries_in or carries_out or any(map(_negated, sources))), "the emulator does not know this sum")
        first, second, third = (rows.row(source, 2) for source in sources)
        both = rows.emit("add.64", [first, second], rows.temporary())
        rows.emit("add.64", [both, third], out)
        return
    if not carries_in and not any(dst.bank in (Bank.P, Bank.UP) for dst in carries_out):
        plain_sum(rows, [source for source in sources if not is_zero(source)], out)
        return
    _carried_sum(rows, sources, carries_in, carries_out, out, extended="X" in instruction.op.modifiers)


def plain_sum(rows: SassRows, sources: list[Operand], out: int) -> None:
    if not sources:
        rows.emit("mov.32", [rows.constant(0)], out)
    elif len(sources) == 1:
        rows.emit("neg.32" if _negated(sources[0]) else "mov.32", [rows.row(_plain(sources[0]))], out)
    elif len(sources) == 2:
        first, second = sorted(sources, key=_negated)
        if _negated(second) and not _negated(first):
            rows.emit("sub.32", [rows.word(first), rows.row(_plain(second))], out)
        else:
            rows.emit("add.32", [rows.word(first), rows.word(second)], out)
    else:
        rows.emit("add3", [rows.word(source) for source in sources], out)


def _carried_sum(
    rows: SassRows, sources: list[Operand], carries_in: list[Operand], carries_out: list[Reg], out: int, *, extended: bool
) -> None:
    """A sum in 33 bits: -x counts as ~x + 1; in the extended form negation is ~x and carries come in."""
    words, ones = [], 0
    for source in (*sources, *[Reg(0, Bank.RZ)] * (3 - len(sources))):
        if isinstance(source, Modified) and (source.negated or source.inverted):
            words.append(rows.emit("not.32", [rows.row(source.operand)], rows.temporary()))
            ones += source.negated and not extended
        else:
            words.append(rows.row(source))
    carries = [rows.predicate(carry) for carry in carries_in]
    real = [carry for carry in carries if carry != rows.never]
    fourth = rows.constant(ones)
    if len(real) > 1:
        fourth = rows.emit("flag", [], rows.temporary(), predicate=real.pop())
    carry = real[0] if real else rows.never
    outs = [rows.predicate_result(dst) for dst in carries_out]
    wanted = [number for number in outs if number >= 0]
    if not wanted:
        rows.emit("add4", [*words, fourth], out, predicate=carry)
        return
    # All answers first: a result may be a source of the other.
    answers = []
    if len(outs) > 1 and outs[1] >= 0:
        second = rows.spare_predicate()
        rows.emit("add4.carry2", [*words, fourth], predicate=carry, predicate_out=second)
        answers.append((second, outs[1]))
    rows.emit("add4.carry", [*words, fourth], out, predicate=carry, predicate_out=outs[0])
    for answer, place in answers:
        rows.emit_predicate(PredicateOperation.MOVE, [answer], place)


def two_integers(rows: SassRows, operand: Operand) -> int:
    """Two integers of 16 bits, each of which may be negated."""
    if not _negated(operand):
        return rows.word(operand)
    inverted = rows.emit("not.32", [rows.row(_plain(operand))], rows.temporary())
    return rows.emit("add.16x2", [inverted, rows.constant(0x00010001)], rows.temporary())


@encodes("VIADD", only=("16x2",))
def _add(rows: SassRows, instruction: Instruction, _record: np.void) -> None:
    if instruction.op.modifiers:
        first, second = (two_integers(rows, source) for source in instruction.srcs)
        rows.emit("add.16x2", [first, second], rows.result(instruction.dsts[0]))
        return
    plain_sum(rows, [source for source in instruction.srcs if not is_zero(source)], rows.result(instruction.dsts[0]))


@encodes("IMAD", "UIMAD")
def _multiply_add(rows: SassRows, instruction: Instruction, _record: np.void) -> None:
    register, _, sources, carries_in = parts_of(instruction)
    modifiers = instruction.op.modifiers
    out = rows.result(register)
    if "WIDE" in modifiers or "HI" in modifiers:
        _wide_product(rows, instruction, out)
    elif carries_in:
        words = [_turned(rows, source) for source in sources]
        rows.emit("madc", words, out, predicate=rows.predicate(carries_in[0]))
    elif is_zero(sources[0]) or is_zero(sources[1]):
        plain_sum(rows, [source for source in sources[2:] if not is_zero(source)], out)
    elif sources[1] == Imm(1) or sources[0] == Imm(1):
        factor = sources[0] if sources[1] == Imm(1) else sources[1]
        plain_sum(rows, [source for source in (factor, sources[2]) if not is_zero(source)], out)
    elif is_zero(sources[2]):
        rows.emit("mul.32", [rows.word(sources[0]), rows.word(sources[1])], out)
    else:
        rows.emit("mad.32", [rows.word(source) for source in sources], out)


def _wide_product(rows: SassRows, instruction: Instruction, out: int) -> None:
    """All 64 bits of a product and what is added, or the upper half."""
    _, carries_out, sources, carries_in = parts_of(instruction)
    sign, high = "u" if "U32" in instruction.op.modifiers else "s", "WIDE" not in instruction.op.modifiers
    factors = [rows.word(sources[0]), rows.word(sources[1])]
    total = rows.temporary() if high else out
    addend = _pair(rows, sources[2])
    if high or carries_in or any(dst.bank in (Bank.P, Bank.UP) for dst in carries_out):
        carry, carry_out = _carries(rows, carries_in, carries_out)
        rows.emit(f"madwide.carry.{sign}", [*factors, addend], total, predicate=carry, predicate_out=carry_out)
        if high:
            rows.emit("mov.32", [total + ROW_BYTES], out)
    elif is_zero(sources[2]):
        rows.emit(f"mulwide.{sign}", factors, out)
    else:
        rows.emit(f"madwide.{sign}", [*factors, addend], out)


def _turned(rows: SassRows, operand: Operand) -> int:
    """An operand of an extended form: there -x is ~x, because a carry comes in."""
    if isinstance(operand, Modified) and (operand.inverted or operand.negated):
        return rows.emit("not.32", [rows.row(operand.operand)], rows.temporary())
    return rows.row(operand)


def _pair(rows: SassRows, operand: Operand) -> int:
    """An addend of 64 bits; a negative constant is extended by its sign."""
    inner = _plain(operand)
    if isinstance(inner, Imm):
        wide = inner.bits - (1 << 32) if inner.bits >> 31 else inner.bits
        row = rows.constant(wide, 2)
    else:
        row = rows.row(inner, 2)
    if isinstance(operand, Modified) and (operand.negated or operand.inverted):
        return rows.emit("neg.64" if operand.negated else "not.64", [row], rows.temporary())
    return row


def _is_turned(operand: Operand) -> bool:
    return isinstance(operand, Modified) and (operand.negated or operand.inverted)


def _add_with_carry(
    rows: SassRows, terms: list[tuple[int, Operand]], extended: bool, carry: int, carry_out: int, out: int
) -> None:
    """A sum of rows, negated where their operands are: -x is its complement and one more, which extended sums get as carry."""
    words, ones = [], 0
    for row, operand in terms:
        if _is_turned(operand):
            row = rows.emit("not.32", [row], rows.temporary())
            ones += isinstance(operand, Modified) and operand.negated and not extended
        words.append(row)
    name = "add4.carry" if carry_out >= 0 else "add4"
    rows.emit(name, [*words, rows.constant(ones), rows.constant(0)], out, predicate=carry, predicate_out=carry_out)


@encodes("LEA", "ULEA")
def _load_effective_address(rows: SassRows, instruction: Instruction, _record: np.void) -> None:
    register, carries_out, sources, carries_in = parts_of(instruction)
    out = rows.result(register)
    modifiers = instruction.op.modifiers
    x, y, amount = sources[0], sources[1], rows.row(sources[-1])
    carry, carry_out = _carries(rows, carries_in, carries_out)
    if "HI" in modifiers:
        high = rows.emit("sign", [rows.word(x)], rows.temporary()) if "SX32" in modifiers else rows.row(sources[2])
        if carry_out >= 0:
            rows.require(not _is_turned(x), "a carry leaves the upper half of a negative number")
            shifted = rows.emit("lea.hi", [rows.row(x), rows.constant(0), high, amount], rows.temporary(), predicate=rows.never)
            _add_with_carry(rows, [(shifted, x), (rows.row(_plain(y)), y)], "X" in modifiers, carry, carry_out, out)
            return
        addend = _turned(rows, y) if "X" in modifiers else rows.word(y)
        rows.emit("lea.hi", [rows.word(x), addend, high, amount], out, predicate=carry)
    elif carry_out >= 0 or carries_in:
        shifted = rows.emit("shl.32", [rows.row(_plain(x)), amount], rows.temporary())
        _add_with_carry(rows, [(shifted, x), (rows.row(_plain(y)), y)], "X" in modifiers, carry, carry_out, out)
    else:
        rows.emit("lea", [rows.word(x), rows.word(y), amount], out)


@encodes("ISETP", "UISETP")
def _compare(rows: SassRows, instruction: Instruction, _record: np.void) -> None:
    modifiers = instruction.op.modifiers
    sign = "u" if "U32" in modifiers else "s"
    x, y, *others = instruction.srcs
    name = next(word for word in modifiers if word in (*_COMPARISONS, "T", "F"))
    result = rows.spare_predicate()
    rows.require(len(others) == 1 or "EX" in modifiers, "a predicate comes in although nothing is extended")
    if name in ("T", "F"):
        rows.emit_predicate(PredicateOperation.MOVE, [rows.always if name == "T" else rows.never], result)
    elif "EX" in modifiers:
        rows.emit(
            f"{name.lower()}.ex.{sign}", [rows.word(x), rows.word(y)], predicate=rows.predicate(others[1]), predicate_out=result
        )
    else:
        sign = "s" if name in ("EQ", "NE") else sign
        rows.emit(f"{name.lower()}.{sign}32", [rows.word(x), rows.word(y)], predicate_out=result)
    combine_predicates(rows, instruction, result, others[0])


def combine_predicates(rows: SassRows, instruction: Instruction, result: int, other: Operand) -> None:
    """The result of a comparison, and its opposite, each combined with a further predicate, into the two destinations."""
    combiner = next((COMBINERS[word] for word in instruction.op.modifiers if word in COMBINERS), PredicateOperation.AND)
    with_other = rows.predicate(other)
    first, second = (rows.predicate_result(dst) for dst in instruction.dsts)
    neutral = rows.always if combiner is PredicateOperation.AND else rows.never
    opposite = -1
    if second >= 0:
        opposite = rows.emit_predicate(PredicateOperation.NOT, [result], rows.spare_predicate())
        if with_other != neutral:
            rows.emit_predicate(combiner, [opposite, with_other], opposite)
    if first >= 0:
        if with_other == neutral:
            _retarget(rows, result, first) if second < 0 else rows.emit_predicate(PredicateOperation.MOVE, [result], first)
        else:
            rows.emit_predicate(combiner, [result, with_other], first)
    if second >= 0:
        rows.emit_predicate(PredicateOperation.MOVE, [opposite], second)


def _retarget(rows: SassRows, temporary: int, place: int) -> None:
    """Let the micro-operation that wrote a temporary predicate write its place at once."""
    family, number, a, b, c, d, out, predicate, predicate_out = rows.micro[-1]
    if predicate_out == temporary:
        rows.micro[-1] = (family, number, a, b, c, d, out, predicate, place)
    else:
        rows.emit_predicate(PredicateOperation.MOVE, [temporary], place)


@encodes("LOP3", "ULOP3", only=("LUT", "PAND"))
def _logic(rows: SassRows, instruction: Instruction, _record: np.void) -> None:
    register, predicates, (*sources, table), further = parts_of(instruction)
    assert isinstance(table, Imm)
    out = rows.result(register)
    words = [rows.word(source) for source in sources]
    if table.bits in COMMON_TABLES:
        rows.emit(f"lop3.{table.bits:02x}", words, out)
    else:
        rows.emit("lop3", [*words, rows.constant(table.bits)], out)
    if predicates and (place := rows.predicate_result(predicates[0])) >= 0:
        other = rows.predicate(further[0]) if further else rows.never
        combiner = PredicateOperation.AND if "PAND" in instruction.op.modifiers else PredicateOperation.OR
        if combiner is PredicateOperation.OR and other == rows.never:
            rows.emit("ne.s32", [out, rows.constant(0)], predicate_out=place)
        else:
            result = rows.spare_predicate()
            rows.emit("ne.s32", [out, rows.constant(0)], predicate_out=result)
            rows.emit_predicate(combiner, [result, other], place)


@encodes("PLOP3", "UPLOP3")
def _predicate_logic(rows: SassRows, instruction: Instruction, _record: np.void) -> None:
    *sources, first, second = instruction.srcs
    assert isinstance(first, Imm) and isinstance(second, Imm)
    inputs = [rows.predicate(source) for source in sources]
    places = [rows.predicate_result(dst) for dst in instruction.dsts]
    tables = (first.bits, second.bits)
    answers = [
        rows.emit_table(table, inputs, rows.spare_predicate() if len([p for p in places if p >= 0]) > 1 else place)
        for table, place in zip(tables, places, strict=True)
        if place >= 0
    ]
    if len(answers) > 1:
        for answer, place in zip(answers, places, strict=True):
            rows.emit_predicate(PredicateOperation.MOVE, [answer], place)


@encodes("SHF", "USHF")
def _shift(rows: SassRows, instruction: Instruction, _record: np.void) -> None:
    """Left or right, of a word or a pair of words, of which the upper or lower word is the result."""
    modifiers = instruction.op.modifiers
    low, amount, high = (rows.word(source) for source in instruction.srcs)
    out = rows.result(instruction.dsts[0])
    left, upper, wrap = "L" in modifiers, "HI" in modifiers, "W" in modifiers
    signed = "S32" in modifiers or "S64" in modifiers
    if "U64" in modifiers or "S64" in modifiers:
        name = (
            f"shf64.{'l' if left else 'r'}.{'s' if signed and not left else 'u'}.{'hi' if upper else 'lo'}.{'w' if wrap else 'c'}"
        )
        rows.emit(name, [low, amount, high], out)
        return
    if left == upper:
        rows.emit(f"shf.{'l' if left else 'r'}.{'wrap' if wrap else 'clamp'}", [low, high, amount], out)
        return
    if wrap:
        amount = rows.emit("and.32", [amount, rows.constant(31)], rows.temporary())
    if left:
        rows.emit("shl.32", [low, amount], out)
    else:
        rows.emit("shr.s32" if signed else "shr.u32", [high, amount], out)


@encodes("SEL", "USEL", only=())
def _select(rows: SassRows, instruction: Instruction, _record: np.void) -> None:
    x, y, condition = instruction.srcs
    words = [rows.word(x), rows.word(y)]
    rows.emit("selp.32", words, rows.result(instruction.dsts[0]), predicate=rows.predicate(condition))


def _byte_of(rows: SassRows, instruction: Instruction) -> tuple[int, int]:
    """The row of a register, and the first bit of the byte that is named (``R4.B1``, ``P2R.B1``), or of the lowest."""
    operand = instruction.srcs[0]
    byte = next((word for word in instruction.op.modifiers if word in _BYTES), "B0")
    if isinstance(operand, Modified) and operand.part in _BYTES:
        byte, operand = operand.part, operand.operand
    return rows.word(operand), 8 * _BYTES.index(byte)


@encodes("P2R")
def _predicates_to_register(rows: SassRows, instruction: Instruction, _record: np.void) -> None:
    """The bits of a mask, in a register or in one of its bytes, are replaced by predicates."""
    _other, mask, *predicates = instruction.srcs
    assert isinstance(mask, Imm)
    source, first = _byte_of(rows, instruction)
    total = rows.emit("and.32", [source, rows.constant(~(mask.bits << first))], rows.temporary())
    for predicate in predicates:
        assert isinstance(predicate, Reg)
        bit = rows.constant(1 << first + predicate.number)
        flag = rows.emit("selp.32", [bit, rows.constant(0)], rows.temporary(), predicate=rows.predicate(predicate))
        rows.emit("or.32", [total, flag], total)
    rows.emit("mov.32", [total], rows.result(instruction.dsts[0]))


@encodes("R2P")
def _register_to_predicates(rows: SassRows, instruction: Instruction, _record: np.void) -> None:
    """Bits of a register, or of one of its bytes."""
    source, first = _byte_of(rows, instruction)
    for predicate in instruction.dsts:
        rows.emit("bit", [source, rows.constant(first + predicate.number)], predicate_out=rows.predicate_result(predicate))
