"""A position in the tokens: what every part of the parser reads through and reports errors with."""

from __future__ import annotations

import re
import struct
from collections.abc import Callable
from typing import NoReturn

from warploom.base.errors import WarploomError
from warploom.compiler.ptx.tokens import END
from warploom.compiler.ptx.types import SIZE

_NAME = re.compile(r"[%$_A-Za-z][\w$]*\Z")
_MAX_NESTING = 50


class Cursor:
    """Tokens, the place in them, and the smallest pieces of grammar."""

    def __init__(self, tokens: list[str], lines: list[int], file: str, *, mapped: bool = False) -> None:
        self.file = file
        self.tokens, self.lines = tokens, lines
        self.mapped = mapped  # the file is not this text but the source that it was compiled from
        self.source_line = 0  # of that source, as far as it is known
        self.at = 0
        self.statement = 0  # where the statement began that an error should show
        self._nesting = 0

    @property
    def token(self) -> str:
        return self.tokens[self.at]

    @property
    def line(self) -> int:
        """The line of the file; 0 where it is not known."""
        return self.source_line if self.mapped else self.lines[self.at]

    def fail(self, what: str, *, whole: bool = True) -> NoReturn:
        """Report bad input at the current place, with the statement around it."""
        raise WarploomError(self._message(what, whole))

    def _message(self, what: str, whole: bool) -> str:
        shown = ""
        if whole:
            end = self.statement
            while self.tokens[end] not in (";", "{", "}", END) and end - self.statement < 40:
                end += 1
            statement = " ".join(self.tokens[self.statement : end])
            shown = f" in '{statement[:120]}'" if statement else ""
        place = f"{self.file}:{self.line}" if self.line else self.file
        return f"{place}: {what}{shown}."

    def next(self) -> str:
        """The current token; moves past it."""
        token = self.tokens[self.at]
        if token == END:
            self.fail("the file ends in the middle of something: is it truncated?")
        self.at += 1
        return token

    def accept(self, token: str) -> bool:
        """Move past the token if it is the current one."""
        if self.tokens[self.at] == token:
            self.at += 1
            return True
        return False

    def expect(self, token: str) -> None:
        """Move past the token, which must be the current one."""
        if self.tokens[self.at] != token:
            found = self.tokens[self.at]
            if found == END:
                self.fail(f"the file ends where '{token}' should stand: is it truncated?")
            self.fail(f"'{token}' should stand where '{found[:40]}' does")
        self.at += 1

    def name(self, what: str) -> str:
        """A name."""
        token = self.tokens[self.at]
        if not _NAME.match(token):
            if token == END:
                self.fail(f"the file ends where {what} should stand: is it truncated?")
            self.fail(f"{what} should stand where '{token[:40]}' does")
        self.at += 1
        return token

    def separated(self, item: Callable[[], object], end: str) -> None:
        """``item , item , … end``, possibly none."""
        if self.accept(end):
            return
        while True:
            item()
            if self.accept(end):
                return
            self.expect(",")

    def integer(self) -> int:
        """A constant integer expression."""
        value = self.constant()
        if isinstance(value, float):
            self.fail("an integer should stand here, not a floating-point number")
        return value

    def constant(self) -> int | float:
        """A constant expression: sums of products of atoms."""
        value = self._product()
        while self.token in ("+", "-", "<<", ">>", "&", "|", "^"):
            value = self._apply(self.next(), value, self._product())
        return value

    def _product(self) -> int | float:
        value = self._atom()
        while self.token in ("*", "/"):
            value = self._apply(self.next(), value, self._atom())
        return value

    def _apply(self, operator: str, left: int | float, right: int | float) -> int | float:
        if isinstance(left, float) or isinstance(right, float):
            self.fail("arithmetic on floating-point constants is not supported")
        if operator == "/":
            if right == 0:
                self.fail("this constant expression divides by zero")
            return left // right
        if operator in ("<<", ">>"):
            if not 0 <= right < 64:
                self.fail("this constant expression shifts by more than 63")
            return (left << right if operator == "<<" else left >> right) & 0xFFFFFFFFFFFFFFFF
        results = {"+": left + right, "-": left - right, "*": left * right, "&": left & right}
        results |= {"|": left | right, "^": left ^ right}
        return results[operator]

    def _atom(self) -> int | float:
        token = self.next()
        self._nesting += 1
        if self._nesting > _MAX_NESTING:
            self.fail("this constant expression is nested too deeply")
        try:
            if token == "-":
                return -self._atom()
            if token == "+":
                return self._atom()
            if token in ("~", "!"):
                value = self._atom()
                if isinstance(value, float):
                    self.fail(f"'{token}' needs an integer")
                return ~value if token == "~" else int(not value)
            if token == "(":
                if self.token in (".s64", ".u64"):  # a cast changes nothing: constants are 64 bits wide
                    self.at += 1
                    self.expect(")")
                    return self._atom()
                value = self.constant()
                self.expect(")")
                return value
            if token == "WARP_SZ":
                return 32
            return self._number(token)
        finally:
            self._nesting -= 1

    def _number(self, token: str) -> int | float:
        value = _literal(token)
        if value is None:
            self.at -= 1
            self.fail(f"a constant should stand where '{token[:40]}' does")
        return value

    def bits(self, type_: str) -> int:
        """A constant as the raw bits of a type."""
        token = self.tokens[self.at]
        if token[:2] in ("0f", "0F") and len(token) == 10 and type_ in ("f32", "b32"):
            self.at += 1
            return int(token[2:], 16)  # exact bits, so that no NaN changes on its way through a float
        if token[:2] in ("0d", "0D") and len(token) == 18 and type_ in ("f64", "b64"):
            self.at += 1
            return int(token[2:], 16)
        return self.encode(self.constant(), type_)

    def encode(self, value: int | float, type_: str) -> int:
        """A number as the raw bits of a type."""
        if type_ in ("f32", "f64"):
            if isinstance(value, int):
                self.fail(f"a floating-point constant should stand here for type {type_}, not an integer")
            try:
                return int.from_bytes(struct.pack("<f" if type_ == "f32" else "<d", value), "little")
            except OverflowError:
                self.fail(f"the constant {value} is too large for type {type_}")
        if isinstance(value, float):
            self.fail(f"an integer constant should stand here for type {type_}, not a floating-point number")
        if type_ == "pred":
            return int(value != 0)
        return value & ((1 << 8 * SIZE[type_]) - 1)


def _literal(token: str) -> int | float | None:
    """The number that one token spells, or None."""
    try:
        if token[:2] in ("0f", "0F") and len(token) == 10:
            return float(struct.unpack(">f", bytes.fromhex(token[2:]))[0])
        if token[:2] in ("0d", "0D") and len(token) == 18:
            return float(struct.unpack(">d", bytes.fromhex(token[2:]))[0])
        if token[0].isdigit():
            if "." in token or ("e" in token.lower() and token[:2] not in ("0x", "0X")):
                return float(token)
            digits = token.removesuffix("U")
            if digits[:2] in ("0x", "0X", "0b", "0B"):
                return int(digits, 0)
            return int(digits, 8) if len(digits) > 1 and digits[0] == "0" else int(digits)
    except ValueError:
        pass
    return None
