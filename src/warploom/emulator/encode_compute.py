"""Encodes instructions that compute: from PTX's opcode, type and modifiers to micro-operations.

Narrow integers live in 32-bit registers: sources are extended from their 16 bits first, and the result is extended to 32 again,
by zeros or by the sign as its type says.
"""

from __future__ import annotations

from warploom.compiler.code.instruction import Bank, Imm, Instruction, Operand, Operation, Reg
from warploom.compiler.code.memory_map import LOCAL_WINDOW, SHARED_WINDOW
from warploom.emulator.directed_rounding import ROUNDINGS
from warploom.emulator.encode_half_precision import encode_half, is_half
from warploom.emulator.lanes import ROW_BYTES
from warploom.emulator.records import PredicateOperation
from warploom.emulator.rows import Rows

_PREDICATE_OPERATIONS = {"and": PredicateOperation.AND, "or": PredicateOperation.OR, "xor": PredicateOperation.XOR}
_UNSIGNED_COMPARISONS = {"lo": "lt", "ls": "le", "hi": "gt", "hs": "ge"}
_COMPARISONS = frozenset(
    ["eq", "ne", "lt", "le", "gt", "ge", "lo", "ls", "hi", "hs", "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan"]
)
_WINDOWS = {"shared": (SHARED_WINDOW, LOCAL_WINDOW), "local": (LOCAL_WINDOW, 1 << 32)}


def bits_of(type_: str) -> int:
    """The width of a type."""
    return int(type_[1:])


def _words(type_: str) -> int:
    return 2 if bits_of(type_) == 64 else 1


def _sign(type_: str) -> str:
    return "s" if type_[0] == "s" else "u"


def _trimmed(rows: Rows, source: int, type_: str, out: int) -> int:
    """Extend a value of 8 or 16 bits to 32."""
    return rows.emit(f"trim.{_sign(type_)}", [source, rows.constant(32 - bits_of(type_))], out)


def _source(rows: Rows, operand: Operand, type_: str, flush: bool = False) -> int:
    """The row of an operand as its type has it: extended if narrow, flushed if asked for."""
    row = rows.row(operand, _words(type_))
    if bits_of(type_) < 32:
        return _trimmed(rows, row, type_, rows.temporary())
    return rows.emit(f"flush.{type_}", [row], rows.temporary()) if flush else row


def _finish(rows: Rows, op: Operation, out: int, type_: str) -> None:
    """What a result still needs: flushing, saturation, extension."""
    if type_[0] == "f":
        if "ftz" in op.modifiers and type_ == "f32":
            rows.emit("flush.f32", [out], out)
        if "sat" in op.modifiers:
            rows.emit(f"saturate.{type_}", [out], out)
    elif bits_of(type_) < 32:
        _trimmed(rows, out, type_, out)


def _emit_rounded(rows: Rows, op: Operation, name: str, sources: list[int], out: int) -> None:
    """An operation that rounds: to nearest, or in the direction that a modifier names."""
    mode = next((ROUNDINGS[word] for word in op.modifiers if word in ROUNDINGS), None)
    if mode is None:
        rows.emit(name, sources, out)
    else:
        rows.emit(f"directed.{name}", [*sources, rows.constant(mode)], out)


def encode_compute(rows: Rows, instruction: Instruction) -> None:
    """Append the micro-operations of an instruction."""
    op = instruction.op
    special = _SPECIAL_FORMS.get(op.name)
    if is_half(op):
        encode_half(rows, instruction)
    elif special is not None:
        special(rows, instruction)
    elif op.type == "pred":
        _predicate_logic(rows, instruction)
    elif op.type[0] == "f":
        _float(rows, instruction)
    else:
        _integer(rows, instruction)


def _predicate_logic(rows: Rows, instruction: Instruction) -> None:
    sources = [rows.predicate(source) for source in instruction.srcs]
    out = instruction.dsts[0].number
    name = instruction.op.name
    if name == "not":
        rows.emit_predicate(PredicateOperation.NOT, sources, out)
    elif name in _PREDICATE_OPERATIONS:
        rows.emit_predicate(_PREDICATE_OPERATIONS[name], sources, out)
    else:
        raise rows.trouble("predicates have no such operation")


