"""Executes instructions as they are written, and again with plain registers that hold what each operand is read as.

The second time no operand is negated, a part, uniform, a constant or a number: NumPy has made the values beforehand.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from warploom.compiler.code.instruction import (
    Address,
    Bank,
    Binary,
    Block,
    Code,
    Constant,
    Guard,
    Imm,
    Instruction,
    Modified,
    Operand,
    Operation,
    Parameter,
    Reg,
    Special,
)
from warploom.compiler.sass.forms import widths
from warploom.emulator.sass.registry import encoders
from warploom.programs.device import Device

LANES, GROUPS = 32, 4  # groups of lanes have uniform registers of their own
PREDICATES = (Bank.P, Bank.UP, Bank.PT, Bank.UPT)
UNIFORM = (Bank.U, Bank.UD, Bank.UQ, Bank.UP)
WORDS = {Bank.D: 2, Bank.UD: 2, Bank.Q: 4, Bank.UQ: 4}
_WIDE = {1: Bank.R, 2: Bank.D, 4: Bank.Q}
_UNIFORM_WIDE = {1: Bank.U, 2: Bank.UD, 4: Bank.UQ}
_SLOTS = 8  # operands of an instruction that are registers, constants or numbers
_TRUTHS = 5  # operands that are predicates
_WORDS_OF_SLOT = 4
_PARAMETERS = 16  # bytes: where what is read lies, and where what is written goes; then constants
_RAW, _PLAIN, _RESULT, _SHOWN, _ZERO = 16, 64, 100, 120, 124  # the first registers of each purpose
_UNIFORM_RESULT, _UNIFORM_SHOWN = 40, 44
_RESULT_PREDICATES = (5, 6)
_ADDRESS, _WRITTEN = Reg(2, Bank.D), Reg(6, Bank.D)

Values = np.ndarray  # words, groups, lanes


class NotPlain(Exception):
    """An operand that no register can stand for."""


def _interesting() -> np.ndarray:
    """Words that are awkward as integers, as numbers and as pairs of halves."""
    rng = np.random.default_rng(31)
    words = rng.integers(0, 1 << 32, (_SLOTS, _WORDS_OF_SLOT, GROUPS, LANES), np.uint32)
    awkward = [0, 1, 2, 31, 0x80000000, 0x7FFFFFFF, 0xFFFFFFFF, 0x3F800000, 0xBF800000, 0x7F800000, 0xFF800000, 0x7FC00000]
    awkward += [0x00000001, 0x80000001, 0x00400000, 0x40490FDB, 0x3C003C00, 0xBC003C00, 0x7C00FC00, 0x00010001, 0x7FFF8000]
    awkward += [0x3FF00000, 0xBFF00000, 0x7FF00000, 0x400921FB, 0xC0091EB8, 0x42280000, 0xC2280000]
    chosen = rng.random(words.shape) < 0.5
    words[chosen] = rng.choice(np.array(awkward, np.uint32), int(chosen.sum()))
    near = rng.random(words.shape) < 0.25
    words[near] = (rng.normal(0, 40, int(near.sum()))).astype(np.float32).view(np.uint32)
    return words


RAW = _interesting()
TRUTHS = np.random.default_rng(32).integers(0, 1 << 32, (_TRUTHS, GROUPS), np.uint32)  # a bit for each lane


def reading(name: str, modifiers: tuple[str, ...], place: int) -> str:
    """As what an operand is taken: a kind of number, for signs."""
    if name[0] == "D" and name not in ("DEPBAR",):
        return "double"
    if name in ("F2F", "F2I", "FRND"):
        types = [word for word in modifiers if word in ("F64", "F32", "F16", "BF16")]
        source = types[-1] if types else "F32"
        return {"F64": "double", "F32": "single"}.get(source, "half")
    if name == "MUFU":
        return "half" if {"F16", "BF16", "BF16_V2"} & set(modifiers) else "single"
    if name in ("F2FP", "F2IP"):
        return "single" if place < 2 and "F32" in modifiers else "integer"
    if name[0] == "F" and name not in ("FLO", "FENCE"):
        return "single"
    if name == "HMMA":
        return "single" if "TF32" in modifiers else "pair"
    if name.startswith(("H", "VH")):
        return "brain pair" if "BF16_V2" in modifiers else "pair"
    if {"16x2", "S16x2", "U16x2"} & set(modifiers):
        return "two integers"
    return "integer"


def _of_all_lanes(words: np.ndarray) -> Values:
    return np.broadcast_to(words, (len(words), GROUPS, LANES))


def _bits(value: int, words: int) -> Values:
    split = np.array([value >> 32 * word & 0xFFFFFFFF for word in range(words)], np.uint32)
    return _of_all_lanes(split[:, None, None])


def _halves(word: Values, function: Callable[[Values], Values]) -> Values:
    low, high = function(word & 0xFFFF), function(word >> 16)
    return ((high & 0xFFFF) << 16 | low & 0xFFFF).astype(np.uint32)


def _half_of(word: Values, brain: bool) -> Values:
    """The half that is nearest to a number of 32 bits."""
    number = np.ascontiguousarray(word).view(np.float32)
    with np.errstate(all="ignore"):
        half = number.astype(np.float16).view(np.uint16).astype(np.uint32)
    if brain:
        half = (word.astype(np.uint64) + 0x7FFF + (word >> 16 & 1) >> 16).astype(np.uint32)
    return np.where(np.isnan(number), np.uint32(0x7FFF), half)


def _part(word: Values, part: str, kind: str) -> Values:
    """The part of a register that is named, where an operand without a part would lie."""
    low, high = word & 0xFFFF, word >> 16
    if kind.endswith("pair"):
        if part == "F32":
            half = _half_of(word, kind == "brain pair")
            return half << 16 | half
        chosen = {"H0_H0": (low, low), "H1_H1": (high, high), "H0_NH1": (low, high), "H1_H0": (high, low)}
        if part not in chosen:
            raise NotPlain(part)
        upper, lower = chosen[part]
        return (upper << 16 | lower).astype(np.uint32)
    if part[0] == "H":
        return (word >> (16 if part[1] == "1" else 0)).astype(np.uint32)
    if part[0] == "B":
        return (word >> 8 * int(part[1])).astype(np.uint32)
    raise NotPlain(part)


def _signed(words: Values, operand: Modified, kind: str) -> Values:
    """Words with their absolute value taken and their signs turned."""
    words = words.copy()
    sign = 0x80008000 if kind.endswith("pair") else 0x8000 if kind == "half" else 0x80000000
    if kind in ("single", "double", "half", "pair", "brain pair"):
        signed = words[1::2] if kind == "double" else words
        if operand.absolute:
            signed &= ~np.uint32(sign)
        if operand.negated:
            signed ^= np.uint32(sign)
        if operand.part == "H0_NH1":
            words[-1] ^= np.uint32(0x8000)
        if operand.inverted:
            raise NotPlain("inverted number")
        return words
    if operand.absolute:
        raise NotPlain("absolute integer")
    if operand.inverted:
        return ~words
    if operand.negated and kind == "two integers":
        return _halves(words[0], lambda half: -half.astype(np.int64))[None]
    if operand.negated:
        wide = sum(words[word].astype(object) << 32 * word for word in range(len(words)))
        wide = (-wide) % (1 << 32 * len(words))
        return np.array([(wide >> 32 * word) & 0xFFFFFFFF for word in range(len(words))]).astype(np.uint32)
    return words


@dataclass
class Twice:
    """An instruction as it is written and with plain operands, and the values that these need."""

    written: Instruction
    plain: Instruction
    values: list[Values] = field(default_factory=list)  # of the plain registers, slot by slot
    truths: list[np.ndarray] = field(default_factory=list)  # of the plain predicates
    constants: dict[int, int] = field(default_factory=dict)


def constant_bytes() -> bytes:
    """What constants hold: the words of the first group and lane of each slot."""
    return RAW[:, :, 0, 0].tobytes()


def twice(instruction: Instruction, offset: int, fixed: bool = False) -> Twice:
    """Both ways to execute an instruction; one that has no plain form is `NotPlain`."""
    name, modifiers = instruction.op.name, instruction.op.modifiers
    found = Twice(instruction, instruction)
    written: list[Operand] = []
    plain: list[Operand] = []
    source_words = widths(name, modifiers)[1]
    position = 0
    for place, operand in enumerate(instruction.srcs):
        inner = operand.operand if isinstance(operand, Modified) else operand
        if isinstance(inner, Reg) and inner.bank in PREDICATES:
            one, other = (operand, operand) if fixed and inner.bank in (Bank.PT, Bank.UPT) else _predicate(operand, found)
        elif isinstance(inner, Reg | Constant) or (isinstance(inner, Imm) and not _stays(name, place, instruction)):
            words = source_words[min(position, len(source_words) - 1)]
            one, other = _value(operand, words, offset, reading(name, modifiers, position), found)
            position += 1
        elif isinstance(inner, Imm):
            one = other = operand
            position += 1
        else:
            raise NotPlain(str(operand))
        written.append(one)
        plain.append(other)
    dsts = [_result(dst, place, instruction) for place, dst in enumerate(instruction.dsts)]
    plain_name = name[1:] if name[0] == "U" and name[1:] in encoders() else name
    plain_dsts = dsts if plain_name == name else [_of_threads(dst) for dst in dsts]
    found.written = replace(instruction, srcs=tuple(written), dsts=tuple(dsts), guard=None)
    found.plain = Instruction(Operation(plain_name, modifiers=modifiers), tuple(plain_dsts), tuple(plain))
    return found


def guarded(case: Twice) -> Twice:
    """The same under a guard: where a predicate does not hold, and where one holds that is its opposite."""
    slot = len(case.truths)
    uniform = case.plain.op.name != case.written.op.name
    truths = np.where(TRUTHS[slot] & 1, 0xFFFFFFFF, 0).astype(np.uint32) if uniform else TRUTHS[slot]
    written = replace(case.written, guard=Guard(Reg(slot, Bank.UP if uniform else Bank.P), True))
    plain = replace(case.plain, guard=Guard(Reg(slot, Bank.P), False))
    return replace(case, written=written, plain=plain, truths=[*case.truths, ~truths])


def _stays(name: str, place: int, instruction: Instruction) -> bool:
    """Whether a number is a part of the operation: the table of a logic function, or a mask."""
    last = sum(not _is_predicate(source) for source in instruction.srcs) - 1
    at = sum(not _is_predicate(source) for source in instruction.srcs[:place])
    if name in ("LOP3", "ULOP3") or "SP" in instruction.op.modifiers:
        return at == last
    return name in ("PLOP3", "UPLOP3", "P2R", "R2P") or (name in ("MOV", "UMOV") and at > 0)


def _is_predicate(operand: Operand) -> bool:
    inner = operand.operand if isinstance(operand, Modified) else operand
    return isinstance(inner, Reg) and inner.bank in PREDICATES


def _result(dst: Reg, place: int, instruction: Instruction) -> Reg:
    if dst.bank in (Bank.P, Bank.UP):
        number = sum(other.bank in PREDICATES for other in instruction.dsts[:place])
        return dst._replace(number=_RESULT_PREDICATES[number])
    if dst.bank in (Bank.RZ, Bank.URZ, Bank.PT, Bank.UPT):
        return dst
    if dst.bank in (Bank.R, Bank.D, Bank.Q):
        before = sum(len(other.words) for other in instruction.dsts[:place] if other.bank not in PREDICATES)
        return dst._replace(number=_RESULT + before)
    if dst.bank in _UNIFORM_WIDE.values():
        return dst._replace(number=_UNIFORM_RESULT)
    raise NotPlain(str(dst))


def _of_threads(dst: Reg) -> Reg:
    """A register of threads instead of a uniform one."""
    banks = {Bank.U: Bank.R, Bank.UD: Bank.D, Bank.UQ: Bank.Q, Bank.UP: Bank.P, Bank.URZ: Bank.RZ, Bank.UPT: Bank.PT}
    number = _RESULT if dst.bank in (Bank.U, Bank.UD, Bank.UQ) else dst.number
    return Reg(number, banks[dst.bank])


def _predicate(operand: Operand, found: Twice) -> tuple[Operand, Operand]:
    inner = operand.operand if isinstance(operand, Modified) else operand
    assert isinstance(inner, Reg)
    slot = len(found.truths)
    truths = {Bank.PT: np.full(GROUPS, 0xFFFFFFFF, np.uint32), Bank.UPT: np.full(GROUPS, 0xFFFFFFFF, np.uint32)}.get(inner.bank)
    if truths is None:
        truths = TRUTHS[slot] if inner.bank is Bank.P else np.where(TRUTHS[slot] & 1, 0xFFFFFFFF, 0).astype(np.uint32)
    number = inner._replace(number=slot) if inner.bank in (Bank.P, Bank.UP) else inner
    found.truths.append(~truths if isinstance(operand, Modified) and operand.inverted else truths)
    return (operand._replace(operand=number) if isinstance(operand, Modified) else number), Reg(slot, Bank.P)


def _value(operand: Operand, words: int, offset: int, kind: str, found: Twice) -> tuple[Operand, Operand]:
    inner = operand.operand if isinstance(operand, Modified) else operand
    slot = len(found.values)
    new: Reg | Imm | Constant
    if slot >= _SLOTS:
        raise NotPlain("too many operands")
    if isinstance(inner, Reg):
        words = WORDS.get(inner.bank, words)
        if inner.bank in (Bank.RZ, Bank.URZ):
            values, new = _bits(0, words), inner
        elif inner.bank in UNIFORM:
            values, new = _of_all_lanes(RAW[slot, :words, :, :1]), Reg(4 * slot + 4, _UNIFORM_WIDE[words])
        else:
            values, new = RAW[slot, :words], Reg(_RAW + 4 * slot, _WIDE[words])
    elif isinstance(inner, Constant):
        values = _of_all_lanes(RAW[slot, :words, :1, :1])
        new = Constant(0, offset + _PARAMETERS + 16 * slot)
    else:
        assert isinstance(inner, Imm)
        number = inner.bits << 32 if kind == "double" else inner.bits - (1 << 32) * (words == 2 and inner.bits >> 31)
        values, new = _bits(number, words), inner
    if isinstance(operand, Modified):
        if operand.part:
            values = _part(values[0], operand.part, kind)[None]
        values = _signed(values, operand, kind)
    found.values.append(np.asarray(values))
    return (operand._replace(operand=new) if isinstance(operand, Modified) else new), Reg(_PLAIN + 4 * slot, _WIDE[words])


def _op(name: str, *modifiers: str) -> Operation:
    return Operation(name, modifiers=modifiers)


def _load(register: int, offset: int, words: int = 4) -> Instruction:
    wide = {4: ("E", "128"), 1: ("E",)}[words]
    return Instruction(_op("LDG", *wide), (Reg(register, _WIDE[words]),), (Address(_ADDRESS, offset),))


def _true(register: int, predicate: Reg) -> Instruction:
    """Whether a word is not zero."""
    uniform = predicate.bank is Bank.UP
    source, zero = (Reg(register, Bank.U), Reg(0, Bank.URZ)) if uniform else (Reg(register, Bank.R), Reg(0, Bank.RZ))
    name, nothing = ("UISETP", Bank.UPT) if uniform else ("ISETP", Bank.PT)
    return Instruction(_op(name, "NE", "AND"), (predicate, Reg(0, nothing)), (source, zero, Reg(0, nothing)))


class _Table:
    """Vectors of four words for each lane, which code loads by their number."""

    def __init__(self) -> None:
        self.rows: list[np.ndarray] = []

    def add(self, words: np.ndarray) -> int:
        """Keep up to four words of all lanes; returns their place, in bytes from the first."""
        row = np.zeros((_WORDS_OF_SLOT, GROUPS, LANES), np.uint32)
        row[: len(words)] = words
        self.rows.append(row)
        return (len(self.rows) - 1) * GROUPS * LANES * 16

    def array(self) -> np.ndarray:
        return np.ascontiguousarray(np.stack(self.rows).transpose(0, 2, 3, 1)).reshape(-1)


def _lanes_of(truths: np.ndarray) -> np.ndarray:
    """A word for each lane that says whether its bit is set."""
    return (truths[:, None] >> np.arange(LANES, dtype=np.uint32) & 1)[None].astype(np.uint32)


def _shown(instruction: Instruction, place: int) -> tuple[list[Instruction], int]:
    """Stores of what an instruction wrote, from a place on, and the place behind."""
    code: list[Instruction] = []
    for dst in instruction.dsts:
        if dst.bank in (Bank.P, Bank.UP):
            one = Instruction(_op("SEL"), (Reg(_SHOWN, Bank.R),), (Imm(1), Reg(0, Bank.RZ), dst))
            code += [one, _store(_SHOWN, place)]
            place += GROUPS * LANES * 4
        elif dst.bank not in (Bank.PT, Bank.UPT, Bank.RZ, Bank.URZ):
            for word in range(WORDS.get(dst.bank, 1)):
                register = dst.number + word
                if dst.bank in UNIFORM:
                    code.append(Instruction(_op("MOV"), (Reg(_SHOWN, Bank.R),), (Reg(register, Bank.U),)))
                    register = _SHOWN
                code.append(_store(register, place))
                place += GROUPS * LANES * 4
    return code, place


def _store(register: int, place: int) -> Instruction:
    return Instruction(_op("STG", "E"), (), (Address(_WRITTEN, place), Reg(register, Bank.R)))


def _forgotten(instruction: Instruction) -> list[Instruction]:
    """Results are set to a known number first, for an instruction may leave lanes as they are."""
    code = []
    for dst in instruction.dsts:
        if dst.bank in (Bank.R, Bank.D, Bank.Q):
            code += [Instruction(_op("MOV"), (Reg(dst.number + word, Bank.R),), (Imm(77),)) for word in range(len(dst.words))]
        elif dst.bank in _UNIFORM_WIDE.values():
            code += [
                Instruction(_op("UMOV"), (Reg(dst.number + word, Bank.U),), (Imm(77),)) for word in range(WORDS.get(dst.bank, 1))
            ]
        elif dst.bank in (Bank.P, Bank.UP):
            code.append(Instruction(_op("PLOP3", "LUT"), (dst, Reg(0, Bank.PT)), (*[Reg(0, Bank.PT)] * 3, Imm(0), Imm(0))))
    return code


def execute_twice(cases: list[Twice], architecture: int, offset: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """What each instruction wrote, in both ways: words or truths, for every group and lane."""
    table = _Table()
    code = _begin(offset)
    for slot in range(_SLOTS):
        code.append(_load(_RAW + 4 * slot, table.add(RAW[slot])))
        code.append(_load(_PLAIN, table.add(_of_all_lanes(RAW[slot, :, :, :1]))))
        code += [
            Instruction(_op("R2UR"), (Reg(4 * slot + 4 + word, Bank.U),), (Reg(_PLAIN + word, Bank.R),)) for word in range(4)
        ]
    for slot in range(_TRUTHS):
        code += [_load(_PLAIN, table.add(_lanes_of(TRUTHS[slot]))), _true(_PLAIN, Reg(slot, Bank.P))]
        once = np.broadcast_to((TRUTHS[slot] & 1)[None, :, None], (1, GROUPS, LANES))
        code += [_load(_PLAIN, table.add(once)), Instruction(_op("R2UR"), (Reg(_UNIFORM_SHOWN, Bank.U),), (Reg(_PLAIN, Bank.R),))]
        code.append(_true(_UNIFORM_SHOWN, Reg(slot, Bank.UP)))
    spans = []
    place = 0
    for case in cases:
        both = []
        for instruction in (case.written, case.plain):
            if instruction is case.plain:
                for slot, values in enumerate(case.values):
                    code.append(_load(_PLAIN + 4 * slot, table.add(values)))
                for slot, truths in enumerate(case.truths):
                    code += [_load(_SHOWN, table.add(_lanes_of(truths))), _true(_SHOWN, Reg(slot, Bank.P))]
            start = place
            stores, place = _shown(instruction, place)
            code += [*_forgotten(instruction), instruction, *stores]
            both.append((start, place))
        for slot in range(len(case.truths)):  # as they were
            code += [_load(_SHOWN, table.add(_lanes_of(TRUTHS[slot]))), _true(_SHOWN, Reg(slot, Bank.P))]
        spans.append(both)
    code.append(Instruction(_op("EXIT")))
    written = _run(code, table.array(), place, architecture, offset)
    shape = (-1, GROUPS, LANES)
    parts = [[written[start // 4 : end // 4].reshape(shape) for start, end in both] for both in spans]
    return [(one, other) for one, other in parts]


def _begin(offset: int) -> list[Instruction]:
    """Where the lane reads, 16 bytes each, and where it writes, 4 bytes each."""
    number = Reg(0, Bank.R)
    places = [(_ADDRESS, 16, 0), (_WRITTEN, 4, 8)]
    found = [
        Instruction(_op("IMAD", "WIDE", "U32"), (pair,), (number, Imm(size), Constant(0, offset + at)))
        for pair, size, at in places
    ]
    first = Instruction(_op("S2R"), (number,), (Special("SR_TID.X"),))
    return [first, *found, Instruction(_op("MOV"), (Reg(_ZERO, Bank.R),), (Imm(0),))]


def _run(code: list[Instruction], given: np.ndarray, size: int, architecture: int, offset: int) -> np.ndarray:
    for pc, instruction in enumerate(code):
        instruction.address = 16 * pc
    constants = constant_bytes()
    parameters = (
        Parameter("given", "b64", 0, 8),
        Parameter("out", "b64", 8, 8),
        Parameter("constants", "b8", 16, len(constants)),
    )
    kernel = Code(
        "variants", [Block(code)], parameters, registers=128, predicates=7, allocated=True, binary=Binary(architecture, offset)
    )
    device = Device(lambda _kernel, _shape: kernel, record=None)
    out = device.array(np.zeros(size // 4, np.uint32))
    device.launch("variants", (1,), (GROUPS * LANES,), device.array(given), out, constants)
    return out.get()
