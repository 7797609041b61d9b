"""The options by which commands are told how to compile and launch a kernel of the user's own file."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import wraps
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer

from warploom.cli.compiler_options import Define, Include, NvrtcOption, Standard, compiler_options

if TYPE_CHECKING:
    from warploom.workloads.program import Program


@dataclass(frozen=True)
class LaunchOptions:
    """What the options say; each field is one of them."""

    kernel: Annotated[str | None, typer.Option(help="Of a file: the kernel to launch.")] = None
    grid: Annotated[str | None, typer.Option(help="Of a file: CTAs, such as 64,64.")] = None
    block: Annotated[str | None, typer.Option(help="Of a file: threads of a CTA, such as 16,16.")] = None
    arg: Annotated[list[str] | None, typer.Option(help="Of a file: an argument, in=f32[1024]:random or n=5. Repeatable.")] = None
    shared: Annotated[int, typer.Option(help="Of a file: bytes of dynamic shared memory.", min=0)] = 0
    include: Include = None
    define: Define = None
    std: Standard = None
    nvrtc_option: NvrtcOption = None
    symbol: Annotated[
        list[str] | None,
        typer.Option(help="Of a file: a variable to set before the launch, factors=f32[4]:ones or n=5. Repeatable."),
    ] = None
    save: Annotated[
        list[str] | None, typer.Option(help="Of a file: keep an array after the launch, out=out.npy. Repeatable.")
    ] = None
    expect: Annotated[list[str] | None, typer.Option(help="Of a file: what an array should be, out=right.npy. Repeatable.")] = (
        None
    )
    memory: Annotated[
        str, typer.Option(help="Of a file: strict, or lenient to let accesses through that miss their array by a little.")
    ] = "strict"

    def program(self, target: str, seed: int | None, code: str | None, usual: str) -> Program | None:
        """The program of a user's kernel file; None where the target is not one and brings its own launch."""
        from warploom.workloads.custom import check_exists, is_file_name, parse_extent
        from warploom.workloads.own_kernel import OwnKernel
        from warploom.workloads.program import is_lenient

        lenient = is_lenient(self.memory)
        if not is_file_name(target):
            said: dict[str, Any] = {"kernel": self.kernel, "grid": self.grid, "block": self.block, "arg": self.arg}
            said |= {"shared": self.shared, "symbol": self.symbol, "save": self.save, "expect": self.expect, "memory": lenient}
            for name, value in said.items():
                if value:
                    reason = f"this goes with a .cu or .ptx file; {target} brings its own"
                    raise typer.BadParameter(reason, param_hint=f"--{name}")
            return None
        check_exists(target)
        if self.grid is None or self.block is None:
            option = "--grid" if self.grid is None else "--block"
            raise typer.BadParameter(f"a kernel of your own needs it, such as {option} 16,16", param_hint=option)
        own = OwnKernel(
            target,
            parse_extent(self.grid, "grid"),
            parse_extent(self.block, "block"),
            self.kernel,
            tuple(self.arg or ()),
            self.shared,
            compiler_options(self.include, self.define, self.std, self.nvrtc_option),
            tuple(self.symbol or ()),
            tuple(self.expect or ()),
            lenient,
        )
        program = own.program(code, usual, tuple(self.save or ()))
        if seed is not None:
            raise typer.BadParameter("a kernel of your own has no seed; give its inputs with --arg", param_hint="--seed")
        return program


NOTHING_SAID = LaunchOptions()


def with_launch_options(command: Callable[..., int]) -> Callable[..., int]:
    """Let a command have an option for each field of `Launch` where it takes a ``launch``."""
    hints = get_type_hints(LaunchOptions, include_extras=True)
    own = [
        inspect.Parameter(each.name, inspect.Parameter.KEYWORD_ONLY, default=each.default, annotation=hints[each.name])
        for each in fields(LaunchOptions)
    ]
    taken = inspect.signature(command, eval_str=True).parameters.values()
    options = [option for each in taken for option in (own if each.name == "launch" else [each])]
    options = [option.replace(kind=inspect.Parameter.KEYWORD_ONLY) for option in options]

    @wraps(command)
    def told(**given: Any) -> int:
        launch = LaunchOptions(**{each.name: given.pop(each.name) for each in own})
        return command(**given, launch=launch)

    told.__signature__ = inspect.Signature(options)  # type: ignore[attr-defined]
    told.__annotations__ = {option.name: option.annotation for option in options}
    del told.__wrapped__
    return told
