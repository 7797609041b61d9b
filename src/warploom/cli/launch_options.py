"""The options by which commands are told how to compile and launch a kernel of the user's own file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from warploom.cli.compiler_options import Define, Include, NvrtcOption, Standard, compiler_options

if TYPE_CHECKING:
    from warploom.programs.origin import Origin


@dataclass(frozen=True)
class LaunchOptions:
    """What the options say; each field is one of them."""

    kernel: Annotated[str | None, typer.Option(help="Kernel to launch (with a .cu, .ptx, .cubin or .fatbin file).")] = None
    grid: Annotated[str | None, typer.Option(help="Number of CTAs to launch, such as 64,64.")] = None
    block: Annotated[str | None, typer.Option(help="Number of threads in a CTA, such as 16,16.")] = None
    arg: Annotated[list[str] | None, typer.Option(help="Argument for the kernel, in=f32[1024]:random or n=5. Repeatable.")] = None
    shared: Annotated[int, typer.Option(help="Bytes of dynamic shared memory.", min=0)] = 0
    include: Include = None
    define: Define = None
    std: Standard = None
    nvrtc_option: NvrtcOption = None
    symbol: Annotated[
        list[str] | None,
        typer.Option(help="Variable to set before the launch, factors=f32[4]:ones or n=5. Repeatable."),
    ] = None
    save: Annotated[list[str] | None, typer.Option(help="Array to keep after the launch, out=out.npy. Repeatable.")] = None
    expect: Annotated[list[str] | None, typer.Option(help="Expected array after the launch, out=right.npy. Repeatable.")] = None
    memory: Annotated[str, typer.Option(help="strict, or lenient to tolerate slightly out-of-bounds accesses.")] = "strict"

    def own_kernel(self, target: str, code: str | None, usual: str) -> Origin | None:
        """A user's kernel file with its launch, looked through; None where the target is not one and brings its own launch."""
        from warploom.programs.custom import parse_extent
        from warploom.programs.own_kernel import OwnKernel
        from warploom.programs.program import is_lenient
        from warploom.programs.source import check_exists, is_file_name

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
            tuple(self.save or ()),
        )
        return own.open(own.code_for(code or "", usual)).origin


NOTHING_SAID = LaunchOptions()
