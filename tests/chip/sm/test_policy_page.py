"""docs/tutorial/first-policy.md: its three policies run as they are, from files outside the package, and nothing is left out."""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from support.places import ROOT, TESTS
from warploom.base.records import field_names
from warploom.chip.sm import HOOKS
from warploom.chip.sm.context import CodeRow, Context, Info
from warploom.chip.sm.layout import Count, Cta, Entry, Slot, Sm, Warp

PACKAGE = ROOT / "src" / "warploom"
PAGE = (ROOT / "docs" / "tutorial" / "first-policy.md").read_text()
GATE, DROWSY, WINDOW = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)

# A policy file runs in a process of its own, where the core is plain Python: a small launch then takes a second.
DRIVER = """
import json, sys
from support.timing_kernels import Kernel, add, exit_, fma, load, store
from warploom.chip.simulate import time_launches
from warploom.chip.machines import load_machine
from warploom.chip.sm import baseline_policies, load_policy_file, make_policy

design = baseline_policies()
for file, parameters in zip(sys.argv[2::2], map(json.loads, sys.argv[3::2])):
    for kind in load_policy_file(file):
        design = design._replace(**{kind.CHOICE: make_policy(kind.CHOICE, kind.NAME, **parameters)})
kernels = {
    "masks": Kernel(
        [[add(1, 2, 3), add(4, 1, 1), add(2, 4, 1), exit_()]], 8, mask=lambda warp, pc, n: (0xFFFFFFFF, 0x1, 0x01010101)[n % 3]
    ),
    "waits": Kernel([[add(1, 2, 3), load(4, 1), add(5, 4, 4), add(1, 1, 5), exit_()]], 8),
    "reuse": Kernel([[add(1, 2, 3), add(4, 1, 1), fma(5, 4, 1, 2), add(1, 5, 4), add(6, 7, 1), store(6, 1), exit_()]], 8),
    "partly": Kernel(
        [[add(1, 2, 3), add(1, 2, 2), add(4, 5, 6), add(7, 4, 1), exit_()]],
        8,
        warps_per_cta=4,
        ctas=3,
        mask=lambda warp, pc, n: 0xFF if n in (1, 2) else 0xFFFFFFFF,
    ),
}
result = time_launches([kernels[sys.argv[1]].launch()], design, load_machine("rfc"), check=True)
print(json.dumps(result.counters | {"cycles": result.cycles}))
"""


@pytest.fixture
def run(tmp_path: Path):
    """Run a kernel of the driver, checked, under policies of the page: each a text with parameters. Returns the counters."""

    def running(kernel, *policies):
        arguments = []
        for number, (text, parameters) in enumerate(policies):
            file = tmp_path / f"policy_{number}.py"
            file.write_text(text)
            arguments += [str(file), json.dumps(parameters)]
        driver = tmp_path / "driver.py"
        driver.write_text(DRIVER)
        path = os.pathsep.join([str(TESTS), os.environ.get("PYTHONPATH", "")])
        done = subprocess.run(
            [sys.executable, str(driver), kernel, *arguments],
            env={**os.environ, "NUMBA_DISABLE_JIT": "1", "PYTHONPATH": path},
            capture_output=True,
            text=True,
            timeout=300,
        )
        assert done.returncode == 0, done.stderr[-3000:]
        return json.loads(done.stdout)

    return running


def test_the_first_gates_lanes_by_mask(run) -> None:
    counters = run("masks", (GATE, {"lanes": 8}))
    # The second instruction has one active lane (one segment of 8), the third one lane in each segment.
    assert counters["rf_read_lanes"] == 2 * 32 + 2 * 8 + 2 * 32
    assert counters["rf_write_lanes"] == 32 + 8 + 32


