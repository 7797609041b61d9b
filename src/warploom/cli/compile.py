"""``warploom compile``: what the first run would wait for, compiled ahead."""

from __future__ import annotations

from typing import Annotated

import typer

from warploom.cli.check_option import Check
from warploom.cli.code_option import Code, check_given
from warploom.cli.machine_options import MachineName
from warploom.cli.output import plain_table, print_json, print_table, progress_bar
from warploom.cli.paper_option import PaperFolders, load_papers
from warploom.cli.run_options import PolicyFiles, load_policies


def command(
    design: Annotated[
        list[str] | None,
        typer.Argument(help="Names, combinations or .toml files; without any, the machine's own design.", metavar="[DESIGN]..."),
    ] = None,
    machine: MachineName = "gtx480",
    code: Code = None,
    check: Check = "",
    paper: PaperFolders = None,
    policy: PolicyFiles = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON: one object per part.")] = False,
) -> None:
    """Compile the emulator and the timing core of designs into the cache, so that runs under them start at once."""
    from warploom.base.checks import check_words
    from warploom.chip.machines import load_machine
    from warploom.designs import parse_design
    from warploom.jit.announcement import announce_compilation
    from warploom.runs.ahead import Compiled, compile_ahead

    load_papers(paper)
    load_policies(policy)
    chip = load_machine(machine)
    designs = [parse_design(text) for text in design or [chip.design]]
    announce_compilation()
    done: list[Compiled] = []
    with progress_bar(len(designs) + 1, "compiling") as step:
        for part in compile_ahead(designs, chip, check_given(code) or "", check_words(check)):
            done.append(part)
            step()
    if json:
        print_json(
            [{"part": part.part, "design": part.design, "was_there": part.was_there, "seconds": part.seconds} for part in done]
        )
        return
    table = plain_table("part", "design", "seconds to compile", numbers_from=2)
    for part in done:
        table.add_row(part.part, part.design or "all", "was there" if part.was_there else f"{part.seconds:.1f}")
    print_table(table)
