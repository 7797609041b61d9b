"""``warploom run``: a program, or a set of them, under one or several designs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table

from warploom.cli.output import CompileNotice, message, print_json, progress_bar, results_console

if TYPE_CHECKING:
    from warploom.workloads.program import Program

EXIT_WRONG_OUTPUT = 1
_VERIFIED = {True: "yes", False: "NO", None: "no reference"}


def command(
    target: Annotated[
        str, typer.Argument(help="A workload, a set of workloads, or a .cu or .ptx file.", metavar="WORKLOAD|SET|FILE")
    ],
    design: Annotated[list[str] | None, typer.Option(help="A design: a name, a combination or a .toml file. Repeatable.")] = None,
    machine: Annotated[str, typer.Option(help="A machine's name or .toml file.")] = "gtx480",
    size: Annotated[str, typer.Option(help="tiny, small or paper.")] = "small",
    technology: Annotated[
        str | None, typer.Option(help="An energy table's name or .toml file; else the machine's own, or 'common'.")
    ] = None,
    check: Annotated[bool, typer.Option("--check", help="Let the shadow checker watch every register access.")] = False,
    emulate_only: Annotated[bool, typer.Option("--emulate-only", help="Execute and verify, without timing.")] = False,
    policy: Annotated[list[str] | None, typer.Option(help="Also load policies from this file.", metavar="FILE")] = None,
    override: Annotated[list[str] | None, typer.Option(help="Change a machine's number.", metavar="KEY=VALUE")] = None,
    sms: Annotated[int | None, typer.Option(help="So many SMs, with their share of L2 and bandwidth.")] = None,
    kernel: Annotated[str | None, typer.Option(help="Of a file: the kernel to launch.")] = None,
    grid: Annotated[str | None, typer.Option(help="Of a file: CTAs, such as 64,64.")] = None,
    block: Annotated[str | None, typer.Option(help="Of a file: threads of a CTA, such as 16,16.")] = None,
    arg: Annotated[list[str] | None, typer.Option(help="Of a file: an argument, in=f32[1024]:random or n=5. Repeatable.")] = None,
    shared: Annotated[int, typer.Option(help="Of a file: bytes of dynamic shared memory.", min=0)] = 0,
    json: Annotated[
        bool, typer.Option("--json", help="Print JSON: one object, or a list where several runs were asked for.")
    ] = False,
) -> int:
    """Run a program under one or several designs: time, counters, energy; the output is compared with the reference."""
    from warploom.cli.machine_options import chosen_machine
    from warploom.designs import parse_design
    from warploom.energy import load_technology
    from warploom.policies import load_policy_file
    from warploom.simulation import Executions, emulate, simulate
    from warploom.workloads.program import check_size, workload_program
    from warploom.workloads.registry import ALL, SETS, select_workloads

    check_size(size)
    if technology is not None:
        load_technology(technology)
    for file in policy or ():
        load_policy_file(file)
    designs = [parse_design(text) for text in design or ["baseline"]]
    chip = chosen_machine(machine, override or (), sms)
    launch = {"--kernel": kernel, "--grid": grid, "--block": block, "--arg": arg, "--shared": shared}
    own = _own_program(target, launch)
    programs = [own] if own is not None else [workload_program(name) for name in select_workloads([target])]
    several = target in (*SETS, ALL) or len(programs) * len(designs) > 1
    results: list[Any] = []
    with progress_bar(len(programs) * len(designs), "running") as step:
        for program in programs:
            executions = Executions()
            for point in designs:
                step(f"{program.name} {point.name}", 0)
                with CompileNotice() as notice:
                    if emulate_only:
                        results.append(emulate(program, point, chip, size=size))
                    else:
                        results.append(
                            simulate(
                                program,
                                point,
                                chip,
                                size=size,
                                check=check,
                                technology=technology,
                                executions=executions,
                                progress=notice,
                            )
                        )
                step()
    if json:
        values = [result.to_dict() for result in results]
        print_json(values if several else values[0])
    elif emulate_only:
        _print_emulations(results)
    else:
        _print_results(results)
    return report_wrong_outputs(results)


def report_wrong_outputs(results: Sequence[Any]) -> int:
    """Name the programs whose output was wrong; the exit code that follows from it."""
    wrong = list(dict.fromkeys(result.workload for result in results if result.verified is False))
    for name in wrong:
        message(f"error: {name}: the output differs from the reference")
    return EXIT_WRONG_OUTPUT if wrong else 0


def _own_program(target: str, launch: dict[str, Any]) -> Program | None:
    """The program of a user's kernel file; None where the target is a workload or set, which bring their own launch."""
    from warploom.workloads.custom import file_program, is_file_name, parse_extent

    if not is_file_name(target):
        for option, value in launch.items():
            if value:
                raise typer.BadParameter(f"this goes with a .cu or .ptx file; {target} brings its own", param_hint=option)
        return None
    for option in ("--grid", "--block"):
        if launch[option] is None:
            raise typer.BadParameter(f"a kernel of your own needs it, such as {option} 16,16", param_hint=option)
    return file_program(
        target,
        kernel=launch["--kernel"],
        grid=parse_extent(launch["--grid"], "grid"),
        block=parse_extent(launch["--block"], "block"),
        arguments=launch["--arg"] or (),
        shared_bytes=launch["--shared"],
    )


def _print_emulations(results: Sequence[Any]) -> None:
    table = Table("program", "verified")
    for heading in ("warp instructions", "thread instructions", "seconds"):
        table.add_column(heading, justify="right")
    for r in results:
        instructions = (f"{r.warp_instructions:,}", f"{r.thread_instructions:,}")
        table.add_row(r.workload, _VERIFIED[r.verified], *instructions, f"{r.wall_seconds:.2f}")
    results_console().print(table)


def _print_results(results: Sequence[Any]) -> None:
    table = Table("program", "design", "verified")
    for heading in ("cycles", "IPC", "occupancy", "CTAs/SM", "registers", "dynamic nJ", "leakage nJ", "overhead nJ", "seconds"):
        table.add_column(heading, justify="right")
    for r in results:
        energy = [f"{r.energy_pj[part] / 1000:,.1f}" for part in ("dynamic", "leakage", "overhead")]
        table.add_row(
            r.workload,
            r.design["name"],
            _VERIFIED[r.verified],
            f"{r.cycles:,}",
            f"{r.ipc:.2f}",
            f"{r.occupancy:.0%}",
            str(r.ctas_per_sm),
            str(r.registers_per_thread),
            *energy,
            f"{r.wall_seconds:.2f}",
        )
    results_console().print(table)
