"""The text that ``printf`` on the device makes of a format and of arguments that lie in memory, each aligned to its size.

One call prints at most as much as CUDA's buffer holds for all of a launch; wider numbers, and what comes after, are cut off.
"""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Callable

_CONVERSION = re.compile(rb"%([-+ #0]*)(\*|\d+)?(?:\.(\*|\d*))?(hh|h|ll|l|z|j|t|L)?(.)", re.DOTALL)
_SIGNED, _UNSIGNED, _FLOATS = b"di", b"ouxX", b"eEfFgGaA"
_WIDE = (b"l", b"ll", b"z", b"j", b"t")
_MOST_DIGITS = 10  # of a width or precision
_NARROW = {b"hh": 8, b"h": 16}
Read = Callable[[int, int], bytes | None]  # bytes of the arguments, by their place and size
Find = Callable[[int, int], bytes | None]  # the string at an address, of at most so many bytes
MOST_BYTES = 1 << 20
"""Of what one call prints: what CUDA's buffer has, unless a program asks for more."""


class _Arguments:
    def __init__(self, read: Read) -> None:
        self._read, self._at, self.count = read, 0, 0

    def take(self, size: int) -> bytes:
        """The next argument; zeros where there is none."""
        place = -(-self._at // size) * size
        self._at, self.count = place + size, self.count + 1
        return self._read(place, size) or bytes(size)

    def number(self) -> int:
        """An int."""
        return int.from_bytes(self.take(4), "little", signed=True)


def formatted(form: bytes, read: Read, find: Find) -> tuple[bytes, int]:
    """The text, and how many arguments were used."""
    arguments = _Arguments(read)
    text = bytearray()
    at = 0
    while len(text) < MOST_BYTES and (found := _CONVERSION.search(form, at)) is not None:
        text += form[at : found.start()] + _converted(found, arguments, find)
        at = found.end()
    return bytes(text + form[at:])[:MOST_BYTES], arguments.count


def _converted(found: re.Match[bytes], arguments: _Arguments, find: Find) -> bytes:
    flags, width, precision, length, letter = (part or b"" for part in found.groups())
    if letter == b"%":
        return b"%"
    if letter not in _SIGNED + _UNSIGNED + _FLOATS + b"cps":
        return found.group()
    if width == b"*":
        asked = arguments.number()
        flags, width = (flags + b"-", b"%d" % -asked) if asked < 0 else (flags, b"%d" % asked)
    exact: int | None = None if found.group(3) is None else _count(precision) if precision != b"*" else arguments.number()
    if exact is not None:
        exact = None if exact < 0 else min(exact, MOST_BYTES)
    if letter in _FLOATS:
        body = _float(struct.unpack("<d", arguments.take(8))[0], letter, flags, exact)
    elif letter == b"s":
        most = MOST_BYTES if exact is None else exact
        string = find(int.from_bytes(arguments.take(8), "little"), most)
        body = (b"(null)" if string is None else string)[:most]
    elif letter == b"p":
        body = b"%#x" % int.from_bytes(arguments.take(8), "little")
    elif letter == b"c":
        body = bytes([arguments.take(4)[0]])
    else:
        body = _integer(arguments.take(8 if length in _WIDE else 4), letter, flags, exact, _NARROW.get(length))
    return _padded(body, flags, _count(width), letter, exact)


def _count(digits: bytes) -> int:
    """A width or precision from its digits, of which there may be more than Python would read."""
    return int(digits or b"0") if len(digits) <= _MOST_DIGITS else MOST_BYTES


def _signed(text: bytes, negative: bool, flags: bytes) -> bytes:
    return (b"-" if negative else b"+" if b"+" in flags else b" " if b" " in flags else b"") + text


def _integer(data: bytes, letter: bytes, flags: bytes, exact: int | None, bits: int | None) -> bytes:
    signed = letter in _SIGNED
    value = int.from_bytes(data[: bits // 8 if bits else len(data)], "little", signed=signed)
    digits = {b"o": b"%o", b"x": b"%x", b"X": b"%X"}.get(letter, b"%d") % abs(value)
    if exact is not None:
        digits = b"" if exact == 0 and value == 0 else digits.rjust(exact, b"0")
    if b"#" in flags and letter == b"o" and not digits.startswith(b"0"):
        digits = b"0" + digits
    elif b"#" in flags and letter in b"xX" and value:
        digits = b"0" + letter + digits
    return _signed(digits, value < 0, flags if signed else b"")


def _float(value: float, letter: bytes, flags: bytes, exact: int | None) -> bytes:
    kind, size = letter.decode(), abs(value)
    if not math.isfinite(value):
        digits = "inf" if math.isinf(value) else "nan"
    elif kind in "aA":
        digits = _hexadecimal(size, exact)
    else:
        digits = f"%{'#' if b'#' in flags else ''}.{6 if exact is None else exact}{kind}" % size
    digits = digits.upper() if kind.isupper() else digits
    return _signed(digits.encode(), math.copysign(1.0, value) < 0, flags)


def _hexadecimal(size: float, exact: int | None) -> str:
    """C's spelling: as many digits as are needed, or rounded to as many as are asked for."""
    fraction, exponent = math.frexp(size)
    fraction, exponent = (2 * fraction, exponent - 1) if size else (0.0, 0)
    if size and exponent < -1022:
        fraction, exponent = math.ldexp(fraction, exponent + 1022), -1022
    digits = 13 if exact is None else min(exact, 13)
    units = round(math.ldexp(fraction, 4 * digits))
    whole, rest = divmod(units, 1 << 4 * digits)
    text = f"{rest:0{digits}x}" if digits else ""
    text = text.rstrip("0") if exact is None else text.ljust(exact, "0")
    return f"0x{whole}{'.' if text else ''}{text}p{exponent:+d}"


def _padded(body: bytes, flags: bytes, wanted: int, letter: bytes, exact: int | None) -> bytes:
    width = min(wanted, MOST_BYTES)
    if b"-" in flags:
        return body.ljust(width)
    is_integer = letter in _SIGNED + _UNSIGNED
    zeros = b"0" in flags and letter not in b"csp" and not (is_integer and exact is not None)
    if not zeros or body.strip(b"+- ").lower() in (b"inf", b"nan"):
        return body.rjust(width)
    head = re.match(rb"[-+ ]?(0[xX])?", body)
    assert head is not None
    return head.group() + body[head.end() :].rjust(width - head.end(), b"0")
