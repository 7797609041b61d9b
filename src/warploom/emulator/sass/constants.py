"""The constant banks of a launch: bank 0 with its shape and parameters, the others in device memory."""

from __future__ import annotations

import math
import struct
from typing import NamedTuple

from warploom.base.errors import WarploomError
from warploom.compiler.code.instruction import Code, Constant
from warploom.emulator.device_memory import DeviceMemory

_SHAPE, _SHARED, _STACK, _NUMBER, _SMS, _RESERVED = 0x0, 0x18, 0x28, 0x30, 0x10C, 0x114  # where things lie in bank 0
_CLUSTERS, _CLUSTER_SIZE = 0x140, 0x188
HOPPER = 90
_RESERVED_BYTES = 0x400  # of shared memory, before that of the program, from Hopper on
WIDE_WINDOWS = (0x8000_0000_0000, 0x9000_0000_0000, 1 << 32)
"""Where shared and local memory appear among generic addresses of 64 bits, and the size of each: above all that a host has.

Code makes such an address of one in shared memory by putting a special register (SR_SWINHI) before it as its upper word, or by
adding a constant of bank 0.
"""
_LEAST_BYTES = 0x240  # what comes before the parameters, on every architecture


class BankFacts(NamedTuple):
    """What bank 0 tells of a launch beside its parameters."""

    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    cluster: tuple[int, int, int]
    dynamic_bytes: int  # of shared memory
    number: int
    sms: int
    grid_address: int  # of the bytes through which a cooperative grid synchronises
    bank_address: int  # of a copy of bank 0, for code that wants the address of a parameter


def _grid_address_offset(code: Code) -> int:
    """Where bank 0 holds that address, its upper word first."""
    assert code.binary is not None
    return 0x44 if code.binary.architecture >= HOPPER else 0x8C


class Needs(NamedTuple):
    """What a kernel reads in bank 0 that its launch must provide."""

    grid_address: bool = False  # where a cooperative grid synchronises
    bank_address: bool = False  # where its parameters lie in memory
    reserved_bytes: bool = False  # shared memory through which groups of several warps synchronise


def needs_of(code: Code) -> Needs:
    """What a kernel needs; nothing if it is no SASS."""
    if code.binary is None:
        return Needs()
    constants = (source for instruction in code.instructions() for source in instruction.srcs if isinstance(source, Constant))
    read = {constant.offset for constant in constants if constant.bank == 0}

    def reads(offset: int) -> bool:
        return any(offset - 4 <= place <= offset + 4 for place in read)

    return Needs(*map(reads, (_grid_address_offset(code), _bank_address_offset(code), _reserved_place_offset(code))))


def _reserved_place_offset(code: Code) -> int:
    """Where bank 0 tells where the shared memory lies that groups of several warps synchronise through."""
    assert code.binary is not None
    return 0x6C if code.binary.architecture >= HOPPER else 0x124


def with_reserved_bytes(code: Code, shared_bytes: int) -> int:
    """How much shared memory a launch has with what is reserved for groups of several warps."""
    assert code.binary is not None
    if code.binary.architecture >= HOPPER:
        return max(shared_bytes, _RESERVED_BYTES)
    return _reserved_place(code, shared_bytes) + _RESERVED_BYTES


def own_shared_bytes(code: Code) -> int:
    """The shared memory that a kernel declares itself: from Hopper on its code counts what the system has reserved before it."""
    if code.binary is None or code.binary.architecture < HOPPER or not code.shared_bytes:
        return code.shared_bytes
    return code.shared_bytes - _RESERVED_BYTES


def _reserved_place(code: Code, shared_bytes: int) -> int:
    """The first bytes from Hopper on, before it those behind the program's."""
    assert code.binary is not None
    return 0 if code.binary.architecture >= HOPPER else -(-shared_bytes // 16) * 16


def _bank_address_offset(code: Code) -> int:
    """Where bank 0 holds its own address: before Hopper that of its start, from then on that of its parameters."""
    assert code.binary is not None
    return 0x198 if code.binary.architecture >= HOPPER else 0x40


def bank_bytes(code: Code, parameters: bytes) -> int:
    """How long bank 0 is."""
    assert code.binary is not None
    return max(code.binary.parameter_offset + len(parameters), _LEAST_BYTES)


def first_constant_bank(code: Code, facts: BankFacts, parameters: bytes) -> bytes:
    """The bytes of bank 0: sizes of block and grid, where local memory lies and ends, parameters."""
    assert code.binary is not None
    bank = bytearray(bank_bytes(code, parameters))
    struct.pack_into("<6I", bank, _SHAPE, *facts.block, *facts.grid)
    struct.pack_into("<QQ", bank, _SHARED, WIDE_WINDOWS[0], WIDE_WINDOWS[1])
    struct.pack_into("<II", bank, _STACK, code.local_bytes, facts.dynamic_bytes)
    struct.pack_into("<Q", bank, _NUMBER, facts.number)
    struct.pack_into("<I", bank, _SMS, facts.sms)
    struct.pack_into("<I", bank, _RESERVED, _RESERVED_BYTES if code.binary.architecture >= HOPPER else 0)
    upper, lower = facts.grid_address >> 32, facts.grid_address & 0xFFFFFFFF
    struct.pack_into("<II", bank, _grid_address_offset(code), upper, lower)
    place = _reserved_place(code, code.shared_bytes + facts.dynamic_bytes)
    struct.pack_into("<I", bank, _reserved_place_offset(code), place)
    own = facts.bank_address + (code.binary.parameter_offset if code.binary.architecture >= HOPPER else 0)
    struct.pack_into("<Q", bank, _bank_address_offset(code), own if facts.bank_address else 0)
    if code.binary.architecture >= HOPPER:
        _tell_clusters(bank, facts)
    bank[code.binary.parameter_offset : code.binary.parameter_offset + len(parameters)] = parameters
    return bytes(bank)


def _tell_clusters(bank: bytearray, facts: BankFacts) -> None:
    """Whether there are clusters; how large they are, with the reciprocals of that, by which code divides; how many there are."""
    size = math.prod(facts.cluster)
    struct.pack_into("<4I", bank, _CLUSTERS, size > 1, *facts.cluster)
    struct.pack_into("<3f", bank, _CLUSTERS + 16, *(1 / extent for extent in facts.cluster))
    struct.pack_into("<3I", bank, _CLUSTERS + 28, *(g // c for g, c in zip(facts.grid, facts.cluster, strict=True)))
    struct.pack_into("<I", bank, _CLUSTER_SIZE, size)


def constant_value(operand: Constant, code: Code, bank_0: bytes, symbols: dict[str, int], memory: DeviceMemory) -> int:
    """Up to 64 bits of a constant bank."""
    if operand.bank == 0:
        return int.from_bytes(bank_0[operand.offset : operand.offset + 8], "little")
    assert code.binary is not None
    name = dict(code.binary.banks).get(operand.bank)
    if name is None:
        raise WarploomError(f"{code.source}: kernel {code.name} reads {operand}, but there is no such constant bank.")
    size = next(variable.size for variable in code.variables if variable.name == name)
    if operand.offset >= size:
        raise WarploomError(f"{code.source}: kernel {code.name} reads {operand}, but the bank has {size} bytes.")
    return int.from_bytes(memory.view(symbols[name], size)[operand.offset : operand.offset + 8].tobytes(), "little")
