"""What kind of work an operation is: the classes by which a machine file gives latencies, and the unit that executes them."""

from __future__ import annotations

from enum import IntEnum

from warploom.base.errors import WarploomError
from warploom.compiler.code.instruction import Operation
from warploom.compiler.code.op_class import OpClass
from warploom.compiler.code.sass_classes import SASS_CLASSES

__all__ = ["OpClass", "Unit", "add_operation", "op_class", "unit"]


class Unit(IntEnum):
    """The execution unit an instruction is dispatched to."""

    NONE = 0  # resolved at issue: branches, barriers, exits, metadata
    SP = 1
    SFU = 2
    MEM = 3


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
    **dict.fromkeys(("bra", "exit", "trap", "brkpt", "bar", "nanosleep", "call"), OpClass.CONTROL),
    **dict.fromkeys(("sin", "cos", "lg2", "ex2", "rsqrt", "tanh"), OpClass.SFU),
    **SASS_CLASSES,
}
_ARITHMETIC = {
    **dict.fromkeys(("add", "addc", "sub", "subc", "neg", "abs", "sad", "copysign"), "ADD"),
    **dict.fromkeys(("min", "max"), "MINMAX"),
    **dict.fromkeys(("mul", "mul24"), "MUL"),
    **dict.fromkeys(("mad", "madc", "mad24", "fma", "dp4a", "dp2a"), "MAD"),
    **dict.fromkeys(("div", "rem", "rcp", "sqrt"), "DIV"),
}


_added: dict[str, str] = {}  # operation: the module that added it


def add_operation(name: str, by: str, *, issued: bool = False) -> Operation:
    """An operation of a policy's own, which its compile pass puts into code and only its hardware understands.

    To the program it means nothing: it changes no value, the emulator passes over it, and no pass of the backend removes it or
    moves anything across it. Unless it is ``issued``, it is metadata: fetched and decoded like any instruction, but never
    issued; the policy is asked whether it needs fetching at all (`metadata_cached`) and told when it takes effect
    (`on_metadata`), with the 64 bits of its first operand. One that is ``issued`` takes the warp's turn and is resolved at
    once, as a branch is. ``by`` is the module that adds it.
    """
    kind = OpClass.CONTROL if issued else OpClass.METADATA
    if (name in _NAMES or name in _ARITHMETIC) and (_added.get(name), _NAMES.get(name)) != (by, kind):
        raise WarploomError(f"{by}: there is an operation {name!r} already; take another name")
    _NAMES[name], _added[name] = kind, by
    return Operation(name)


def is_added(op: Operation) -> bool:
    """Whether an operation is a policy's own, and means nothing to the program."""
    return op.name in _added


def op_class(op: Operation) -> OpClass:
    """The class of an operation."""
    known = _NAMES.get(op.name)
    if known is not None:
        return known
    if op.name in ("rcp", "sqrt", "div") and ("approx" in op.modifiers or "full" in op.modifiers):
        return OpClass.SFU
    if op.type == "pred":
        return OpClass.LOGIC
    family = {"f64": "F64", "f32": "F32", "f16": "F32", "f16x2": "F32"}.get(op.type, "INT")
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
