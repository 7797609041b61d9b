"""Nothing old is taken for new: an edit of whatever a result depends on is seen, in the next process and in the same one."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib import resources
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from warploom.base.errors import WarploomError
from warploom.base.sources import imports_of, source_files
from warploom.chip.sm import load_policy_file, make_policy, policies_of
from warploom.chip.sm.hooks import lanes_accessed
from warploom.chip.sm.registry import forget
from warploom.designs import design
from warploom.jit import by_reference, callee, specialised
from warploom.runs.compilation import compile_key
from warploom.runs.keys import keys_of
from warploom.runs.simulate import simulate
from warploom.studies.reproduce.experiment import run_named

POLICY = """
from typing import NamedTuple
from warploom.chip.sm import policy
{importing}

@policy
class Edited(NamedTuple):
    CHOICE, NAME, SOURCE = "gating", "edited", "a test"

    def lanes_accessed(policy, ctx, sm, mask, write):
        return {lanes}

    def compile(policy, code, machine):
        return code
"""


@pytest.fixture
def policy(tmp_path: Path) -> Path:
    """A policy whose answer stands in a module beside it."""
    path = tmp_path / "edited_policy.py"
    path.write_text(POLICY.format(importing="from edited_helper import LANES", lanes="LANES"))
    (tmp_path / "edited_helper.py").write_text("LANES = 11\n")
    return path


class Held(NamedTuple):
    """Policies are handed from function to function inside a tuple, as in the timing core."""

    gating: Any


NOWHERE: Any = 0  # where a context and an SM are expected, of which the policy reads nothing


@callee
def inner(held: Any, mask: Any) -> Any:
    return lanes_accessed(held.gating, NOWHERE, NOWHERE, mask, False)


def ask(held: Any, mask: Any) -> Any:
    return inner(by_reference(held), mask)


def answer(name: str = "edited") -> int:
    """What compiled code gets from the policy that is registered now."""
    chosen = make_policy("gating", name)
    return specialised(ask, (type(chosen),))(Held(chosen), 5)


IN_A_NEW_PROCESS = """
import sys
from warploom.jit import by_reference, callee, specialised
from warploom.chip.sm import load_policy_file, make_policy
from warploom.chip.sm.hooks import lanes_accessed
{ask}
(kind,) = load_policy_file(sys.argv[1])
compiled = specialised(ask, (kind,))
print(compiled(kind(), 5), sum(compiled.stats.cache_hits.values()))
"""
ASK = "def ask(policy, mask):\n    return lanes_accessed(policy, 0, 0, mask, False)\n"


@pytest.mark.compiled
def test_compiled_code_follows_a_helper_into_the_next_process(policy: Path, tmp_path: Path) -> None:
    driver = tmp_path / "driver.py"
    driver.write_text(IN_A_NEW_PROCESS.format(ask=ASK))
    package = str(Path(str(resources.files("warploom"))).parent)
    search = os.pathsep.join([package, str(tmp_path)])
    environment = {**os.environ, "PYTHONPATH": search, "WARPLOOM_CACHE": str(tmp_path / "cache")}

    def run() -> list[str]:
        command = [sys.executable, str(driver), str(policy)]
        return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout.split()

    assert run() == ["11", "0"]
    assert run() == ["11", "1"]
    (tmp_path / "edited_helper.py").write_text("LANES = 12\n")
    assert run() == ["12", "0"]
    (tmp_path / "edited_helper.py").write_text("LANES = 11\n")
    assert run() == ["11", "1"]  # what was compiled before the edit is still there


def test_a_policy_file_is_loaded_again_after_an_edit(policy: Path, tmp_path: Path) -> None:
    (first,) = load_policy_file(policy)
    assert answer() == 11
    assert load_policy_file(policy) == [first]  # nothing was edited
    policy.write_text(policy.read_text().replace("return LANES", "return LANES + 1"))
    (second,) = load_policy_file(policy)
    assert answer() == 12
    assert policies_of("gating")["edited"] is second is not first
    (tmp_path / "edited_helper.py").write_text("LANES = 21\n")
    load_policy_file(policy)
    assert answer() == 22


def test_a_broken_edit_leaves_the_policy_from_before(policy: Path) -> None:
    (first,) = load_policy_file(policy)
    good = policy.read_text()
    for text, words in ((good + "\n1 / 0\n", "ZeroDivisionError"), ("x = 1\n", "registers no policy"), ("(", "SyntaxError")):
        policy.write_text(text)
        with pytest.raises(WarploomError, match=words):
            load_policy_file(policy)
        assert policies_of("gating")["edited"] is first
    policy.write_text(good)
    assert load_policy_file(policy) == [first]


def test_designs_of_two_editions_share_nothing(policy: Path, tmp_path: Path) -> None:
    from warploom.chip.machines import load_machine

    load_policy_file(policy)
    before = design("gating=edited")
    (tmp_path / "edited_helper.py").write_text("LANES = 21\n")
    load_policy_file(policy)
    after = design("gating=edited")
    machine = load_machine("gtx480")
    assert before != after
    assert compile_key(before, machine) != compile_key(after, machine)  # its compile-time half may have been edited


def test_two_policies_with_helpers_of_the_same_name(tmp_path: Path) -> None:
    answers = []
    for name, lanes in (("one", 3), ("two", 4)):
        (tmp_path / name).mkdir()
        text = POLICY.format(importing="import shared_name", lanes="shared_name.LANES")
        (tmp_path / name / f"{name}.py").write_text(text.replace('"edited"', f'"{name}"'))
        (tmp_path / name / "shared_name.py").write_text(f"LANES = {lanes}\n")
        load_policy_file(tmp_path / name / f"{name}.py")
    for name in ("one", "two"):
        answers.append(answer(name))
        forget([policies_of("gating")[name]])
    assert answers == [3, 4]


def run_key(technology: str = "") -> str:
    return keys_of([run_named("vectoradd", "gating=edited", "gtx480", "tiny", technology)])[0]


def test_stored_runs_follow_the_policy_its_helpers_and_its_data(policy: Path, tmp_path: Path) -> None:
    package = tmp_path / "edited_package"
    package.mkdir()
    (package / "__init__.py").write_text("from .inner import LANES\n")
    (package / "inner.py").write_text("from . import innermost\nLANES = innermost.LANES\n")
    (package / "innermost.py").write_text("LANES = 5\n")
    table = tmp_path / "table.txt"
    table.write_text("7")
    reading = "from pathlib import Path\nimport edited_helper, edited_package\n"
    reading += 'TABLE = int((Path(__file__).parent / "table.txt").read_text())'
    policy.write_text(POLICY.format(importing=reading, lanes="edited_helper.LANES + edited_package.LANES + TABLE"))
    load_policy_file(policy)
    keys = [run_key()]
    assert answer() == 11 + 5 + 7
    edits = ((tmp_path / "edited_helper.py", "LANES = 12\n"), (package / "innermost.py", "LANES = 6\n"), (table, "8"))
    for file, text in edits:
        file.write_text(text)
        load_policy_file(policy)
        keys.append(run_key())
    assert answer() == 12 + 6 + 8
    assert len(set(keys)) == len(keys)
    load_policy_file(policy)
    assert run_key() == keys[-1]


def test_an_edit_that_is_not_loaded_does_not_pass_for_the_new_one(policy: Path, tmp_path: Path) -> None:
    """What runs is the policy that was loaded; its results must not be stored under the file's new text."""
    load_policy_file(policy)
    key = run_key()
    (tmp_path / "edited_helper.py").write_text("LANES = 12\n")
    assert run_key() == key
    load_policy_file(policy)
    assert run_key() != key