def _float(rows: Rows, instruction: Instruction) -> None:
    op = instruction.op
    kind, modifiers = op.type, op.modifiers
    flush = "ftz" in modifiers and kind == "f32"
    sources = [_source(rows, source, kind, flush) for source in instruction.srcs]
    out = rows.row(instruction.dsts[0])
    name = f"{op.name}.{kind}"
    if op.name in ("mad", "fma"):
        name = f"fma.{kind}"
    elif op.name in ("min", "max") and "NaN" in modifiers:
        name = f"{op.name}.NaN.{kind}"
    elif op.name == "div" and "approx" in modifiers:
        name = "div.approx.f32"
    elif op.name in ("rcp", "rsqrt") and kind == "f64" and "ftz" in modifiers:
        name = f"{op.name}.approx.f64"  # half the result, and subnormals count as zero on both sides
        sources = [rows.emit("flush.f64", sources, rows.temporary())]
    _emit_rounded(rows, op, name, sources, out)
    if name.endswith("approx.f64"):
        rows.emit("flush.f64", [out], out)
    _finish(rows, op, out, kind)


def _integer(rows: Rows, instruction: Instruction) -> None:
    op = instruction.op
    name, kind = op.name, op.type
    width = "64" if bits_of(kind) == 64 else "32"
    out = rows.row(instruction.dsts[0])
    if name in ("shl", "shr", "bfe", "bfi"):  # positions and amounts have 32 bits whatever the type
        values = 2 if name == "bfi" else 1
        sources = [_source(rows, source, kind) for source in instruction.srcs[:values]]
        sources += [rows.row(source) for source in instruction.srcs[values:]]
    else:
        sources = [_source(rows, source, kind) for source in instruction.srcs]
    signless = ("add", "sub", "and", "or", "xor", "not", "cnot", "neg", "abs", "shl", "bfi", "brev", "popc", "clz")
    if name in ("add", "sub") and "sat" in op.modifiers:
        rows.emit(f"{name}.sat", sources, out)
    elif name in signless:
        rows.emit(f"{name}.{width}", sources, out)
    elif name == "bfind":
        rows.emit(f"bfind.{'shiftamt.' if 'shiftamt' in op.modifiers else ''}{_sign(kind)}{width}", sources, out)
        return
    elif name in ("min", "max", "div", "rem", "sad", "shr", "bfe"):
        rows.emit(f"{name}.{_sign(kind)}{width}", sources, out)
    else:
        raise rows.trouble("the emulator does not know it")
    if name not in ("popc", "clz"):
        _finish(rows, op, out, kind)


def _with_carry(rows: Rows, instruction: Instruction) -> None:
    """add.cc, addc, sub.cc, subc; without a carry, plain additions and subtractions."""
    op = instruction.op
    if "cc" not in op.modifiers and op.name in ("add", "sub"):
        (_float if op.type[0] == "f" else _integer)(rows, instruction)
        return
    sources = [rows.row(source, _words(op.type)) for source in instruction.srcs[:2]]
    _emit_carry(rows, instruction, op.name[:3], sources)


def _emit_carry(rows: Rows, instruction: Instruction, name: str, sources: list[int]) -> None:
    op = instruction.op
    if op.name in ("addc", "subc", "madc"):
        carry = rows.predicate(instruction.srcs[-1])
    else:
        carry = rows.always if name == "sub" else rows.never
    carry_out = instruction.dsts[1].number if "cc" in op.modifiers else -1
    out = rows.row(instruction.dsts[0])
    rows.emit(f"{name}c.{bits_of(op.type)}", sources, out, predicate=carry, predicate_out=carry_out)


def _multiply(rows: Rows, instruction: Instruction) -> None:
    """mul, mad and madc: the product's low or high half, or all of it, and what is added."""
    op = instruction.op
    kind = op.type
    if kind[0] == "f":
        _float(rows, instruction)
        return
    bits, sign = bits_of(kind), _sign(kind)
    out = rows.row(instruction.dsts[0])
    factors = [_source(rows, source, kind) for source in instruction.srcs[:2]]
    adds = op.name != "mul"
    if "wide" in op.modifiers:
        addend = [rows.row(instruction.srcs[2], 2 if bits == 32 else 1)] if adds else []
        name = ("mad" if adds else "mul") + (".32" if bits == 16 else f"wide.{sign}")
        rows.emit(name, factors + addend, out)
        return
    width = 64 if bits == 64 else 32
    if "hi" in op.modifiers:
        product = "mulhi.16" if bits == 16 else f"mulhi.{sign}{width}"
    else:
        product = f"mul.{width}"
    if not adds:
        rows.emit(product, factors, out)
    elif op.name == "madc" or "cc" in op.modifiers:
        partial = rows.emit(product, factors, rows.temporary())
        _emit_carry(rows, instruction, "add", [partial, rows.row(instruction.srcs[2], _words(kind))])
        return
    else:
        addend_row = _source(rows, instruction.srcs[2], kind)
        if product == f"mul.{width}":
            rows.emit(f"mad.{width}", [*factors, addend_row], out)
        else:
            partial = rows.emit(product, factors, rows.temporary())
            rows.emit("add.sat" if "sat" in op.modifiers else f"add.{width}", [partial, addend_row], out)
    _finish(rows, Operation(op.name, kind), out, kind)


