"""``warploom profile``: what each instruction of a program costs, and where one design loses time against another."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from warploom.cli.code_option import Code
from warploom.cli.compiler_options import Define, Include, NvrtcOption, Standard, compiler_options
from warploom.cli.output import message, print_json, progress_bar, results_console
from warploom.cli.paper_option import PaperFolders, load_papers
from warploom.cli.run import own_program, report_wrong_outputs
from warploom.emulator.budget import DEFAULT_BUDGET
from warploom.errors import WarploomError
from warploom.errors.names import did_you_mean

GROUPS = ("instruction", "line", "block", "loop")
_ORDER_NAMES = "time, stalls, issues, reads, writes, conflicts, upper, wakeups, encoded, energy or pc"


def command(
    target: Annotated[
        str,
        typer.Argument(help="A workload, a .cu, .ptx, .cubin or .fatbin file, or a recording (.wlr).", metavar="WORKLOAD|FILE"),
    ],
    design: Annotated[
        list[str] | None, typer.Option(help="A design; from the second on, also where it loses time against the first.")
    ] = None,
    machine: Annotated[str, typer.Option(help="A machine's name or .toml file.")] = "gtx480",
    size: Annotated[str, typer.Option(help="tiny, small or paper.")] = "small",
    code: Code = None,
    seed: Annotated[int | None, typer.Option(help="Of a workload's inputs, in place of its own.", min=0)] = None,
    technology: Annotated[str | None, typer.Option(help="An energy table's name or .toml file.")] = None,
    by: Annotated[str, typer.Option(help="Rows for each instruction, line (of the source), block or loop.")] = "instruction",
    sort: Annotated[str, typer.Option(help=f"Order of the rows: {_ORDER_NAMES}.")] = "time",
    top: Annotated[int, typer.Option(help="Rows that are printed; 0: all. JSON has all.", min=0)] = 20,
    paper: PaperFolders = None,
    policy: Annotated[list[str] | None, typer.Option(help="Also load policies from this file.", metavar="FILE")] = None,
    override: Annotated[list[str] | None, typer.Option(help="Change a machine's number.", metavar="KEY=VALUE")] = None,
    sms: Annotated[int | None, typer.Option(help="So many SMs, with their share of L2 and bandwidth.")] = None,
    max_instructions: Annotated[
        int, typer.Option(help="Stop a launch that executes more warp instructions than this.", min=1)
    ] = DEFAULT_BUDGET,
    kernel: Annotated[str | None, typer.Option(help="Of a file: the kernel to launch.")] = None,
    grid: Annotated[str | None, typer.Option(help="Of a file: CTAs, such as 64,64.")] = None,
    block: Annotated[str | None, typer.Option(help="Of a file: threads of a CTA, such as 16,16.")] = None,
    arg: Annotated[list[str] | None, typer.Option(help="Of a file: an argument, in=f32[1024]:random or n=5. Repeatable.")] = None,
    shared: Annotated[int, typer.Option(help="Of a file: bytes of dynamic shared memory.", min=0)] = 0,
    include: Include = None,
    define: Define = None,
    std: Standard = None,
    nvrtc_option: NvrtcOption = None,
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
    from warploom.register_file import load_policy_file
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
    for file in policy or ():
        load_policy_file(file)
    chip = chosen_machine(machine, override or (), sms)
    points = [parse_design(text) for text in design or [chip.design]]
    launch = {"--kernel": kernel, "--grid": grid, "--block": block, "--arg": arg, "--shared": shared}
    own = own_program(target, launch, code, chip.code, compiler_options(include, define, std, nvrtc_option))
    if own is not None and seed is not None:
        raise typer.BadParameter("a kernel of your own has no seed; give its inputs with --arg", param_hint="--seed")
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
