"""``warploom run``: a program, or a set of them, under one or several designs."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from typing import TYPE_CHECKING, Annotated, Any

import typer

from warploom.cli.code_option import Code
from warploom.cli.launch_options import NOTHING_SAID, LaunchOptions, with_launch_options
from warploom.cli.machine_options import MachineName, Overrides, Sms
from warploom.cli.output import message, plain_table, print_json, progress_bar, results_console
from warploom.cli.paper_option import PaperFolders, load_papers
from warploom.cli.run_options import Caches, Check, MaxInstructions, PolicyFiles, Seed, Size, Technology, load_policies
from warploom.emulator.budget import DEFAULT_BUDGET
from warploom.errors import WarploomError
from warploom.errors.printed import printed_to

if TYPE_CHECKING:
    from warploom.designs import Design
    from warploom.simulation.result import Result

EXIT_WRONG_OUTPUT = 1
EXIT_DIFFERENT = 1
_VERIFIED = {True: "yes", False: "NO", None: "no reference"}


@with_launch_options
def command(
    context: typer.Context,
    target: Annotated[
        str | None,
        typer.Argument(
            help="A workload, a set of workloads, a .cu, .ptx, .cubin or .fatbin file, or a recording (.wlr).",
            metavar="WORKLOAD|SET|FILE",
        ),
    ] = None,
    design: Annotated[list[str] | None, typer.Option(help="A design: a name, a combination or a .toml file. Repeatable.")] = None,
    machine: MachineName = "gtx480",
    size: Size = "small",
    code: Code = None,
    seed: Seed = None,
    technology: Technology = None,
    caches: Caches = "cold",
    check: Check = False,
    emulate_only: Annotated[bool, typer.Option("--emulate-only", help="Execute and verify, without timing.")] = False,
    paper: PaperFolders = None,
    policy: PolicyFiles = None,
    override: Overrides = None,
    sms: Sms = None,
    max_instructions: MaxInstructions = DEFAULT_BUDGET,
    launch: LaunchOptions = NOTHING_SAID,
    record: Annotated[
        str | None,
        typer.Option(
            "--from", help="Make a result again that --json printed, and say whether it is the same.", metavar="RESULT.json"
        ),
    ] = None,
    power: Annotated[bool, typer.Option("--power", help="With --json: also watts over time.")] = False,
    json: Annotated[
        bool, typer.Option("--json", help="Print JSON: one object, or a list where several runs were asked for.")
    ] = False,
) -> int:
    """Run a program under one or several designs: time, counters, energy; the output is compared with the reference."""
    from warploom.cli.machine_options import chosen_machine
    from warploom.designs import parse_design
    from warploom.energy import load_technology
    from warploom.jit.announcement import announce_compilation
    from warploom.programs.named import chosen_programs, program_named
    from warploom.simulation.caches import check_caches
    from warploom.simulation.execution import Executions
    from warploom.simulation.simulate import emulate, simulate
    from warploom.simulation.versus import against, reference_of
    from warploom.workloads.program import check_size
    from warploom.workloads.registry import ALL, set_names

    load_papers(paper)
    if record is not None:
        return _run_again(context, record, json, power)
    if target is None:
        raise WarploomError("there is nothing to run: name a workload, a set or a file, or a result with --from")
    check_size(size)
    check_caches(caches)
    if technology is not None:
        load_technology(technology)
    load_policies(policy)
    chip = chosen_machine(machine, override or (), sms)
    designs = [parse_design(text) for text in design or [chip.design]]
    own = launch.program(target, seed, code, chip.code)
    names = [] if own is not None else chosen_programs([target])
    programs = [own] if own is not None else [program_named(name, code or chip.code, seed) for name in names]
    several = target in (*set_names(), ALL) or len(programs) * len(designs) > 1
    results: list[Any] = []
    announce_compilation()
    spoken = printed_to(sys.stderr) if json else nullcontext()  # what kernels print must not come between JSON
    with spoken, progress_bar(len(programs) * len(designs), "running") as step:
        for program in programs:
            executions = Executions()
            made: dict[Design, Result] = {}
            for point in designs:
                step(f"{program.name} {point.name}", 0)
                if emulate_only:
                    results.append(emulate(program, point, chip, size=size, max_instructions=max_instructions))
                    step()
                    continue
                reference = reference_of(point)
                for needed in (point, reference) if json else (point,):
                    if needed not in made:
                        made[needed] = simulate(
                            program,
                            needed,
                            chip,
                            size=size,
                            check=check,
                            technology=technology,
                            max_instructions=max_instructions,
                            executions=executions,
                            caches=caches,
                        )
                result = made[point].under_name_of(point)
                results.append(against(result, made[reference], point) if json and reference != point else result)
                step()
    show(results, several=several, json=json, power=power)
    return report_wrong_outputs(results)


def show(results: Sequence[Any], *, several: bool, json: bool, power: bool) -> None:
    """Print results: as JSON, or as a table with a line on where they are from."""
    from warploom.simulation.provenance import described
    from warploom.simulation.result import Emulation

    timed = [result for result in results if not isinstance(result, Emulation)]
    emulated = [result for result in results if isinstance(result, Emulation)]
    if json:
        values = [result.to_dict() if isinstance(result, Emulation) else result.to_dict(power=power) for result in results]
        print_json(values if several else values[0])
        return
    if emulated:
        _print_emulations(emulated)
    if timed:
        _print_results(timed)
    print(described([result.provenance for result in results]))


def _run_again(context: typer.Context, file: str, json: bool, power: bool) -> int:
    """``--from``: run what a result was made from; an outcome that differs is named."""
    from warploom.jit.announcement import announce_compilation
    from warploom.simulation.again import differences, make_again, other_maker, read_records

    for parameter in context.command.params:
        given = context.get_parameter_source(parameter.name or "")
        if parameter.name not in ("record", "json", "power") and given is not None and given.name == "COMMANDLINE":
            raise typer.BadParameter("the result says all that is run; leave this away", param_hint=parameter.opts[0])
    records = read_records(file)
    announce_compilation()
    results, differing = [], False
    with progress_bar(len(records), "running again") as step:
        for number, record in enumerate(records):
            place = file if len(records) == 1 else f"{file}, result {number + 1}"
            made = make_again(record, place)
            results.append(made)
            step(made.workload)
            changed = differences(record, made)
            maker = other_maker(record, made)
            if maker:
                message(f"{place}: it was made by {maker}")
            if changed:
                differing = True
                message(f"error: {place}: made again, it differs in {', '.join(changed)}")
    show(results, several=len(records) > 1, json=json, power=power)
    return EXIT_DIFFERENT if differing else report_wrong_outputs(results)


def report_wrong_outputs(results: Sequence[Any]) -> int:
    """Name the programs whose output was wrong; the exit code that follows from it."""
    wrong = list(dict.fromkeys(result.workload for result in results if result.verified is False))
    for name in wrong:
        message(f"error: {name}: the output differs from the reference")
    return EXIT_WRONG_OUTPUT if wrong else 0


def _print_emulations(results: Sequence[Any]) -> None:
    table = plain_table("program", "verified", "warp instructions", "thread instructions", "seconds", numbers_from=2)
    for r in results:
        instructions = (f"{r.warp_instructions:,}", f"{r.thread_instructions:,}")
        table.add_row(r.workload, _VERIFIED[r.verified], *instructions, f"{r.wall_seconds:.2f}")
    results_console().print(table)


def _print_results(results: Sequence[Result]) -> None:
    """One program: a column for each design, in as many tables as the terminal is too narrow for. Several: a row for each run."""
    console = results_console()
    if len({r.workload for r in results}) == 1:
        beside = max(1, (console.width - max(map(len, _ROWS)) - 2) // _DESIGN_COLUMN)
        for first in range(0, len(results), beside):
            shown = results[first : first + beside]
            table = plain_table(results[0].workload, *(r.design["name"] for r in shown))
            for label, value in _ROWS.items():
                table.add_row(label, *(value(r) for r in shown))
            console.print(table)
        return
    table = plain_table("program", "design", *_BRIEF, numbers_from=2)
    for r in results:
        table.add_row(r.workload, r.design["name"], *(_ROWS[label](r) for label in _BRIEF))
    console.print(table)


_DESIGN_COLUMN = 18  # characters in which a design's name can be read and its numbers fit


def _nanojoules(part: str) -> Callable[[Result], str]:
    return lambda r: f"{r.energy_pj[part] / 1000:,.1f}"


_ROWS: dict[str, Callable[[Result], str]] = {
    "verified": lambda r: _VERIFIED[r.verified],
    "cycles": lambda r: f"{r.cycles:,}",
    "IPC": lambda r: f"{r.ipc:.2f}",
    "warp instructions": lambda r: f"{r.warp_instructions:,}",
    "registers per thread": lambda r: str(r.registers_per_thread),
    "CTAs per SM": lambda r: str(r.ctas_per_sm),
    "occupancy": lambda r: f"{r.occupancy:.0%}",
    "register file": lambda r: f"{r.register_file_bytes // 1024} KB",
    "register reads": lambda r: f"{r.counters['rf_reads']:,}",
    "register writes": lambda r: f"{r.counters['rf_writes']:,}",
    "bank conflicts": lambda r: f"{r.counters['bank_conflicts']:,}",
    "allocated": lambda r: f"{r.counters['allocated_fraction']:.1%}",
    "of that live": lambda r: f"{r.counters['live_fraction']:.1%}",
    "dynamic nJ": _nanojoules("dynamic"),
    "leakage nJ": _nanojoules("leakage"),
    "overhead nJ": _nanojoules("overhead"),
    "energy nJ": _nanojoules("total"),
    "bits added to an SM": lambda r: f"{r.storage_bits:,}",
    "seconds to simulate": lambda r: f"{r.wall_seconds:.2f}",
}
_BRIEF = ("verified", "cycles", "IPC", "occupancy", "energy nJ")
