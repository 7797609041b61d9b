"""The account: parts add up, states are weighed, intervals add up to the whole."""

import math
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from warploom.base.errors import WarploomError
from warploom.designs.energy import PARTS, RunFacts, Technology, account, load_technology, power_over_time, technology_names

RUN = RunFacts(cycles=1000, cycle_time=1 / 700e6, sms=15, register_file_bytes=131072)


class Renamer(NamedTuple):
    """A policy that adds a table."""

    accesses_each: int = 1

    def energy(policy, counters: Mapping[str, Any], technology: Technology, run: RunFacts) -> Iterator[tuple[str, str, float]]:
        yield "table", "overhead", counters.get("renames", 0) * policy.accesses_each * technology.renaming_table.access
        yield "table leakage", "overhead", technology.renaming_table.leakage * run.sms * run.seconds


class Confused(NamedTuple):
    part: str = "nonsense"
    joules: float = 1.0

    def energy(policy, counters: Mapping[str, Any], technology: Technology, run: RunFacts) -> Iterator[tuple[str, str, float]]:
        yield "thing", policy.part, policy.joules


COUNTERS = st.fixed_dictionaries(
    {
        name: st.integers(0, 10**12)
        for name in ("rf_read_lanes", "rf_write_lanes", "on_cycles", "drowsy_cycles", "off_cycles", "renames")
    }
)


@given(COUNTERS, st.sampled_from(technology_names()), st.integers(1, 10**9), st.sampled_from([32768, 65536, 131072, 262144]))
def test_parts_add_up_to_the_total(counters: dict[str, int], name: str, cycles: int, size: int) -> None:
    result = account(counters, [Renamer()], load_technology(name), RunFacts(cycles, 1e-9, 15, size))
    parts = result.picojoules()
    assert parts["total"] == math.fsum(parts[part] for part in PARTS)
    assert result.total == pytest.approx(math.fsum(term.joules for term in result.terms), rel=1e-12)
    assert all(term.joules >= 0 for term in result.terms)


@given(COUNTERS, COUNTERS, st.sampled_from(technology_names()))
def test_power_over_time_integrates_to_the_energy(first: dict[str, int], second: dict[str, int], name: str) -> None:
    technology = load_technology(name)
    middle, end = dict(first), {key: first[key] + second[key] for key in first}
    # Entries x cycles of all states add up to the file's entries x the time that has passed, as in every real run.
    for sample, cycle in ((middle, 400), (end, 1000)):
        sample["on_cycles"], sample["drowsy_cycles"], sample["off_cycles"] = cycle * 10, cycle * 5, cycle * 85
    whole = account(end, [Renamer()], technology, RUN)
    rows = power_over_time([{"cycle": 400, **middle}, {"cycle": 1000, **end}], whole, technology, RUN)
    durations = [400 * RUN.cycle_time, 600 * RUN.cycle_time]
    for part in (*PARTS, "total"):
        energy = math.fsum(row[part] * seconds for row, seconds in zip(rows, durations, strict=True))
        assert energy == pytest.approx(whole.total if part == "total" else whole.part(part), rel=1e-9)


def test_no_samples_give_no_power() -> None:
    assert power_over_time([], account({}, [], load_technology("common"), RUN), load_technology("common"), RUN) == []


def test_lanes_and_registers_agree_when_all_lanes_are_active() -> None:
    technology = load_technology("common")
    by_register = account({"rf_reads": 100, "rf_writes": 50}, [], technology, RUN)
    by_lane = account({"rf_read_lanes": 3200, "rf_write_lanes": 1600}, [], technology, RUN)
    assert by_register.dynamic == pytest.approx(by_lane.dynamic)
    # 150 registers of eight 7 pJ slices, each moved 1 mm at 9.6 pJ for 128 bits.
    assert by_register.dynamic == pytest.approx(150 * 8 * (7e-12 + 9.6e-12))


def test_leakage_follows_the_states() -> None:
    technology = load_technology("warped-rf")
    full = account({}, [], technology, RUN).leakage
    assert full == pytest.approx(16 * 5.6e-3 * 15 * RUN.seconds)
    half_off = account({"on_cycles": 5, "off_cycles": 5}, [], technology, RUN).leakage
    drowsy = account({"drowsy_cycles": 7}, [], technology, RUN).leakage
    assert half_off == pytest.approx(full / 2)
    assert drowsy == pytest.approx(full * technology.drowsy_ratio)


def test_a_smaller_file_leaks_in_proportion() -> None:
    small = RunFacts(1000, 1e-9, 15, 65536)
    large = RunFacts(1000, 1e-9, 15, 131072)
    technology = load_technology("rfv")
    assert account({}, [], technology, small).leakage == pytest.approx(account({}, [], technology, large).leakage / 2)


@pytest.mark.parametrize("policy", [Confused(), Confused("dynamic", math.nan)])
def test_a_policy_with_a_nonsensical_term_is_named(policy: Confused) -> None:
    with pytest.raises(WarploomError, match="policy Confused: energy term 'thing'"):
        account({}, [policy], load_technology("common"), RUN)
