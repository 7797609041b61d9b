"""Every `warploom` command that a page shows is one that the command line takes: command, options and the names in it exist."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

from support.places import ROOT
from warploom.cli.app import UsageError, application
from warploom.cli.check_option import joined
from warploom.cli.names_first import check_names

PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md"), *(ROOT / "src").rglob("README.md")]
SHOWN = re.compile(r"^(?:    (?:- run: )?|)(?:\$ )?(?:[A-Z_]+=\S+ )*warploom ((?:.*\\\n)*.*)$", re.MULTILINE)
INLINE = re.compile(r"`(?:\$ )?warploom ([a-z]+ [^`]+)`")
CODE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
PLACEHOLDER = re.compile(r"[A-Z]{3,}|…|\.\.\.")  # a word that stands for another
GROUP: Any = typer.main.get_command(application())
NAMED = ("machine", "workloads", "target", "design", "designs")


def commands(text: str) -> Iterator[list[str]]:
    """The words of every command in a page, without what follows a `#`, a `;` or a `>`."""
    prose = CODE.sub("", text)
    for shown in [*SHOWN.findall(text), *(inline.replace("\n", " ") for inline in INLINE.findall(prose))]:
        words = shlex.split(shown.replace("\\\n", " "), comments=True)
        end = next((at for at, word in enumerate(words) if word in {">", "|", "&&", "2>"} or word.endswith(";")), len(words))
        yield words[:end]


def complaint(words: list[str]) -> str:
    """What the command line would say of these words before it runs anything; empty if it would take them."""
    name, *others = joined(words)
    if PLACEHOLDER.search(name):
        return ""
    command = GROUP.commands.get(name)
    if command is None:
        return "" if name.startswith("-") else f"there is no command {name}"
    context = typer.Context(command, info_name=name)
    context.allow_interspersed_args = command.allow_interspersed_args
    said = [word for word in others if word not in {"…", "..."}]
    try:
        given, _, _ = command.make_parser(context).parse_args(list(said))
    except UsageError as error:
        told = error.format_message()
        only_named = said[-1].startswith("--") and f"'{said[-1]}' requires an argument" in told
        return "" if only_named else told
    named = {option: given[option] for option in NAMED if given.get(option) and not PLACEHOLDER.search(str(given[option]))}
    if "policy" in given or "paper" in given:  # names of a reader's own
        named.clear()
    try:
        check_names(named)
    except Exception as error:
        return str(error)
    return ""


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(Path(page).relative_to(ROOT)))
def test_the_commands_of_a_page_are_understood(page: Path) -> None:
    wrong = {" ".join(words): said for words in commands(page.read_text("utf-8")) if (said := complaint(words))}
    assert wrong == {}


def test_enough_commands_are_found() -> None:
    assert sum(len(list(commands(page.read_text("utf-8")))) for page in PAGES) > 150


@pytest.mark.parametrize(
    "shown",
    ["    warploom rum hotspot\n", "    warploom run hotspott\n", "    warploom run hotspot --desing rfv\n", "`warploom run x`"],
)
def test_a_wrong_command_is_found(shown: str) -> None:
    assert [complaint(words) for words in commands(shown)] != [""]
