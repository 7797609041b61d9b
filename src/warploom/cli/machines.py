"""``warploom machines``: the machine descriptions, with the source of every number, and what every key means."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from warploom.cli.output import narrow_table, print_json, results_console
from warploom.cli.paper_option import PaperFolders, load_papers

if TYPE_CHECKING:
    from warploom.chip.machines import Machine
    from warploom.chip.machines.keys import Key


def command(
    name: Annotated[
        str | None,
        typer.Argument(help="A machine's name or file; with --keys also a word that keys contain.", metavar="MACHINE|WORD"),
    ] = None,
    keys: Annotated[bool, typer.Option("--keys", help="Say what each key means, its unit and what is allowed.")] = False,
    paper: PaperFolders = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """List the machines, show one with the source of every number, or say what their keys mean."""
    from warploom.chip.machines import load_machine, machine_names

    load_papers(paper)
    if keys and (name is None or not (name in machine_names() or name.endswith(".toml"))):
        _show_keys(name or "", json)
    elif name is None:
        _list_machines([load_machine(each) for each in machine_names()], json)
    elif keys:
        _show_meanings(load_machine(name), json)
    else:
        _show_sources(load_machine(name), json)


def _list_machines(machines: list[Machine], json: bool) -> None:
    if json:
        print_json([machine.to_dict() for machine in machines])
        return
    listed: list[tuple[tuple[str, ...], str]] = []
    for machine in machines:
        sm, rf = machine.sm, machine.register_file
        numbers = (str(machine.chip.sms), str(sm.warps_per_sm), f"{sm.registers_per_sm // 256} KB")
        listed.append(((machine.name, *numbers, f"{rf.banks} x {rf.entry_bytes} B", str(sm.schedulers)), machine.title))
    narrow_table(results_console(), ("machine", "SMs", "warps", "registers", "banks", "schedulers"), listed)


def _show_sources(machine: Machine, json: bool) -> None:
    if json:
        print_json(machine.to_dict() | {"sources": dict(machine.sources)})
        return
    console = results_console()
    console.print(f"{machine.name}: {machine.title}\n")
    for group, values in machine.to_dict().items():
        if isinstance(values, dict):
            rows = [((key, str(value)), machine.sources.get(f"{group}.{key}", "")) for key, value in values.items()]
            narrow_table(console, (group, "value"), rows)
            console.print()


def _facts(key: Key) -> dict[str, Any]:
    facts = {"unit": key.unit, "allowed": key.allowed, "meaning": key.meaning}
    return facts if key.unless is None else facts | {"unless_set": key.unless}


def _show_keys(word: str, json: bool) -> None:
    """All keys whose names contain a word."""
    from warploom.base.errors import WarploomError
    from warploom.chip.machines.schema import KEYS

    chosen = {name: key for name, key in KEYS.items() if word in name}
    if not chosen:
        raise WarploomError(f"no key contains {word!r}, and no machine has that name; `warploom machines --keys` lists all keys")
    if json:
        print_json({name: _facts(key) for name, key in chosen.items()})
        return
    rows = []
    for name, key in chosen.items():
        rows.append(((name, key.unit, key.span), key.meaning if key.span == key.allowed else f"{key.meaning} ({key.allowed})"))
    narrow_table(results_console(), ("key", "unit ", "allowed "), rows)


def _show_meanings(machine: Machine, json: bool) -> None:
    """All keys of a machine: what it says, from where, and what that means."""
    from warploom.chip.machines.schema import KEYS

    values = {
        f"{table}.{key}": value
        for table, entries in machine.to_dict().items()
        if isinstance(entries, dict)
        for key, value in entries.items()
    }
    if json:
        facts = {name: {"value": value, **_facts(KEYS[name]), "source": machine.sources[name]} for name, value in values.items()}
        print_json({"name": machine.name, "title": machine.title, "keys": facts})
        return
    console = results_console()
    console.print(f"{machine.name}: {machine.title}\n")
    rows = []
    for name, value in values.items():
        rows.append(((name, str(value), KEYS[name].unit), f"{KEYS[name].meaning} [{machine.sources[name]}]"))
    narrow_table(console, ("key", "value", "unit "), rows)
