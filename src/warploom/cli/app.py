"""The ``warploom`` command: its subcommands, and the one place where errors become a sentence and an exit code."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Annotated, Any

import typer

from warploom import __version__
from warploom.base.errors import WarploomError
from warploom.base.files import abandon_drafts
from warploom.cli.address_space import without_room
from warploom.cli.check_option import joined
from warploom.cli.heartbeat import heartbeat
from warploom.cli.help import epilog, with_help
from warploom.cli.interrupts import prompt_interrupts
from warploom.cli.names_first import with_names_first
from warploom.cli.output import message

EXIT_BAD_INPUT = 2
EXIT_INTERRUPTED = 130
# Typer's own errors have one base class, which has moved between its versions; its subclass BadParameter is always at hand.
UsageError: Any = next(kind for kind in typer.BadParameter.__mro__ if kind.__name__ == "ClickException")

COMMANDS = (
    "run", "exec", "compare", "profile", "sweep", "search", "reproduce", "report", "validate", "inspect", "bundle", "compile",
    "designs", "machines", "new", "counters", "workloads", "cite", "bench", "cache",
)  # fmt: skip
"""All subcommands, in the order in which the help lists them; each is the `command` of the module of its name."""


def application(names: Sequence[str] = COMMANDS) -> typer.Typer:
    """The command line with these subcommands: to import and prepare them all takes longer than most of them run."""
    app = typer.Typer(
        help="A laboratory for GPU register files.",
        invoke_without_command=True,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
        rich_markup_mode="rich",
    )
    app.callback()(_common)
    for name in names:
        command = import_module(f"warploom.cli.{name}").command
        app.command(name=name, epilog=epilog(name))(with_help(name, with_names_first(command)))
    return app


def _common(
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
    sys.exit(_without_output() or _without_room() or run_command(sys.argv[1:]))


def _without_room() -> int:
    """An exit code where too little memory may be asked for."""
    problem = without_room()
    if problem:
        message(f"error: {problem}")
    return EXIT_BAD_INPUT if problem else 0


def _without_output() -> int:
    """An exit code where standard output is closed. The next file to be opened would take its place, and get the results."""
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115 (until the process ends)
    if sys.stdout is not None:
        return 0
    message("error: standard output is closed; lead it to a file or to /dev/null")
    return EXIT_BAD_INPUT


def run_command(arguments: list[str]) -> int:
    """Run one command line; the exit code."""
    try:
        with heartbeat(live=arguments[:1] != ["exec"]), prompt_interrupts(_give_up):
            app = application(arguments[:1] if arguments[:1] and arguments[0] in COMMANDS else COMMANDS)
            code = app(joined(arguments), prog_name="warploom", standalone_mode=False)
        sys.stdout.flush()  # a full disk may be noticed only now
    except UsageError as error:
        message(f"error: {_sentence(error)}")
        return EXIT_BAD_INPUT
    except WarploomError as error:
        message(f"error: {error}")
        return EXIT_BAD_INPUT
    except (BrokenPipeError, SystemExit) as ended:  # what prints may turn the first into the second
        if isinstance(ended, SystemExit) and not isinstance(ended.__context__, BrokenPipeError):
            raise
        _close_output()
        return 0
    except MemoryError as error:
        message(f"error: there is not enough memory{_wanted(error)}; take a smaller size or fewer --jobs, or allow more of it")
        return EXIT_BAD_INPUT
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


def _give_up() -> None:
    """End the process at once, and leave nothing half-written."""
    abandon_drafts()
    message("interrupted")
    sys.stderr.flush()
    os._exit(EXIT_INTERRUPTED)


def _wanted(error: MemoryError) -> str:
    """What NumPy says that it wanted."""
    return f" ({error})" if str(error) else ""


def _sentence(error: Any) -> str:
    text = error.format_message().strip().replace("\n", " ")
    context = getattr(error, "ctx", None)
    ended = text if text.endswith((".", "!", "?")) else f"{text}."
    return f"{ended} See `{context.command_path} --help`." if context is not None else text
