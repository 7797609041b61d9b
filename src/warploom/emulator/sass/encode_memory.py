"""Encodes loads, stores, atomics and constants."""

from __future__ import annotations

import numpy as np

from warploom.compiler.code.instruction import Address, Bank, Constant, Imm, Instruction, Operand, Reg, Symbol
from warploom.compiler.code.sass_classes import SASS_SPACES
from warploom.compiler.code.table import Space
from warploom.compiler.sass.forms import has_wide_addresses
from warploom.emulator.lanes import ROW_BYTES
from warploom.emulator.records import AtomicOperation, AtomicType, Kind, PredicateOperation
from warploom.emulator.sass.addresses import encode_address
from warploom.emulator.sass.constants import WIDE_WINDOWS
from warploom.emulator.sass.copies import ADDRESS_ROW
from warploom.emulator.sass.encode_integers import is_predicate
from warploom.emulator.sass.encode_transactions import encode_arrival
from warploom.emulator.sass.registry import encodes
from warploom.emulator.sass.rows import SassRows

_SPACES = {"global": Space.GLOBAL, "shared": Space.SHARED, "local": Space.LOCAL, "generic": Space.GENERIC}
_NARROW = {"U8": (1, False), "S8": (1, True), "U16": (2, False), "S16": (2, True)}
_WORDS = {Bank.D: 2, Bank.Q: 4, Bank.UD: 2, Bank.UQ: 4}
_STRONG = ("STRONG", "MMIO")
_MASK64 = (1 << 64) - 1


def _encode_size(rows: SassRows, record: np.void, modifiers: tuple[str, ...], data: Operand) -> None:
    """How many bytes each lane moves, and between which rows."""
    narrow = next((_NARROW[word] for word in modifiers if word in _NARROW), None)
    record["size"], record["signed"] = narrow if narrow is not None else (4, False)
    words = 4 if "128" in modifiers else 2 if "64" in modifiers else 1
    record["elements"] = words
    if isinstance(data, Reg) and data.bank in (Bank.RZ, Bank.URZ):
        first = rows.constant(0, 1)
        record["rows"][:words] = [first] * words
    else:
        first = rows.row(data, words)
        record["rows"][:words] = [first + word * ROW_BYTES for word in range(words)]


def _encode_access(rows: SassRows, instruction: Instruction, record: np.void) -> Address:
    address = next(source for source in instruction.srcs if isinstance(source, Address))
    rows.require("E" in instruction.op.modifiers or not has_wide_addresses(instruction.op.name), "its addresses have 32 bits")
    predicates = filter(is_predicate, instruction.srcs)
    rows.require(all(one == Reg(0, Bank.PT) for one in predicates), "the emulator does not know its predicate")
    record["space"] = _SPACES[SASS_SPACES[instruction.op.name]]
    record["polling"] = any(word in _STRONG for word in instruction.op.modifiers)
    encode_address(rows, record, address)
    return address


@encodes("LD", "LDG", "LDS", "LDL")
def _load(rows: SassRows, instruction: Instruction, record: np.void) -> None:
    record["kind"] = Kind.LOAD
    _encode_access(rows, instruction, record)
    data = next(dst for dst in instruction.dsts if dst.bank not in (Bank.P, Bank.PT))
    _encode_size(rows, record, instruction.op.modifiers, data)
    if data.bank is Bank.RZ:  # the result is thrown away
        words = int(record["elements"])
        record["rows"][:words] = [rows.temporary() for _ in range(words)]


def _encode_matrices(rows: SassRows, instruction: Instruction, record: np.void, kind: Kind, data: Reg) -> None:
    """Matrices of 16-bit elements between shared memory and registers, as they are or transposed."""
    modifiers = instruction.op.modifiers
    rows.require("16" in modifiers and ("M88" in modifiers or "MT88" in modifiers), "the emulator does not know these matrices")
    record["kind"] = kind
    _encode_access(rows, instruction, record)
    record["size"], record["elements"] = 4, 4
    record["matrices"], record["signed"] = len(data.words), "MT88" in modifiers
    record["rows"][:4] = [rows.temporary() for _ in range(4)]


