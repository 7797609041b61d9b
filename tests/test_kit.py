"""Somebody else's policy, paper, workload, machine and observer import `warploom.kit` alone, and run."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from pathlib import Path

import pytest

import warploom
import warploom.kit
from support.scale_kernel import SCALE_PTX
from warploom.base.sources import PACKAGE, source_files

PAPER = """
from warploom.kit import Paper

PAPER = Paper(
    name="lefty", title="Left lanes first", citation="Nobody: Left Lanes First, nowhere, 2021", year=2021,
    package=__name__, policies=("policy",),
)
"""
POLICY = """
from typing import NamedTuple

from warploom.kit import Context, Lanes, LaunchFacts, CounterMeaning, Record, Sm, i8, policy


class State(Record):
    asked: i8


@policy
class Lefty(NamedTuple):
    \"\"\"Half of the lanes of every access are switched.\"\"\"

    CHOICE = "gating"
    NAME = "lefty"
    STATE = State
    COUNTERS = {"lefty_asked": CounterMeaning("accesses", "Times that it was asked.")}

    def lanes_accessed(policy, ctx: Context, sm: Sm, mask: Lanes, write: bool) -> int:
        state: State = sm.gating
        state.asked += 1
        return 16

    def counters(policy, states, run: LaunchFacts):
        return {"lefty_asked": int(states["asked"].sum())}
"""
FIGURES = """
from warploom.kit import Chart, Figure, Outcome, run_named

FIGURES = (
    Figure(
        "figure 1",
        "Times that it was asked",
        lambda size: [run_named("vectoradd", "lefty", "single", size)],
        lambda results, size: Outcome([], {}, Chart("bars", "workload", "asked", y_title="times")),
    ),
)
"""
MACHINE = """
title = "One SM with a pause after each pass in shared memory"
base = "gtx480"

[sources]
default = "invented"

[chip]
sms = 1

[shared]
pause_cycles = 1
"""
OBSERVER = """
from typing import NamedTuple

from warploom.kit import Context, Lanes, LaunchFacts, CounterMeaning, Record, i8


class Seen(Record):
    issues: i8


class Issues(NamedTuple):
    NAME = "issues"
    STATE = Seen
    COUNTERS = {"issues": CounterMeaning("instructions", "Instructions that were issued.")}

    def on_issued(observer, own: Seen, ctx: Context, cycle: int, warp: int, pc: int, mask: Lanes) -> None:
        own.issues += 1

    def report(observer, states, run: LaunchFacts):
        return {"issues": int(states["issues"].sum())}
"""
WORKLOAD = """
from pathlib import Path

import numpy as np

from warploom.kit import Arrays, Gpu, Size, Sizes, Workload, program

ELEMENTS = Sizes(tiny=64, small=256, paper=1024)


def inputs(size: Size) -> Arrays:
    return {"x": np.arange(ELEMENTS[size], dtype=np.float32)}


def host(gpu: Gpu, arrays: Arrays) -> Arrays:
    x = gpu.array(arrays["x"])
    gpu.launch("scale", (len(arrays["x"]) // 64,), (64,), x, np.float32(2), np.int32(len(arrays["x"])))
    return {"x": x.get()}


def reference(arrays: Arrays) -> Arrays:
    return {"x": 2 * arrays["x"]}


WORKLOAD = Workload(name="doubling", title="twice each element", sizes=ELEMENTS, inputs=inputs, host=host, reference=reference)
PROGRAM = program(WORKLOAD.name, Path(__file__).with_name("kernel.ptx"), host, inputs, reference)
"""
RUN = """
import json, sys
sys.path.insert(0, sys.argv[1])
import warploom
from observer import Issues
from workload import PROGRAM

paper = warploom.load_paper(sys.argv[1] + "/lefty")
result = warploom.simulate(PROGRAM, "lefty", "single", size="tiny", observers=[Issues()])
((launch,),) = result.observed.values()
print(json.dumps({
    "paper": paper.name, "verified": result.verified, "machine": result.machine,
    "figures": [each.place for each in paper.figures],
    "counters": result.counters, "observed": launch["report"],
}))
"""


@pytest.fixture
def theirs(tmp_path: Path) -> Path:
    """The folder of somebody who has a paper with a policy and a machine, and beside it a workload and an observer."""
    files = {
        "lefty/__init__.py": PAPER,
        "lefty/policy.py": POLICY,
        "lefty/figures.py": FIGURES,
        "lefty/designs.toml": '[lefty]\ntitle = "half the lanes"\nsource = "invented"\ngating = "lefty"\n',
        "lefty/machines/single.toml": MACHINE,
        "observer.py": OBSERVER,
        "workload.py": WORKLOAD,
        "kernel.ptx": SCALE_PTX,
        "run.py": RUN,
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def test_a_policy_a_paper_a_workload_a_machine_and_an_observer_of_others(theirs: Path) -> None:
    """In a process of its own: what is registered goes with it."""
    ended = subprocess.run([sys.executable, str(theirs / "run.py"), str(theirs)], capture_output=True, text=True, timeout=600)
    assert ended.returncode == 0, ended.stderr[-3000:]
    found = json.loads(ended.stdout)
    counters = found["counters"]
    assert (found["paper"], found["machine"], found["verified"], found["figures"]) == ("lefty", "single", True, ["figure 1"])
    assert counters["lefty_asked"] == counters["mrf_reads"] + counters["mrf_writes"] > 0
    assert counters["rf_read_lanes"] == 16 * counters["mrf_reads"]
    assert found["observed"] == {"issues": counters["warp_instructions"]}


def test_their_files_name_no_other_module(theirs: Path) -> None:
    for file in theirs.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("warploom"):
                assert node.module == "warploom.kit", file


def test_importing_it_imports_nothing_yet() -> None:
    says = "import sys, warploom.kit; print([name for name in sys.modules if name.startswith(('warploom.', 'numba'))])"
    ended = subprocess.run([sys.executable, "-c", says], check=True, capture_output=True, text=True)
    assert ended.stdout.strip() == "['warploom.base', 'warploom.base.handed_on', 'warploom.kit']"  # what reads its own text


def test_what_type_checkers_see_is_what_is_handed_on() -> None:
    assert len(warploom.kit.__all__) > 100 and {"KIT", "policy", "Grid"} <= set(warploom.kit.__all__)
    for name in warploom.kit.__all__:
        assert getattr(warploom.kit, name) is not None


def test_a_misspelt_name_is_told_its_neighbour() -> None:
    with pytest.raises(AttributeError, match="did you mean 'find_free_anywhere'"):
        _ = warploom.kit.find_free_anywere


def test_a_file_depends_on_the_names_that_it_takes_and_not_on_all(theirs: Path) -> None:
    """Results and compiled code of a policy are kept under a digest of these: an edit of the workloads leaves them."""
    files = {
        file.relative_to(PACKAGE).as_posix()
        for file in source_files(theirs / "lefty" / "policy.py")
        if file.is_relative_to(PACKAGE)
    }
    assert {"chip/sm/context.py", "chip/sm/layout.py", "chip/sm/registry.py"} <= files
    assert not any(name.startswith(("programs/", "studies/", "cli/")) for name in files)
