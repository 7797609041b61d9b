"""Least stall counts that were measured beside the latencies of `hopper`: the same in a pipe, one more from one to another."""

from __future__ import annotations

import functools

import numpy as np
import pytest

from warploom.chip.context import code_table
from warploom.chip.machines import load_machine
from warploom.chip.pipeline.pipes import Pipe
from warploom.compiler.sass.module import from_cubin
from warploom.studies.validate.recorded import folder_of, read_numbers
from warploom_lab.microbenchmarks.encoding import NO_RESULT, OPERATIONS, UNIFORM, WrittenInstruction
from warploom_lab.microbenchmarks.template import KERNEL, LEAST, from_instructions, usable_registers

pytestmark = pytest.mark.oracle

MEASURED = {one.name: one.value for one in read_numbers(folder_of("h200"))[1] if one.name.startswith("latency.")}
NOT_SEEN = ("latency.SEL.b",)  # its predicate is true: the operand is never the result
SLOW = (Pipe.F64,)  # eight cycles to whatever pipe
NAMES = [name for name in OPERATIONS if name not in (*NO_RESULT, *UNIFORM, "CS2R")]


@functools.cache
def rows() -> dict[str, np.void]:
    """What the core knows of each operation."""
    even = [register for register in usable_registers() if register % 4 == 0]
    region = [WrittenInstruction(name, d=even[0], a=even[1], b=even[2], c=even[3]) for name in NAMES]
    region += [WrittenInstruction("NOP")] * (LEAST - len(region))
    code = from_cubin(from_instructions(region, "operations"), "operations").kernel(KERNEL)
    first = next(number for number, one in enumerate(code.instructions()) if one.op.name == "CS2R") + 1
    return dict(zip(NAMES, code_table(code, load_machine("hopper"))[first:], strict=False))


def unit_of(name: str) -> Pipe:
    """The pipe of an operation, where the two halves of the FP32 unit are one."""
    pipe = Pipe(rows()[name]["pipe"])
    return Pipe.FMA if pipe is Pipe.HEAVY else pipe


@pytest.mark.parametrize("name", [name for name in MEASURED if ".IMAD.WIDE." not in name and name not in NOT_SEEN])
def test_least_stall_count(name: str) -> None:
    words = name.removeprefix("latency.").removesuffix(".upper")
    producer = max((one for one in NAMES if words.startswith(f"{one}.")), key=len)
    consumer = words.removeprefix(f"{producer}.")
    across = consumer in NAMES and unit_of(consumer) is not unit_of(producer) and unit_of(producer) not in SLOW
    assert rows()[producer]["latency"] + across == MEASURED[name]


def test_a_wide_product_has_its_lower_word_first() -> None:
    """Its upper word comes when any result does; the lower one at once, and in another pipe two cycles before the upper."""
    upper = rows()["IMAD.WIDE"]["latency"]
    assert MEASURED["latency.IMAD.WIDE.FFMA.upper"] == upper
    assert MEASURED["latency.IMAD.WIDE.IADD3.upper"] == upper + 1 == MEASURED["latency.IMAD.WIDE.IADD3"] + 2
