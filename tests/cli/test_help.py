"""Help reads whole at any width, says what each option does, and ends in an example; names are completed."""

from __future__ import annotations

import shlex
from typing import Any

import pytest
import typer

from warploom.cli.app import application, run_command
from warploom.cli.help import EXAMPLES, complete_design, complete_machine, complete_workload
from warploom.cli.names_first import known_designs

GROUP: Any = typer.main.get_command(application())
pytestmark = pytest.mark.unit


def words_of(shown: str) -> list[str]:
    """What is shown without the frames."""
    return "".join(" " if letter in "│─╭╮╰╯" else letter for letter in shown).split()


def follow(words: list[str], text: list[str]) -> bool:
    """Whether words stand in a text in this order, perhaps with a neighbouring column's between them."""
    rest = iter(text)
    return all(word in rest for word in words)


@pytest.mark.parametrize("columns", [80, 200])
@pytest.mark.parametrize("name", GROUP.commands)
def test_help_is_whole(name: str, columns: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    assert run_command([name, "--help"]) == 0
    shown = capsys.readouterr().out
    assert "…" not in shown and max(map(len, shown.splitlines())) <= columns
    words = words_of(shown)
    for parameter in GROUP.commands[name].params:
        assert parameter.help, f"{name} {parameter.name} has no description"
        assert follow(parameter.help.split(), words), f"{name} {parameter.name}: {parameter.help}"
        if parameter.param_type_name == "option":
            assert set(parameter.opts) <= set(words)
    for example in EXAMPLES[name]:
        assert follow(example.split(), words)


def test_every_example_is_of_its_command_and_has_options_that_there_are() -> None:
    assert EXAMPLES.keys() == GROUP.commands.keys()
    for name, examples in EXAMPLES.items():
        options = {option for parameter in GROUP.commands[name].params for option in parameter.opts}
        for example in examples:
            program, command, *words = shlex.split(example.partition(" -- ")[0])
            assert (program, command) == ("warploom", name)
            assert {word for word in words if word.startswith("--")} <= options


def test_long_helps_are_in_groups(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["run", "--help"]) == 0
    shown = capsys.readouterr().out
    assert all(f"─ {group} ─" in shown for group in ("Machine", "How runs are made", "Kernel of a file", "Output"))


def test_names_are_completed_the_last_of_several_with_commas() -> None:
    assert complete_workload("hotsp") == ["hotspot", "hotspot3d"]
    assert complete_design("baseline,rf") == ["baseline,rfc", "baseline,rfv"]
    assert "gtx480" in complete_machine("g") and "gtx480" not in complete_machine("h")
    assert set(complete_design("")) == known_designs()


def test_a_shell_is_answered(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("_WARPLOOM_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", "warploom run --machine gtx4")
    monkeypatch.setenv("COMP_CWORD", "3")
    with pytest.raises(SystemExit) as ended:
        run_command([])
    assert (ended.value.code, capsys.readouterr().out.split()) == (0, ["gtx480"])