@encodes("LDSM")
def _load_matrices(rows: SassRows, instruction: Instruction, record: np.void) -> None:
    """One, two or four 8 x 8 matrices of 16-bit elements: eight lanes bring the addresses of the rows of each."""
    _encode_matrices(rows, instruction, record, Kind.LOAD, instruction.dsts[0])


@encodes("STSM")
def _store_matrices(rows: SassRows, instruction: Instruction, record: np.void) -> None:
    """The other way round: rows of matrices are put together from what lanes hold, then stored by eight lanes for each."""
    data = instruction.srcs[1]
    assert isinstance(data, Reg)
    _encode_matrices(rows, instruction, record, Kind.STORE, data)
    record["rows"][ADDRESS_ROW] = rows.row(data)


@encodes("ST", "STG", "STS", "STL")
def _store(rows: SassRows, instruction: Instruction, record: np.void) -> None:
    record["kind"] = Kind.STORE
    _encode_access(rows, instruction, record)
    _encode_size(rows, record, instruction.op.modifiers, instruction.srcs[1])


@encodes("LDGSTS")
def _copy(rows: SassRows, instruction: Instruction, record: np.void) -> None:
    """From device memory to shared memory, at once: nobody can see that it could have taken longer.

    A lane whose last operand does not hold stores zeros. The trace has the access to device memory only.
    """
    modifiers = instruction.op.modifiers
    target, source, *others = instruction.srcs
    assert isinstance(target, Address) and isinstance(source, Address)
    record["kind"], record["copies"], record["space"] = Kind.LOAD, True, Space.GLOBAL
    words = 4 if "128" in modifiers else 2 if "64" in modifiers else 1
    record["size"], record["elements"] = 4, words
    encode_address(rows, record, target)
    offset = rows.constant(int(record["offset"]))
    place = rows.emit("add.32", [int(record["address"]), offset], rows.temporary())
    encode_address(rows, record, source)
    brought = [rows.temporary() for _ in range(words)]
    for row in brought:
        rows.emit("mov.32", [rows.constant(0)], row)
    record["rows"][:words] = brought
    record["rows"][ADDRESS_ROW] = place
    if "ZFILL" in modifiers:
        _fill_with_zeros(rows, record, brought)
    record["predicate_in"] = rows.predicate(others[0]) if others else rows.always


def _fill_with_zeros(rows: SassRows, record: np.void, brought: list[int]) -> None:
    """The lowest bits of the address tell how many of the last bytes are zeros instead."""
    size = 4 * len(brought)
    address = rows.emit("add.64", [int(record["address"]), rows.constant(int(record["offset"]) & _MASK64, 2)], rows.temporary())
    zeros = rows.emit("and.32", [address, rows.constant(size - 1)], rows.temporary())
    start = rows.temporary()
    rows.emit("and.32", [address, rows.constant(-size & 0xFFFFFFFF)], start)
    rows.emit("mov.32", [address + ROW_BYTES], start + ROW_BYTES)
    record["address"], record["offset"] = start, 0
    before = len(rows.micro)
    for word, row in enumerate(brought):
        kept = rows.emit("sub.32", [rows.constant(size - 4 * word), zeros], rows.temporary())
        rows.emit("first.bytes", [row, kept], row)
    record["after"] = len(rows.micro) - before


