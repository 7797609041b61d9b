"""Loops for the power counter: the same operation at the same rate, that differ only in what they ask of the register file.

Every loop issues one instruction a cycle and sub-core (no conflicts), 32 warps on each of 132 SMs. Registers hold the same values
in both loops of a pair, and the operands that the pipe sees are the same: a register of zeros against RZ, a register that is
read against the same value from the reuse cache, a result that is written against one that goes to RZ. Zeros from the reuse
cache against RZ show what the reuse cache itself takes, and flags that nobody uses what it takes to fill it.
"""

from __future__ import annotations

import numpy as np

from warploom.studies.validate.benchmark import Launch
from warploom_lab.microbenchmarks.encoding import RZ, WrittenInstruction
from warploom_lab.microbenchmarks.template import from_instructions, usable_registers

SLOTS = 1024
SMS, WARPS = 132, 32


def loops() -> list[tuple[str, str, Launch]]:
    """Name, meaning and launch of each loop; the third argument of a launch, how often the region runs, is the measurer's."""
    registers = list(usable_registers())
    results, sources = registers[:8], registers[12:]
    even, odd = [r for r in sources if r % 2 == 0], [r for r in sources if r % 2 == 1]
    zeros = np.zeros((48, 32), np.uint32)
    random = np.random.default_rng(7).integers(0, 1 << 32, (48, 32), dtype=np.uint32) & np.uint32(
        0xBFFF_FFFF
    )  # no NaN, no infinity
    changing: list[dict[str, object]] = [{"a": even[k], "b": odd[k]} for k in range(4)]
    shapes: dict[str, tuple[str, np.ndarray, list[dict[str, object]]]] = {
        "zero_0_reads": ("FFMA of RZ, RZ, RZ", zeros, [{}]),
        "zero_1_read": ("FFMA of a register of zeros, RZ, RZ", zeros, [{"a": even[0]}]),
        "zero_2_reads": ("FFMA of two registers of zeros in both banks, RZ", zeros, [{"a": even[0], "b": odd[0]}]),
        "zero_2_reuse": ("the same two zeros from the reuse cache", zeros, [{"a": even[0], "b": odd[0], "reuse": "ab"}]),
        "zero_2_changing": ("two registers of zeros, others in every instruction", zeros, changing),
        "zero_2_filled": ("the same, each with an idle reuse flag", zeros, [{**one, "reuse": "ab"} for one in changing]),
        "random_2_reads": ("FFMA of two registers of random values in both banks, RZ", random, [{"a": even[0], "b": odd[0]}]),
        "random_reuse": ("the same two operands from the reuse cache", random, [{"a": even[0], "b": odd[0], "reuse": "ab"}]),
        "random_reuse_no_write": ("the same, the result to RZ", random, [{"a": even[0], "b": odd[0], "reuse": "ab", "d": RZ}]),
        "random_changing": ("two reads, other values in every instruction", random, changing),
        "nop": ("NOP", random, [{"operation": "NOP"}]),
    }  # fmt: skip
    made = []
    for name, (what, values, pattern) in shapes.items():
        code = []
        for number in range(SLOTS):
            fields: dict[str, object] = {"operation": "FFMA", "d": results[number % len(results)]} | pattern[
                number % len(pattern)
            ]
            code.append(WrittenInstruction(**fields))  # type: ignore[arg-type]
        arguments = (("out", 64 * WARPS * SMS), ("words", values.reshape(-1).tolist()), ("u32", 1), ("u64", 0))
        made.append((name, what, Launch(f"energy.{name}", from_instructions(code, name), SMS, 32 * WARPS, arguments)))
    return made
