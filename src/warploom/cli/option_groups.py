"""Groups of options that several commands have: a dataclass, each field of which is an option."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import fields
from functools import wraps
from typing import Any, get_type_hints


def with_groups(**groups: type) -> Callable[[Callable[..., int]], Callable[..., int]]:
    """Let a command have an option for each field of a group, in place of the parameter that takes the group.

    ``@with_groups(launch=LaunchOptions)`` lets a command ask for ``launch: LaunchOptions``.
    """

    def decorate(command: Callable[..., int]) -> Callable[..., int]:
        own = {name: _options_of(group) for name, group in groups.items()}
        taken = inspect.signature(command, eval_str=True).parameters.values()
        options = [option for each in taken for option in own.get(each.name, [each])]
        options = [option.replace(kind=inspect.Parameter.KEYWORD_ONLY) for option in options]

        @wraps(command)
        def told(**given: Any) -> int:
            made = {name: groups[name](**_taken(given, parameters)) for name, parameters in own.items()}
            return command(**given, **made)

        told.__signature__ = inspect.Signature(options)  # type: ignore[attr-defined]
        told.__annotations__ = {option.name: option.annotation for option in options}
        del told.__wrapped__
        return told

    return decorate


def _options_of(group: Any) -> list[inspect.Parameter]:
    hints: Mapping[str, Any] = get_type_hints(group, include_extras=True)
    kind = inspect.Parameter.KEYWORD_ONLY
    return [inspect.Parameter(each.name, kind, default=each.default, annotation=hints[each.name]) for each in fields(group)]


def _taken(given: dict[str, Any], parameters: list[inspect.Parameter]) -> dict[str, Any]:
    """What is given for a group's options, which the command is not given any more."""
    return {parameter.name: given.pop(parameter.name) for parameter in parameters}
