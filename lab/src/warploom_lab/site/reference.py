"""Pages of the reference that the code itself fills: commands, values of machines, designs, hooks, services, Python names."""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Callable, Iterator, Sequence
from types import ModuleType
from typing import Any, get_origin

import numpy as np
import typer

import warploom
from warploom import kit
from warploom.chip.machines import load_machine, machine_names
from warploom.chip.machines.schema import KEYS
from warploom.chip.sm import services
from warploom.chip.sm.hooks import HOOKS
from warploom.cli.app import application
from warploom.cli.help import EXAMPLES
from warploom.designs import describe_designs, describe_policies

CONSTANT = (int, float, str, tuple, np.generic)  # its value says more than the docstring of its type
WIDTH = 110  # characters of a signature on one line


def commands() -> Iterator[str]:
    """Every command with its arguments and options."""
    yield "# Commands"
    yield "`warploom COMMAND --help` prints the same."
    group: Any = typer.main.get_command(application())
    above = group.make_context("warploom", [], resilient_parsing=True)
    for name, command in group.commands.items():
        context = command.make_context(name, [], parent=above, resilient_parsing=True)
        yield f"## warploom {name}"
        yield inspect.cleandoc(command.help)
        yield "```text\n" + "\n".join(EXAMPLES[name]) + "\n```"
        records = [record for option in command.get_params(context) if (record := option.get_help_record(context))]
        yield _table(("argument or option", "what it does"), [(f"`{option}`", meaning) for option, meaning in records])


def machine_values() -> Iterator[str]:
    """What every machine says of every key, and where that is from."""
    yield "# Values of machines"
    yield "What each machine file sets, with its source. [Machine keys](machine-keys.md) says what each key means."
    for name in machine_names():
        machine = load_machine(name)
        yield f"## {name}"
        yield machine.title
        tables = {table: keys for table, keys in machine.to_dict().items() if isinstance(keys, dict)}
        values = {f"{table}.{key}": value for table, keys in tables.items() for key, value in keys.items()}
        rows = [(f"`{key}`", str(value), KEYS[key].unit, machine.sources.get(key, "")) for key, value in values.items()]
        yield _table(("key", "value", "unit", "source"), rows)


def designs() -> Iterator[str]:
    """The named designs, and every policy with its parameters and their limits."""
    yield "# Designs and policies"
    yield "`warploom designs NAME` shows one design in full. [Designs](../papers/designs.md) leads to the papers."
    yield "## Named designs"
    named = describe_designs(load_machine("gtx480"))
    rows = [(f"`{one['name']}`", f"`{one['text']}`", one["title"], one["source"], f"{one['storage_bits']:,}") for one in named]
    yield _table(("design", "choices", "what it is", "source", "bits added to an SM of gtx480"), rows)
    choice = ""
    for policy in describe_policies():
        if policy["choice"] != choice:
            choice = policy["choice"]
            yield f"## {choice.capitalize()}"
        yield f"### {choice}={policy['policy']}"
        yield f"{policy['title']} Source: {policy['source'] or 'this project'}."
        if policy["parameters"]:
            yield _table(
                ("parameter", "default", "allowed", "meaning"), [_parameter(*one) for one in policy["parameters"].items()]
            )


def _parameter(name: str, facts: dict[str, Any]) -> tuple[str, ...]:
    return f"`{name}`", str(facts["default"]), _allowed(facts["allowed"]), facts["meaning"]


def _allowed(limits: list[Any]) -> str:
    numbers = len(limits) == 2 and not any(isinstance(limit, bool | str) for limit in limits)
    return f"{limits[0]} to {limits[1]}" if numbers else ", ".join(map(str, limits))


def hooks() -> Iterator[str]:
    """Every hook of the six choices, and every service."""
    yield "# Hooks and services"
    yield "A policy answers hooks and asks for services. [Your first policy](../tutorial/first-policy.md) shows how."
    yield _module_text(inspect.getmodule(next(iter(HOOKS["power"].values()))))
    for choice, points in HOOKS.items():
        yield f"## Hooks of {choice}"
        for name, default in points.items():
            yield from _entry(f"### {choice}: {name}", name, default)
    yield "## Services"
    yield _module_text(services)
    for name, service in vars(services).items():
        if inspect.isfunction(service) and service.__module__ == services.__name__ and not name.startswith("_"):
            yield from _entry(f"### {name}", name, service)


