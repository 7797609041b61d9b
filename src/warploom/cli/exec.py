"""``warploom exec``: an unchanged CUDA program, run without a GPU."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from warploom.base.cores import use_threads
from warploom.base.errors import WarploomError
from warploom.base.files import replace_file
from warploom.cli.check_option import Check
from warploom.cli.code_option import Code
from warploom.cli.machine_options import MachineName, Overrides, Sms
from warploom.cli.output import json_text, message, plain_table, print_json, print_table
from warploom.cli.paper_option import PaperFolders, load_papers
from warploom.cli.run_options import Caches, MaxInstructions, Order, PolicyFiles, Threads, check_order, load_policies
from warploom.emulator.budget import DEFAULT_BUDGET
from warploom.emulator.turns import USUAL

if TYPE_CHECKING:
    from warploom.runs.result import Emulation, Result


def command(
    program: Annotated[
        list[str], typer.Argument(help="The program and its arguments, after --.", metavar="-- PROGRAM [ARGUMENTS]")
    ],
    design: Annotated[str | None, typer.Option(help="A design: a name, a combination or a .toml file.")] = None,
    machine: MachineName = "gtx480",
    code: Code = None,
    technology: Annotated[
        str | None, typer.Option(help="An energy table's name or .toml file; else the machine's own, or 'common'.")
    ] = None,
    emulate_only: Annotated[bool, typer.Option("--emulate-only", help="Execute the kernels without timing them.")] = False,
    caches: Caches = "cold",
    check: Check = "",
    order: Order = USUAL,
    record: Annotated[Path | None, typer.Option(help="Keep what the program does with the device.", metavar="FILE.wlr")] = None,
    real_gpu: Annotated[
        bool, typer.Option("--real-gpu", help="With --record: let CUDA's own libraries do the work on this machine's GPU.")
    ] = False,
    only: Annotated[
        list[str] | None, typer.Option(help="With --real-gpu: record launches of this kernel, and no others.", metavar="KERNEL")
    ] = None,
    launches: Annotated[
        str, typer.Option(help="With --real-gpu: record the launches from one number to before another.", metavar="10:20")
    ] = "",
    record_limit: Annotated[
        int | None, typer.Option("--record-limit", help="End the recording, not the program, at this size.", metavar="MIB", min=1)
    ] = None,
    summary: Annotated[
        Path | None, typer.Option(help="Write the program's result to a file, as --json prints it.", metavar="FILE.json")
    ] = None,
    json: Annotated[
        bool,
        typer.Option("--json", help="Print the program's result as JSON; what the program itself prints goes to standard error."),
    ] = False,
    memory: Annotated[
        str,
        typer.Option(help="strict: an access that misses its array is an error; lenient: as hardware, only far from all arrays."),
    ] = "strict",
    error_exitcode: Annotated[
        int,
        typer.Option("--error-exitcode", help="Exit with this code if a check found something or a kernel was stopped.", min=0),
    ] = 0,
    report: Annotated[
        Path | None, typer.Option(help="Write kernels and what was found as a JUnit report, for CI.", metavar="FILE.xml")
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", help="Print nothing about the kernels at the end.")] = False,
    paper: PaperFolders = None,
    policy: PolicyFiles = None,
    override: Overrides = None,
    sms: Sms = None,
    max_instructions: MaxInstructions = DEFAULT_BUDGET,
    threads: Threads = 0,
) -> int:
    """Run a CUDA program, unchanged; its kernels are executed and timed here, without a GPU.

    The exit code is the program's own, unless --error-exitcode says otherwise. Elapsed times of events are the simulated ones.
    At the end, each kernel's time and the energy of the register file are printed.
    """
    from warploom.base.checks import FAULTS, check_words
    from warploom.cli.machine_options import chosen_machine
    from warploom.designs import parse_design
    from warploom.designs.energy import load_technology
    from warploom.jit.announcement import announce_compilation
    from warploom.programs.beside import BesideGpu
    from warploom.programs.process import ProcessOrigin
    from warploom.programs.program import check_code, is_lenient
    from warploom.programs.recorder import Recorder
    from warploom.programs.recording import RecordingWriter, check_name
    from warploom.programs.runtime import Runtime
    from warploom.programs.selection import chosen_launches
    from warploom.programs.server import run_program
    from warploom.runs.caches import check_caches
    from warploom.runs.junit import write_junit
    from warploom.runs.live import ProgramRun
    from warploom.runs.spec import RunSpec

    use_threads(threads)
    load_papers(paper)
    load_policies(policy)
    if record is not None:
        check_name(record)
    elif real_gpu:
        raise typer.BadParameter("on a real GPU, programs are only recorded: add --record app.wlr", param_hint="--real-gpu")
    chosen = chosen_launches(only or (), launches)
    if chosen is not None and not real_gpu:
        raise WarploomError(
            "--only and --launches choose launches of a recording made on a GPU: add --real-gpu and --record app.wlr"
        )
    chip = chosen_machine(machine, override or (), sms)
    spec = RunSpec(
        ProcessOrigin(tuple(program), is_lenient(memory)),
        parse_design(design or chip.design),
        chip,
        code=check_code(code or chip.code),
        technology=technology or "",
        caches=check_caches(caches),
        check=check_words(check),
        order=check_order(order),
        budget=max_instructions,
        timed=not emulate_only,
    )
    if technology is not None:
        load_technology(technology)
    run = ProgramRun(spec)
    announce_compilation()
    started = time.perf_counter()
    writers: list[RecordingWriter] = []

    def make_runtime() -> Runtime | BesideGpu:
        recorder = None
        if record is not None:  # the first process has the name that was asked for
            path = record if not writers else record.with_name(f"{record.stem}-{len(writers) + 1}{record.suffix}")
            writers.append(RecordingWriter(path, record_limit << 20 if record_limit is not None else None))
            recorder = Recorder(writers[-1])
        if real_gpu:
            assert recorder is not None
            return BesideGpu(program[0], recorder, spec.code, chosen)
        return Runtime(run.settings(), program[0], recorder)

    ending = "was interrupted"
    try:
        status = run_program(program, make_runtime, beside_gpu=real_gpu, output=sys.stderr if json else None)
        ending = f"ended with exit code {status}" if status < 128 else f"was ended by signal {status - 128}"
    finally:
        for writer in writers:
            if writer.finish(ending):
                message(f"wrote {writer.path}")
    if record is not None and not writers:
        message(f"{record}: nothing was recorded, for the program asked nothing of the device")
    result, seconds = run.result(), time.perf_counter() - started
    if summary is not None:
        with replace_file(summary) as draft:
            draft.write_text(json_text(result.to_dict()) + "\n")
    if json:
        print_json(result.to_dict())
    if report is not None:
        write_junit(report, program[0], result.kernels, run.findings, seconds)
    if not quiet and result.kernels:
        _print_summary(result, seconds)
    elif not quiet and not real_gpu and status == 0:
        message(f"{program[0]}: it launched no kernel")
    for finding in run.findings:
        if finding.check != FAULTS:  # those have been told when they came
            message(f"error: {finding}")
    return error_exitcode if error_exitcode and any(run.findings) else status


def _print_summary(result: Result | Emulation, seconds: float) -> None:
    """On standard error, for standard output is the program's."""
    from warploom.programs.custom import table_titles
    from warploom.programs.library import OUR_KERNELS

    spec = result.spec
    titles = table_titles(total.kernel for total in result.kernels)
    timed = ("cycles", "us", "nJ") if spec.timed else ()
    table = plain_table("kernel", "launches", "registers", "warp instructions", *timed, numbers_from=1)
    for total in result.kernels:
        row = [titles[total.kernel], f"{total.launches:,}", str(total.registers), f"{total.warp_instructions:,}"]
        if total.cycles is not None and total.seconds is not None and total.energy_pj is not None:
            row += [f"{total.cycles:,}", f"{total.seconds * 1e6:,.1f}", f"{total.energy_pj['total'] / 1000:,.1f}"]
        table.add_row(*row)
    print_table(table, stderr=True)
    if any(total.kernel.startswith(OUR_KERNELS) for total in result.kernels):
        message(f"{OUR_KERNELS}…: Warploom's own kernels, in the place of those of cuBLAS")
    energy = "; nJ: the register file's energy" if spec.timed else ""
    message(f"design {spec.design.name}, machine {spec.machine.name}, code {spec.code}, {seconds:.1f} seconds{energy}")
