"""``warploom designs``: the named designs and the policies that designs are made of."""

from __future__ import annotations

from typing import Annotated

import typer

from warploom.cli.output import narrow_table, print_json, results_console
from warploom.cli.paper_option import PaperFolders, load_papers


def command(
    machine: Annotated[str, typer.Option(help="The machine that storage is counted for.")] = "gtx480",
    paper: PaperFolders = None,
    policy: Annotated[list[str] | None, typer.Option(help="Also load policies from this file.", metavar="FILE")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """List the named designs with their six choices, and every policy with its parameters."""
    from warploom.designs import describe_designs, describe_policies
    from warploom.machines import load_machine
    from warploom.register_file import load_policy_file

    load_papers(paper)
    for file in policy or ():
        load_policy_file(file)
    named, policies = describe_designs(load_machine(machine)), describe_policies()
    if json:
        print_json({"designs": named, "policies": policies})
        return
    console = results_console()
    rows = []
    for row in named:
        about = f"{row['title']} ({row['source']})"
        rows.append(
            ((row["name"], f"{row['storage_bits']:,}"), about if row["text"] == row["name"] else f"{row['text']}: {about}")
        )
    narrow_table(console, ("design", "bits added"), rows)
    console.print()
    rows = []
    for row in policies:
        parameters = ", ".join(f"{name}={entry['default']}" for name, entry in row["parameters"].items())
        rows.append(((row["policy"], row["choice"]), f"{row['title']}{f' ({parameters})' if parameters else ''}"))
    narrow_table(console, ("policy", "choice "), rows)