def _multiply24(rows: Rows, instruction: Instruction) -> None:
    op = instruction.op
    sources = [rows.row(source) for source in instruction.srcs]
    out = rows.row(instruction.dsts[0])
    name = f"mul24.{op.modifiers[0]}.{_sign(op.type)}"
    if op.name == "mul24":
        rows.emit(name, sources, out)
        return
    partial = rows.emit(name, sources[:2], rows.temporary())
    rows.emit("add.sat" if "sat" in op.modifiers else "add.32", [partial, sources[2]], out)


def _words_only(rows: Rows, instruction: Instruction) -> None:
    """Operations that exist for 32 bits alone and are spelt with their modifiers."""
    op = instruction.op
    name = op.name
    if name in ("dp4a", "dp2a"):
        signs = _sign(op.type) + _sign(op.source_type)
        name = f"{name}.{op.modifiers[0]}.{signs}" if name == "dp2a" else f"{name}.{signs}"
    elif name == "szext":
        name = f"szext.{op.modifiers[0]}.{_sign(op.type)}"
    elif name in ("shf", "bmsk", "prmt"):
        name = ".".join((name, *op.modifiers))
    rows.emit(name, [rows.row(source) for source in instruction.srcs], rows.row(instruction.dsts[0]))


def _comparison(rows: Rows, op: Operation, kind: str, sources: tuple[Operand, ...], out: int) -> None:
    """Compare two values of a type into a predicate."""
    name = next(word for word in op.modifiers if word in _COMPARISONS)
    flush = "ftz" in op.modifiers and kind == "f32"
    operands = [_source(rows, source, kind, flush) for source in sources]
    if kind[0] == "f":
        spelling = f"{name}.{kind}"
    else:
        sign = _sign(kind) if name not in _UNSIGNED_COMPARISONS else "u"
        name = _UNSIGNED_COMPARISONS.get(name, name)
        sign = "s" if name in ("eq", "ne") else sign
        spelling = f"{name}.{sign}{64 if bits_of(kind) == 64 else 32}"
    rows.emit(spelling, operands, predicate_out=out)


def _set_predicate(rows: Rows, instruction: Instruction) -> None:
    op, dsts = instruction.op, instruction.dsts
    combine = next((_PREDICATE_OPERATIONS[word] for word in op.modifiers if word in _PREDICATE_OPERATIONS), None)
    if combine is None and len(dsts) == 1:
        _comparison(rows, op, op.type, instruction.srcs[:2], dsts[0].number)
        return
    result, opposite = rows.temporary_predicate(0), rows.temporary_predicate(1)
    _comparison(rows, op, op.type, instruction.srcs[:2], result)
    if len(dsts) > 1:
        rows.emit_predicate(PredicateOperation.NOT, [result], opposite)
    if combine is not None:  # both results first: a destination may be the predicate that they are combined with
        other = rows.predicate(instruction.srcs[2])
        rows.emit_predicate(combine, [result, other], result)
        if len(dsts) > 1:
            rows.emit_predicate(combine, [opposite, other], opposite)
    for dst, value in zip(dsts, (result, opposite), strict=False):
        rows.emit_predicate(PredicateOperation.MOVE, [value], dst.number)


def _set(rows: Rows, instruction: Instruction) -> None:
    op = instruction.op
    result = rows.temporary_predicate(0)
    _comparison(rows, op, op.source_type, instruction.srcs[:2], result)
    combine = next((_PREDICATE_OPERATIONS[word] for word in op.modifiers if word in _PREDICATE_OPERATIONS), None)
    if combine is not None:
        rows.emit_predicate(combine, [result, rows.predicate(instruction.srcs[2])], result)
    true = rows.constant(0x3F800000 if op.type == "f32" else 0xFFFFFFFF)
    rows.emit("selp.32", [true, rows.constant(0)], rows.row(instruction.dsts[0]), predicate=result)


