"""Names and element types of a kernel's parameters, read from CUDA source.

PTX keeps neither, so this looks for the text ``__global__ ... kernel(...)`` and reads the declarations between the
parentheses. It is a convenience for naming arguments: where it understands nothing, arguments go by position.
"""

from __future__ import annotations

import re
from typing import NamedTuple

_TYPES = {
    "char": "s8",
    "signed char": "s8",
    "unsigned char": "u8",
    "short": "s16",
    "unsigned short": "u16",
    "int": "s32",
    "unsigned": "u32",
    "unsigned int": "u32",
    "long long": "s64",
    "unsigned long long": "u64",
    "size_t": "u64",
    "float": "f32",
    "double": "f64",
    "int8_t": "s8",
    "uint8_t": "u8",
    "int16_t": "s16",
    "uint16_t": "u16",
    "int32_t": "s32",
    "uint32_t": "u32",
    "int64_t": "s64",
    "uint64_t": "u64",
}
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_QUALIFIERS = re.compile(r"\b(?:const|volatile|__restrict__|__restrict|restrict|struct)\b")


class Declared(NamedTuple):
    """One parameter as the source declares it."""

    name: str
    pointer: bool
    element: str  # "" where the type is not a plain arithmetic one


def source_signature(source: str, kernel: str) -> list[Declared] | None:
    """The parameters of a kernel, or None where its declaration is not found or not understood."""
    text = _COMMENT.sub(" ", source)
    match = re.search(rf"__global__[^;{{}}]*?\b{re.escape(kernel)}\s*\(([^()]*)\)", text)
    if match is None:
        return None
    declared = []
    for part in filter(None, (piece.strip() for piece in match.group(1).split(","))):
        plain = _QUALIFIERS.sub(" ", part.partition("=")[0])
        found = re.fullmatch(r"(?P<type>[\w:\s]+?)\s*(?P<stars>[*\s]*)\b(?P<name>\w+)\s*(?P<array>\[\d*\])?", plain.strip())
        if found is None:
            return None
        pointer = "*" in found["stars"] or found["array"] is not None
        declared.append(Declared(found["name"], pointer, _TYPES.get(" ".join(found["type"].split()), "")))
    return declared