def test_a_policy_that_is_in_no_file_is_never_taken_for_another() -> None:
    """Typed into a session, say: its results and code serve that class alone."""
    from warploom.base.sources import class_digest

    keys = set()
    for _ in range(2):
        scope: dict[str, Any] = {"__name__": "typed"}
        exec(POLICY.format(importing="", lanes="3"), scope)
        assert class_digest(scope["Edited"]) is None
        keys.add(run_key())
        assert run_key() in keys
        forget([scope["Edited"]])
    assert len(keys) == 2


def test_stored_runs_follow_a_technology_file(policy: Path, tmp_path: Path) -> None:
    load_policy_file(policy)
    table = tmp_path / "mine.toml"
    text = (resources.files("warploom.designs.energy") / "technologies" / "common.toml").read_text()
    table.write_text(text)
    key = run_key(str(table))
    number = text.index("value = ") + len("value = ")
    table.write_text(text[:number] + "1" + text[number:])
    assert run_key(str(table)) != key
    table.write_text(text)
    assert run_key(str(table)) == key


@pytest.mark.compiled
@pytest.mark.slow
def test_a_whole_run_sees_the_edit(policy: Path, tmp_path: Path) -> None:
    load_policy_file(policy)
    before = simulate("vectoradd", "gating=edited", size="tiny").counters["rf_read_lanes"]
    (tmp_path / "edited_helper.py").write_text("LANES = 22\n")
    load_policy_file(policy)
    assert simulate("vectoradd", "gating=edited", size="tiny").counters["rf_read_lanes"] == 2 * before > 0


