"""``warploom inspect``: a kernel's machine code with its live registers drawn beside it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from warploom.cli.code_option import Code
from warploom.cli.compiler_options import Define, Include, NvrtcOption, Standard, compiler_options
from warploom.cli.output import message, plain_table, print_json, print_table, results_console
from warploom.cli.paper_option import PaperFolders, load_papers
from warploom.cli.run_options import MaxRegisters, PolicyFiles, load_policies

if TYPE_CHECKING:
    from warploom.programs.program import Kernels

EXIT_REFUSED = 2


def command(
    target: Annotated[
        str,
        typer.Argument(help="A workload, a .cu, .ptx, .cubin or .fatbin file, or a recording (.wlr).", metavar="FILE|WORKLOAD"),
    ],
    kernel: Annotated[str | None, typer.Option(help="Only this kernel.")] = None,
    max_registers: MaxRegisters = None,
    design: Annotated[str | None, typer.Option(help="Show the code that this design runs.")] = None,
    machine: Annotated[str, typer.Option(help="The machine that a design compiles for.")] = "gtx480",
    paper: PaperFolders = None,
    policy: PolicyFiles = None,
    code: Code = None,
    include: Include = None,
    define: Define = None,
    std: Standard = None,
    nvrtc_option: NvrtcOption = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON: one summary per kernel.")] = False,
) -> int:
    """Show a kernel's code with live registers beside each instruction, blocks, loops and register pressure."""
    from warploom.base.errors import WarploomError
    from warploom.chip.machines import load_machine
    from warploom.designs import describe_code, parse_design
    from warploom.programs.replay import is_recording
    from warploom.runs.compilation import compile_for
    from warploom.show.listing import inspect_summary, render_listing

    load_papers(paper)
    load_policies(policy)
    chip = load_machine(machine)
    if is_recording(target):
        return _inspect_recording(target, code or chip.code, json)
    options = compiler_options(include, define, std, nvrtc_option)
    point = parse_design(design or "baseline")
    if max_registers is not None:
        point = point.with_options(max_registers=max_registers)
    module, names = _kernels(target, kernel, code, chip.code, options)
    kernels, refused = [], []
    for name in names:
        try:
            kernels.append(compile_for(module, name, point, chip))
        except WarploomError as error:
            refused.append(error)
    if refused and not kernels:
        raise refused[0]
    if json:
        print_json([inspect_summary(shown) | {"notes": describe_code(point, shown)} for shown in kernels])
    else:
        console = results_console()
        for shown in kernels:
            render_listing(shown, console, annotations=describe_code(point, shown))
    for problem in refused:  # those that can be compiled have been shown
        message(f"error: {problem}")
    return EXIT_REFUSED if refused else 0


def _kernels(
    target: str, wanted: str | None, code: str | None, usual: str, options: Sequence[str]
) -> tuple[Kernels, Sequence[str]]:
    """The kernels of a file or workload, and the names of those to show: the one that is wanted, or all."""
    from warploom.programs.custom import find_kernel, named_kernels
    from warploom.programs.program import check_code, workload_program
    from warploom.programs.source import Source, is_file_name

    if is_file_name(target):
        source = Source.of_file(target, options)
        return named_kernels(source, check_code(source.code_for(code, usual)), wanted)[1:]
    program = workload_program(target, code or usual)
    module = program.module()
    return module, [find_kernel(module, wanted, program.place)] if wanted else list(module.kernels)


def _inspect_recording(path: str, code: str, json: bool) -> int:
    """Kernels, launches, registers and bytes of a recorded program."""
    from warploom.programs.contents import recording_contents
    from warploom.programs.custom import kernel_titles

    contents = recording_contents(path, code)
    if json:
        print_json(contents.to_dict())
        return 0
    titles = kernel_titles([row.kernel for row in contents.kernels])
    table = plain_table("kernel", "launches", "registers", "blocks", "threads of a block", numbers_from=1)
    for row in contents.kernels:
        registers = "refused" if row.registers is None else str(row.registers)
        table.add_row(titles[row.kernel], f"{row.launches:,}", registers, f"{row.blocks:,}", row.threads)
    print_table(table)
    print(contents.sentence)
    for problem in contents.refused:
        message(f"error: {problem}")
    return EXIT_REFUSED if contents.refused else 0
