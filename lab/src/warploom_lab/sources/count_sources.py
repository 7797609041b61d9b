"""How large the sources are and how well typed, by room: ``warploom-lab count-sources [COMMIT ...] [--json]``.

Without a commit the files as they are now are counted, otherwise those of each commit. A room is a folder of the package, or the
lab, the tests. Columns: files; lines, all of them; lines of code (without blank lines, comments and docstrings); functions, and
those longer than 60 lines or without a type somewhere in their signature; `Any` where it is used, how often of that as
`dict[str, Any]`; `type: ignore`.
"""

from __future__ import annotations

import argparse
import ast
import io
import json
import subprocess
import sys
import tarfile
import tokenize
from collections.abc import Iterator
from dataclasses import asdict, dataclass, fields
from pathlib import Path

ROOT = Path(__file__).resolve().parents[4]
LONG_FUNCTION = 60
_THIN = (tokenize.NL, tokenize.NEWLINE, tokenize.COMMENT, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER)
_Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass
class Counts:
    """What is counted of some sources."""

    files: int = 0
    lines: int = 0
    code: int = 0
    functions: int = 0
    long: int = 0
    untyped: int = 0
    any: int = 0
    any_dicts: int = 0
    ignores: int = 0

    def __add__(self, other: Counts) -> Counts:
        return Counts(*(getattr(self, field.name) + getattr(other, field.name) for field in fields(Counts)))


def counts_of(text: str) -> Counts:
    """What is counted of one file."""
    tree = ast.parse(text)
    nodes = list(ast.walk(tree))
    functions = [node for node in nodes if isinstance(node, _Function)]
    methods = {node for owner in nodes if isinstance(owner, ast.ClassDef) for node in owner.body}
    tokens = list(tokenize.generate_tokens(io.StringIO(text).readline))
    return Counts(
        files=1,
        lines=len(text.splitlines()),
        code=len(_lines_of_code(tokens) - _lines_of_docstrings(nodes)),
        functions=len(functions),
        long=sum((node.end_lineno or 0) - node.lineno + 1 > LONG_FUNCTION for node in functions),
        untyped=sum(not _is_typed(node, node in methods) for node in functions),
        any=sum(isinstance(node, ast.Name) and node.id == "Any" for node in nodes),
        any_dicts=sum(isinstance(node, ast.Subscript) and ast.unparse(node) == "dict[str, Any]" for node in nodes),
        ignores=sum(token.type == tokenize.COMMENT and "type: ignore" in token.string for token in tokens),
    )


def _lines_of_code(tokens: list[tokenize.TokenInfo]) -> set[int]:
    return {line for token in tokens if token.type not in _THIN for line in range(token.start[0], token.end[0] + 1)}


def _lines_of_docstrings(nodes: list[ast.AST]) -> set[int]:
    found: set[int] = set()
    for node in nodes:
        if isinstance(node, ast.Module | ast.ClassDef | _Function) and ast.get_docstring(node, clean=False) is not None:
            found.update(range(node.body[0].lineno, (node.body[0].end_lineno or 0) + 1))
    return found


def _is_typed(function: _Function, is_method: bool) -> bool:
    """Whether all of a signature has types; the first argument of a method needs none."""
    arguments = function.args
    static = any(isinstance(word, ast.Name) and word.id == "staticmethod" for word in function.decorator_list)
    positional = [*arguments.posonlyargs, *arguments.args][1 if is_method and not static else 0 :]
    others = [*arguments.kwonlyargs, *(item for item in (arguments.vararg, arguments.kwarg) if item is not None)]
    return function.returns is not None and all(item.annotation is not None for item in (*positional, *others))


def room_of(path: str) -> str | None:
    """The room of a file by its path from the root of the repository; None of a file that is not counted."""
    top, *inner = Path(path).parts
    if not path.endswith(".py"):
        return None
    if top == "src":
        return inner[1] if len(inner) > 2 else "(the package itself)"
    return top if top in ("lab", "scripts", "tests") else None


def _files_now() -> Iterator[tuple[str, str]]:
    listed = subprocess.run(["git", "-C", ROOT, "ls-files", "*.py"], check=True, capture_output=True, text=True).stdout
    for path in listed.splitlines():
        if (ROOT / path).exists():
            yield path, (ROOT / path).read_text("utf-8")


def _files_of(commit: str) -> Iterator[tuple[str, str]]:
    packed = subprocess.run(["git", "-C", ROOT, "archive", "--format=tar", commit], check=True, capture_output=True).stdout
    with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
        for member in archive:
            if member.name.endswith(".py") and (file := archive.extractfile(member)) is not None:
                yield member.name, file.read().decode("utf-8")


def count(files: Iterator[tuple[str, str]]) -> dict[str, Counts]:
    """Counts by room, the package's together last."""
    rooms: dict[str, Counts] = {}
    for path, text in files:
        if (room := room_of(path)) is not None:
            rooms[room] = rooms.get(room, Counts()) + counts_of(text)
    outside = {name: rooms.pop(name) for name in ("lab", "scripts", "tests") if name in rooms}
    return dict(sorted(rooms.items())) | {"the package": sum(rooms.values(), Counts())} | outside


def main() -> int:
    """Count and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("commits", nargs="*", metavar="COMMIT", help="a commit to count; omit it for the files as they are now")
    parser.add_argument("--json", action="store_true", help="print the counts as JSON")
    options = parser.parse_args()
    counted = {commit: count(_files_of(commit)) for commit in options.commits} or {"now": count(_files_now())}
    if options.json:
        print(json.dumps({commit: {room: asdict(row) for room, row in rooms.items()} for commit, rooms in counted.items()}))
        return 0
    for commit, rooms in counted.items():
        print(f"{commit:<22}" + "".join(f"{field.name:>11}" for field in fields(Counts)))
        for room, row in rooms.items():
            print(f"{room:<22}" + "".join(f"{value:>11,}" for value in asdict(row).values()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
