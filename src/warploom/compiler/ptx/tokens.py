"""PTX text to tokens, in one pass of one regular expression."""

from __future__ import annotations

import re

_TOKEN = re.compile(
    r"""[ \t\r\f\v]+ | //[^\n]*                             # skipped: no group takes part
    | (
        \n
      | /\*[\s\S]*?\*/                                     # kept here only to count its lines
      | [%$_A-Za-z][\w$]* (?: (?:\.|::) \w+ )*             # name, opcode with suffixes, special register
      | \.[A-Za-z_]\w* (?: :: \w+ )*                       # directive
      | 0[fF][0-9a-fA-F]{8}(?!\w) | 0[dD][0-9a-fA-F]{16}(?!\w)
      | 0[xX][0-9a-fA-F]+U? | 0[bB][01]+U?
      | \d+\.\d*(?:[eE][-+]?\d+)? | \d+[eE][-+]?\d+ | \d+U?
      | "[^"\n]*"
      | <<|>>|\S
    )""",
    re.VERBOSE,
)

END = ""
"""The token after the last one."""


def tokenize(text: str, line: int = 1) -> tuple[list[str], list[int]]:
    """The tokens and, beside them, the line each is on when the text begins on `line`; both end with `END` on the last line."""
    tokens: list[str] = []
    lines: list[int] = []
    for token in _TOKEN.findall(text):
        if not token:
            continue
        if token == "\n":
            line += 1
        elif token.startswith("/*"):
            line += token.count("\n")
        else:
            tokens.append(token)
            lines.append(line)
    tokens.append(END)
    lines.append(lines[-1] if lines else line)
    return tokens, lines
