"""The options by which commands are told how to launch a kernel of the user's own file."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from warploom.workloads.program import Program

Kernel = Annotated[str | None, typer.Option(help="Of a file: the kernel to launch.")]
Grid = Annotated[str | None, typer.Option(help="Of a file: CTAs, such as 64,64.")]
Block = Annotated[str | None, typer.Option(help="Of a file: threads of a CTA, such as 16,16.")]
Argument = Annotated[list[str] | None, typer.Option(help="Of a file: an argument, in=f32[1024]:random or n=5. Repeatable.")]
SharedBytes = Annotated[int, typer.Option(help="Of a file: bytes of dynamic shared memory.", min=0)]
Symbol = Annotated[
    list[str] | None,
    typer.Option(help="Of a file: a variable to set before the launch, factors=f32[4]:ones or n=5. Repeatable."),
]
Save = Annotated[list[str] | None, typer.Option(help="Of a file: keep an array after the launch, out=out.npy. Repeatable.")]
Expect = Annotated[list[str] | None, typer.Option(help="Of a file: what an array should be, out=right.npy. Repeatable.")]
Memory = Annotated[
    str, typer.Option(help="Of a file: strict, or lenient to let accesses through that miss their array by a little.")
]


def own_program(
    target: str,
    *,
    kernel: str | None,
    grid: str | None,
    block: str | None,
    arg: Sequence[str] | None,
    shared: int,
    symbol: Sequence[str] | None,
    save: Sequence[str] | None,
    expect: Sequence[str] | None,
    memory: str,
    seed: int | None,
    code: str | None,
    usual: str,
    options: tuple[str, ...],
) -> Program | None:
    """The program of a user's kernel file; None where the target is not one and brings its own launch."""
    from warploom.workloads.custom import check_exists, is_file_name, parse_extent
    from warploom.workloads.own_kernel import OwnKernel
    from warploom.workloads.program import is_lenient

    lenient = is_lenient(memory)
    launch: dict[str, Any] = {"--kernel": kernel, "--grid": grid, "--block": block, "--arg": arg, "--shared": shared}
    launch |= {"--symbol": symbol, "--save": save, "--expect": expect, "--memory": lenient}
    if not is_file_name(target):
        for option, value in launch.items():
            if value:
                raise typer.BadParameter(f"this goes with a .cu or .ptx file; {target} brings its own", param_hint=option)
        return None
    check_exists(target)
    if grid is None or block is None:
        option = "--grid" if grid is None else "--block"
        raise typer.BadParameter(f"a kernel of your own needs it, such as {option} 16,16", param_hint=option)
    own = OwnKernel(
        target,
        parse_extent(grid, "grid"),
        parse_extent(block, "block"),
        kernel,
        tuple(arg or ()),
        shared,
        options,
        tuple(symbol or ()),
        tuple(expect or ()),
        lenient,
    )
    program = own.program(code, usual, tuple(save or ()))
    if seed is not None:
        raise typer.BadParameter("a kernel of your own has no seed; give its inputs with --arg", param_hint="--seed")
    return program
