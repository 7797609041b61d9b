"""``warploom designs``: the named designs and the policies that designs are made of; one of them in full, with a drawing."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from textwrap import wrap
from typing import Annotated

import typer

from warploom.cli.output import message, narrow_table, print_json, results_console
from warploom.cli.paper_option import PaperFolders, load_papers
from warploom.cli.run_options import PolicyFiles, load_policies


def command(
    name: Annotated[
        str | None, typer.Argument(help="Only this design, in full: a name, a combination or a .toml file.", metavar="DESIGN")
    ] = None,
    machine: Annotated[str, typer.Option(help="The machine that storage is counted for.")] = "gtx480",
    out: Annotated[
        Path | None, typer.Option(help="File for a drawing of one design, or a page about it.", metavar="FILE.svg|html")
    ] = None,
    paper: PaperFolders = None,
    policy: PolicyFiles = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """List the named designs with their six choices, and every policy with its parameters; or show one design in full."""
    from warploom.chip.machines import load_machine
    from warploom.designs import describe_designs, describe_policies

    load_papers(paper)
    load_policies(policy)
    if name is not None:
        _show_one(name, machine, out, json)
        return
    if out is not None:
        raise typer.BadParameter("name the design to draw, as in `warploom designs rfv --out rfv.svg`", param_hint="--out")
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


def _show_one(text: str, machine: str, out: Path | None, json: bool) -> None:
    """What one design is and does: in words here, as a drawing or a page in a file."""
    from warploom.base.errors import WarploomError
    from warploom.base.files import replace_file
    from warploom.chip.machines import load_machine
    from warploom.designs import parse_design, storage_bits
    from warploom.designs.grammar import format_value
    from warploom.show.design_pages import about_design, choice_rows, design_facts, design_page
    from warploom.show.drawing import draw_design
    from warploom.show.page import write_page

    design, chip = parse_design(text), load_machine(machine)
    if out is not None:
        if out.suffix.lower() not in (".svg", ".html") or not out.resolve().parent.is_dir():
            raise WarploomError(f"--out {out}: name a file that ends in .svg or .html, in a folder that is there")
        if out.suffix.lower() == ".html":
            write_page(design_page(design, chip, "warploom " + shlex.join(sys.argv[1:])), out)
        else:
            with replace_file(out) as draft:
                draft.write_text(draw_design(design) + "\n", encoding="utf-8")
        message(f"wrote {out}")
    if json:
        print_json(design_facts(design, chip))
        return
    lines = [*_wrapped(f"{design.name}: {about_design(design)}"), ""]
    for row in choice_rows(design):
        lines += _wrapped(f"{row.choice}: {row.policy}, {row.says}")
        for parameter, value, meaning in row.parameters:
            lines += _wrapped(f"{parameter}={format_value(value)}{f': {meaning}' if meaning else ''}", "    ")
    if design.register_file != 1:
        lines += _wrapped(f"register_file={design.register_file:g}: physical registers as a share of the machine's")
    if design.max_registers is not None:
        lines += _wrapped(f"max_registers={design.max_registers}: registers of a thread at most; the compiler spills the rest")
    print("\n".join([*lines, "", f"bits added to an SM of {chip.name}: {storage_bits(design, chip):,}"]))


def _wrapped(text: str, indent: str = "") -> list[str]:
    """Lines of at most 80 columns; what follows the first is indented further."""
    return wrap(text, 80, initial_indent=indent, subsequent_indent=indent + "    ", break_on_hyphens=False)
