"""The ways that runs take through the rooms are those that docs/house.md tells, function by function."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import CodeType, FrameType
from typing import NamedTuple

import pytest

from support.places import ROOT
from warploom.cli.app import run_command
from warploom.runs import workers

pytestmark = pytest.mark.compiled

PACKAGE = ROOT / "src" / "warploom"
BACK_AT_THE_START = -1  # the last row is where the first one goes on


class Hop(NamedTuple):
    """A row of a table: a function with its room (``designs.reading.parse_design``), and how often it is called."""

    function: str
    times: str


def hops(page: str, title: str) -> list[Hop]:
    """The rows of one of the page's tables, in its order."""
    table = page.split(f"## {title}, function by function")[1].split("\n## ")[0]
    rows = re.findall(r"^\| `([\w.]+)` \| `(\w+)/` \| (\w* ?)\|", table, re.MULTILINE)
    return [Hop(f"{room}.{function}", times.strip()) for function, room, times in rows]


def calls_during(work: Callable[[], object]) -> list[str]:
    """The functions of the package that are called, in order, each with its module: ``designs.reading.parse_design``."""
    names: dict[CodeType, str] = {}
    called: list[str] = []

    def watch(frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        if event == "call":
            if code not in names:
                file = Path(code.co_filename)
                inside = file.is_relative_to(PACKAGE)
                names[code] = ".".join([*file.relative_to(PACKAGE).with_suffix("").parts, code.co_qualname]) if inside else ""
            if names[code]:
                called.append(names[code])

    before = sys.getprofile()
    sys.setprofile(watch)
    try:
        work()
    finally:
        sys.setprofile(before)
    return called


def is_hop(name: str, hop: str) -> bool:
    """Whether a called function is the one that a row names: its room, and the end of its name."""
    room, function = hop.split(".", 1)
    return name.startswith(f"{room}.") and name.endswith(f".{function}")


def check_the_way(title: str, work: Callable[[], object], runs: int = 1) -> None:
    """What is called comes in the order of the page's table, and as often as it says."""
    told = hops((ROOT / "docs" / "house.md").read_text("utf-8"), title)
    assert len(told) > 10 and told[0] == told[BACK_AT_THE_START] and told[0].function.startswith("cli.")
    workers._executions.cache_clear()  # another test of this process may have executed the same
    called = calls_during(work)
    places = {hop.function: [at for at, name in enumerate(called) if is_hop(name, hop.function)] for hop in told}
    assert [function for function, found in places.items() if not found] == [], "functions of the page that were not called"
    way = [hop.function for hop in told[:BACK_AT_THE_START]]
    assert sorted(way, key=lambda function: places[function][0]) == way
    expected = {"1": 1, "run": runs, "launch": len([name for name in called if is_hop(name, "emulator.Emulator.execute")])}
    often = {hop.function: len(places[hop.function]) for hop in told if hop.times}
    assert often == {hop.function: expected[hop.times] for hop in told if hop.times}, "each room is entered once"


def test_a_run_goes_the_way_of_the_page() -> None:
    check_the_way("One run", lambda: run_command(["run", "hotspot", "--size", "tiny", "--design", "rfv"]))


PROGRAM = r"""
import ctypes
PTX = b'''.version 8.0\n.target sm_75\n.address_size 64
.visible .entry fill(.param .u64 p, .param .u32 v) {
  .reg .b32 %r<3>; .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [p]; ld.param.u32 %r1, [v];
  mov.u32 %r2, %tid.x; mul.wide.u32 %rd2, %r2, 4; add.s64 %rd3, %rd1, %rd2;
  st.global.u32 [%rd3], %r1; ret;
}
\0'''
cuda = ctypes.CDLL("libcuda.so.1")
context, module, kernel, place = (ctypes.c_void_p() for _ in range(4))
value, size, got = ctypes.c_uint(7), ctypes.c_size_t(128), (ctypes.c_uint * 32)()
words = (ctypes.c_void_p * 2)(ctypes.addressof(place), ctypes.addressof(value))
calls = [cuda.cuInit(0), cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0), cuda.cuCtxSetCurrent(context)]
calls += [cuda.cuModuleLoadData(ctypes.byref(module), PTX), cuda.cuModuleGetFunction(ctypes.byref(kernel), module, b"fill")]
calls += [cuda.cuMemAlloc_v2(ctypes.byref(place), size)]
calls += [cuda.cuLaunchKernel(kernel, 1, 1, 1, 32, 1, 1, 0, None, words, None) for _ in range(2)]
calls += [cuda.cuMemcpyDtoH_v2(got, place, size)]
raise SystemExit(int(any(calls) or list(got) != 32 * [7]))
"""


def test_a_program_under_exec_goes_the_way_of_the_page(tmp_path: Path) -> None:
    if shutil.which("cc") is None:
        pytest.skip("there is no C compiler for the library that takes the driver's place")
    program = tmp_path / "fill.py"
    program.write_text(PROGRAM)
    statuses = []
    words = ["exec", "--sms", "1", "--quiet", "--", sys.executable, str(program)]
    check_the_way("A program under `exec`", lambda: statuses.append(run_command(words)))
    assert statuses == [0]


def test_a_sweep_goes_the_way_of_the_page(tmp_path: Path) -> None:
    plan = tmp_path / "plan.toml"
    plan.write_text('workloads = "vectoradd"\ndesigns = ["baseline", "rfv"]\nsizes = "tiny"\nsms = 1\n')
    words = ["sweep", str(plan), "--out", str(tmp_path / "out"), "--jobs", "1"]
    check_the_way("A sweep", lambda: run_command(words), runs=2)


def test_a_paper_s_figure_goes_the_way_of_the_page(tmp_path: Path) -> None:
    """In a process of its own: a paper that is loaded stays loaded."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "tests")}
    ended = subprocess.run(
        [sys.executable, __file__, str(tmp_path)], env=environment, capture_output=True, text=True, timeout=600
    )
    assert ended.returncode == 0, ended.stderr[-2000:]


def test_a_hop_is_known_by_its_room_and_name() -> None:
    assert is_hop("runs.simulate.simulate", "runs.simulate.simulate")
    assert is_hop("programs.device.Device.launch", "programs.Device.launch")
    assert not is_hop("emulator.device.Device.launch", "programs.Device.launch")
    assert not is_hop("programs.device.Device.relaunch", "programs.Device.launch")


if __name__ == "__main__":
    CENSUS = ["reproduce", "census", "--paper", str(ROOT / "tests" / "papers" / "invented" / "census"), "--size", "tiny"]
    check_the_way("A paper's figure", lambda: run_command([*CENSUS, "--jobs", "1", "--out", sys.argv[1]]), runs=2)
