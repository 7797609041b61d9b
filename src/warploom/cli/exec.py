"""``warploom exec``: an unchanged CUDA program, run without a GPU."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from warploom.cli.machine_options import MachineName, Overrides, Sms
from warploom.cli.output import message, plain_table, results_console
from warploom.cli.paper_option import PaperFolders, load_papers
from warploom.cli.run_options import Caches, Check, MaxInstructions, PolicyFiles, load_policies
from warploom.emulator.budget import DEFAULT_BUDGET


def command(
    program: Annotated[
        list[str], typer.Argument(help="The program and its arguments, after --.", metavar="-- PROGRAM [ARGUMENTS]")
    ],
    design: Annotated[str | None, typer.Option(help="A design: a name, a combination or a .toml file.")] = None,
    machine: MachineName = "gtx480",
    code: Annotated[str, typer.Option(help="What is executed: ptx, or machine code such as sm_90.")] = "ptx",
    technology: Annotated[
        str | None, typer.Option(help="An energy table's name or .toml file; else the machine's own, or 'common'.")
    ] = None,
    emulate_only: Annotated[bool, typer.Option("--emulate-only", help="Execute the kernels without timing them.")] = False,
    caches: Caches = "cold",
    check: Check = False,
    record: Annotated[Path | None, typer.Option(help="Keep what the program does with the device.", metavar="FILE.wlr")] = None,
    real_gpu: Annotated[
        bool, typer.Option("--real-gpu", help="With --record: let CUDA's own runtime do the work on this machine's GPU.")
    ] = False,
    summary: Annotated[
        Path | None, typer.Option(help="Write launches, instructions and cycles of each kernel as JSON.", metavar="FILE.json")
    ] = None,
    memory: Annotated[
        str,
        typer.Option(help="strict: an access that misses its array is an error; lenient: as hardware, only far from all arrays."),
    ] = "strict",
    quiet: Annotated[bool, typer.Option("--quiet", help="Print nothing about the kernels at the end.")] = False,
    paper: PaperFolders = None,
    policy: PolicyFiles = None,
    override: Overrides = None,
    sms: Sms = None,
    max_instructions: MaxInstructions = DEFAULT_BUDGET,
) -> int:
    """Run a CUDA program that was linked with `nvcc -cudart shared`; its kernels are executed and timed here, without a GPU.

    The exit code is the program's own. Elapsed times of events are the simulated ones. At the end, each kernel's time and the
    energy of the register file are printed.
    """
    from warploom.cli.machine_options import chosen_machine
    from warploom.designs import parse_design
    from warploom.energy import load_technology
    from warploom.jit.announcement import announce_compilation
    from warploom.programs.beside import BesideGpu
    from warploom.programs.recorder import Recorder
    from warploom.programs.recording import RecordingWriter, check_name
    from warploom.programs.runtime import Runtime
    from warploom.programs.server import run_program
    from warploom.simulation.caches import check_caches
    from warploom.simulation.executing import ProgramRun
    from warploom.workloads.program import check_code, is_lenient

    load_papers(paper)
    load_policies(policy)
    if record is not None:
        check_name(record)
    elif real_gpu:
        raise typer.BadParameter("beside a GPU, programs are only recorded: add --record app.wlr", param_hint="--real-gpu")
    chip = chosen_machine(machine, override or (), sms)
    run = ProgramRun(
        parse_design(design or chip.design),
        chip,
        check_code(code),
        not emulate_only,
        check,
        max_instructions,
        is_lenient(memory),
        load_technology(technology) if technology is not None else None,
        check_caches(caches),
    )
    announce_compilation()
    started = time.perf_counter()
    writers: list[RecordingWriter] = []

    def make_runtime() -> Runtime | BesideGpu:
        recorder = None
        if record is not None:  # the first process has the name that was asked for
            path = record if not writers else record.with_name(f"{record.stem}-{len(writers) + 1}{record.suffix}")
            writers.append(RecordingWriter(path))
            recorder = Recorder(writers[-1])
        if real_gpu:
            assert recorder is not None
            return BesideGpu(program[0], recorder)
        return Runtime(run.settings(), program[0], recorder)

    ending = "was interrupted"
    try:
        status = run_program(program, make_runtime, beside_gpu=real_gpu)
        ending = f"ended with exit code {status}" if status < 128 else f"was ended by signal {status - 128}"
    finally:
        for writer in writers:
            writer.finish(ending)
            message(f"wrote {writer.path}")
    run.account()
    if summary is not None:
        _write_summary(summary, run, program)
    if not quiet and run.kernels:
        _print_summary(run, time.perf_counter() - started)
    return status


def _write_summary(path: Path, run: object, program: list[str]) -> None:
    import json

    from warploom.simulation.executing import ProgramRun
    from warploom.storage.files import replace_file

    assert isinstance(run, ProgramRun)
    about = {"program": program, "design": run.design.to_dict(), "machine": run.machine.name, "code": run.code}
    with replace_file(path) as draft:
        draft.write_text(json.dumps(about | {"kernels": [each.to_dict() for each in run.kernels.values()]}, indent=2) + "\n")


def _print_summary(run: object, seconds: float) -> None:
    """On standard error, for standard output is the program's."""
    from rich.console import Console

    from warploom.simulation.executing import ProgramRun
    from warploom.workloads.custom import kernel_titles

    assert isinstance(run, ProgramRun)
    titles = kernel_titles(run.kernels)
    timed = ("cycles", "us", "nJ") if run.timed else ()
    table = plain_table("kernel", "launches", "registers", "warp instructions", *timed, numbers_from=1)
    for name, total in run.kernels.items():
        row = [titles[name], f"{total.launches:,}", str(total.registers), f"{total.warp_instructions:,}"]
        if total.cycles is not None and total.seconds is not None and total.energy_pj is not None:
            row += [f"{total.cycles:,}", f"{total.seconds * 1e6:,.1f}", f"{total.energy_pj['total'] / 1000:,.1f}"]
        table.add_row(*row)
    Console(stderr=True, width=results_console().width).print(table)
    energy = "; nJ: the register file's energy" if run.timed else ""
    message(f"design {run.design.name}, machine {run.machine.name}, code {run.code}, {seconds:.1f} seconds{energy}")
