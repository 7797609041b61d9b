"""The microbenchmarks' machine code is what it says it is."""

from __future__ import annotations

import re
from functools import partial

import numpy as np
import pytest

from warploom.compiler.code.instruction import Code
from warploom.compiler.sass.module import SassModule, from_cubin
from warploom.emulator.shape import LaunchShape
from warploom.programs.device import Device
from warploom.studies.validate.benchmark import took, values
from warploom_lab.microbenchmarks import steady, turns
from warploom_lab.microbenchmarks.caches import INSTRUCTION_BYTES, LINE, _jumping
from warploom_lab.microbenchmarks.encoding import NO_RESULT, OPERATIONS, UNIFORM, WrittenInstruction
from warploom_lab.microbenchmarks.latencies import numbers, results_read
from warploom_lab.microbenchmarks.registers import READS, REUSE, SHARED, WRITES, pattern
from warploom_lab.microbenchmarks.template import (
    LEAST,
    between_clocks,
    from_instructions,
    stored_registers,
    usable_registers,
)

NAMES = {
    "FFMA.IMM": "FFMA",
    "FFMA.CONST": "FFMA",
    "LOP3": "LOP3.LUT",
    "SHF": "SHF.L.W.U32.HI",
    "IDP": "IDP.4A.U8.U8",
    "I2FP": "I2FP.F32.S32",
}
NAMES |= {"F2I": "F2I.TRUNC.NTZ", "ISETP": "ISETP.NE.AND", "SHFL": "SHFL.IDX"}


def test_the_disassembler_reads_our_encodings_as_we_mean_them() -> None:
    registers = usable_registers()
    even = [r for r in registers if r % 4 == 0]
    wanted = [
        WrittenInstruction(name, d=even[0], a=even[1], b=even[2], c=even[3], stall=3) for name in OPERATIONS if name != "CS2R"
    ]
    region = wanted + [WrittenInstruction("NOP")] * (LEAST - len(wanted))
    lines = between_clocks(from_instructions(region, "a test"), "a test")
    assert len(lines) == LEAST
    for one, line in zip(wanted, lines, strict=False):
        opcode, _, operands = line.text.partition(" ")
        assert opcode == NAMES.get(one.operation, one.operation), line.text
        letters = OPERATIONS[one.operation][2]
        named = re.findall(r"\bU?R\d+", operands)
        expected = ([] if one.operation in NO_RESULT else [one.d]) + [getattr(one, letter) for letter in letters]
        kind = "UR" if one.operation in UNIFORM else "R"
        assert named == [f"{kind}{number}" for number in expected], line.text
        assert line.high >> 41 & 0x1F == 0b10011  # stall 3, no yield


