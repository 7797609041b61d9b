"""Encodes special registers, and instructions in which lanes look at each other."""

from __future__ import annotations

import numpy as np

from warploom.compiler.code.instruction import Bank, Instruction, Special
from warploom.emulator.records import Kind, WarpOperation
from warploom.emulator.sass.constants import WIDE_WINDOWS
from warploom.emulator.sass.encode_integers import registers_of
from warploom.emulator.sass.records import SassKind, UniformOperation
from warploom.emulator.sass.registry import encodes
from warploom.emulator.sass.rows import SassRows

_SPECIALS = {
    **{f"SR_{base}.{axis}": f"{name}.{axis.lower()}" for base, name in (("TID", "tid"), ("CTAID", "ctaid")) for axis in "XYZ"},
    **{
        f"SR_{base}.{axis}": f"{name}.{axis.lower()}" for base, name in (("NTID", "ntid"), ("NCTAID", "nctaid")) for axis in "XYZ"
    },
    "SR_LANEID": "laneid",
    "SR_EQMASK": "lanemask_eq",
    "SR_LTMASK": "lanemask_lt",
    "SR_LEMASK": "lanemask_le",
    "SR_GTMASK": "lanemask_gt",
    "SR_GEMASK": "lanemask_ge",
    "SR_VIRTUALSMID": "smid",
    "SR_CgaCtaId": "cluster_ctarank",
    "SR_SMEMSZ": "total_smem_size",
    "SR_CLOCKLO": "clock",
    "SR_CLOCKHI": "clock_hi",
    "SR_GLOBALTIMERLO": "globaltimer_lo",
    "SR_GLOBALTIMERHI": "globaltimer_hi",
}
_CLOCKS = ("clock", "clock_hi", "globaltimer_lo", "globaltimer_hi")
_ZERO_SPECIALS = ("SRZ", "SR_CgaSize", "SR_SWINLO", "SR_LMEMLO")
_IN_SECOND_BYTE = {"SR_VIRTID": "warpid", "SR_VIRTCFG": "nwarpid"}  # what is below it, code takes away
_SHUFFLES = {
    "UP": WarpOperation.SHUFFLE_UP,
    "DOWN": WarpOperation.SHUFFLE_DOWN,
    "BFLY": WarpOperation.SHUFFLE_XOR,
    "IDX": WarpOperation.SHUFFLE_INDEX,
}
_VOTES = {"ALL": WarpOperation.VOTE_ALL, "ANY": WarpOperation.VOTE_ANY, "EQ": WarpOperation.VOTE_UNIFORM}
_REDUCTIONS = {"SUM": "ADD", "MIN": "MIN", "MAX": "MAX", "OR": "OR", "XOR": "XOR"}
_UNIFORM_VOTES = {"ALL": UniformOperation.ALL, "ANY": UniformOperation.ANY, "EQ": UniformOperation.EQUAL}


@encodes("S2R", "S2UR", "CS2R")
def _special(rows: SassRows, instruction: Instruction, record: np.void) -> None:
    source = instruction.srcs[0]
    assert isinstance(source, Special)
    target = instruction.dsts[0]
    words = 2 if target.bank in (Bank.D, Bank.UD) else 1
    if source.name == "SR_SWINHI":
        row = rows.constant(WIDE_WINDOWS[0] >> 32, 2)
    elif source.name in _ZERO_SPECIALS:
        row = rows.constant(0, 2)
    elif source.name in _IN_SECOND_BYTE:
        number = rows.row(Special(_IN_SECOND_BYTE[source.name]))
        row = rows.emit("shl.32", [number, rows.constant(8)], rows.temporary())
    elif source.name in _SPECIALS:
        name = _SPECIALS[source.name]
        if words == 2 and name in ("clock", "globaltimer_lo"):
            name = {"clock": "clock64", "globaltimer_lo": "globaltimer"}[name]
        elif words == 2:
            raise rows.trouble("the special register has 32 bits")
        record["uses_clock"] = name in (*_CLOCKS, "clock64", "globaltimer")
        row = rows.row(Special(name), words)
    else:
        raise rows.trouble(f"the emulator does not know special register {source.name}")
    if instruction.op.name == "S2UR":  # of the first lane, for the whole warp
        record["kind"], record["operation"] = SassKind.UNIFORM, UniformOperation.FIRST
        record["rows"][0], record["rows"][1] = rows.result(target), row
        return
    rows.emit(f"mov.{32 * words}", [row], rows.result(target))


