"""The plan of docs/house.md holds: every module stands in a room, and imports only from its own room and those above it."""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Collection
from pathlib import Path

import pytest

from support.places import ROOT

PACKAGE = ROOT / "src" / "warploom"
ENTRANCES = {
    "__init__.py",
    "__main__.py",
    "kit.py",
}  # at the root: for users, for the command, for authors
FOR_ALL = {"warploom", "warploom.__version__"}
OF_A_POLICY = {"State", "Notes", "Counts", "Hints"}  # every policy may call its own records so


def rooms_in_order(page: str) -> list[str]:
    """The rooms in the order of the table of the page: each row names one or more folders."""
    rows = [line.split("|")[1] for line in page.split("\n\n## ")[0].splitlines() if re.match(r"\| `[\w/]+/`", line)]
    return [room for row in rows for room in re.findall(r"`([\w/]+)/`", row)]


def room_of(parts: tuple[str, ...], rooms: Collection[str]) -> str:
    """The room that a module stands in, given its path: the innermost folder that the page names; empty if there is none."""
    return next((room for depth in range(len(parts), 0, -1) if (room := "/".join(parts[:depth])) in rooms), "")


@functools.cache
def nodes(file: Path) -> list[ast.AST]:
    """All that is said in a file; each file is parsed once for all tests."""
    return list(ast.walk(ast.parse(file.read_text("utf-8"))))


def modules_imported(file: Path, module: str) -> list[str]:
    """The modules of this package that a file imports anywhere in it, inside functions too."""
    found = []
    for node in nodes(file):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            package = module.split(".")[: -node.level] if node.level else []
            base = ".".join([*package, *([node.module] if node.module else [])])
            found += [f"{base}.{alias.name}" for alias in node.names] if base == "warploom" else [base]
    return [name for name in found if name.split(".")[0] == "warploom"]


def wrong_ways(page: str, package: Path) -> list[str]:
    """Every import that points to a room below its own, and every module that stands in no room."""
    order = {room: place for place, room in enumerate(rooms_in_order(page))}
    wrong = []
    for file in sorted(package.rglob("*.py")):
        parts = file.relative_to(package).with_suffix("").parts
        if file.name in ENTRANCES and (len(parts) == 1 or not modules_imported(file, "")):
            continue
        room = room_of(parts[:-1], order)
        if not room:
            wrong.append(f"{'/'.join(parts)}.py stands in no room of the page")
            continue
        for imported in modules_imported(file, ".".join(("warploom", *parts))):
            target = room_of(tuple(imported.split(".")[1:]), order)
            if target and order[target] > order[room]:
                wrong.append(f"{'/'.join(parts)}.py imports {imported}, which stands below it")
            elif not target and imported not in FOR_ALL:
                wrong.append(f"{'/'.join(parts)}.py imports {imported}, which stands in no room")
    return wrong


def test_every_import_points_up_the_page() -> None:
    assert wrong_ways((ROOT / "docs" / "house.md").read_text("utf-8"), PACKAGE) == []


def between_papers(package: Path) -> list[str]:
    """Every import that names a paper, from anywhere but the folder of that paper."""
    papers = {file.parent.name for file in (package / "papers").glob("*/__init__.py")}
    wrong = []
    for file in sorted(package.rglob("*.py")):
        parts = file.relative_to(package).with_suffix("").parts
        for imported in modules_imported(file, ".".join(("warploom", *parts))):
            named = imported.split(".")[1:3]
            if named[:1] == ["papers"] and named[1:] and named[1] in papers and parts[:2] != ("papers", named[1]):
                wrong.append(f"{'/'.join(parts)}.py imports {imported}, another's paper")
    return wrong


def test_nobody_imports_anothers_paper() -> None:
    assert between_papers(PACKAGE) == []


def test_the_core_and_what_it_shares_with_policies_name_no_paper() -> None:
    names = {file.parent.name for file in (PACKAGE / "papers").glob("*/__init__.py")} - {"compression"}  # a plain word, too
    word = re.compile(rf"\b({'|'.join(name.replace('_', '[-_ ]') for name in sorted(names))})\b", re.IGNORECASE)
    files = [
        file
        for room in ("compiler", "chip", "designs/policies")
        for file in (PACKAGE / room).rglob("*.py")
        if not file.is_relative_to(PACKAGE / "chip" / "machines")
    ]
    assert len(names) > 5
    assert [str(file) for file in files if word.search(file.read_text("utf-8"))] == []


def test_an_import_of_anothers_paper_is_found(tmp_path: Path) -> None:
    for name in ("first", "second"):
        (tmp_path / "papers" / name).mkdir(parents=True)
        (tmp_path / "papers" / name / "__init__.py").write_text("")
    (tmp_path / "papers" / "first" / "idea.py").write_text("from warploom.papers.first import other\n")
    (tmp_path / "papers" / "shared.py").write_text("import warploom.studies.reproduce.experiment\n")
    assert between_papers(tmp_path) == []
    (tmp_path / "papers" / "first" / "copy.py").write_text("from warploom.papers.second.idea import idea\n")
    (tmp_path / "papers" / "all.py").write_text("from warploom.papers.first import idea\n")
    assert [line.split(" imports ")[0] for line in between_papers(tmp_path)] == ["papers/all.py", "papers/first/copy.py"]


def test_every_room_of_the_page_exists() -> None:
    for room in rooms_in_order((ROOT / "docs" / "house.md").read_text("utf-8")):
        assert (PACKAGE / room).is_dir(), room


@pytest.mark.parametrize(
    ("source", "complaint"),
    [
        ("from warploom.attic.things import thing\n", "imports warploom.attic.things"),
        ("def late():\n    import warploom.attic\n", "imports warploom.attic"),
        ("from ..attic import things\n", "imports warploom.attic"),
        ("from warploom import attic\n", "imports warploom.attic"),
    ],
)
def test_an_import_down_the_page_is_found(tmp_path: Path, source: str, complaint: str) -> None:
    for room in ("cellar", "attic"):
        (tmp_path / room).mkdir()
        (tmp_path / room / "__init__.py").write_text("")
    (tmp_path / "cellar" / "shelf.py").write_text(source)
    page = "| room | holds |\n| --- | --- |\n| `cellar/` | shelves |\n| `attic/` | things |\n"
    assert len(wrong_ways(page, tmp_path)) == 1
    assert complaint in wrong_ways(page, tmp_path)[0]
    (tmp_path / "loose.py").write_text("")
    assert "loose.py stands in no room of the page" in wrong_ways(page, tmp_path)


def classes_of(package: Path) -> dict[str, list[str]]:
    """The public classes of a package by name, each with the files that define it."""
    found: dict[str, list[str]] = {}
    for file in sorted(package.rglob("*.py")):
        body = next(node.body for node in nodes(file) if isinstance(node, ast.Module))
        for node in body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                found.setdefault(node.name, []).append(file.relative_to(package).as_posix())
    return found


def test_no_two_classes_share_a_name() -> None:
    shared = {name: files for name, files in classes_of(PACKAGE).items() if len(files) > 1 and name not in OF_A_POLICY}
    assert shared == {}