def test_counters_guards_and_targets() -> None:
    code = [
        WrittenInstruction("POPC", d=usable_registers()[0], b=usable_registers()[1], sets=2),
        WrittenInstruction("IADD3", waits=0b100),
        WrittenInstruction("BSSY", target=48),
        WrittenInstruction("BRA", guard=0, target=-64),
    ]
    lines = between_clocks(from_instructions(code + [WrittenInstruction("NOP")] * (LEAST - len(code)), "a test"), "a test")
    assert lines[0].high >> 46 & 7 == 2 and lines[1].high >> 52 & 63 == 0b100
    assert lines[2].text.startswith("BSSY B0,") and lines[3].text.startswith("@P0 BRA")
    low = lines[3].low >> 16 & 0xFF | (lines[3].low >> 34 | lines[3].high << 30) << 8 & (1 << 56) - 1
    assert low == (-64 // 4) & (1 << 56) - 1


@pytest.mark.parametrize("order", ["random", "next"])
def test_jumps_visit_every_line_once(order: str) -> None:
    lines = 24
    code = _jumping(lines, order)
    at, visited = 0, []
    while at < len(code):
        assert code[at].operation == "BRA"
        visited.append(at)
        at += 1 + code[at].target // INSTRUCTION_BYTES
    assert at == len(code)
    assert len(visited) in (lines, lines + 1)  # the first branch leads to the first whole line
    assert len({place % LINE for place in visited[-lines:]}) == 1


def test_reuse_flags_and_long_stalls() -> None:
    first, second = pattern("FFMA w0 e0* e1 e2*; FFMA:15 x0 o0 o1* z")
    assert first.reuse == "ac" and second.reuse == "b"
    lines = between_clocks(from_instructions([first, second] * (LEAST // 2), "a test"), "a test")
    assert [".reuse" in word for word in lines[0].text.split(",")] == [False, True, False, True]
    assert lines[1].high >> 41 & 0x1F == 0b01111  # stall counts above 11 exist only with the yield bit


@pytest.mark.parametrize(
    "text", [text for _, text in (*READS.values(), *REUSE.values(), *SHARED.values())] + list(WRITES.values())
)
def test_patterns_are_instructions(text: str) -> None:
    assert len(pattern(text)) == text.count(";") + 1


def test_time_is_from_the_first_start_to_the_last_end() -> None:
    rows = np.zeros((2, 2, 64), np.uint32)
    rows[0, :, 2], rows[0, :, 4] = (100, 90), (150, 170)  # 80 cycles together
    rows[1, :, 2], rows[1, :, 3], rows[1, :, 4], rows[1, :, 5] = 0xFFFFFFF0, 1, 0x10, 2  # across a carry: 32
    rows[1, 0, 8] = 7
    assert took(rows.reshape(2, -1)) == 32
    assert values(rows.reshape(2, -1))[0] == 7


def _made(module: SassModule, kernel: str, _shape: LaunchShape) -> Code:
    return module.kernel(kernel)


@pytest.mark.parametrize(("name", "what", "code"), list(results_read()), ids=lambda part: part if isinstance(part, str) else "")
def test_a_result_that_is_read_too_early_shows(name: str, what: str, code: list[tuple[bool, WrittenInstruction]]) -> None:
    """Consumers before their producers read what the register held before; the values behind the region must tell."""
    swapped = [code[number ^ 1] for number in range(len(code))]
    found = []
    for region in (code, swapped):
        module = from_cubin(from_instructions([one for _, one in region], name), name)
        device = Device(partial(_made, module), record=None)
        out = device.array(np.zeros(64, np.uint32))
        device.launch("bench", (1,), (32,), out, device.array(np.repeat(numbers(), 32)), np.uint32(1), np.uint64(0))
        found.append(out.get()[8:56])
    assert (found[0] != found[1]).any(), what


def test_readings_of_the_clock_are_found_where_they_are_stored() -> None:
    """Warps that read in turn, and warps of which the first is through before the others begin."""
    benchmark = next(one for one in turns.benchmarks() if one.name == "turns.clock.stall4.8w")
    (launch,) = benchmark.launches()
    where = [8 + number for number in list(stored_registers(LEAST).values())]
    output = np.zeros((launch.repeats, 8, 64), np.uint32)
    for warp in range(8):
        output[:, warp, where] = 100 + 8 * np.arange(len(where)) + warp // 4
    in_turn, shared = benchmark.read({launch.name: output.reshape(launch.repeats, -1)})
    assert in_turn.value == 1 and shared.value == pytest.approx(39 / 40)
    output[:, 4:, where] += 1000
    one_by_one, alone = benchmark.read({launch.name: output.reshape(launch.repeats, -1)})
    assert one_by_one.value == 40 and alone.value == 0


def test_steady_numbers_are_means_of_sub_cores_and_launches() -> None:
    benchmark = next(one for one in steady.benchmarks() if one.name == "steady.eez.stall5.8w")
    outputs = {}
    for launch, rounds in zip(benchmark.launches(), (steady.FEW, steady.MANY), strict=True):
        output = np.zeros((launch.repeats, 8, 64), np.uint32)
        output[:, :, 2] = 1000
        output[:, :4, 4] = 1000 + 2 * steady.ROUND * rounds  # the first warp of each sub-core
        output[:, 4:, 4] = 1000 + 4 * steady.ROUND * rounds
        output[1, 7, 4] += steady.ROUND * rounds  # one sub-core, once
        outputs[launch.name] = output.reshape(launch.repeats, -1)
    cycles, spread, first = benchmark.read(outputs)
    assert cycles.value == pytest.approx(2 + 0.5 / 32) and spread.value == pytest.approx(0.5)
    assert first.value == pytest.approx((31 * 0.5 + 0.4) / 32)


def test_warps_that_leave_early_do_not_count() -> None:
    output = np.zeros((3, 8, 64), np.uint32)
    output[:, ::4, 2], output[:, ::4, 4] = 500, 700
    assert took(output.reshape(3, -1)) == 200
