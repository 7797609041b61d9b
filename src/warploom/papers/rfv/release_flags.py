"""The two metadata instructions that tell the hardware which registers are dead: their 64 bits, both ways.

A metadata instruction has the shape of Fermi's: a ten-bit opcode split in two, four bits at the bottom and six at the top, and
54 bits between them.

* ``pir`` (per-instruction release): 18 flags of three bits, one for each of the following 18 instructions; bit n says that
  source operand n (see `value_operands`) is dead once it has been read.
* ``pbr`` (per-branch release): nine register numbers of six bits, dead from here on; `NO_REGISTER` fills what is unused.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum

from warploom.compiler.code.classes import add_operation
from warploom.compiler.code.instruction import Bank, Imm, Instruction, Reg

PIR, PBR = (add_operation(name, __name__) for name in ("pir", "pbr"))
FLAG_BITS = 3  # operands that one instruction can release
FLAGS = 18  # instructions that one pir covers
NUMBER_BITS = 6
NUMBERS = 9  # registers that one pbr releases
NO_REGISTER = (1 << NUMBER_BITS) - 1  # Fermi's threads have registers 0 to 62
PAYLOAD_BITS = FLAGS * FLAG_BITS
LOW_OPCODE_BITS = 4
_PAYLOAD_MASK = (1 << PAYLOAD_BITS) - 1


class ReleaseOpcode(IntEnum):
    """The reserved ten-bit opcodes; the paper does not print its own."""

    PIR = 0b111110_1110
    PBR = 0b111111_1110


def value_operands(instruction: Instruction) -> list[Reg]:
    """The source operands that a pir's flags count: registers in the order in which they are read, predicates left out."""
    return [register for register in instruction.reads if register.bank is not Bank.P]


def encode_pir(flags: Sequence[int]) -> int:
    """The 64 bits of a pir; `flags` has up to 18 entries of three bits."""
    if len(flags) > FLAGS or any(not 0 <= flag < 1 << FLAG_BITS for flag in flags):
        raise ValueError(f"a pir holds up to {FLAGS} flags of {FLAG_BITS} bits, not {list(flags)}")
    return _encode(ReleaseOpcode.PIR, sum(flag << FLAG_BITS * place for place, flag in enumerate(flags)))


def encode_pbr(registers: Sequence[int]) -> int:
    """The 64 bits of a pbr; `registers` has up to nine numbers."""
    if len(registers) > NUMBERS or any(not 0 <= number < NO_REGISTER for number in registers):
        raise ValueError(f"a pbr holds up to {NUMBERS} registers below {NO_REGISTER}, not {list(registers)}")
    numbers = [*registers, *[NO_REGISTER] * (NUMBERS - len(registers))]
    return _encode(ReleaseOpcode.PBR, sum(number << NUMBER_BITS * place for place, number in enumerate(numbers)))


def opcode(bits: int) -> ReleaseOpcode:
    """Which of the two a metadata instruction is."""
    low = (1 << LOW_OPCODE_BITS) - 1
    return ReleaseOpcode(bits >> LOW_OPCODE_BITS + PAYLOAD_BITS << LOW_OPCODE_BITS | bits & low)


def decode_pir(bits: int) -> list[int]:
    """The 18 flags of a pir."""
    payload = _payload(bits, ReleaseOpcode.PIR)
    return [payload >> FLAG_BITS * place & (1 << FLAG_BITS) - 1 for place in range(FLAGS)]


def decode_pbr(bits: int) -> list[int]:
    """The registers that a pbr releases."""
    payload = _payload(bits, ReleaseOpcode.PBR)
    numbers = [payload >> NUMBER_BITS * place & NO_REGISTER for place in range(NUMBERS)]
    return [number for number in numbers if number != NO_REGISTER]


def pir(flags: Sequence[int]) -> Instruction:
    """The metadata instruction for flags."""
    return Instruction(PIR, srcs=(Imm(encode_pir(flags)),))


def pbr(registers: Sequence[int]) -> Instruction:
    """The metadata instruction for registers."""
    return Instruction(PBR, srcs=(Imm(encode_pbr(registers)),))


def is_release(instruction: Instruction) -> bool:
    """Whether an instruction is one of the two."""
    return instruction.op in (PIR, PBR)


def payload(instruction: Instruction) -> int:
    """The 64 bits of a metadata instruction."""
    source = instruction.srcs[0]
    assert isinstance(source, Imm)
    return source.bits


def _encode(code: ReleaseOpcode, inner: int) -> int:
    low = code & (1 << LOW_OPCODE_BITS) - 1
    high = code >> LOW_OPCODE_BITS
    return high << LOW_OPCODE_BITS + PAYLOAD_BITS | inner << LOW_OPCODE_BITS | low


def _payload(bits: int, expected: ReleaseOpcode) -> int:
    if opcode(bits) is not expected:
        raise ValueError(f"{bits:#018x} is no {expected.name.lower()}")
    return bits >> LOW_OPCODE_BITS & _PAYLOAD_MASK