def test_the_second_lets_idle_entries_sleep(run) -> None:
    awake = run("waits")
    asleep = run("waits", (DROWSY, {"idle": 20, "wakeup": 3}))
    entries = awake["on_cycles"] // awake["cycles"]
    assert asleep["on_cycles"] + asleep["drowsy_cycles"] == entries * asleep["cycles"]
    # All entries but those of a handful of registers sleep from the twentieth cycle on.
    assert asleep["on_cycles"] < 20 * entries + 8 * asleep["cycles"]
    assert asleep["drowsy_cycles"] > 0
    # During the load, R4 waits for its result and stays awake; R5, written next, and R1, read again, have fallen asleep.
    assert asleep["wakeups"] == 2
    assert asleep["cycles"] > awake["cycles"]
    assert run("waits", (DROWSY, {"idle": 100000}))["cycles"] == awake["cycles"]


def test_the_third_reads_recent_results_above_the_main_file(run) -> None:
    plain = run("reuse")
    window = run("reuse", (WINDOW, {"entries": 4}))
    # Results: R1, R4, R5, R1, R6. Read again: R1 and R1 by the second, R4 and R1 by the third, R5 and R4, R1, R6 and R1.
    assert window["window_hits"] == window["upper_reads"] == 9
    assert window["window_results"] == window["upper_writes"] == 5
    assert window["mrf_reads"] == plain["mrf_reads"] - 9
    assert window["mrf_writes"] == plain["mrf_writes"]  # written through
    smallest = run("reuse", (WINDOW, {"entries": 1}))
    assert 0 < smallest["window_hits"] < 9


def test_the_third_leaves_partial_results_to_the_main_file(run) -> None:
    warps = 12
    counters = run("partly", (WINDOW, {"entries": 4}))
    assert counters["window_results"] == warps * 3  # R1 whole and then in part, R7; the partial R4 is not there to be merged with
    assert counters["window_hits"] == warps * 1


def test_the_three_go_together(run) -> None:
    counters = run("partly", (GATE, {"lanes": 4}), (DROWSY, {"idle": 10}), (WINDOW, {"entries": 2}))
    assert counters["window_hits"] > 0
    assert counters["wakeups"] > 0
    assert counters["rf_write_lanes"] < 32 * counters["mrf_writes"]


def test_every_hook_is_on_the_page() -> None:
    names = {name for hooks in HOOKS.values() for name in hooks}
    missing = sorted(name for name in names if f"`{name}`" not in PAGE)
    assert not missing, f"docs/tutorial/first-policy.md does not mention {', '.join(missing)}"
    drawing = re.search(r"```text\n(.*?)```", PAGE, re.DOTALL)
    assert drawing is not None
    missing = sorted(name for name in names if not re.search(rf"\b{name}\b", drawing.group(1)))
    assert not missing, f"the drawing of docs/tutorial/first-policy.md lacks {', '.join(missing)}"


def test_the_drawing_says_whose_each_hook_is() -> None:
    """The letters before a hook, and no others, are the choices that have it."""
    drawing = re.search(r"```text\n(.*?)```", PAGE, re.DOTALL)
    assert drawing is not None
    letters = {"S": "scheduler", "A": "allocation", "H": "hierarchy", "E": "encoding", "P": "power", "G": "gating"}
    names = {name for hooks in HOOKS.values() for name in hooks}
    drawn: dict[str, set[str]] = {name: set() for name in names}
    for line in drawing.group(1).splitlines():
        now: set[str] = set()
        for word in re.findall(r"\w+", line):
            if re.fullmatch(r"[SAHEPG]{1,5}", word) and word != "SP":
                now = {letters[letter] for letter in word}
            elif word in names:
                drawn[word] |= now
    owners = {name: {choice for choice, hooks in HOOKS.items() if name in hooks} for name in names}
    assert {name: choices for name, choices in drawn.items() if choices != owners[name]} == {}


def test_every_service_is_on_the_page() -> None:
    tree = ast.parse((PACKAGE / "chip" / "sm" / "services.py").read_text())
    names = [node.name for node in tree.body if isinstance(node, ast.FunctionDef) and not node.name.startswith("_")]
    assert len(names) > 15
    missing = [name for name in names if not re.search(rf"\| [^|]*`{name}\b", PAGE)]
    assert not missing, f"the services of docs/tutorial/first-policy.md lack {', '.join(missing)}"


