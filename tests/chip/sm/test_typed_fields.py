"""A type checker finds a misspelt field of any record that hooks receive, before anything is compiled."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from pathlib import Path

from support.places import ROOT
from warploom.chip.sm import CHOICES

# The comment takes the place of `--disable-error-code misc` and, unlike it, leaves what mypy has kept of our own modules valid.
FIRST_LINE = "# mypy: disable-error-code=misc, disallow-untyped-defs=false\n"
MISSPELT = """
from typing import Annotated, NamedTuple

from warploom.papers.bow.window import find
from warploom.papers.regmutex.sections import Notes as Sections
from warploom.papers.rfv.rfv import Rfv
from warploom.papers.rfv.state import State as Virtualization
from warploom.papers.rfv.throttling import leads
from warploom.base.records import Array, Record, i8, u1
from warploom.chip.sm import policy
from warploom.chip.sm.context import Context
from warploom.chip.sm.hooks import holds
from warploom.chip.sm.layout import Sm
from warploom.chip.sm.services import allocate, move_entries


class State(Record):
    wakeups: i8
    used: Annotated[Array[i8], 64]


class Notes(Record):
    conflicts: u1


@policy
class Misspelt(NamedTuple):
    CHOICE = "power"
    NAME = "misspelt"

    STATE = State
    NOTES = Notes

    def on_read(policy, ctx: Context, sm: Sm, cycle: int, entry: int) -> None:
        state: State = sm.power
        state.wakups += 1  # wrong: "State" has no attribute "wakups"
        state.wakeups += 1
        state.used[entry] = cycle
        state.used[entry].at = cycle  # wrong: "int" has no attribute "at"
        sm.enty[entry].warp = 1  # wrong: "Sm" has no attribute "enty"
        sm.entry[entry].warps = 1  # wrong: "Entry" has no attribute "warps"
        sm.entry[entry].warp = 1
        sm.count.rf_read += 1  # wrong: "Count" has no attribute "rf_read"
        if ctx.machine.register_file.bank > 1:  # wrong: "RegisterFile" has no attribute "bank"
            return
        if ctx.code[sm.slot[0].pc].n_write > ctx.info.entries:  # wrong: "CodeRow" has no attribute "n_write"
            return
        if ctx.info.entires > ctx.machine.register_file.banks:  # wrong: "Info" has no attribute "entires"
            return
        if holds(ctx.desing.hierarchy, ctx, sm, 0, 0):  # wrong: "Context" has no attribute "desing"
            return
        notes: Notes = ctx.code[0].power
        state.wakeups += notes.conflict  # wrong: "Notes" has no attribute "conflict"
        state.wakeups += notes.conflicts
        sections: Sections = ctx.code[0].allocation
        if sections.aquires:  # wrong: "Notes" has no attribute "aquires"
            return
        registers: Virtualization = sm.allocation
        registers.throtled |= sm.held  # wrong: "State" has no attribute "throtled"
        registers.throttled |= sm.held
        if leads(ctx, 0):  # wrong: Argument 1 to "leads" has incompatible type "Context"
            return
        if find(Rfv(), sm, 0, 0) >= 0:  # wrong: Argument 1 to "find" has incompatible type "Rfv"; expected "Bow"
            return
        move_entries(sm, cycle, 0, 1)  # wrong: Missing positional argument "entries" in call to "move_entries"
        allocate(sm, ctx, cycle, 0, 0, entry)  # wrong: Argument 1 to "allocate" has incompatible type "Sm"
"""


def complaints(*files: Path) -> list[tuple[str, int, str]]:
    """What mypy says of policy files: the file, the line, the words."""
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--config-file", "pyproject.toml", *map(str, files)],
        cwd=ROOT,
        env={**os.environ, "MYPYPATH": "src"},
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode in (0, 1), done.stdout + done.stderr
    found = re.findall(r"^(.*?):(\d+): error: (.*?)(?:  \[.*)?$", done.stdout, re.MULTILINE)
    return [(Path(file).name, int(line), words) for file, line, words in found]


def test_mypy_finds_misspelt_fields_and_passes_the_policies_of_the_page(tmp_path: Path) -> None:
    wrong = tmp_path / "misspelt_fields.py"
    wrong.write_text(FIRST_LINE + MISSPELT)
    page = (ROOT / "docs" / "tutorial" / "first-policy.md").read_text()
    right = []
    for number, text in enumerate(re.findall(r"```python\n(.*?)```", page, re.DOTALL)):
        right.append(tmp_path / f"policy_of_the_page_{number}.py")
        right[-1].write_text(FIRST_LINE + text)
    assert len(right) == 3
    found = complaints(wrong, *right)
    assert [one for one in found if one[0] != wrong.name] == []
    wanted = {}
    for line, text in enumerate(wrong.read_text().splitlines(), 1):
        if "# wrong: " in text:
            wanted[line] = text.split("# wrong: ")[1]
    assert len(wanted) == 16
    assert {line for _, line, _ in found} == wanted.keys()
    for line, words in wanted.items():
        assert any(said.startswith(words) for _, at, said in found if at == line), found


def untyped(source: str) -> list[int]:
    """The lines that use a policy's own record (`sm.power`) or notes (`ctx.code[pc].power`) without saying their type."""
    tree = ast.parse(source)
    typed = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.AnnAssign)}
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr in CHOICES and id(node) not in typed:
            record = ast.unparse(node.value)
            if record in ("sm", "row") or record.startswith("ctx.code["):
                found.append(node.lineno)
    return sorted(found)


def test_every_policy_names_the_type_of_what_it_keeps() -> None:
    assert untyped("sm.power.wakeups += 1\nstate = sm.power\nx = row.power.y + ctx.code[pc].power.z\n") == [1, 2, 3, 3]
    assert untyped("state: State = sm.power\nnotes: Notes = ctx.code[pc].power\nholds(ctx.design.power, sm)\n") == []
    files = [file for room in ("papers", "designs/policies") for file in (ROOT / "src" / "warploom" / room).rglob("*.py")]
    found = {str(file.relative_to(ROOT)): untyped(file.read_text()) for file in files}
    assert {name: lines for name, lines in found.items() if lines} == {}
