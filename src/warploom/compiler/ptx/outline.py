"""The outline of a PTX file: everything but the bodies of functions, which are found without being read.

A file may hold thousands of kernels of which one is wanted. One pass over its braces, comments and strings is enough to know
where each body lies.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import NamedTuple

from warploom.compiler.ptx.tokens import END, tokenize

_MARK = re.compile(r'//[^\n]*|/\*[\s\S]*?\*/|"[^"\n]*"|[{}]')
_NO_CODE = re.compile(r'//[^\n]*|/\*[\s\S]*?\*/|"[^"\n]*"')
_OPENS = re.compile(r"\.(?:entry|func|section)\b|=")


class Span(NamedTuple):
    """The text of a body with its braces."""

    start: int
    end: int
    line: int  # of its opening brace


@dataclass
class Outline:
    """The tokens outside of bodies. In place of a body stand its two braces."""

    tokens: list[str] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)
    bodies: dict[int, Span] = field(default_factory=dict)  # by the position of the opening brace among the tokens


def outline(text: str) -> Outline:
    """The outline of a file. A body that is never closed is left in it as it is."""
    result = Outline()
    done, line = 0, 1  # what has been turned into tokens, and the line that follows
    looked = 0  # where the text begins that says what the next group in braces is
    depth = start = 0
    for mark in _MARK.finditer(text):
        if mark[0] == "{":
            if not depth:
                start = mark.start()
            depth += 1
        elif mark[0] == "}" and depth:
            depth -= 1
            if depth:
                continue
            if _is_body(text[looked:start]):
                line = _append(result, text[done:start], line)
                result.bodies[len(result.tokens)] = Span(start, mark.end(), line)
                body_lines = text.count("\n", start, mark.end())
                result.tokens += "{}"
                result.lines += (line, line + body_lines)
                line += body_lines
                done = mark.end()
            looked = mark.end()
    _append(result, text[done:], line)
    result.tokens.append(END)
    result.lines.append(result.lines[-1] if result.lines else 1)
    return result


def _is_body(before: str) -> bool:
    """Whether braces after this text hold a function, not the contents of a variable or of a section."""
    found = _OPENS.findall(_NO_CODE.sub(" ", before))
    return bool(found) and found[-1] in (".entry", ".func")


def _append(result: Outline, text: str, line: int) -> int:
    tokens, lines = tokenize(text, line)
    result.tokens += tokens[:-1]
    result.lines += lines[:-1]
    return line + text.count("\n")
