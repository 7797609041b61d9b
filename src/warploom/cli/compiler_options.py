"""The options that go to the compiler of CUDA C++."""

from __future__ import annotations

from typing import Annotated

import typer

Include = Annotated[list[str] | None, typer.Option("--include", "-I", help="Folder of headers for a .cu file. Repeatable.")]
Define = Annotated[list[str] | None, typer.Option("--define", "-D", help="Macro for a .cu file, N or N=4. Repeatable.")]
Standard = Annotated[str | None, typer.Option(help="Language standard for a .cu file, such as c++17.")]
NvrtcOption = Annotated[
    list[str] | None, typer.Option(help="Further option for NVRTC, with a .cu file, such as --use_fast_math. Repeatable.")
]


def compiler_options(
    include: list[str] | None, define: list[str] | None, standard: str | None, further: list[str] | None
) -> tuple[str, ...]:
    """The options as NVRTC takes them."""
    folders = [f"-I{folder}" for folder in include or ()]
    macros = [f"-D{macro}" for macro in define or ()]
    language = [f"-std={standard}"] if standard else []
    return (*folders, *macros, *language, *(further or ()))
