"""Names of kernels as C++ spells them: the part of the Itanium C++ ABI's mangling that names of kernels use."""

from __future__ import annotations

import functools
import re
from typing import NamedTuple

_BUILTIN = {
    "v": "void",
    "w": "wchar_t",
    "b": "bool",
    "c": "char",
    "a": "signed char",
    "h": "unsigned char",
    "s": "short",
    "t": "unsigned short",
    "i": "int",
    "j": "unsigned int",
    "l": "long",
    "m": "unsigned long",
    "x": "long long",
    "y": "unsigned long long",
    "n": "__int128",
    "o": "unsigned __int128",
    "f": "float",
    "d": "double",
    "e": "long double",
    "z": "...",
    "Dn": "decltype(nullptr)",
    "Di": "char32_t",
    "Ds": "char16_t",
}
_STANDARD = {"St": "std", "Sa": "std::allocator", "Sb": "std::basic_string", "Ss": "std::string"}
_QUALIFIED = {"P": "*", "R": "&", "O": "&&", "K": " const", "V": " volatile", "r": " __restrict__"}
_SUFFIXES = {"int": "", "unsigned int": "u", "long": "l", "unsigned long": "ul", "long long": "ll", "unsigned long long": "ull"}
_DEEPEST = 100
_IN_FRONT = re.compile(r"(?:\w+|\(anonymous namespace\))::")


class KernelName(NamedTuple):
    """A name in its parts."""

    path: str  # with namespaces and template arguments
    parameters: str | None = None  # the types in parentheses; None for a name that is not mangled
    short: str = ""  # the path for a table: without namespaces, of what is inside a function only the function

    @property
    def whole(self) -> str:
        return self.path if self.parameters is None else f"{self.path}({self.parameters})"

    @property
    def last(self) -> str:
        """The name without namespaces and template arguments."""
        return _without_arguments(self._components()[-1])

    def spellings(self) -> set[str]:
        """All that people may call it: with and without namespaces, template arguments and parameters; no spaces."""
        components = self._components()
        found = set()
        for start in range(len(components)):
            tail = components[start:]
            for path in ("::".join(tail), "::".join([*tail[:-1], _without_arguments(tail[-1])])):
                found |= {path, f"{path}({self.parameters})"} if self.parameters is not None else {path}
        return {"".join(spelling.split()) for spelling in found}

    def _components(self) -> list[str]:
        """The path, split where it is not inside template arguments or parentheses."""
        components, depth = [""], 0
        for part in re.split(r"(::|[<>()])", self.path):
            depth += (part in ("<", "(")) - (part in (">", ")"))
            if part == "::" and not depth:
                components.append("")
            else:
                components[-1] += part
        return components


def _without_arguments(name: str) -> str:
    return name.partition("<")[0]


class _UnknownError(Exception):
    """A construct that this reader does not know."""


@functools.cache
def demangle(name: str) -> KernelName:
    """The name that the source gives a function; the name itself where it is not mangled or not understood."""
    if not name.startswith("_Z"):
        return KernelName(name, short=name)
    try:
        brief = _IN_FRONT.sub("", _Reader(name, brief=True).function().path)
        return _Reader(name).function()._replace(short=brief)
    except (_UnknownError, IndexError):
        return KernelName(name, short=name)


