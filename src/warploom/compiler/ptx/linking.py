"""Links PTX: the texts of several files that were compiled one by one become one text, in which each name means one thing.

What one file defines and another declares as ``.extern`` becomes one definition. Of what several define weakly (inline functions,
templates) the first is kept. What only its own file sees gets another name where the name is taken. Lines of sources are
dropped: the lines of the result are its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from graphlib import CycleError, TopologicalSorter

from warploom.base.errors import WarploomError

_STRING_OR_COMMENT = re.compile(r'("[^"\n]*")|//[^\n]*|/\*[\s\S]*?\*/')
_MARK = re.compile(r'"[^"\n]*"|[{};]')
_LINE = re.compile(r"^[ \t]*\.(?:file|loc)\b[^\n]*$", re.MULTILINE)
_HEADER = re.compile(r"\s*\.version\s+(\d+)\.(\d+)\s+\.target\s+(\w+)[^\n]*\s+(?:\.address_size\s+(\d+))?")
_LINKAGE = re.compile(r"\s*((?:\.(?:visible|extern|weak|common)\s+)*)")
_ATTRIBUTE = r"(?:\.attribute\s*\((?:[^()]|\([^()]*\))*\)\s*)*"
_FUNCTION = re.compile(rf"\.(?:entry|func)\s*{_ATTRIBUTE}(?:\([^)]*\)\s*)?([\w$%]+)")
_VARIABLE = re.compile(r"\.(?:global|const|shared|tex)\b[^=;]*?([A-Za-z_$%][\w$]*)\s*(?:\[[^\]]*\]\s*)*[=;]")
_ALIAS = re.compile(r"\.alias\s+([\w$%]+)")
_NAME = re.compile(r"(?<![\w$%.])[A-Za-z_$%][\w$]*")
_ONE_OF_SEVERAL = (".weak", ".common")


@dataclass(frozen=True)
class _Statement:
    """One declaration or definition at the outermost level of a file."""

    text: str  # without its linkage
    linkage: str  # ".visible", ".extern", ".weak", ".common", or nothing: only its own file sees it
    name: str
    function: bool
    defined: bool

    @property
    def whole(self) -> str:
        """The statement with its linkage."""
        return f"{self.linkage} {self.text}".strip()


def link(texts: Sequence[str], place: str) -> str:
    """The text of a whole program from the texts of its files; of one file as it is."""
    if len(texts) == 1:
        return texts[0]
    taken: set[str] = set()
    files = []
    for number, text in enumerate(texts):
        files.append(_with_own_names([*_statements(_HEADER.sub("", _plain(text), count=1))], taken, number))
        taken |= {statement.name for statement in files[-1]}
    everything = [statement for file in files for statement in file]
    definitions = _definitions(everything, place)
    declared = {each.name: each for each in reversed(everything) if not each.defined}
    parts = [
        *(_declaration(each, definitions.get(each.name)) for each in declared.values() if each.function),
        *(each.whole for each in declared.values() if not each.function and each.name not in definitions),
        *(each.whole for each in _in_order([each for each in definitions.values() if not each.function], place)),
        *(each.whole for each in definitions.values() if each.function),
    ]
    return "\n".join([_header(texts, place), *parts, ""])


def _plain(text: str) -> str:
    """A text without comments and without what only debuggers read."""
    return _LINE.sub("", _STRING_OR_COMMENT.sub(lambda found: found[1] or " ", text))


def _header(texts: Sequence[str], place: str) -> str:
    """The newest version and target that the files name."""
    found = [_HEADER.match(_plain(text)) for text in texts]
    if not all(found):
        raise WarploomError(f"{place}: a part of the program is not PTX, which begins with .version, .target and .address_size.")
    headers = [each for each in found if each is not None]
    version = max((int(each[1]), int(each[2])) for each in headers)
    target = max((each[3] for each in headers), key=lambda name: int(re.sub(r"\D", "", name) or 0))
    return f".version {version[0]}.{version[1]}\n.target {target}\n.address_size {headers[0][4] or 32}\n"


def _statements(text: str) -> Iterator[_Statement]:
    start = depth = 0
    for mark in _MARK.finditer(text):
        depth += {"{": 1, "}": -1}.get(mark[0], 0)
        if depth or mark[0][0] == '"':
            continue
        whole = text[start : mark.end()]
        if mark[0] == "}" and "=" in whole[: whole.find("{")]:
            continue  # the contents of a variable, whose end is still to come
        start = mark.end()
        statement = _statement(whole)
        if statement is not None:
            yield statement


def _statement(text: str) -> _Statement | None:
    """A statement, or nothing where it only concerns debuggers or is empty."""
    found = _LINKAGE.match(text)
    assert found is not None
    linkage, rest = found[1].strip(), text[found.end() :].strip()
    function = _FUNCTION.match(rest)
    named = function or _ALIAS.match(rest) or _VARIABLE.match(rest)
    if named is None:
        return None
    alias = rest.startswith(".alias")
    defined = rest.endswith("}") or alias if function or alias else linkage != ".extern"
    return _Statement(rest, linkage, named[1], bool(function) or alias, defined)


def _with_own_names(file: list[_Statement], taken: set[str], number: int) -> list[_Statement]:
    """A file in which nothing that only it sees has a name that is taken."""
    seen = {each.name for each in file if each.linkage}
    clashing = {each.name: f"{each.name}__{number}" for each in file if each.name in taken and each.name not in seen}
    if not clashing:
        return file

    def renamed(text: str) -> str:
        return _NAME.sub(lambda found: clashing.get(found[0], found[0]), text)

    return [replace(each, text=renamed(each.text), name=clashing.get(each.name, each.name)) for each in file]


def _definitions(everything: list[_Statement], place: str) -> dict[str, _Statement]:
    """The one definition of each name."""
    found: dict[str, _Statement] = {}
    for each in everything:
        if not each.defined:
            continue
        other = found.get(each.name)
        if other is None or (other.linkage in _ONE_OF_SEVERAL and each.linkage not in _ONE_OF_SEVERAL):
            found[each.name] = each
        elif each.linkage not in _ONE_OF_SEVERAL:
            raise WarploomError(f"{place}: {each.name} is defined in two of the files that the program was linked from.")
    return found


def _declaration(declared: _Statement, definition: _Statement | None) -> str:
    """A function's declaration with the linkage of its definition."""
    return (declared if definition is None else replace(declared, linkage=definition.linkage)).whole


def _in_order(variables: list[_Statement], place: str) -> list[_Statement]:
    """Variables in such an order that those whose addresses others begin with come before them."""
    by_name = {each.name: each for each in variables}
    needed = {
        each.name: [name for name in _NAME.findall(each.text.partition("=")[2]) if name in by_name and name != each.name]
        for each in variables
    }
    try:
        return [by_name[name] for name in TopologicalSorter(needed).static_order()]
    except CycleError as cycle:
        names = ", ".join(dict.fromkeys(cycle.args[1]))
        raise WarploomError(f"{place}: variables of several files begin with each other's addresses: {names}.") from None
