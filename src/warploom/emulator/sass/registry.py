"""Which function encodes which opcode."""

from __future__ import annotations

import functools
import importlib
import pkgutil
from collections.abc import Callable

import numpy as np

from warploom.compiler.code.instruction import Instruction
from warploom.emulator.sass.rows import SassRows

Encode = Callable[[SassRows, Instruction, np.void], None]
_ENCODERS: dict[str, Encode] = {}


def encodes(*names: str, only: tuple[str, ...] | None = None) -> Callable[[Encode], Encode]:
    """Mark a function as the one that encodes these opcodes. Unless it says otherwise, the record is of the kind COMPUTE.

    With ``only``, an opcode that has another modifier is refused.
    """

    def mark(encode: Encode) -> Encode:
        function = encode if only is None else _limited(encode, only)
        for name in names:
            if name in _ENCODERS:
                raise ValueError(f"two functions encode {name}")
            _ENCODERS[name] = function
        return encode

    return mark


def _limited(encode: Encode, only: tuple[str, ...]) -> Encode:
    """The same function, for these modifiers."""

    def limited(rows: SassRows, instruction: Instruction, record: np.void) -> None:
        unknown = set(instruction.op.modifiers) - set(only)
        if unknown:
            raise rows.trouble(f"the emulator does not know {', '.join(sorted(unknown))}")
        encode(rows, instruction, record)

    return limited


@functools.cache
def encoders() -> dict[str, Encode]:
    """All opcodes that are known, from the files ``encode_*`` beside this one."""
    package = importlib.import_module("warploom.emulator.sass")
    for found in pkgutil.iter_modules(package.__path__):
        if found.name.startswith("encode_"):
            importlib.import_module(f"{package.__name__}.{found.name}")
    return dict(_ENCODERS)