@encodes("LDC", "ULDC", only=("64", *_NARROW))
def _load_constant(rows: SassRows, instruction: Instruction, record: np.void) -> None:
    """A constant at a fixed place is a row; one that is looked up is a load."""
    modifiers = instruction.op.modifiers
    source = instruction.srcs[0]
    if not isinstance(source, Constant):
        raise rows.trouble(f"{source} is no constant bank")
    words = 2 if "64" in modifiers else 1
    narrow = next((_NARROW[word] for word in modifiers if word in _NARROW), None)
    out = rows.result(instruction.dsts[0])
    if source.register is None:
        row = rows.row(source, words)
        if narrow is not None:
            row = rows.row(source._replace(offset=source.offset & ~3))
            size, signed = narrow
            shifted = rows.emit("shr.u32", [row, rows.constant(8 * (source.offset & 3))], rows.temporary())
            rows.emit(f"trim.{'s' if signed else 'u'}", [shifted, rows.constant(32 - 8 * size)], out)
        else:
            rows.emit(f"mov.{32 * words}", [row], out)
        return
    record["kind"] = Kind.LOAD
    record["offset"] = source.offset
    index = rows.row(source.register)
    if source.bank == 0:
        record["space"], record["address"] = Space.PARAM, index
    else:
        assert rows.code.binary is not None
        banks = dict(rows.code.binary.banks)
        rows.require(source.bank in banks, f"there is no constant bank {source.bank}")
        record["space"] = Space.CONST
        record["address"] = rows.emit("add.32", [index, rows.row(Symbol(banks[source.bank]))], rows.temporary())
    _encode_size(rows, record, modifiers, instruction.dsts[0])


_ATOMIC_TYPES = {("F32", 4): AtomicType.F32, ("S32", 4): AtomicType.S32, ("F64", 8): AtomicType.F64, ("S64", 8): AtomicType.S64}
_ATOMIC_TYPES |= {("F16x2", 4): AtomicType.F16X2, ("BF16x2", 4): AtomicType.BF16X2}
_ATOMIC_TYPES |= {("BF16_V2", 4): AtomicType.BF16X2}
_VECTORS = {"F32x2": (AtomicType.F32, 2), "F32x4": (AtomicType.F32, 4), "F16x4": (AtomicType.F16X2, 2)}
_VECTORS |= {"F16x8": (AtomicType.F16X2, 4), "BF16x4": (AtomicType.BF16X2, 2), "BF16x8": (AtomicType.BF16X2, 4)}
_VECTORS |= {"128": (AtomicType.U32, 4)}
_OF_VECTORS = {"128": ("EXCH", "CAS")}  # what is done to them; others are added


