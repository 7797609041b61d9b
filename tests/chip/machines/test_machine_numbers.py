"""The numbers of the measured machine say where they are from: what they name was measured."""

from __future__ import annotations

import re

import pytest

from warploom.chip.machines import load_machine
from warploom.studies.validate.recorded import folder_of, read_numbers

MEASURED = {number.name for number in read_numbers(folder_of("h200"))[1]}
SUB_CORE = ("sm.", "register_file.", "stages.", "sub_core.", "l0i.", "latency.", "initiation.")
OF_A_LAUNCH = ("stages.launch_cycles", "stages.exit_cycles", "stages.stores_awaited")


def named(source: str) -> list[str]:
    """The microbenchmarks that a source names: what follows the word, with commas, up to the first that is none."""
    found = []
    for words in re.findall(r"microbenchmarks? ([^;:]*)", source):
        for word in words.split(","):
            if not re.fullmatch(r"[a-z0-9_]+(\.[A-Za-z0-9_+*]+)+", word.strip()):
                break
            found.append(word.strip())
    return found


def test_a_source_names_microbenchmarks() -> None:
    assert named("microbenchmarks bank.*, mix.FFMA+IADD3.1w: two banks; Huerta et al.") == ["bank.*", "mix.FFMA+IADD3.1w"]
    assert named("with l1.latency from microbenchmark lat.chase_ca.4KB, 34 cycles") == ["lat.chase_ca.4KB"]


@pytest.mark.parametrize("machine", ["hopper", "ampere", "ada"])
def test_every_microbenchmark_that_is_named_was_measured(machine: str) -> None:
    sources = load_machine(machine).sources
    for key, source in sources.items():
        for name in named(source):
            known = any(one.startswith(name[:-1]) for one in MEASURED) if name.endswith("*") else name in MEASURED
            assert known, f"{key}: microbenchmark {name} is not recorded"
    if machine == "hopper":
        assert sum(bool(named(source)) for source in sources.values()) > 50


def test_nothing_of_a_sub_core_waits_to_be_measured() -> None:
    for key, source in load_machine("hopper").sources.items():
        if key.startswith(SUB_CORE) and key not in OF_A_LAUNCH:
            assert "to be measured" not in source and not source.startswith("taken over from gtx480"), key
