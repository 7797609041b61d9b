"""What kind of work an operation is: the classes by which a machine file gives latencies, and the unit that executes them."""

from __future__ import annotations

from enum import IntEnum

from warploom.code.instruction import Operation


class Unit(IntEnum):
    """The execution unit an instruction is dispatched to."""

    NONE = 0  # resolved at issue: branches, barriers, exits, metadata
    SP = 1
    SFU = 2
    MEM = 3


class OpClass(IntEnum):
    """The classes by which machine files give latency and initiation interval."""

    MOVE = 0  # mov, selp, prmt, vote and the like
    LOGIC = 1  # and, or, xor, not, lop3, shifts, bit fields
    COMPARE = 2  # setp, set, slct
    CONVERT = 3  # cvt
    INT_ADD = 4
    INT_MINMAX = 5
    INT_MUL = 6
    INT_MAD = 7
    INT_DIV = 8
    SHUFFLE = 9
    F32_ADD = 10
    F32_MINMAX = 11
    F32_MUL = 12
    F32_MAD = 13  # mad and fma
    F32_DIV = 14  # div, rcp and sqrt with IEEE rounding
    F64_ADD = 15
    F64_MINMAX = 16
    F64_MUL = 17
    F64_MAD = 18
    F64_DIV = 19
    SFU = 20  # approximate functions
    MEMORY = 21
    CONTROL = 22  # branch, barrier, exit, acquire, release
    METADATA = 23  # fetched and decoded, never issued


_NAMES: dict[str, OpClass] = {
    **dict.fromkeys(("mov", "selp", "prmt", "vote", "activemask", "match", "isspacep", "cvta", "nop"), OpClass.MOVE),
    **dict.fromkeys(
        (
            "and",
            "or",
            "xor",
            "not",
            "cnot",
            "lop3",
            "shl",
            "shr",
            "shf",
            "bfe",
            "bfi",
            "brev",
            "popc",
            "clz",
            "bfind",
            "fns",
            "bmsk",
            "szext",
        ),
        OpClass.LOGIC,
    ),
    **dict.fromkeys(("setp", "set", "slct", "testp"), OpClass.COMPARE),
    "cvt": OpClass.CONVERT,
    **dict.fromkeys(("shfl", "redux"), OpClass.SHUFFLE),
    **dict.fromkeys(("ld", "ldu", "st", "atom", "red", "tex", "tld4", "prefetch", "membar", "fence"), OpClass.MEMORY),
    **dict.fromkeys(("bra", "exit", "trap", "brkpt", "bar", "nanosleep", "acquire", "release"), OpClass.CONTROL),
    **dict.fromkeys(("pir", "pbr", "interval"), OpClass.METADATA),
    **dict.fromkeys(("sin", "cos", "lg2", "ex2", "rsqrt", "tanh"), OpClass.SFU),
}
_ARITHMETIC = {
    **dict.fromkeys(("add", "addc", "sub", "subc", "neg", "abs", "sad", "copysign"), "ADD"),
    **dict.fromkeys(("min", "max"), "MINMAX"),
    **dict.fromkeys(("mul", "mul24"), "MUL"),
    **dict.fromkeys(("mad", "madc", "mad24", "fma", "dp4a", "dp2a"), "MAD"),
    **dict.fromkeys(("div", "rem", "rcp", "sqrt"), "DIV"),
}


def op_class(op: Operation) -> OpClass:
    """The class of an operation."""
    known = _NAMES.get(op.name)
    if known is not None:
        return known
    if op.name in ("rcp", "sqrt", "div") and ("approx" in op.modifiers or "full" in op.modifiers):
        return OpClass.SFU
    if op.type == "pred":
        return OpClass.LOGIC
    family = {"f64": "F64", "f32": "F32"}.get(op.type, "INT")
    return OpClass[f"{family}_{_ARITHMETIC[op.name]}"]


def unit(kind: OpClass) -> Unit:
    """The unit that executes a class. Division and square root share the special-function unit's port, as on Fermi."""
    if kind in (OpClass.CONTROL, OpClass.METADATA):
        return Unit.NONE
    if kind is OpClass.MEMORY:
        return Unit.MEM
    if kind in (OpClass.SFU, OpClass.INT_DIV, OpClass.F32_DIV, OpClass.F64_DIV):
        return Unit.SFU
    return Unit.SP
