"""Instructions executed, by warps and by threads, are those that an H200 executed."""

from __future__ import annotations

from collections import Counter

import pytest

from support.executed import executed
from warploom.chip.machines import load_machine
from warploom.designs import parse_design
from warploom.programs.named import program_named
from warploom.studies.validate.programs import CODE, described_program
from warploom.studies.validate.recorded import SINGLE_SIZES, folder_of, read_launches

pytestmark = pytest.mark.oracle

H200 = folder_of("h200")
_, MEASURED = read_launches(H200)
PROGRAMS = [
    ("tree_walk_stack", "fresh"),  # CTA after CTA of warps whose groups are apart for many turns, none of which polls
    ("tpacf", "small"),  # lanes wait for others that go on counting in shared memory by atomics without a result
    ("gcd_pairs", "fresh"),
    ("queens_count", "fresh"),
    ("hash_probe", "fresh"),
    ("bfs", "small"),
]


@pytest.mark.parametrize(("name", "size"), PROGRAMS)
def test_every_launch_executes_as_many(name: str, size: str) -> None:
    single = size in SINGLE_SIZES
    program = described_program(H200.parent / "kernels", name) if single else program_named(name, CODE)
    design, machine = parse_design("modern"), load_machine("hopper")
    made = executed(program, design, machine, "small")
    ours, seen = {}, Counter[str]()
    for launch in made.launches:
        kernel = launch.code.name
        ours[kernel, seen[kernel]] = (launch.stats.warp_instructions, launch.stats.issued_thread_instructions)
        seen[kernel] += 1
    measured = {
        (one.kernel, one.launch): (one.instructions, one.thread_instructions)
        for one in MEASURED
        if (one.program, one.size) == (name, size)
    }
    assert measured and {key: ours[key] for key in measured} == measured