def _select(rows: Rows, instruction: Instruction) -> None:
    """selp, and slct, which takes the first where the third is not negative."""
    op = instruction.op
    words = _words(op.type)
    sources = [rows.row(source, words) for source in instruction.srcs[:2]]
    if op.name == "selp":
        predicate = rows.predicate(instruction.srcs[2])
    else:
        predicate = rows.temporary_predicate(0)
        condition = _source(rows, instruction.srcs[2], op.source_type, "ftz" in op.modifiers and op.source_type == "f32")
        rows.emit(f"ge.{op.source_type}", [condition, rows.constant(0)], predicate_out=predicate)
    rows.emit(f"selp.{32 * words}", sources, rows.row(instruction.dsts[0]), predicate=predicate)


def _test(rows: Rows, instruction: Instruction) -> None:
    op = instruction.op
    row = rows.row(instruction.srcs[0], _words(op.type))
    rows.emit(f"testp.{op.modifiers[0]}.{op.type}", [row], predicate_out=instruction.dsts[0].number)


def _move(rows: Rows, instruction: Instruction) -> None:
    op, dsts, srcs = instruction.op, instruction.dsts, instruction.srcs
    if op.type == "pred":
        rows.emit_predicate(PredicateOperation.MOVE, [rows.predicate(srcs[0])], dsts[0].number)
    elif len(srcs) > 1:
        _pack(rows, instruction)
    elif len(dsts) > 1:
        _unpack(rows, instruction)
    else:
        words = _words(op.type)
        rows.emit(f"mov.{32 * words}", [rows.row(srcs[0], words)], rows.row(dsts[0]))
        if bits_of(op.type) < 32:
            _trimmed(rows, rows.row(dsts[0]), op.type, rows.row(dsts[0]))


def _pack(rows: Rows, instruction: Instruction) -> None:
    """mov.b64 d, {a, b} and the like: the first element is the least significant."""
    op = instruction.op
    size = bits_of(op.type) // len(instruction.srcs)
    total = rows.temporary()
    if size == 32:
        for place, source in enumerate(instruction.srcs):
            rows.emit("mov.32", [rows.row(source)], total + place * ROW_BYTES)
    else:
        per_word = 32 // size
        for place, source in enumerate(instruction.srcs):
            word = total + place // per_word * ROW_BYTES
            piece = rows.emit("trim.u", [rows.row(source), rows.constant(32 - size)], rows.temporary())
            if place % per_word == 0:
                rows.emit("mov.32", [piece], word)
            else:
                rows.emit("shl.32", [piece, rows.constant(size * (place % per_word))], piece)
                rows.emit("or.32", [word, piece], word)
    rows.emit(f"mov.{bits_of(op.type)}", [total], rows.row(instruction.dsts[0]))


def _unpack(rows: Rows, instruction: Instruction) -> None:
    op = instruction.op
    size = bits_of(op.type) // len(instruction.dsts)
    words = _words(op.type)
    source = rows.emit(f"mov.{32 * words}", [rows.row(instruction.srcs[0], words)], rows.temporary())
    for place, dst in enumerate(instruction.dsts):
        at = place * size
        word = source + at // 32 * ROW_BYTES
        if size == 32:
            rows.emit("mov.32", [word], rows.row(dst))
        else:
            piece = rows.emit("shr.u32", [word, rows.constant(at % 32)], rows.temporary())
            rows.emit("trim.u", [piece, rows.constant(32 - size)], rows.row(dst))


def _convert(rows: Rows, instruction: Instruction) -> None:
    op = instruction.op
    target, source = op.type, op.source_type
    operand = instruction.srcs[0]
    register = instruction.dsts[0]
    out = rows.row(register)
    if target[0] == "f" and source[0] == "f":
        _float_to_float(rows, op, rows.row(operand, _words(source)), out)
    elif target[0] == "f":
        value = _source(rows, operand, source)
        wide = bits_of(source) == 64
        _emit_rounded(rows, op, f"{target}.{_sign(source)}{64 if wide else 32}", [value], out)
        _finish(rows, op, out, target)
    elif source[0] == "f":
        value = _source(rows, operand, source, "ftz" in op.modifiers and source == "f32")
        mode = next((word for word in op.modifiers if word in ("rni", "rzi", "rmi", "rpi")), "rzi")
        whole = rows.emit(f"{mode}.{source}", [value], rows.temporary())
        rows.emit(f"{target}.{source}", [whole], out)
    else:
        _integer_to_integer(rows, op, operand, out)
    if register.bank is Bank.D and bits_of(target) < 64:  # literal code: a register wider than the type
        rows.emit(f"widen.{_sign(target)}", [out, rows.constant(32 - bits_of(target))], out)


