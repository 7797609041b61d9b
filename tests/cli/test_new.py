"""`warploom new` writes what works as it stands: what it wrote is taken by the commands that it names, and its tests pass."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from warploom.cli.app import run_command
from warploom.cli.new import KINDS


def began(kind: str, folder: Path) -> Path:
    assert run_command(["new", kind, f"my-{kind}", "--out", str(folder)]) == 0
    return folder


def ran(folder: Path) -> str:
    """What pytest says of it, where `warploom` is found as in an environment that is active."""
    found = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    words = [sys.executable, "-m", "pytest", "-q", str(folder)]
    return subprocess.run(words, capture_output=True, text=True, cwd=folder, env=found).stdout


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_is_left_to_fill_in_and_nothing_is_overwritten(
    kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = began(kind, tmp_path / kind)
    texts = {path.name: path.read_text("utf-8") for path in folder.iterdir()}
    assert f"test_my_{kind}.py" in texts and all(word not in "".join(texts.values()) for word in ("FILE", "CLASS", "CFUNCTION"))
    capsys.readouterr()
    assert run_command(["new", kind, f"my-{kind}", "--out", str(folder)]) == 2
    assert "it is there already" in capsys.readouterr().err
    assert texts == {path.name: path.read_text("utf-8") for path in folder.iterdir()}


@pytest.mark.parametrize("kind", ["policy", "paper"])
def test_a_design_of_it_is_known_and_its_code_shown(kind: str, tmp_path: Path) -> None:
    folder = began(kind, tmp_path / f"my_{kind}")
    given = ["--policy", str(folder / "my_policy.py")] if kind == "policy" else ["--paper", str(folder)]
    for words in (["designs", f"my-{kind}"], ["inspect", "vectoradd", "--design", f"my-{kind}"]):
        ended = subprocess.run([sys.executable, "-m", "warploom", *words, *given], capture_output=True, text=True)
        assert (ended.returncode, ended.stderr) == (0, "")


def test_the_figure_of_a_paper_is_known(tmp_path: Path) -> None:
    folder = began("paper", tmp_path / "my_paper")
    words = ["reproduce", "my-paper", "--paper", str(folder), "--figure", "99"]
    ended = subprocess.run([sys.executable, "-m", "warploom", *words], capture_output=True, text=True)
    assert ended.returncode == 2 and "figure 1" in ended.stderr


@pytest.mark.parametrize("kind", ["machine", "workload"])
def test_its_own_test_passes(kind: str, tmp_path: Path) -> None:
    assert "1 passed" in ran(began(kind, tmp_path / f"my_{kind}"))


@pytest.mark.slow  # compiles a combination of policies with the checker
@pytest.mark.parametrize(("kind", "tests"), [("policy", 1), ("paper", 2)])
def test_the_test_of_what_must_be_compiled_passes_too(kind: str, tests: int, tmp_path: Path) -> None:
    assert f"{tests} passed" in ran(began(kind, tmp_path / f"my_{kind}"))


@pytest.mark.parametrize(
    ("words", "complaint"), [(["polcy", "x"], "did you mean 'policy'"), (["policy", "My Idea"], "small letters")]
)
def test_what_cannot_be_begun(words: list[str], complaint: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["new", *words]) == 2
    assert complaint in capsys.readouterr().err


def test_a_limit_of_registers_shows_in_the_result(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["run", "vectoradd", "--size", "tiny", "--sms", "1", "--max-registers", "6", "--emulate-only", "--json"]
    assert run_command(words) == 0
    assert '"max_registers": 6' in capsys.readouterr().out