def kit_names() -> Iterator[str]:
    """What `warploom.kit` holds."""
    yield "# warploom.kit"
    yield _module_text(kit)
    yield from _names(kit)


def python() -> Iterator[str]:
    """What `import warploom` gives."""
    yield "# Python interface"
    yield _module_text(warploom)
    yield from _names(warploom)


def _names(module: ModuleType) -> Iterator[str]:
    found = {name: getattr(module, name) for name in module.__all__}
    constants = [(f"`{name}`", f"`{value!r}`") for name, value in found.items() if isinstance(value, CONSTANT)]
    yield "## Constants"
    yield _table(("name", "value"), constants)
    for name, value in found.items():
        if not isinstance(value, CONSTANT):
            yield from _entry(f"## {name}", name, value)


def _entry(heading: str, name: str, found: Callable[..., Any]) -> Iterator[str]:
    alias = get_origin(found) is not None  # a name for a type that Python has
    yield heading
    yield f"```python\n{name}{f' = {inspect.formatannotation(found)}' if alias else _signature(found)}\n```"
    yield "" if alias else _prose(inspect.getdoc(found) or "")


def _signature(found: Callable[..., Any]) -> str:
    try:
        signature = inspect.signature(found)
    except (TypeError, ValueError):  # a type of NumPy
        return ""
    words = [_argument(one) for one in signature.parameters.values()]
    result = "" if signature.return_annotation is signature.empty else f" -> {_annotation(signature.return_annotation)}"
    line = f"({', '.join(words)}){result}"
    return line if len(line) <= WIDTH else "(\n    " + ",\n    ".join(words) + f",\n){result}"


def _argument(one: inspect.Parameter) -> str:
    stars = "*" if one.kind is one.VAR_POSITIONAL else "**" if one.kind is one.VAR_KEYWORD else ""
    kind = "" if one.annotation is one.empty else f": {_annotation(one.annotation)}"
    default = "" if one.default is one.empty else f" = {getattr(one.default, '__name__', repr(one.default))}"
    return f"{stars}{one.name}{kind}{default}"


def _annotation(annotation: Any) -> str:
    text = getattr(annotation, "__forward_arg__", annotation)
    return text.strip("'") if isinstance(text, str) else inspect.formatannotation(text)


def _module_text(module: ModuleType | None) -> str:
    return _prose(inspect.getdoc(module) or "")


def _prose(docstring: str) -> str:
    """A docstring as Markdown: two backquotes are one, angle brackets are text, and lists have a line before them."""
    text = textwrap.dedent(docstring).replace("``", "`")
    lines: list[str] = []
    for line in text.splitlines():
        if line.startswith("* ") and lines and lines[-1] and not lines[-1].startswith(("* ", "  ")):
            lines.append("")
        lines.append(line)
    return "\n".join(lines)


def _table(head: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    cells = [" | ".join(_cell(text) for text in row) for row in rows]
    return "\n".join(f"| {line} |" for line in (" | ".join(head), " | ".join("---" for _ in head), *cells))


def _cell(text: str) -> str:
    """A cell's text on one line; a bar ends a cell, but not within backquotes."""
    parts = text.replace("\n", " ").split("`")
    return "`".join(part if at % 2 else part.replace("|", "\\|") for at, part in enumerate(parts))


PAGES: dict[str, Callable[[], Iterator[str]]] = {
    "reference/commands.md": commands,
    "reference/machine-values.md": machine_values,
    "reference/designs.md": designs,
    "reference/hooks.md": hooks,
    "reference/kit.md": kit_names,
    "reference/python.md": python,
}


def reference_page(page: str) -> str:
    """The Markdown of a page of the reference."""
    return "\n\n".join(PAGES[page]()) + "\n"
