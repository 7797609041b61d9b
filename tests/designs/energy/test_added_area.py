"""The area that a design adds: its storage, and what its policies say that they have beside it."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from warploom.chip.machines import load_machine
from warploom.designs import added_area, named_designs, parse_design, storage_bits
from warploom.designs.energy import load_technology
from warploom.runs.compilation import physical
from warploom.studies.search.measures import measure

COMMON = load_technology("common")
GTX480 = load_machine("gtx480")


def area_of(text: str) -> float:
    """The measure of a search, from results that have nothing but a size."""
    point = parse_design(text)
    file_bytes = 4 * physical(GTX480, point).sm.registers_per_sm
    result: Any = SimpleNamespace(cycles=1, energy_pj={"total": 1.0}, register_file_bytes=file_bytes, storage_bits=0)
    return measure([result], [result], point, GTX480, COMMON)["area"]


def test_half_the_file_has_half_the_area_and_nothing_else() -> None:
    assert area_of("baseline") == 1
    assert area_of("register_file=0.5") == 0.5


def test_each_thing_that_is_added_takes_area() -> None:
    two_level = area_of("scheduler=two-level")
    cache = [area_of(f"scheduler=two-level + hierarchy=rfc(entries={entries})") for entries in (4, 6, 8)]
    assert 1 < two_level < cache[0] < cache[1] < cache[2]
    assert area_of("encoding=bdi(compressors=1)") < area_of("encoding=bdi") < area_of("encoding=bdi(decompressors=6)")
    assert 0.5 < area_of("rfv(shrink=0.5)") < area_of("hardware-renaming + register_file=0.5") < 1


def test_gates_shrink_with_the_file() -> None:
    table = 512 * COMMON.area.small_bit / (32 * GTX480.sm.registers_per_sm)
    assert parse_design("gating=active-mask").policies.gating.storage_bits(GTX480) == 512
    assert area_of("gating=active-mask") - table == pytest.approx(1 + 1 / 32)
    assert area_of("gating=active-mask + register_file=0.5") - table == pytest.approx((1 + 1 / 32) / 2)


def test_warped_register_file_takes_what_its_paper_says() -> None:
    """Section 6.5: gates, tables and control together are around 4% of the register file."""
    machine = load_machine("warped-rf")
    added = added_area(parse_design("power=trimodal + gating=active-mask"), machine, load_technology("warped-rf"))
    assert added / (32 * machine.sm.registers_per_sm) == pytest.approx(0.04, abs=0.006)


@pytest.mark.parametrize("name", sorted(named_designs()))
def test_area_of_a_design_without_parts_is_its_storage(name: str) -> None:
    """In a technology where a bit is a bit and other parts take nothing, area is storage; in ours it is not less."""
    bare = replace(COMMON, area=replace(COMMON.area, small_bit=1, gate=0, compressor=0, decompressor=0))
    point = parse_design(name)
    assert added_area(point, GTX480, bare) == storage_bits(point, GTX480) <= added_area(point, GTX480, COMMON)