def test_all_ways_to_import_are_seen() -> None:
    text = b'''"""import nothing, in prose"""
import one, two.three as t
from four import (  # with a comment
    five,
    six as s,
)
from . import seven
from ..eight.nine import ten
if True: import eleven
def f():
    from twelve import *
    x = 1; import thirteen
    from fourteen import \\
        fifteen
'''
    found = {"." * level + ".".join(module) for level, module in imports_of(text)}
    wanted = {"one", "two.three", "four", "four.five", "four.six", ".seven", "..eight.nine", "..eight.nine.ten", "eleven"}
    assert found >= wanted | {"twelve", "thirteen", "fourteen", "fourteen.fifteen"}


def test_the_imports_of_this_package_are_read_like_python_does() -> None:
    import ast

    from warploom.base.sources import PACKAGE, _imports

    for file in PACKAGE.rglob("*.py"):
        assert imports_of(file.read_bytes()) >= _imports(ast.parse(file.read_bytes())), file


def test_the_emulator_depends_on_its_parts_and_not_on_the_commands() -> None:
    from warploom.base.sources import PACKAGE

    names = {file.relative_to(PACKAGE).as_posix() for file in source_files(PACKAGE / "emulator" / "emulator.py")}
    assert {"emulator/interpreter.py", "emulator/memory.py", "emulator/sass/running.py", "compiler/code/instruction.py"} <= names
    assert not [name for name in names if name.startswith(("cli/", "report/", "papers/"))]


def test_what_follows_from_our_sources_is_made_anew_after_an_edit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from warploom.base import sources

    source = tmp_path / "package" / "part.py"
    source.parent.mkdir()
    source.write_text("A = 1\n")
    monkeypatch.setenv("WARPLOOM_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(sources, "PACKAGE", source.parent)
    monkeypatch.setattr(sources, "_state", sources._state.__wrapped__)  # as in processes that begin with each question
    made: list[str] = []

    def make() -> str:
        made.append("once more")
        return source.read_text()

    def asked() -> str | None:
        return sources.of_own_sources("text", make)

    assert (asked(), asked(), len(made)) == ("A = 1\n", "A = 1\n", 1)
    source.write_text("A = 2\n")  # as long as before
    assert (asked(), len(made)) == ("A = 2\n", 2)
    (source.parent / "new.py").write_text("")
    assert (asked(), len(made)) == ("A = 2\n", 3)
