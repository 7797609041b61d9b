"""The shape of each opcode: which of its operands are written, and which registers are vectors.

An opcode that is not listed has one result and registers of 32 bits. To add one, give it a line in `RESULTS` (if its results
differ) and one in `WIDTHS` (if some of its registers are vectors); what fits neither has a function in
`warploom.compiler.sass.shapes`.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum

from warploom.compiler.code.instruction import Bank, Modified, Operand, Reg
from warploom.compiler.sass.matrix_shapes import matrix_shape

Modifiers = tuple[str, ...]
Widths = tuple[int, tuple[int, ...]]  # words of the result; words of each source that is no predicate, in order


class Results(Enum):
    """Which operands, counted from the front, an instruction writes."""

    NONE = "none"
    ONE = "one"
    TWO = "two"
    THREE = "three"
    PREDICATES_THEN_ONE = "predicates and then a register"
    ONE_THEN_PREDICATES = "a register and then predicates"
    ALL_BUT_LAST = "all but the last"


RESULTS: dict[str, Results] = {
    **dict.fromkeys(
        (
            "ST",
            "STG",
            "STS",
            "STL",
            "RED",
            "REDG",
            "BRA",
            "BRX",
            "JMP",
            "CALL",
            "RET",
            "EXIT",
            "NOP",
            "BAR",
            "BSYNC",
            "BPT",
            "KILL",
            "BREAK",
            "STSM",
        ),
        Results.NONE,
    ),
    **dict.fromkeys(("WARPSYNC", "ENDCOLLECTIVE", "YIELD", "DEPBAR", "MEMBAR", "ERRBAR", "CCTL", "CGAERRBAR"), Results.NONE),
    **dict.fromkeys(("LDGSTS", "LDGDEPBAR", "NANOSLEEP", "R2B", "UCGABAR_ARV", "UCGABAR_WAIT"), Results.NONE),
    **dict.fromkeys(("STAS", "REDAS"), Results.NONE),
    **dict.fromkeys(
        ("ARRIVES", "UBLKCP", "FENCE", "UTMACMDFLUSH", "WARPGROUP", "USETMAXREG", "UBLKRED", "ACQBULK", "PREEXIT"), Results.NONE
    ),
    **dict.fromkeys(("UTMALDG", "UTMASTG", "UTMAREDG", "UTMACCTL", "UTMAPF", "UBLKPF"), Results.NONE),
    **dict.fromkeys(("ISETP", "FSETP", "DSETP", "HSETP2", "PLOP3", "UISETP", "UPLOP3", "PSETP", "UPSETP"), Results.TWO),
    **dict.fromkeys(("LOP3", "ULOP3", "SHFL", "ATOM", "ATOMG", "MATCH", "R2UR"), Results.PREDICATES_THEN_ONE),
    **dict.fromkeys(("IADD3", "UIADD3", "LEA", "ULEA", "IMAD", "UIMAD", "VIMNMX"), Results.ONE_THEN_PREDICATES),
    **dict.fromkeys(("VOTE", "VOTEU"), Results.ALL_BUT_LAST),
    "B2R": Results.ONE_THEN_PREDICATES,
    **dict.fromkeys(("QSPC", "ELECT"), Results.TWO),
}


def _is_predicate(operand: Operand) -> bool:
    inner = operand.operand if isinstance(operand, Modified) else operand
    return isinstance(inner, Reg) and inner.bank in (Bank.P, Bank.UP, Bank.PT, Bank.UPT)


def result_count(name: str, operands: list[Operand]) -> int:
    """How many operands at the front are written."""
    rule = RESULTS.get(name, Results.ONE)
    if rule is Results.NONE or not operands:
        return 0
    if rule is Results.ONE and not isinstance(operands[0], Reg):
        return 0  # a store or the like that nobody has listed: it is refused by name when it has to be executed
    if rule in (Results.ONE, Results.TWO, Results.THREE):
        return [Results.ONE, Results.TWO, Results.THREE].index(rule) + 1
    if rule is Results.ALL_BUT_LAST:
        return len(operands) - 1
    count = 0
    if rule is Results.PREDICATES_THEN_ONE:
        while _is_predicate(operands[count]):
            count += 1
        return count + 1
    count = 1
    while count < len(operands) and _is_predicate(operands[count]):
        count += 1
    return count


def _access_words(modifiers: Modifiers) -> int:
    return 4 if "128" in modifiers else 2 if "64" in modifiers else 1


def _load(modifiers: Modifiers) -> Widths:
    return _access_words(modifiers), (1,)


def _store(modifiers: Modifiers) -> Widths:
    return 0, (1, _access_words(modifiers))


_ATOMIC_WORDS = {"64": 2, "F64": 2, "S64": 2, "U64": 2, "128": 4, "F32x2": 2, "F32x4": 4, "F16x4": 2, "BF16x4": 2}
_ATOMIC_WORDS |= {"F16x8": 4, "BF16x8": 4}


def _atomic(modifiers: Modifiers) -> Widths:
    words = next((_ATOMIC_WORDS[word] for word in modifiers if word in _ATOMIC_WORDS), 1)
    return words, (1, words, words)


def _multiply_add(modifiers: Modifiers) -> Widths:
    return (2, (1, 1, 2)) if "WIDE" in modifiers else (1, (1, 1, 2)) if "HI" in modifiers else (1, (1,))


def _doubles(result: int) -> Callable[[Modifiers], Widths]:
    return lambda _modifiers: (result, (2, 2, 2))


def _convert(modifiers: Modifiers) -> Widths:
    """F2F, F2I, I2F, FRND: the first type named is the result's, the second the source's; each is 32 bits if not named."""
    types = [
        word for word in modifiers if word in ("F64", "S64", "U64", "F32", "F16", "S32", "U32", "U16", "S16", "U8", "S8", "BF16")
    ]
    return _pair_of(types[0] if types else ""), (_pair_of(types[1] if len(types) > 1 else ""),)


def _pair_of(type_: str) -> int:
    return 2 if type_.endswith("64") else 1


def _float_to_integer(modifiers: Modifiers) -> Widths:
    """``F2I.U32.F64``; a single type is the source's if it is floating, and ``F2I.S64`` is a result."""
    result = 2 if "S64" in modifiers or "U64" in modifiers else 1
    return result, (2 if "F64" in modifiers else 1,)


