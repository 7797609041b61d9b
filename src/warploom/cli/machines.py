"""``warploom machines``: the machine descriptions, with the source of every number."""

from __future__ import annotations

from typing import Annotated

import typer

from warploom.cli.output import narrow_table, print_json, results_console
from warploom.cli.paper_option import PaperFolders, load_papers


def command(
    name: Annotated[str | None, typer.Argument(help="A machine's name or file, to see every number with its source.")] = None,
    paper: PaperFolders = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """List the machines, or show one with the source of every number."""
    from warploom.machines import load_machine, machine_names

    load_papers(paper)
    if name is not None:
        machine = load_machine(name)
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
        return
    machines = [load_machine(each) for each in machine_names()]
    if json:
        print_json([machine.to_dict() for machine in machines])
        return
    listed: list[tuple[tuple[str, ...], str]] = []
    for machine in machines:
        sm, rf = machine.sm, machine.register_file
        numbers = (str(machine.chip.sms), str(sm.warps_per_sm), f"{sm.registers_per_sm // 256} KB")
        listed.append(((machine.name, *numbers, f"{rf.banks} x {rf.entry_bytes} B", str(sm.schedulers)), machine.title))
    narrow_table(results_console(), ("machine", "SMs", "warps", "registers", "banks", "schedulers"), listed)
