"""The ``warploom`` command: its subcommands, and the one place where errors become a sentence and an exit code."""

from __future__ import annotations

import os
import sys
from typing import Annotated, Any

import typer

from warploom import __version__
from warploom.cli import (
    bench,
    cache,
    compare,
    designs,
    exec,
    inspect,
    machines,
    profile,
    report,
    reproduce,
    run,
    search,
    sweep,
    validate,
    workloads,
)
from warploom.cli.heartbeat import heartbeat
from warploom.cli.output import message
from warploom.errors import WarploomError

EXIT_BAD_INPUT = 2
EXIT_INTERRUPTED = 130
# Typer's own errors have one base class, which has moved between its versions; its subclass BadParameter is always at hand.
UsageError: Any = next(kind for kind in typer.BadParameter.__mro__ if kind.__name__ == "ClickException")

app = typer.Typer(
    help="A laboratory for GPU register files.",
    invoke_without_command=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    rich_markup_mode=None,
)
for command in (
    run,
    exec,
    compare,
    profile,
    sweep,
    search,
    reproduce,
    report,
    validate,
    inspect,
    designs,
    machines,
    workloads,
    bench,
    cache,
):
    app.command(name=command.__name__.rpartition(".")[2])(command.command)


@app.callback()
def common(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version and exit.", is_eager=True)] = False,
) -> None:
    """A laboratory for GPU register files."""
    if version:
        print(__version__)
        raise typer.Exit
    if context.invoked_subcommand is None:
        print(context.get_help())


def main() -> None:
    """Run the command line and exit: 0, or 2 with one sentence on standard error."""
    sys.exit(run_command(sys.argv[1:]))


def run_command(arguments: list[str]) -> int:
    """Run one command line; the exit code."""
    try:
        with heartbeat():
            code = app(arguments, standalone_mode=False)
        sys.stdout.flush()  # a full disk may be noticed only now
    except UsageError as error:
        message(f"error: {_sentence(error)}")
        return EXIT_BAD_INPUT
    except WarploomError as error:
        message(f"error: {error}")
        return EXIT_BAD_INPUT
    except BrokenPipeError:  # the reader of our output, `head` perhaps, has gone
        sys.stderr.close()
        return 0
    except OSError as error:  # a file that cannot be read or written
        message(f"error: {error.filename or 'the output'}: {error.strerror or error}")
        _close_output()
        return EXIT_BAD_INPUT
    except (KeyboardInterrupt, typer.Abort):
        code = EXIT_INTERRUPTED
    if code == EXIT_INTERRUPTED:  # Typer may have caught it already
        message("interrupted")
    return code if isinstance(code, int) else 0


def _close_output() -> None:
    """Python writes what is left of the output at its end, and would complain again of what has been said."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _sentence(error: Any) -> str:
    text = error.format_message().strip().replace("\n", " ")
    context = getattr(error, "ctx", None)
    return f"{text} See `{context.command_path} --help`." if context is not None else text
