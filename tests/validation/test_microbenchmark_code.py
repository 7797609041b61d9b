"""The microbenchmarks' machine code is what it says it is."""

from __future__ import annotations

import numpy as np
import pytest

from warploom.validation.microbenchmarks.benchmark import took, values
from warploom.validation.microbenchmarks.encoding import OPERATIONS, Instruction
from warploom.validation.microbenchmarks.registers import READS, REUSE, WRITES, pattern
from warploom.validation.microbenchmarks.template import LEAST, between_clocks, from_instructions, usable_registers

NAMES = {
    "FFMA.IMM": "FFMA",
    "FFMA.CONST": "FFMA",
    "LOP3": "LOP3.LUT",
    "SHF": "SHF.L.W.U32.HI",
    "IDP": "IDP.4A.U8.U8",
    "I2FP": "I2FP.F32.S32",
}
NAMES |= {"F2I": "F2I.TRUNC.NTZ"}


def test_the_disassembler_reads_our_encodings_as_we_mean_them() -> None:
    registers = usable_registers()
    even = [r for r in registers if r % 4 == 0]
    wanted = [Instruction(name, d=even[0], a=even[1], b=even[2], c=even[3], stall=3) for name in OPERATIONS if name != "CS2R"]
    region = wanted + [Instruction("NOP")] * (LEAST - len(wanted))
    lines = between_clocks(from_instructions(region, "a test"), "a test")
    assert len(lines) == LEAST
    for one, line in zip(wanted, lines, strict=False):
        opcode, _, operands = line.text.partition(" ")
        assert opcode == NAMES.get(one.operation, one.operation), line.text
        letters = OPERATIONS[one.operation][2]
        named = [word.strip().rstrip(",") for word in operands.split() if word.startswith("R") and word[1].isdigit()]
        expected = ([] if one.operation in ("NOP", "BRA") else [one.d]) + [getattr(one, letter) for letter in letters]
        assert named == [f"R{number}" for number in expected], line.text
        assert line.high >> 41 & 0x1F == 0b10011  # stall 3, no yield


def test_reuse_flags_and_long_stalls() -> None:
    first, second = pattern("FFMA w0 e0* e1 e2*; FFMA:15 x0 o0 o1* z")
    assert first.reuse == "ac" and second.reuse == "b"
    lines = between_clocks(from_instructions([first, second] * (LEAST // 2), "a test"), "a test")
    assert [".reuse" in word for word in lines[0].text.split(",")] == [False, True, False, True]
    assert lines[1].high >> 41 & 0x1F == 0b01111  # stall counts above 11 exist only with the yield bit


@pytest.mark.parametrize("text", [text for _, text in (*READS.values(), *REUSE.values())] + list(WRITES.values()))
def test_patterns_are_instructions(text: str) -> None:
    assert len(pattern(text)) == text.count(";") + 1


def test_time_is_from_the_first_start_to_the_last_end() -> None:
    rows = np.zeros((2, 2, 64), np.uint32)
    rows[0, :, 2], rows[0, :, 4] = (100, 90), (150, 170)  # 80 cycles together
    rows[1, :, 2], rows[1, :, 3], rows[1, :, 4], rows[1, :, 5] = 0xFFFFFFF0, 1, 0x10, 2  # across a carry: 32
    rows[1, 0, 8] = 7
    assert took(rows.reshape(2, -1)) == 32
    assert values(rows.reshape(2, -1))[0] == 7
