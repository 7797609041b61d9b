"""What compiling takes is counted, and its long parts are said once, before they begin."""

from __future__ import annotations

import numba
import pytest

from warploom.base.progress import activity, under_way
from warploom.jit.announcement import ABOUT_SECONDS, announce_compilation, seconds_compiling


def compile_something() -> None:
    """Compile two functions, one within the other, that no disk has."""
    inner = numba.njit(lambda x: x + 1)
    outer = numba.njit(lambda x: inner(x))
    assert outer(1) == 2


def test_compiling_is_counted_once_for_what_is_compiled_within_something_else() -> None:
    import time

    before, started = seconds_compiling(), time.perf_counter()
    compile_something()
    assert 0 < seconds_compiling() - before <= time.perf_counter() - started


def test_a_long_part_is_said_once_and_how_long_it_takes(capsys: pytest.CaptureFixture[str]) -> None:
    announce_compilation()
    with activity("working", code="the part of a test"):
        compile_something()
        compile_something()
    said = "compiling the part of a test; this happens once, later runs start at once ...\n"
    assert capsys.readouterr().err == said and under_way() == ""


def test_what_has_no_name_is_compiled_without_a_word(capsys: pytest.CaptureFixture[str]) -> None:
    announce_compilation()
    compile_something()
    assert capsys.readouterr().err == ""


def test_the_parts_whose_time_is_told_are_those_that_the_emulator_and_the_core_name() -> None:
    from warploom.chip.simulate import COMPILED
    from warploom.emulator.launch import COMPILED as EMULATOR

    assert ABOUT_SECONDS.keys() == {COMPILED, EMULATOR}
