"""Encodes barriers in shared memory that count arrivals and bytes (mbarrier), and copies of many bytes at once."""

from __future__ import annotations

import numpy as np

from warploom.compiler.code.instruction import Address, Bank, Instruction, Reg
from warploom.compiler.code.table import Space
from warploom.emulator.lanes import ROW_BYTES
from warploom.emulator.records import AtomicOperation, AtomicType
from warploom.emulator.sass.addresses import encode_address
from warploom.emulator.sass.records import SassKind, UniformOperation
from warploom.emulator.sass.registry import encodes
from warploom.emulator.sass.rows import SassRows
from warploom.emulator.sass.transactions import SUSPENDS, Amount, Transaction

_ARRIVALS = {"0": Amount.NONE, "1": Amount.ONE, "R": Amount.REGISTER}
_BYTES = {"0": Amount.NONE, "1": Amount.ONE, "R": Amount.REGISTER, "X": Amount.DONE}
_USUAL = "A1TR"
_COPIES = {
    ("S", "G"): Transaction.COPY_TO_SHARED,
    ("G", "S"): Transaction.COPY_FROM_SHARED,
    ("S", "S"): Transaction.COPY_WITHIN_SHARED,
    ("S", "G", "MULTICAST"): Transaction.COPY_TO_MANY,
}
_REDUCED_TYPES = {"S32": AtomicType.S32}
_BULK_TYPES = {"S32": (AtomicType.S32, 4), "64": (AtomicType.U64, 8), "U64": (AtomicType.U64, 8), "S64": (AtomicType.S64, 8)}
_BULK_TYPES |= {"F32": (AtomicType.F32, 4), "F64": (AtomicType.F64, 8)}


def _begin(rows: SassRows, instruction: Instruction, record: np.void, transaction: Transaction) -> None:
    address = next(source for source in instruction.srcs if isinstance(source, Address))
    encode_address(rows, record, address)
    record["kind"], record["operation"], record["space"] = SassKind.TRANSACTION, transaction, Space.SHARED
    record["rows"][0], record["size"] = -1, 8


@encodes("SYNCS")
def _synchronise(rows: SassRows, instruction: Instruction, record: np.void) -> None:
    modifiers = instruction.op.modifiers
    if modifiers[0] == "CCTL":  # the barrier is no longer used; what is asked of it, nobody gets to know
        _begin(rows, instruction, record, Transaction.CHECK)
        record["rows"][1] = rows.constant(0)
        return
    if modifiers[:2] == ("EXCH", "64"):
        _exchange(rows, instruction, record)
        return
    if modifiers[:2] == ("PHASECHK", "TRANS64"):
        _begin(rows, instruction, record, Transaction.CHECK)
        record["predicate_out"] = rows.predicate_result(instruction.dsts[0])
        record["polling"] = SUSPENDS if "TRYWAIT" in modifiers else 1
        record["rows"][1] = rows.word(instruction.srcs[1])
        return
    rows.require(modifiers[:2] == ("ARRIVE", "TRANS64") and "TMASK" not in modifiers)
    _begin(rows, instruction, record, Transaction.ARRIVE)
    amounts = next((word for word in modifiers if len(word) == 4 and word[0] == "A" and word[2] == "T"), _USUAL)
    record["type"], record["elements"] = _ARRIVALS[amounts[1]], _BYTES[amounts[3]]
    record["signed"] = "OPTOUT" in modifiers
    record["rows"][1] = rows.word(instruction.srcs[1])
    if instruction.dsts[0].bank is Bank.D:
        record["rows"][0] = rows.row(instruction.dsts[0])


def _exchange(rows: SassRows, instruction: Instruction, record: np.void) -> None:
    """A barrier is given its first state; nobody looks at the one before."""
    rows.require(instruction.dsts[0].bank in (Bank.RZ, Bank.URZ), "it wants what was there before")
    _begin(rows, instruction, record, Transaction.BEGIN)
    record["rows"][1] = rows.row(instruction.srcs[1], 2)


@encodes("ARRIVES")
def _arrive_after_copies(rows: SassRows, instruction: Instruction, record: np.void) -> None:
    """Copies are done at once, so who arrives behind them arrives now."""
    modifiers = instruction.op.modifiers
    rows.require(modifiers[:2] == ("LDGSTSBAR", "64"))
    _begin(rows, instruction, record, Transaction.ARRIVE)
    record["rows"][1] = rows.constant(1)
    if "TRANSCNT" in modifiers:
        record["type"], record["elements"] = Amount.NONE, Amount.DONE
    elif "ARVCNT" in modifiers:
        record["type"] = Amount.ONE
    else:
        record["size"] = 4


