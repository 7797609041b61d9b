"""``--check`` alone means the registers, whatever stands behind it."""

from __future__ import annotations

from pathlib import Path

import pytest

from warploom.base.checks import check_words
from warploom.base.errors import WarploomError
from warploom.cli.app import run_command
from warploom.cli.check_option import joined


@pytest.mark.parametrize(
    ("words", "read"),
    [
        ("run --check hotspot", "run --check=registers hotspot"),
        ("run hotspot --check", "run hotspot --check=registers"),
        ("run --check races hotspot", "run --check=races hotspot"),
        ("run --check registers,races hotspot", "run --check=registers,races hotspot"),
        ("run --check=all hotspot", "run --check=all hotspot"),
        ("run --check --size tiny hotspot", "run --check=registers --size tiny hotspot"),
        ("exec --check memory -- ./app --check races", "exec --check=memory -- ./app --check races"),
        ("exec -- ./app --check", "exec -- ./app --check"),
    ],
)
def test_the_word_behind_it_belongs_to_it_if_it_is_a_check(words: str, read: str) -> None:
    assert joined(words.split()) == read.split()


def test_checks_are_words_in_order() -> None:
    assert check_words(True) == ("registers",)
    assert check_words(False) == ()
    assert check_words("registers, races") == ("races", "registers")
    assert check_words(("all",)) == ("memory", "races", "registers")


def test_another_check_is_refused() -> None:
    with pytest.raises(WarploomError, match="check 'race' is not known; did you mean 'races'"):
        check_words("race")


def test_races_are_told_in_a_sentence_and_in_the_exit_code(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    kernel = tmp_path / "turn.cu"
    kernel.write_text(
        'extern "C" __global__ void turn(int* data)\n{\n    __shared__ int s[64];\n    s[threadIdx.x] = threadIdx.x;\n'
        "    data[threadIdx.x] = s[63 - threadIdx.x];\n}\n"
    )
    words = ["run", str(kernel), "--grid", "1", "--block", "64", "--arg", "data=s32[64]", "--emulate-only"]
    assert run_command([*words, "--check", "races"]) == 1
    told = [line for line in capsys.readouterr().err.splitlines() if line.startswith("error: ")]
    assert len(told) == 2
    assert f"{kernel}:4: kernel turn: race on shared memory" in told[0]
    assert run_command(words) == 0
