"""``warploom new``: working skeletons of what people add, each with its test."""

from __future__ import annotations

import re
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Annotated

import typer

from warploom.base.errors import WarploomError
from warploom.base.files import replace_file
from warploom.base.spelling import did_you_mean
from warploom.cli.output import message

KINDS = {
    "policy": "warploom run bfs --policy {folder}/{file}.py --design {name} --size tiny",
    "paper": "warploom run bfs --paper {folder} --design {name} --size tiny",
    "machine": "warploom run vectoradd --machine {folder}/{file}.toml --size tiny",
    "workload": "python -m pytest {folder}/test_{file}.py",
}


def command(
    kind: Annotated[str, typer.Argument(help=f"What to begin: {', '.join(KINDS)}.", metavar="|".join(KINDS))],
    name: Annotated[str, typer.Argument(help="Its name: small letters, digits and hyphens.")],
    out: Annotated[Path | None, typer.Option(help="Folder for the files; default: a folder of that name.")] = None,
) -> None:
    """Write a working skeleton of a policy, a paper, a machine or a workload, with its test."""
    if kind not in KINDS:
        raise WarploomError(f"new {kind}: there is no such skeleton{did_you_mean(kind, KINDS)}")
    if not re.fullmatch(r"[a-z][a-z0-9-]*", name):
        raise WarploomError(f"new {kind} {name!r}: a name is of small letters, digits and hyphens, such as my-{kind}")
    file = name.replace("-", "_")
    folder = out if out is not None else Path(file)
    skeletons = [each for each in (resources.files("warploom.cli") / "skeletons" / kind).iterdir() if each.name.endswith(".txt")]
    written = {folder / each.name.removesuffix(".txt").replace("FILE", file): each for each in skeletons}
    for path in written:
        if path.exists():
            raise WarploomError(f"{path}: it is there already; take another name, or another folder with --out")
    folder.mkdir(parents=True, exist_ok=True)
    for path, skeleton in sorted(written.items()):
        with replace_file(path) as draft:
            draft.write_text(_filled(skeleton, name, file), encoding="utf-8")
        message(f"wrote {path}")
    message(f"try it: {KINDS[kind].format(folder=folder, file=file, name=name)}")
    message(f"its test: python -m pytest {folder}")


def _filled(skeleton: Traversable, name: str, file: str) -> str:
    """The text of a skeleton with its names put in; NAME as a constant of a class stays what it is."""
    text = skeleton.read_text(encoding="utf-8")
    words = {"CFUNCTION": file, "CLASS": "".join(part.capitalize() for part in name.split("-")), "FILE": file}
    for word, value in words.items():
        text = re.sub(rf"\b{word}\b|(?<=test_){word}\b", value, text)
    return re.sub(r"\bNAME\b(?! = )", name, text)
