"""``warploom compile``: what is there already is said to be, what is not is compiled once."""

from __future__ import annotations

import json

import pytest

from warploom.base import cache
from warploom.cli.app import run_command
from warploom.jit import announcement


def test_the_second_time_everything_is_there(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["compile", "baseline"]) == 0
    capsys.readouterr()
    assert run_command(["compile", "baseline", "--json"]) == 0
    emulator, core = json.loads(capsys.readouterr().out)
    assert emulator == {"part": "the emulator", "design": "", "was_there": True, "seconds": 0}
    assert core == {"part": "the core for this combination of policies", "design": "baseline", "was_there": True, "seconds": 0}


def test_what_is_compiled_is_told_with_its_time(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Nothing is compiled for this test: Numba's word of it is."""
    from warploom.base.progress import activity
    from warploom.runs import ahead

    heard = announcement._compilations()

    def run_that_compiles(spec: object) -> None:
        with activity("timing kernel k", code=ahead.CORE):
            heard.begin()
            heard.end()

    monkeypatch.setattr(ahead, "run", run_that_compiles)
    assert run_command(["compile", "baseline", "--json"]) == 0
    assert [part["was_there"] for part in json.loads(capsys.readouterr().out)] == [True, False]


def test_a_misspelt_design_is_one_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["compile", "baselin"]) == 2
    assert capsys.readouterr().err == "error: design 'baselin': 'baselin' is not known; did you mean 'baseline'?\n"


def test_without_a_cache_there_is_nothing_to_compile_into(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def no_cache(self: object) -> None:
        raise cache.NoCache("HOME is not set")

    monkeypatch.setattr(cache.Cache, "make_folder", no_cache)
    assert run_command(["compile"]) == 2
    assert capsys.readouterr().err == "error: there is no cache to compile into: HOME is not set\n"