def test_fields_on_the_page_exist() -> None:
    known = {"ctx": Context._fields, "sm": field_names(Sm), "ctx.info": field_names(Info)}
    for record, fields in known.items():
        for field in re.findall(rf"(?<!\.)\b{re.escape(record)}\.(\w+)", PAGE.replace("ctx.info.entires", "")):
            assert field in fields, f"docs/tutorial/first-policy.md: {record}.{field}"
    rows = {"ctx.code[pc]": CodeRow, "sm.entry[entry]": Entry, "sm.warp[warp]": Warp, "sm.cta[slot]": Cta, "sm.slot[slot]": Slot}
    for row, kind in {**rows, "ctx.info": Info, "sm.count": Count}.items():
        text = re.search(rf"^\| `{re.escape(row)}` \| (.*?)(?:, and the policies'.*)?(?: \| .*)?\|$", PAGE, re.MULTILINE)
        assert text is not None, row
        named = set(re.findall(r"`(\w+)`", text.group(1)))
        assert named and named <= set(field_names(kind)), f"first-policy.md: {row}: {sorted(named - set(field_names(kind)))}"


def users_of_hooks() -> set[tuple[str, str]]:
    """The hooks that some policy of the package answers, each with its choice."""
    found = set()
    for file in [*(PACKAGE / "designs" / "policies").rglob("*.py"), *(PACKAGE / "papers").rglob("*.py")]:
        for kind in ast.walk(ast.parse(file.read_text())):
            if isinstance(kind, ast.ClassDef):
                plain = {node.targets[0].id: node.value for node in kind.body if isinstance(node, ast.Assign)}
                if "CHOICE" in plain:
                    choice = ast.literal_eval(plain["CHOICE"])
                    found |= {(choice, node.name) for node in kind.body if isinstance(node, ast.FunctionDef)}
    return found


def test_every_hook_has_a_user() -> None:
    wanted = {(choice, name) for choice, hooks in HOOKS.items() for name in hooks}
    assert not wanted - users_of_hooks(), f"no policy answers {sorted(wanted - users_of_hooks())}"


def calls_of_hooks(source: str) -> set[tuple[str, str]]:
    """The hook points that a file calls, each with the choice whose policy it passes: ``reset(ctx.design.power, ...)``."""
    tree = ast.parse(source)
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module == "warploom.chip.sm.hooks"]
    imported = {name.asname or name.name: name.name for node in imports for name in node.names}
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.args]
    passed = [(imported.get(call.func.id), call.args[0]) for call in calls]
    return {(policy.attr, name) for name, policy in passed if name and isinstance(policy, ast.Attribute)}


def test_every_hook_is_called() -> None:
    """A hook that nobody asks for some choice would make policies that define it silently wrong."""
    files = [file for room in ("chip", "designs/policies", "papers") for file in (PACKAGE / room).rglob("*.py")]
    called = {call for file in files for call in calls_of_hooks(file.read_text())}
    wanted = {(choice, name) for choice, hooks in HOOKS.items() for name in hooks}
    assert not wanted - called, f"nothing calls {sorted(wanted - called)}"


def test_only_calls_of_hooks_count_as_such() -> None:
    """Neither a definition, a method, a comment nor a function of the same name from elsewhere."""
    imported = "from warploom.chip.sm.hooks import reset, choose as pick\n"
    assert calls_of_hooks(imported + "reset(ctx.design.power, ctx)\npick(ctx.design.scheduler)") == {
        ("power", "reset"),
        ("scheduler", "choose"),
    }
    others = ("def reset(policy): ...", "chip.reset(x.power)", "# reset(x.power)", "reset(policy)", '"reset(x.power)"')
    assert not any(calls_of_hooks(imported + other) for other in others)
    assert not calls_of_hooks("reset(ctx.design.power)")
