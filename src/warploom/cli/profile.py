"""``warploom profile``: what each instruction of a program costs, and where one design loses time against another."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from warploom.cli.code_option import Code
from warploom.cli.launch_options import NOTHING_SAID, LaunchOptions, with_launch_options
from warploom.cli.machine_options import MachineName, Overrides, Sms
from warploom.cli.output import message, print_json, progress_bar, results_console
from warploom.cli.paper_option import PaperFolders, load_papers
from warploom.cli.run import report_wrong_outputs
from warploom.cli.run_options import MaxInstructions, PolicyFiles, Seed, Size, Technology, load_policies
from warploom.emulator.budget import DEFAULT_BUDGET
from warploom.errors import WarploomError
from warploom.errors.names import did_you_mean

GROUPS = ("instruction", "line", "block", "loop")
_ORDER_NAMES = "time, stalls, issues, reads, writes, conflicts, upper, wakeups, encoded, energy or pc"


@with_launch_options
def command(
    target: Annotated[
        str,
        typer.Argument(help="A workload, a .cu, .ptx, .cubin or .fatbin file, or a recording (.wlr).", metavar="WORKLOAD|FILE"),
    ],
    design: Annotated[
        list[str] | None, typer.Option(help="A design; from the second on, also where it loses time against the first.")
    ] = None,
    machine: MachineName = "gtx480",
    size: Size = "small",
    code: Code = None,
    seed: Seed = None,
    technology: Technology = None,
    by: Annotated[str, typer.Option(help="Rows for each instruction, line (of the source), block or loop.")] = "instruction",
    sort: Annotated[str, typer.Option(help=f"Order of the rows: {_ORDER_NAMES}.")] = "time",
    top: Annotated[int, typer.Option(help="Rows that are printed; 0: all. JSON has all.", min=0)] = 20,
    paper: PaperFolders = None,
    policy: PolicyFiles = None,
    override: Overrides = None,
    sms: Sms = None,
    max_instructions: MaxInstructions = DEFAULT_BUDGET,
    launch: LaunchOptions = NOTHING_SAID,
    out: Annotated[Path | None, typer.Option(help="Write a page with all of it.", metavar="PAGE.html")] = None,
    timeline: Annotated[
        Path | None, typer.Option(help="Write what goes on over time as a trace for Perfetto.", metavar="RUN.pftrace")
    ] = None,
    pipeline: Annotated[
        Path | None, typer.Option(help="Write every stage of every instruction for Konata.", metavar="RUN.kanata")
    ] = None,
    sm: Annotated[int, typer.Option(help="Of timeline and pipeline: the SM whose warps are shown.", min=0)] = 0,
    warps: Annotated[str | None, typer.Option(help="Of timeline and pipeline: only these warps, such as 0,3,8-11.")] = None,
    cycles: Annotated[
        str | None,
        typer.Option(help="Of timeline and pipeline: only these cycles, such as 1000:3000; else the first 100,000 and 5,000."),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON: everything.")] = False,
) -> int:
    """Show what each instruction costs: issues, why warps and schedulers wait at it, register accesses, conflicts, energy."""
    from warploom.cli.machine_options import chosen_machine
    from warploom.cli.profile_files import Watched
    from warploom.cli.profile_tables import print_comparison, print_profile
    from warploom.designs import parse_design
    from warploom.energy import load_technology
    from warploom.jit.announcement import announce_compilation
    from warploom.programs.named import program_named
    from warploom.report.page import write_page
    from warploom.report.profile import ORDERS, profile, source_lines
    from warploom.report.profile_page import profile_page
    from warploom.simulation.execution import Executions
    from warploom.simulation.provenance import described
    from warploom.simulation.simulate import simulate
    from warploom.workloads.program import check_size

    load_papers(paper)
    check_size(size)
    if out is not None and (out.suffix.lower() != ".html" or not out.resolve().parent.is_dir()):
        raise WarploomError(f"--out {out}: name a file that ends in .html, in a folder that is there")
    if by not in GROUPS:
        raise WarploomError(f"--by {by}: choose {', '.join(GROUPS[:-1])} or {GROUPS[-1]}")
    if sort not in ORDERS:
        raise WarploomError(f"--sort {sort}: choose {_ORDER_NAMES}{did_you_mean(sort, list(ORDERS))}")
    if technology is not None:
        load_technology(technology)
    load_policies(policy)
    chip = chosen_machine(machine, override or (), sms)
    points = [parse_design(text) for text in design or [chip.design]]
    own = launch.program(target, seed, code, chip.code)
    program = own or program_named(target, code or chip.code, seed)
    watched = Watched(timeline, pipeline, sm, warps, cycles, chip)
    if watched and len(points) > 1:
        raise WarploomError("a timeline or pipeline is of one run: name one --design")
    executions, results = Executions(), []
    announce_compilation()
    with progress_bar(len(points), "profiling") as step:
        for point in points:
            step(f"{program.name} {point.name}", 0)
            about: dict[str, Any] = {"technology": technology, "max_instructions": max_instructions, "executions": executions}
            with watched.files(f"{program.name} under {point.name}") as receive:
                about |= {"observers": ["hot-spots", *watched.observers], "receive": receive}
                results.append(simulate(program, point, chip, size=size, **about).under_name_of(point))
                watched.finish(results[-1])
            step()
    for note in watched.notes:
        message(note)
    profiles = [profile(result) for result in results]
    if out is not None:
        write_page(profile_page(results, profiles, "warploom " + shlex.join(sys.argv[1:])), out)
        message(f"wrote {out}")
    if json:
        values = []
        for result, kernels in zip(results, profiles, strict=True):
            values.append(result.to_dict() | {"profile": [kernel.to_dict() for kernel in kernels]})
            del values[-1]["observed"]  # of which the profile is made
        print_json(values if len(values) > 1 else values[0])
        return report_wrong_outputs(results)
    console, lines = results_console(), source_lines(program)
    for result, kernels in zip(results, profiles, strict=True):
        print_profile(console, result, kernels, lines, by=by, sort=sort, top=top)
    for result, kernels in list(zip(results, profiles, strict=True))[1:]:
        print_comparison(console, results[0], profiles[0], result, kernels, top=top)
    print(described([result.provenance for result in results if result.provenance]))
    return report_wrong_outputs(results)