def _integer_to_float(modifiers: Modifiers) -> Widths:
    return (2 if "F64" in modifiers else 1), (2 if "S64" in modifiers or "U64" in modifiers else 1,)


def _round(modifiers: Modifiers) -> Widths:
    words = 2 if "F64" in modifiers else 1
    return words, (words,)


def _matrices(name: str) -> Callable[[Modifiers], Widths]:
    def of(modifiers: Modifiers) -> Widths:
        shape = matrix_shape(name, modifiers)
        return (1, (1,)) if shape is None else (shape.result_words, (*shape.words, 1))

    return of


def _matrix_count(modifiers: Modifiers) -> Widths:
    return (4 if "4" in modifiers else 2 if "2" in modifiers else 1), (1,)


def _barrier_words(modifiers: Modifiers) -> Widths:
    """SYNCS: a state of 64 bits comes out, and goes in where it is exchanged."""
    return (2, (1, 2)) if "EXCH" in modifiers else (2, (1, 1)) if "ARRIVE" in modifiers else (1, (1,))


WIDTHS: dict[str, Callable[[Modifiers], Widths]] = {
    **dict.fromkeys(("IADD3", "UIADD3"), lambda modifiers: (2, (2,)) if "64" in modifiers else (1, (1,))),
    **dict.fromkeys(("LD", "LDG", "LDS", "LDL", "LDC", "ULDC", "LDCU"), _load),
    **dict.fromkeys(("ST", "STG", "STS", "STL", "STAS", "REDAS"), _store),
    **dict.fromkeys(("ATOM", "ATOMG", "ATOMS", "RED", "REDG"), _atomic),
    **dict.fromkeys(("IMAD", "UIMAD"), _multiply_add),
    **dict.fromkeys(("DADD", "DMUL", "DFMA", "DMNMX"), _doubles(2)),
    "DSETP": _doubles(1),
    "F2F": _convert,
    "F2I": _float_to_integer,
    "I2F": _integer_to_float,
    "FRND": _round,
    "CS2R": lambda modifiers: (1 if "32" in modifiers else 2, (1,)),
    **{name: _matrices(name) for name in ("HMMA", "QMMA", "IMMA", "BMMA")},
    "LDSM": _matrix_count,
    "STSM": lambda modifiers: (0, (1, *_matrix_count(modifiers)[:1])),
    "SYNCS": _barrier_words,
    "LEPC": lambda _: (2, (1,)),
    "CALL": lambda modifiers: (0, (2 if "ABS" in modifiers else 1,)),
    "RET": lambda _: (0, (2,)),
    "BRX": lambda _: (0, (2,)),
    "MATCH": lambda modifiers: (1, (2 if "U64" in modifiers else 1,)),
}

_WIDE_ADDRESSES = frozenset(("LD", "LDG", "ST", "STG", "ATOM", "ATOMG", "RED", "REDG", "QSPC", "CCTL", "STAS", "REDAS"))


def widths(name: str, modifiers: Modifiers) -> Widths:
    """The words of the result and of the sources."""
    rule = WIDTHS.get(name)
    return rule(modifiers) if rule is not None else (1, (1,))


def has_wide_addresses(name: str) -> bool:
    """Whether the base of its addresses is a pair of registers."""
    return name in _WIDE_ADDRESSES
