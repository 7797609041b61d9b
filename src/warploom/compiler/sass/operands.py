"""Operands of SASS, from their text; constants in floating point from the encoding, because text loses bits of NaNs."""

from __future__ import annotations

import re

from warploom.base.errors import WarploomError
from warploom.compiler.code.instruction import Address, Bank, Constant, Imm, Modified, Operand, Reg, Special

_REGISTER = re.compile(r"(UR|R|UP|P|B)(\d+)$")
_FIXED = {"RZ": Bank.RZ, "URZ": Bank.URZ, "PT": Bank.PT, "UPT": Bank.UPT}
_BANKS = {"R": Bank.R, "UR": Bank.U, "P": Bank.P, "UP": Bank.UP, "B": Bank.B}
_WIDER = {(Bank.R, 2): Bank.D, (Bank.R, 4): Bank.Q, (Bank.U, 2): Bank.UD, (Bank.U, 4): Bank.UQ}
_HEX = re.compile(r"-?0x[0-9a-f]+$")
_FLOAT = re.compile(r"[-+]?(\d|INF|QNAN|SNAN|NAN)")
_COUNTERS = re.compile(r"\{[\d,]+\}$")  # that DEPBAR waits for
_SHAPE = re.compile(r"[123]D$")  # of a texture
_CONSTANT = re.compile(r"c\[(0x[0-9a-f]+)\] ?\[(.*)\]$")
_PART = re.compile(r"\.(H0_H0|H1_H1|H0|H1|B[0-3]|H0_NH1|H1_H0|H0_H1|F32|64|U32|S32|X4|X8|X16|SIGN|BF|NEG|MOVM|ROW|COL|SP)$")
_DESCRIPTOR = re.compile(r"gdesc\[(UR\d+|URZ)\]([.\w]*)$")
DESCRIPTOR = "gdesc"
"""How the part of an operand begins that describes matrices in shared memory: ``gdesc.tnspB`` of a uniform register."""
_MASK32 = 0xFFFFFFFF


def split_operands(text: str) -> list[str]:
    """The operands of an instruction, separated by commas outside of brackets."""
    parts, depth, current = [], 0, ""
    for letter in text:
        depth += (letter in "[({") - (letter in "])}")
        if letter == "," and depth == 0:
            parts.append(current.strip())
            current = ""
        else:
            current += letter
    return [*parts, current.strip()] if current.strip() else parts


def register(text: str) -> Reg | None:
    """A register by its name."""
    if text in _FIXED:
        return Reg(0, _FIXED[text])
    found = _REGISTER.match(text)
    return Reg(int(found.group(2)), _BANKS[found.group(1)]) if found else None


def widened(operand: Operand, words: int) -> Operand:
    """A register operand taken as a vector of so many words."""
    if isinstance(operand, Reg):
        return operand._replace(bank=_WIDER.get((operand.bank, words), operand.bank))
    if isinstance(operand, Modified):
        inner = widened(operand.operand, words)
        assert isinstance(inner, Reg | Imm | Constant)
        return operand._replace(operand=inner)
    return operand


def wide_address(address: Address) -> Address:
    """The address of device memory: pairs of registers, unless the base is a word that is extended."""
    base, uniform = address.base, address.uniform
    if isinstance(base, Reg) and address.scale not in ("U32", "S32"):
        base = base._replace(bank=Bank.D)
    return address._replace(base=base, uniform=None if uniform is None else uniform._replace(bank=Bank.UD))


def _number(text: str) -> int:
    return int(text, 16) & _MASK32


def _address(text: str, place: str) -> Address:
    """``[R2.64+UR4+-0x4]`` in all its forms."""
    base: Reg | None = None
    uniform: Reg | None = None
    offset, scale = 0, ""
    for part in text.split("+"):
        name, _, suffix = part.partition(".")
        found = register(name)
        if found is not None and found.bank in (Bank.R, Bank.RZ):
            base, scale = (found if found.bank is Bank.R else base), suffix
        elif found is not None:
            uniform = found if found.bank is Bank.U else uniform
        elif _HEX.match(part):
            offset += int(part, 16)
        else:
            raise WarploomError(f"{place}: the address [{text}] is not understood.")
    return Address(base, offset, uniform, scale)


def _constant(bank: str, inside: str, place: str) -> Constant:
    index, offset = None, 0
    for part in inside.split("+"):
        found = register(part)
        if found is not None:
            index = found if found.bank in (Bank.R, Bank.U) else index
        elif _HEX.match(part):
            offset += int(part, 16)
        else:
            raise WarploomError(f"{place}: the constant c[{bank}][{inside}] is not understood.")
    return Constant(int(bank, 16), offset, index)


def _part(text: str) -> tuple[str, str]:
    """The part of a register that is named, and the text without it."""
    found = _PART.search(text)
    return ("", text) if found is None else (found.group(1), text[: found.start()])


def parse_operand(text: str, immediate: int, place: str) -> Operand:
    """One operand. ``immediate`` are the 32 bits of the encoding that hold a constant in floating point."""
    text = text.replace(".reuse", "").strip()
    if text.startswith("desc["):  # before an address, or of a policy of caches
        policy, text = text[5 : text.index("]")], text[text.index("]") + 1 :]
        text = text or policy
    if (described := _DESCRIPTOR.match(text)) is not None:
        holder = register(described.group(1))
        assert holder is not None
        return Modified(holder, part=DESCRIPTOR + described.group(2))
    if text.startswith("["):
        return _address(text[1:-1], place)
    if _HEX.match(text):
        return Imm(_number(text))
    if text.startswith("32@"):
        raise WarploomError(f"{place}: the address {text} is not known.")
    negated = inverted = absolute = False
    part, body = _part(text)
    if body[:1] in ("-", "~", "!") and not _FLOAT.match(body):
        negated, inverted, body = body[0] == "-", body[0] != "-", body[1:]
    if body.startswith("|"):
        absolute, body = True, body.strip("|")
        part, body = (part, body) if part else _part(body)  # it stands inside of the bars or behind them
    inner: Reg | Imm | Constant | None = register(body)
    if inner is None and (constant := _CONSTANT.match(body)) is not None:
        inner = _constant(constant.group(1), constant.group(2), place)
    if inner is None:
        if _FLOAT.match(body) and not _SHAPE.match(body):
            return Imm(immediate)
        if re.fullmatch(r"[A-Za-z_][\w.]*", text) or _SHAPE.match(text) or _COUNTERS.match(text):
            return Special(text)
        raise WarploomError(f"{place}: the operand {text!r} is not understood.")
    if part == "64":
        return widened(inner, 2)
    if not (negated or inverted or absolute or part):
        return inner
    return Modified(inner, negated, inverted, absolute, part)
