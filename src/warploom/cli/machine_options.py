"""The options by which commands choose and change a machine."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from warploom.base.errors import WarploomError

if TYPE_CHECKING:
    from warploom.chip.machines import Machine

MachineName = Annotated[str, typer.Option(help="A machine's name or .toml file.")]
Overrides = Annotated[list[str] | None, typer.Option(help="Change a machine's number.", metavar="KEY=VALUE")]
Sms = Annotated[int | None, typer.Option(help="Number of SMs; L2 and bandwidth shrink in proportion.")]


def chosen_machine(name: str, overrides: Sequence[str], sms: int | None) -> Machine:
    """The machine that ``--machine``, ``--override`` and ``--sms`` describe together."""
    from warploom.chip.machines import load_machine

    machine = load_machine(name, **_parsed(overrides))
    return machine if sms is None else machine.scaled(sms)


def _parsed(overrides: Sequence[str]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for text in overrides:
        key, equals, word = (part.strip() for part in text.partition("="))
        if not equals or "." not in key or not word:
            raise WarploomError(f"--override {text!r}: write table.key=value, such as l1.latency=40")
        values[key] = _value(word)
    return values


def _value(word: str) -> Any:
    if word in ("true", "false"):
        return word == "true"
    for kind in (int, float):
        try:
            return kind(word)
        except ValueError:
            continue
    return word
