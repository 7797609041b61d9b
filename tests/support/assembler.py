"""A few lines of text to virtual or allocated code, for tests.

One instruction a line, ``op.type results = operands``; ``name:`` begins a block; ``bra name`` goes to it; ``@P0`` and
``@!P0`` guard. Registers are R1, D2 or P3, special registers %tid.x, memory [R1+8], constants plain numbers. The first part
of an operation's name is its opcode, the last its type; a space name among the others is the space, the rest are modifiers.
"""

from __future__ import annotations

import re
from typing import Any

from warploom.compiler.code.instruction import (
    Address,
    Bank,
    Block,
    Code,
    Guard,
    Imm,
    Instruction,
    Operand,
    Operation,
    Reg,
    Special,
)

_SPACES = ("global", "shared", "local", "const", "param", "generic")
_UNTYPED = ("bra", "exit", "bar", "membar", "trap")


def _register(text: str) -> Reg:
    return Reg(int(text[1:]), Bank(text[0]))


def _operand(text: str) -> Operand:
    text = text.strip()
    if text.startswith("["):
        base, _, offset = text[1:-1].partition("+")
        if base[0] in "RD":
            return Address(_register(base), int(offset or "0", 0))
        return Address(None, int(base, 0))
    if text.startswith("%"):
        return Special(text[1:])
    return _register(text) if text[0] in "RDP" else Imm(int(text, 0))


def _operation(text: str) -> Operation:
    name, *rest = text.split(".")
    kind = rest.pop() if rest and name not in _UNTYPED else ""
    space = next((part for part in rest if part in _SPACES), "")
    return Operation(name, kind, space=space, modifiers=tuple(part for part in rest if part != space))


def assemble(text: str, **fields: Any) -> Code:
    """The code that a text describes; `fields` are those of `Code`."""
    blocks = [Block()]
    labels: dict[str, int] = {}
    branches: list[tuple[Instruction, str]] = []
    for line in filter(None, map(str.strip, text.splitlines())):
        if line.endswith(":"):
            if blocks[-1].instructions or blocks[-1].label:
                blocks.append(Block())
            blocks[-1].label = line[:-1]
            labels[line[:-1]] = len(blocks) - 1
            continue
        if blocks[-1].instructions and blocks[-1].instructions[-1].ends_block:
            blocks.append(Block())
        guard = None
        if match := re.match(r"@(!?)(P\d+) +", line):
            guard = Guard(_register(match[2]), bool(match[1]))
            line = line[match.end() :]
        name, _, operands = line.partition(" ")
        if name == "bra":
            blocks[-1].instructions.append(Instruction(Operation("bra"), guard=guard))
            branches.append((blocks[-1].instructions[-1], operands.strip()))
            continue
        results, equals, sources = operands.partition("=")
        if not equals:
            results, sources = "", operands
        dsts = tuple(_register(part.strip()) for part in results.split(",") if part.strip())
        srcs = tuple(_operand(part) for part in sources.split(",") if part.strip())
        blocks[-1].instructions.append(Instruction(_operation(name), dsts, srcs, guard))
    for branch, label in branches:
        branch.target = labels[label]
    return Code("test", blocks, **fields)


def offset_of(access: Instruction) -> int:
    """The offset of an access's address."""
    address = access.srcs[0]
    assert isinstance(address, Address)
    return address.offset
