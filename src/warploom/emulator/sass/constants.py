"""The constant banks of a launch: bank 0 with its shape and parameters, the others in device memory."""

from __future__ import annotations

import struct

from warploom.code.instruction import Code, Constant
from warploom.emulator.device_memory import DeviceMemory
from warploom.errors import WarploomError

_SHAPE, _SHARED, _LOCAL, _STACK = 0x0, 0x18, 0x20, 0x28  # where things lie in bank 0
WIDE_WINDOWS = (0x8000_0000_0000, 0x9000_0000_0000, 1 << 32)
"""Where shared and local memory appear among generic addresses of 64 bits, and the size of each: above all that a host has.

Code makes such an address of one in shared memory by putting a special register (SR_SWINHI) before it as its upper word, or by
adding a constant of bank 0.
"""
_LEAST_BYTES = 0x240  # what comes before the parameters, on every architecture


def first_constant_bank(code: Code, grid: tuple[int, int, int], block: tuple[int, int, int], parameters: bytes) -> bytes:
    """The bytes of bank 0: sizes of block and grid, where local memory lies and ends, parameters."""
    assert code.binary is not None
    bank = bytearray(max(code.binary.parameter_offset + len(parameters), _LEAST_BYTES))
    struct.pack_into("<6I", bank, _SHAPE, *block, *grid)
    struct.pack_into("<QQ", bank, _SHARED, WIDE_WINDOWS[0], WIDE_WINDOWS[1])
    struct.pack_into("<Q", bank, _STACK, code.local_bytes)
    bank[code.binary.parameter_offset : code.binary.parameter_offset + len(parameters)] = parameters
    return bytes(bank)


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
