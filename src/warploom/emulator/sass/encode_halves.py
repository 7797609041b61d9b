"""Encodes arithmetic and comparisons of half precision: f16 and bf16, two numbers at a time."""

from __future__ import annotations

import numpy as np

from warploom.compiler.code.instruction import Imm, Instruction, Modified, Operand
from warploom.emulator.records import PredicateOperation
from warploom.emulator.sass.encode_floats import COMPARISONS
from warploom.emulator.sass.encode_integers import COMBINERS, is_zero
from warploom.emulator.sass.half_operands import half_as_single, half_format, half_pair
from warploom.emulator.sass.registry import encodes
from warploom.emulator.sass.rows import SassRows

_ONE = {"f16": 0x3C00, "bf16": 0x3F80}
_KNOWN = ("BF16_V2", "FTZ", *COMPARISONS, *COMBINERS)  # modifiers of comparisons
_ARITHMETIC = {"HADD2": "add2", "HMUL2": "mul2", "HFMA2": "fma2"}


def _is_negative_zero(operand: Operand) -> bool:
    return isinstance(operand, Modified) and operand.negated and is_zero(operand.operand)


def _is_positive_zero(operand: Operand) -> bool:
    return is_zero(operand) and not _is_negative_zero(operand)


def _is_constant(instruction: Instruction) -> bool:
    """Whether a fused multiply-add only brings a constant: -0 x 0 + constant."""
    sources = instruction.srcs
    return len(sources) == 3 and _is_negative_zero(sources[0]) and _is_positive_zero(sources[1]) and isinstance(sources[2], Imm)


@encodes("HADD2", "HMUL2", "HFMA2", only=("MMA", "BF16_V2", "F32", "RELU", "SAT", "FTZ"))
def _arithmetic(rows: SassRows, instruction: Instruction, _record: np.void) -> None:
    """Sums and products of pairs. With F32, the lower result is rounded to its format and then stored as f32."""
    modifiers = instruction.op.modifiers
    kind = half_format(modifiers) or "f16"
    out = rows.result(instruction.dsts[0])
    if instruction.op.name == "HFMA2" and _is_constant(instruction) and not set(modifiers) - {"MMA", "BF16_V2"}:
        rows.emit("mov.32", [rows.row(instruction.srcs[2])], out)
        return
    if instruction.op.name == "HADD2" and modifiers == ("F32",) and _widens_only(rows, instruction, out):
        return
    sources = [half_pair(rows, source, kind) for source in instruction.srcs]
    if "FTZ" in modifiers:
        sources = [rows.emit(f"flush2.{kind}", [source], rows.temporary()) for source in sources]
    rows.emit(f"{_ARITHMETIC[instruction.op.name]}.{kind}", sources, out)
    for word, name in (("FTZ", "flush2"), ("RELU", "relu2"), ("SAT", "saturate2")):
        if word in modifiers:
            rows.emit(f"{name}.{kind}", [out], out)
    if "F32" in modifiers:
        rows.emit(f"low.{kind}", [out], out)


def _widens_only(rows: SassRows, instruction: Instruction, out: int) -> bool:
    """A number plus -0 is how f16 becomes f32."""
    zero, number = sorted(instruction.srcs, key=lambda source: not _is_negative_zero(source))
    inner = number.operand if isinstance(number, Modified) else number
    if not _is_negative_zero(zero) or isinstance(inner, Imm) or (isinstance(number, Modified) and number.part == "F32"):
        return False
    rows.emit("mov.32", [half_as_single(rows, number, "f16")], out)
    return True


@encodes("HMNMX2", "VHMNMX", only=("BF16_V2", "NAN", "FTZ"))
def _minimum(rows: SassRows, instruction: Instruction, _record: np.void) -> None:
    """The least numbers where the last operand holds, else the greatest; a NaN loses unless NAN is asked for."""
    modifiers = instruction.op.modifiers
    kind = half_format(modifiers) or "f16"
    *numbers, least = instruction.srcs
    first, *others = [half_pair(rows, source, kind) for source in numbers]
    condition = rows.predicate(least)
    rows.require(condition in (rows.always, rows.never), "a predicate chooses between the lesser and the greater")
    name = f"{'min2' if condition == rows.always else 'max2'}.{'NaN.' if 'NAN' in modifiers else ''}{kind}"
    out = rows.result(instruction.dsts[0])
    chosen = first
    for number, other in enumerate(others, 1):
        chosen = rows.emit(name, [chosen, other], out if number == len(others) else rows.temporary())
    if "FTZ" in modifiers:
        rows.emit(f"flush2.{kind}", [out], out)


def _compared(rows: SassRows, instruction: Instruction, kind: str) -> tuple[int, int]:
    """The answers for the lower and for the upper halves, each combined with the predicate that comes last."""
    modifiers = instruction.op.modifiers
    x, y, other = instruction.srcs
    sources = [half_pair(rows, source, kind) for source in (x, y)]
    if "FTZ" in modifiers:
        sources = [rows.emit(f"flush2.{kind}", [source], rows.temporary()) for source in sources]
    name = next(word for word in modifiers if word in COMPARISONS).lower()
    combiner = next((COMBINERS[word] for word in modifiers if word in COMBINERS), PredicateOperation.AND)
    with_other = rows.predicate(other)
    answers = []
    for half in ("low", "high"):
        answer = rows.spare_predicate()
        numbers = [rows.emit(f"{half}.{kind}", [source], rows.temporary()) for source in sources]
        rows.emit(f"{name}.f32", numbers, predicate_out=answer)
        rows.emit_predicate(combiner, [answer, with_other], answer)
        answers.append(answer)
    return answers[0], answers[1]


@encodes("HSETP2", only=_KNOWN)
def _compare(rows: SassRows, instruction: Instruction, _record: np.void) -> None:
    """Two comparisons with a predicate each."""
    answers = _compared(rows, instruction, half_format(instruction.op.modifiers) or "f16")
    rows.answer(answers, [rows.predicate_result(register) for register in instruction.dsts])


@encodes("HSET2", only=("BF", *_KNOWN))
def _set(rows: SassRows, instruction: Instruction, _record: np.void) -> None:
    """Two comparisons whose answers are 1.0, or all ones, or zero."""
    modifiers = instruction.op.modifiers
    kind = half_format(modifiers) or "f16"
    low, high = _compared(rows, instruction, kind)
    true = _ONE[kind] if "BF" in modifiers else 0xFFFF
    nothing = rows.constant(0)
    lower = rows.emit("selp.32", [rows.constant(true), nothing], rows.temporary(), predicate=low)
    upper = rows.emit("selp.32", [rows.constant(true << 16), nothing], rows.temporary(), predicate=high)
    rows.emit("or.32", [lower, upper], rows.result(instruction.dsts[0]))