@encodes("ATOM", "ATOMG", "ATOMS", "RED", "REDG")
def _atomic(rows: SassRows, instruction: Instruction, record: np.void) -> None:
    """Rows: the result (or -1), the operand, the value to swap in."""
    modifiers = instruction.op.modifiers
    if "ARRIVE" in modifiers:
        encode_arrival(rows, instruction, record)
        return
    record["kind"] = Kind.ATOMIC
    _encode_access(rows, instruction, record)
    record["polling"] = any(dst.bank in (Bank.R, Bank.D, Bank.Q) for dst in instruction.dsts)  # else nobody learns what was there
    if (vector := next((word for word in modifiers if word in _VECTORS), None)) is not None:
        _atomic_vector(rows, instruction, record, vector)
        return
    record["elements"] = 1
    size = 8 if "64" in modifiers or "F64" in modifiers or "U64" in modifiers or "S64" in modifiers else 4
    record["size"] = size
    name = next((word for word in modifiers if word in AtomicOperation.__members__), "CAS" if "CAST" in modifiers else "")
    rows.require(bool(name), "the emulator does not know this atomic operation")
    kind = next((_ATOMIC_TYPES[word, size] for word in modifiers if (word, size) in _ATOMIC_TYPES), None)
    floating = kind in (AtomicType.F16X2, AtomicType.BF16X2, AtomicType.F32, AtomicType.F64)
    if (kind is None and any(word.startswith(("F", "BF")) for word in modifiers if word != "FTZ")) or (
        floating and name not in ("ADD", "EXCH", "CAS")
    ):
        raise rows.trouble("the emulator does not know this atomic operation")
    _tell_device_memory(rows, instruction, record)
    record["type"] = kind if kind is not None else AtomicType.U32 if size == 4 else AtomicType.U64
    operands = [source for source in instruction.srcs if not isinstance(source, Address)]
    if "POPC" in modifiers:  # every lane adds one; hardware counts those with the same address
        name, operands = "ADD", [Imm(1)]
    record["operation"] = AtomicOperation[name]
    results = [dst for dst in instruction.dsts if dst.bank in (Bank.R, Bank.D)]
    places = [rows.row(operand, size // 4) for operand in operands]
    record["rows"][0] = rows.row(results[0]) if results else -1
    record["rows"][1], record["rows"][2] = places[0], places[-1]
    if "CAST" in modifiers and results:
        _tell_success(rows, record, rows.row(results[0]), places[0], size)


def _atomic_vector(rows: SassRows, instruction: Instruction, record: np.void, vector: str) -> None:
    """Words that lie beside each other. Rows: the result (or -1), the operand, the value to swap in."""
    known = _OF_VECTORS.get(vector, ("ADD",))
    name = next((word for word in instruction.op.modifiers if word in known), "")
    rows.require(bool(name), "the emulator does not know this atomic operation")
    record["type"], record["elements"] = _VECTORS[vector]
    record["size"], record["operation"] = 4, AtomicOperation[name]
    _tell_device_memory(rows, instruction, record)
    words = int(record["elements"])
    places = [rows.row(source, words) for source in instruction.srcs if not isinstance(source, Address)]
    results = [dst for dst in instruction.dsts if dst.bank in (Bank.D, Bank.Q)]
    record["rows"][0] = rows.row(results[0]) if results else -1
    record["rows"][1], record["rows"][2] = places[0], places[-1]


def _tell_device_memory(rows: SassRows, instruction: Instruction, record: np.void) -> None:
    """What shared memory cannot add is added in device memory only; a predicate says where that was done."""
    place = next((rows.predicate_result(dst) for dst in instruction.dsts if dst.bank is Bank.P), -1)
    if place < 0:
        return
    record["device_only"] = True
    if not record["wide_address"]:
        rows.emit_predicate(PredicateOperation.MOVE, [rows.always], place)
        return
    address = rows.emit("add.64", [int(record["address"]), rows.constant(int(record["offset"]), 2)], rows.temporary())
    rows.emit("lt.u64", [address, rows.constant(WIDE_WINDOWS[0], 2)], predicate_out=place)


def _tell_success(rows: SassRows, record: np.void, out: int, compared: int, size: int) -> None:
    """This compare-and-swap gives 1 where it has swapped, else 0."""
    old = record["rows"][0] = rows.temporary()
    before = len(rows.micro)
    swapped = rows.spare_predicate()
    rows.emit(f"eq.s{8 * size}", [old, compared], predicate_out=swapped)
    rows.emit("flag", [], out, predicate=swapped)
    if size == 8:
        rows.emit("mov.32", [rows.constant(0)], out + ROW_BYTES)
    record["after"] = len(rows.micro) - before


@encodes("QSPC")
def _ask_space(rows: SassRows, instruction: Instruction, _record: np.void) -> None:
    """Whether a generic address lies in shared, local or global memory."""
    address = next(source for source in instruction.srcs if isinstance(source, Address))
    if not isinstance(address.base, Reg) or address.uniform is not None:
        raise rows.trouble("its address is more than a register")
    place = rows.predicate_result(instruction.dsts[0])
    base = rows.row(address.base)
    if address.offset:
        base = rows.emit("add.64", [base, rows.constant(address.offset & _MASK64, 2)], rows.temporary())
    shared, local, size = WIDE_WINDOWS
    modifiers = instruction.op.modifiers
    if "G" in modifiers:
        rows.emit("lt.u64", [base, rows.constant(shared, 2)], predicate_out=place)
        return
    # D: of any CTA of the cluster, whose addresses are among those of shared memory
    rows.require(not {"S", "D", "L"}.isdisjoint(modifiers), "the emulator does not know this space")
    start = rows.constant(local if "L" in modifiers else shared, 2)
    offset = rows.emit("sub.64", [base, start], rows.temporary())
    rows.emit("lt.u64", [offset, rows.constant(size, 2)], predicate_out=place)


@encodes("MEMBAR", "ERRBAR", "CCTL", "CGAERRBAR", "DEPBAR", "LDGDEPBAR")
def _fence(_rows: SassRows, _instruction: Instruction, record: np.void) -> None:
    """Memory is written in the order of execution, so there is nothing to wait for."""
    record["kind"] = Kind.NOTHING
