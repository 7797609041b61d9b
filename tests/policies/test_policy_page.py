"""docs/policies.md: the example runs as it stands, from a file outside the package, and every hook is mentioned."""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
import sys
from pathlib import Path

from warploom.register_file import HOOKS

PACKAGE = Path(__file__).parents[2] / "src" / "warploom"
PAGE = (Path(__file__).parents[2] / "docs" / "policies.md").read_text()
DRIVER = """
import json, sys
from timing_kernels import Kernel, add, exit_
from warploom.core.simulate import time_launches
from warploom.machines import load_machine
from warploom.register_file import baseline_policies, load_policy_file, make_policy, policies_of

load_policy_file(sys.argv[1])
assert "segments" in policies_of("gating")
masks = (0xFFFFFFFF, 0x1, 0x01010101)
kernel = Kernel([[add(1, 2, 3), add(4, 1, 1), add(2, 4, 1), exit_()]], 8, mask=lambda warp, pc, n: masks[n % 3])
design = baseline_policies()._replace(gating=make_policy("gating", "segments", lanes=8))
counters = time_launches([kernel.launch()], design, load_machine("rfc"), check=True).counters
print(json.dumps({key: counters[key] for key in ("partial_accesses", "rf_read_lanes", "rf_write_lanes")}))
"""


def test_the_example_runs(tmp_path):
    example = re.search(r"```python\n(.*?)```", PAGE, re.DOTALL)
    assert example is not None and example.group(1).count("\n") <= 48
    policy = tmp_path / "segments.py"
    policy.write_text(example.group(1))
    driver = tmp_path / "driver.py"
    driver.write_text(DRIVER)
    path = str(Path(__file__).parents[1] / "core")
    run = subprocess.run(
        [sys.executable, str(driver), str(policy)],
        env={**os.environ, "NUMBA_DISABLE_JIT": "1", "PYTHONPATH": f"{path}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert run.returncode == 0, run.stderr[-3000:]
    # The second instruction has one active lane (one segment of 8), the third one lane in each segment.
    assert json.loads(run.stdout) == {
        "partial_accesses": 3,
        "rf_read_lanes": 2 * 32 + 2 * 8 + 2 * 32,
        "rf_write_lanes": 32 + 8 + 32,
    }


def test_every_hook_is_on_the_page():
    names = {name for hooks in HOOKS.values() for name in hooks}
    missing = sorted(name for name in names if f"`{name}`" not in PAGE)
    assert not missing, f"docs/policies.md does not mention {', '.join(missing)}"


def calls_of_hooks(source: str) -> set[tuple[str, str]]:
    """The hook points that a file calls, each with the choice whose policy it passes: ``reset(ctx.design.power, ...)``."""
    tree = ast.parse(source)
    imports = [
        node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module == "warploom.register_file.hooks"
    ]
    imported = {name.asname or name.name: name.name for node in imports for name in node.names}
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.args]
    passed = [(imported.get(call.func.id), call.args[0]) for call in calls]
    return {(policy.attr, name) for name, policy in passed if name and isinstance(policy, ast.Attribute)}


def test_every_hook_is_called():
    """A hook that nobody asks for some choice would make policies that define it silently wrong."""
    files = [file for room in ("core", "register_file", "policies", "papers") for file in (PACKAGE / room).rglob("*.py")]
    called = {call for file in files for call in calls_of_hooks(file.read_text())}
    wanted = {(choice, name) for choice, hooks in HOOKS.items() for name in hooks}
    assert not wanted - called, f"nothing calls {sorted(wanted - called)}"


def test_only_calls_of_hooks_count_as_such():
    """Neither a definition, a method, a comment nor a function of the same name from elsewhere."""
    imported = "from warploom.register_file.hooks import reset, choose as pick\n"
    assert calls_of_hooks(imported + "reset(ctx.design.power, ctx)\npick(ctx.design.scheduler)") == {
        ("power", "reset"),
        ("scheduler", "choose"),
    }
    others = ("def reset(policy): ...", "chip.reset(x.power)", "# reset(x.power)", "reset(policy)", '"reset(x.power)"')
    assert not any(calls_of_hooks(imported + other) for other in others)
    assert not calls_of_hooks("reset(ctx.design.power)")