class _Reader:
    def __init__(self, text: str, brief: bool = False) -> None:
        self._text = text
        self._brief = brief  # functions inside functions are left out
        self._constant = False  # whether the last nested name is that of a function that changes nothing
        self._at = 2
        self._known: list[str] = []  # what substitutions refer to
        self._arguments: list[str] = []  # what template parameters of the function stand for
        self._depth = 0

    def function(self) -> KernelName:
        path = self._name()
        types = []
        if path.endswith(">"):  # a template states its result type
            self._type()
        while self._at < len(self._text) and self._text[self._at] not in ".$":
            types.append(self._type())
        return KernelName(path, ", ".join(types) if types != ["void"] else "")

    def _accept(self, word: str) -> bool:
        if self._text.startswith(word, self._at):
            self._at += len(word)
            return True
        return False

    def _matched(self, pattern: str) -> str | None:
        found = re.compile(pattern).match(self._text, self._at)
        if found is None:
            return None
        self._at = found.end()
        return found[0]

    def _source_name(self) -> str:
        digits = self._matched(r"[1-9]\d{0,5}")
        if digits is None:
            raise _UnknownError
        start = self._at
        self._at += int(digits)
        if self._at > len(self._text):
            raise _UnknownError
        name = self._text[start : self._at]
        while self._accept("B"):  # a tag of the ABI
            self._source_name()
        return "(anonymous namespace)" if name.startswith("_GLOBAL__N_") else name

    def _unqualified(self) -> str:
        """A name alone; a lambda and a type without a name have a number."""
        if self._accept("cl"):
            return "operator()"
        if self._accept("Ul"):
            return f"{{lambda({self._listed()})#{self._number()}}}"
        if self._accept("Ut"):
            return f"{{unnamed#{self._number()}}}"
        self._accept("L")  # for its file alone
        return self._source_name()

    def _number(self) -> int:
        found = self._matched(r"\d*_")
        if found is None:
            raise _UnknownError
        return int(found[:-1]) + 2 if len(found) > 1 else 1

    def _local(self) -> str:
        """A name inside a function: the function's, and its own."""
        self._depth += 1
        if self._depth > _DEEPEST:
            raise _UnknownError
        arguments = self._arguments
        path = self._name()
        constant = " const" if self._constant else ""
        if path.endswith(">"):
            self._type()
        parameters = self._listed()
        self._arguments = arguments
        inner = self._name()
        self._matched(r"_\d|__\d+_")  # which of several of the name
        self._depth -= 1
        return path if self._brief else f"{path}({parameters}){constant}::{inner}"

    def _listed(self) -> str:
        """Types up to an end."""
        types = []
        while not self._accept("E"):
            types.append(self._type())
        return ", ".join(types) if types != ["void"] else ""

    def _name(self) -> str:
        if self._accept("N"):
            return self._nested()
        if self._accept("Z"):
            return self._local()
        if self._accept("St"):
            path = f"std::{self._source_name()}"
        elif self._text[self._at] == "S":
            path = self._substitution()
            return path + self._template() if self._text[self._at] == "I" else path
        else:
            path = self._unqualified()
        if self._at < len(self._text) and self._text[self._at] == "I":
            self._known.append(path)
            path += self._template()
        return path

    def _nested(self) -> str:
        self._constant = "K" in (self._matched("[rVK]+") or "")
        path, constant = "", self._constant
        while not self._accept("E"):
            if self._text[self._at] == "S":
                path = self._substitution()
                continue
            if self._text[self._at] == "I":
                path += self._template()
            elif self._text[self._at] == "T":
                path = self._parameter()
            else:
                name = self._unqualified()
                if name.startswith("_INTERNAL_"):  # nvcc's own namespace for what is private to a file
                    self._known.append(path)
                    continue
                path = f"{path}::{name}" if path else name
            if self._text[self._at] != "E":
                self._known.append(path)
        self._constant = constant
        return path

    def _substitution(self) -> str:
        if self._text[self._at : self._at + 2] in _STANDARD:
            self._at += 2
            return _STANDARD[self._text[self._at - 2 : self._at]]
        found = self._matched("S[0-9A-Z]*_")
        if found is None:
            raise _UnknownError
        return self._known[int(found[1:-1], 36) + 1 if len(found) > 2 else 0]

    def _parameter(self) -> str:
        found = self._matched(r"T\d*_")
        if found is None:
            raise _UnknownError
        return self._arguments[int(found[1:-1]) + 1 if len(found) > 2 else 0]

    def _template(self) -> str:
        self._at += 1
        arguments = self._list()
        self._arguments = arguments
        return f"<{', '.join(filter(None, arguments))}>"

    def _list(self) -> list[str]:
        arguments = []
        while not self._accept("E"):
            arguments.append(self._argument())
        return arguments

    def _argument(self) -> str:
        if self._accept("L"):
            return self._literal()
        if self._accept("J"):
            return ", ".join(self._list())
        return self._type()

    def _literal(self) -> str:
        if self._text[self._at] == "_":
            raise _UnknownError
        kind = self._type()
        value = self._matched(r"n?\d+")
        if value is None or not self._accept("E"):
            raise _UnknownError
        value = value.replace("n", "-")
        if kind == "bool":
            return "true" if value == "1" else "false"
        return value + _SUFFIXES[kind] if kind in _SUFFIXES else f"({kind}){value}"

    def _type(self) -> str:
        self._depth += 1
        if self._depth > _DEEPEST:
            raise _UnknownError
        try:
            return self._any_type()
        finally:
            self._depth -= 1

    def _any_type(self) -> str:
        for length in (2, 1):
            builtin = _BUILTIN.get(self._text[self._at : self._at + length])
            if builtin is not None:
                self._at += length
                return builtin
        first = self._text[self._at]
        if first in _QUALIFIED:
            self._at += 1
            text = self._type() + _QUALIFIED[first]
        elif first == "T":
            text = self._parameter()
        elif self._accept("Dp"):  # of a pack, all that it stands for
            return self._type()
        elif first == "A":
            size = self._matched(r"A\d+_")
            if size is None:
                raise _UnknownError
            text = f"{self._type()} [{size[1:-1]}]"
        elif first == "S" and not self._text.startswith("St", self._at):
            text = self._substitution()
            if self._text[self._at : self._at + 1] != "I":
                return text
            text += self._inner_template()
        else:
            text = self._class()
        self._known.append(text)
        return text

    def _class(self) -> str:
        """A class by name. Its template arguments are not those that parameters of the function stand for."""
        arguments = self._arguments
        text = self._name()
        self._arguments = arguments
        return text

    def _inner_template(self) -> str:
        arguments = self._arguments
        text = self._template()
        self._arguments = arguments
        return text
