"""The memory system's microbenchmarks are what they say they are."""

from __future__ import annotations

from collections import Counter

import pytest

from warploom.compiler.sass.disassembly import listing
from warploom_lab.microbenchmarks import atomics, constants, flight, memory, patterns, textures, traffic
from warploom_lab.microbenchmarks.steps import code_of

GROUPS = (memory, constants, patterns, flight, atomics, traffic, textures)
SHARED_WORDS = 8192
LOOPS = {  # how often an access stands in a kernel: ptxas must have made neither more nor fewer of them
    ("patterns.cu", "lds_128", "LDS.128"): 16,
    ("patterns.cu", "sts_128", "STS.128"): 16,
    ("patterns.cu", "ldg_32", "LDG.E"): 17,  # one is for the lane's place
    ("flight.cu", "stores_1", "STG.E"): 10,  # two are for the clocks
    ("flight.cu", "stores_members", "STG.E"): 10,
    ("flight.cu", "load_8", "LDG.E"): 8,
    ("flight.cu", "store_32", "STG.E"): 36,
    ("atomics.cu", "random_red", "REDG.E.ADD.STRONG.GPU"): 8,
    ("atomics.cu", "placed_cas_64", "ATOMG.E.CAS.64.STRONG.GPU"): 8,
    ("memory.cu", "constant_walk", "ULDC"): 2,  # one is for the clock
    ("constants.cu", "chase_pairs", "LDC.64"): 33,  # 16 before the clock, one for the place
    ("textures.cu", "flood_2d_all", "TEX.LL"): 72,  # 64 before the clock
}


def test_launches_have_names_of_their_own() -> None:
    names = Counter(launch.name for group in GROUPS for one in group.benchmarks() for launch in one.launches())
    assert max(names.values()) == 1


@pytest.mark.parametrize(("source", "kernel", "opcode"), LOOPS)
def test_accesses_are_in_the_code(source: str, kernel: str, opcode: str) -> None:
    lines = listing(code_of(source), source)[f".text.{kernel}"].lines
    assert sum(line.text.split()[0] == opcode for line in lines) == LOOPS[source, kernel, opcode]


def test_patterns_stay_in_shared_memory_and_within_a_vector() -> None:
    for one in patterns.benchmarks():
        launch = one.launches()[0]
        given, width = launch.arguments[1][1], int(launch.kernel.split("_")[1]) // 32
        places = [place for place in given if place != patterns.GONE]
        assert len(given) == 32 and given[0] != patterns.GONE and all(place % width == 0 for place in places)
        if not launch.kernel.startswith("ldg"):
            assert max(places) + width <= SHARED_WORDS


def test_bursts_from_dram_have_lines_of_their_own() -> None:
    cold = [one for one in (flight.Burst(*burst, offset=0) for burst in flight.bursts()) if not one.warm]
    offsets = [launch.arguments[2] for one in flight.benchmarks() for launch in one.launches() if launch.name.endswith(".dram")]
    assert len(offsets) == len(set(offsets)) == len(cold)