def _float_to_float(rows: Rows, op: Operation, value: int, out: int) -> None:
    target, source = op.type, op.source_type
    if "ftz" in op.modifiers and source == "f32":
        value = rows.emit("flush.f32", [value], rows.temporary())
        rows.emit("canonical.f32", [value], value)
    mode = next((word for word in op.modifiers if word in ("rni", "rzi", "rmi", "rpi")), None)
    if mode is not None:
        rows.emit(f"{mode}.{target}", [value], out)
    elif target == source:
        rows.emit(f"canonical.{target}", [value], out)
    else:
        _emit_rounded(rows, op, f"{target}.{source}", [value], out)
    _finish(rows, op, out, target)


def _integer_to_integer(rows: Rows, op: Operation, operand: Operand, out: int) -> None:
    target, source = op.type, op.source_type
    value = rows.row(operand, _words(source))
    wide_target, wide_source = bits_of(target) == 64, bits_of(source) == 64
    if "sat" in op.modifiers:
        bits = bits_of(target)
        low, high = (0, (1 << bits) - 1) if target[0] == "u" else (-(1 << bits - 1), (1 << bits - 1) - 1)
        if not wide_source:
            value = rows.emit(f"widen.{_sign(source)}", [value, rows.constant(32 - bits_of(source))], rows.temporary())
        result = out if wide_target else rows.temporary()
        if source[0] == "s":
            limits = [rows.constant(low, 2), rows.constant(min(high, (1 << 63) - 1), 2)]
            rows.emit("clamp.s", [value, *limits], result)
        else:
            rows.emit("clamp.u", [value, rows.constant(high, 2)], result)
        if not wide_target:
            rows.emit("mov.32", [result], out)
    elif wide_target:
        if wide_source:
            rows.emit("mov.64", [value], out)
        else:
            rows.emit(f"widen.{_sign(source)}", [value, rows.constant(32 - bits_of(source))], out)
    else:  # the low word of a 64-bit source comes first
        if bits_of(source) < min(bits_of(target), 32):
            value = _trimmed(rows, value, source, rows.temporary())
        rows.emit("mov.32", [value], out)
        if bits_of(target) < 32:
            _trimmed(rows, out, target, out)


def _convert_address(rows: Rows, instruction: Instruction) -> None:
    """cvta between a space and generic addresses: windows of shared and local memory lie at the top of 4 GiB."""
    op = instruction.op
    words = _words(op.type)
    source, out = rows.row(instruction.srcs[0], words), rows.row(instruction.dsts[0])
    if op.space in _WINDOWS:
        start = _WINDOWS[op.space][0]
        name = "sub" if "to" in op.modifiers else "add"
        rows.emit(f"{name}.{32 * words}", [source, rows.constant(start, words)], out)
    else:
        rows.emit(f"mov.{32 * words}", [source], out)


def _is_in_space(rows: Rows, instruction: Instruction) -> None:
    operand = instruction.srcs[0]
    wide = isinstance(operand, Reg) and operand.bank is Bank.D
    words = 2 if wide or (isinstance(operand, Imm) and operand.bits >> 32) else 1
    out = instruction.dsts[0].number
    source = rows.row(operand, words)
    if instruction.op.space == "global":
        rows.emit(f"lt.u{32 * words}", [source, rows.constant(SHARED_WINDOW, words)], predicate_out=out)
    elif instruction.op.space in _WINDOWS:
        start, end = _WINDOWS[instruction.op.space]
        offset = rows.emit(f"sub.{32 * words}", [source, rows.constant(start, words)], rows.temporary())
        rows.emit(f"lt.u{32 * words}", [offset, rows.constant(end - start, words)], predicate_out=out)
    else:
        rows.emit_predicate(PredicateOperation.MOVE, [rows.never], out)


_SPECIAL_FORMS = {
    **dict.fromkeys(("add", "sub", "addc", "subc"), _with_carry),
    **dict.fromkeys(("mul", "mad", "madc"), _multiply),
    **dict.fromkeys(("mul24", "mad24"), _multiply24),
    **dict.fromkeys(("lop3", "shf", "prmt", "dp4a", "dp2a", "bmsk", "szext", "fns"), _words_only),
    **dict.fromkeys(("selp", "slct"), _select),
    "setp": _set_predicate,
    "set": _set,
    "testp": _test,
    "mov": _move,
    "cvt": _convert,
    "cvta": _convert_address,
    "isspacep": _is_in_space,
}