@encodes("R2UR")
def _to_uniform(rows: SassRows, instruction: Instruction, record: np.void) -> None:
    """The first lane's value; a predicate tells each lane whether its own is another one, with OR also whether one was before."""
    register, predicates = registers_of(instruction)
    record["kind"], record["operation"] = SassKind.UNIFORM, UniformOperation.FIRST
    record["predicate_out"] = rows.predicate_result(predicates[0]) if predicates else -1
    record["signed"] = "OR" in instruction.op.modifiers
    record["rows"][0], record["rows"][1] = rows.result(register), rows.word(instruction.srcs[0])


@encodes("REDUX")
def _reduce(rows: SassRows, instruction: Instruction, record: np.void) -> None:
    """A reduction over the lanes, into a uniform register; without a name of its own it is AND."""
    modifiers = instruction.op.modifiers
    name = next((_REDUCTIONS[word] for word in modifiers if word in _REDUCTIONS), "AND")
    sign = f"_{'S' if 'S32' in modifiers else 'U'}" if name in ("MIN", "MAX") else ""
    record["kind"], record["operation"] = SassKind.UNIFORM, UniformOperation.REDUCTIONS + WarpOperation[f"REDUCE_{name}{sign}"]
    record["rows"][0], record["rows"][1] = rows.result(instruction.dsts[0]), rows.word(instruction.srcs[0])


@encodes("VOTE", "VOTEU")
def _vote(rows: SassRows, instruction: Instruction, record: np.void) -> None:
    """A ballot into a register, an answer into a predicate, or both; of VOTEU they are the whole warp's."""
    register, predicates = registers_of(instruction)
    mode = next(word for word in instruction.op.modifiers if word in _VOTES)
    answer = rows.predicate_result(predicates[0]) if predicates else -1
    ballot = register.bank in (Bank.R, Bank.U)
    if ballot and answer >= 0:
        raise rows.trouble("it wants a ballot and an answer at once")
    record["predicate_in"] = rows.predicate(instruction.srcs[0])
    record["predicate_out"] = answer
    record["rows"][0] = rows.result(register)
    if instruction.op.name == "VOTEU":
        record["kind"] = SassKind.UNIFORM
        record["operation"] = UniformOperation.BALLOT if ballot else _UNIFORM_VOTES[mode]
    else:
        record["kind"] = Kind.WARP
        record["operation"] = WarpOperation.BALLOT if ballot else _VOTES[mode]


@encodes("SHFL")
def _shuffle(rows: SassRows, instruction: Instruction, record: np.void) -> None:
    register, predicates = registers_of(instruction)
    record["kind"] = Kind.WARP
    record["operation"] = next(_SHUFFLES[word] for word in instruction.op.modifiers if word in _SHUFFLES)
    record["size"] = 4
    record["predicate_out"] = rows.predicate_result(predicates[0]) if predicates else -1
    record["rows"][0] = rows.result(register)
    record["rows"][1:4] = [rows.word(source) for source in instruction.srcs]


@encodes("MATCH")
def _match(rows: SassRows, instruction: Instruction, record: np.void) -> None:
    register, predicates = registers_of(instruction)
    wide = "U64" in instruction.op.modifiers
    record["kind"], record["size"] = Kind.WARP, 8 if wide else 4
    record["operation"] = WarpOperation.MATCH_ANY if "ANY" in instruction.op.modifiers else WarpOperation.MATCH_ALL
    record["predicate_out"] = rows.predicate_result(predicates[0]) if predicates else -1
    record["rows"][0], record["rows"][1] = rows.result(register), rows.row(instruction.srcs[0], 2 if wide else 1)