def encode_arrival(rows: SassRows, instruction: Instruction, record: np.void) -> None:
    """ATOMS.ARRIVE, before Hopper."""
    _begin(rows, instruction, record, Transaction.ARRIVE)
    record["size"], record["rows"][1] = 4, rows.constant(0)
    if instruction.dsts[0].bank is Bank.D:
        record["rows"][0] = rows.row(instruction.dsts[0])


@encodes("STAS", "REDAS")
def _store_and_count(rows: SassRows, instruction: Instruction, record: np.void) -> None:
    """Done at once. The register behind that of the address holds the address of the barrier."""
    modifiers = instruction.op.modifiers
    stores = instruction.op.name == "STAS"
    _begin(rows, instruction, record, Transaction.STORE if stores else Transaction.REDUCE)
    words = 4 if "128" in modifiers else 2 if "64" in modifiers else 1
    record["elements"] = words
    first = rows.row(instruction.srcs[1], words)
    record["rows"][:words] = [first + word * ROW_BYTES for word in range(words)]
    if not stores:
        name = next((word for word in modifiers if word in AtomicOperation.__members__), "")
        rows.require(bool(name) and words == 1, "the emulator does not know this reduction")
        record["type"] = AtomicOperation[name]
        record["signed"] = next((_REDUCED_TYPES[word] for word in modifiers if word in _REDUCED_TYPES), AtomicType.U32)


@encodes("UBLKCP")
def _copy(rows: SassRows, instruction: Instruction, record: np.void) -> None:
    """A copy for the warp, done at once. The register behind the target in shared memory holds the address of a barrier."""
    modifiers = instruction.op.modifiers
    rows.require(modifiers in _COPIES, "the emulator does not know this copy")
    target, source, size = instruction.srcs[:3]
    assert isinstance(target, Address) and isinstance(source, Address)
    if target.uniform is None or source.uniform is None or target.offset or source.offset:
        raise rows.trouble("its addresses are more than uniform registers")
    record["kind"] = SassKind.BULK_COPY
    record["operation"] = _COPIES[modifiers]
    record["rows"][0], record["rows"][1] = rows.row(target.uniform), rows.row(source.uniform)
    record["rows"][2] = rows.row(size)
    record["rows"][3] = rows.row(target.uniform) + ROW_BYTES if modifiers[0] == "S" else -1


@encodes("UBLKRED")
def _reduce_bulk(rows: SassRows, instruction: Instruction, record: np.void) -> None:
    """Words of shared memory are added or the like to those of device memory, at once."""
    target, source, size = instruction.srcs[:3]
    assert isinstance(target, Address) and isinstance(source, Address)
    words = instruction.op.modifiers[2:]
    if instruction.op.modifiers[:2] != ("G", "S") or target.uniform is None or source.uniform is None:
        raise rows.trouble("the emulator does not know this copy")
    record["kind"], record["operation"] = SassKind.BULK_COPY, Transaction.REDUCE_FROM_SHARED
    encode_reduction(rows, record, words)
    record["rows"][0], record["rows"][1] = rows.row(target.uniform), rows.row(source.uniform)
    record["rows"][2] = rows.row(size)


def encode_reduction(rows: SassRows, record: np.void, words: tuple[str, ...]) -> None:
    """Which operation on which words: `signed`, `type`, `elements` (bytes of one)."""
    name = next((word for word in words if word in AtomicOperation.__members__), "")
    types = [word for word in words if word != name]
    known = bool(name) and len(types) <= 1 and set(types) <= set(_BULK_TYPES)
    rows.require(known, "the emulator does not know this reduction")
    record["signed"] = AtomicOperation[name]
    record["type"], record["elements"] = _BULK_TYPES[types[0]] if types else (AtomicType.U32, 4)


@encodes("ELECT", only=())
def _elect(rows: SassRows, instruction: Instruction, record: np.void) -> None:
    """One of the lanes: the first."""
    predicate, number = instruction.dsts
    rows.require(instruction.srcs[0] == Reg(0, Bank.PT), "the emulator does not know its predicate")
    record["kind"], record["operation"] = SassKind.UNIFORM, UniformOperation.ELECT
    record["predicate_out"], record["rows"][0] = rows.predicate_result(predicate), rows.result(number)
