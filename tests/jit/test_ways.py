"""Two ways to compile: the plain one is taken where Numba lacks what the quick one needs, and its results are the same.

The quick one works with the oldest Numba that is declared, with the same results again.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from support.places import ROOT, TESTS

OLDEST_NUMBA = ROOT / "build" / "oldest-numba"  # made by `make test`
RUN = ["-m", "warploom", "run", "vectoradd", "--size", "tiny", "--check", "--json"]


def python(*arguments: str, path: Path | None = None, **variables: str) -> subprocess.CompletedProcess[str]:
    """A fresh process, in which the way to compile is chosen anew."""
    folders = [str(path)] if path else []
    folders += [str(ROOT / "src"), str(TESTS), os.environ.get("PYTHONPATH", "")]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(folders), **variables}
    return subprocess.run([sys.executable, *arguments], env=environment, capture_output=True, text=True, timeout=600)


def result(*arguments: str, **options: Any) -> Any:
    """The JSON that a process prints."""
    ended = python(*arguments, **options)
    assert ended.returncode == 0, ended.stderr[-3000:]
    return json.loads(ended.stdout)


TIMED = """
import json, numba
from support.timing_kernels import Kernel, add, barrier, exit_, load, store
from warploom.chip.simulate import time_launches
from warploom.jit.ways import WAY
from warploom.chip.machines import load_machine
from warploom.chip.sm import baseline_policies

body = [load(1, 0), add(2, 1, 0), add(3, 2, 2), barrier(), store(0, 3), exit_()]
launch = Kernel([body], 4, warps_per_cta=4, ctas=8).launch()
timed = time_launches([launch], baseline_policies(), load_machine("gtx480"), check=True)
print(json.dumps({"numba": numba.__version__, "way": WAY.name, "cycles": timed.cycles, "counters": timed.counters}))
"""


def test_both_ways_give_the_same_timing() -> None:
    quick, plain = (result("-c", TIMED, WARPLOOM_JIT=way) for way in ("quick", "plain"))
    assert (quick.pop("way"), plain.pop("way")) == ("quick", "plain")
    assert plain == quick


@pytest.mark.slow  # the emulator in the plain way takes half a minute to compile
def test_both_ways_give_the_same_result_of_a_program() -> None:
    quick, plain = (result(*RUN, WARPLOOM_JIT=way) for way in ("quick", "plain"))
    assert quick.pop("wall_seconds") > 0 and plain.pop("wall_seconds") > 0
    assert quick.pop("compile_seconds") >= 0 and plain.pop("compile_seconds") >= 0
    assert plain == quick and quick["verified"] and quick["checked"]


LACKING = """
import numba.core.codegen, numba.core.compiler, numba.core.event
del {lacking}
from warploom.jit.ways import WAY
print(WAY.name)
"""


@pytest.mark.parametrize(
    "lacking",
    ["numba.core.codegen.CPUCodegen._module_pass_manager", "numba.core.compiler._LowerResult", "numba.core.event.Listener"],
)
def test_a_numba_without_an_inner_part_is_used_in_the_plain_way(lacking: str) -> None:
    ended = python("-c", LACKING.format(lacking=lacking), WARPLOOM_JIT="")
    assert ended.stdout == "plain\n", ended.stderr
    assert re.fullmatch(rf"Numba .* lacks inner parts .*{lacking.rpartition('.')[2]}.*\n", ended.stderr)
    insisted = python("-c", LACKING.format(lacking=lacking), WARPLOOM_JIT="quick")
    assert insisted.returncode != 0 and "WarploomError: environment variable WARPLOOM_JIT" in insisted.stderr


def test_what_instances_have_is_looked_for_as_well() -> None:
    from warploom.jit.ways import _has

    class Owner:
        """Has an attribute of its own and gives its instances another."""

        common = 1

        def __init__(self) -> None:
            self.own = 2

    assert _has(Owner, "common") and _has(Owner, "own") and _has(re, "compile")
    assert not _has(Owner, "absent") and not _has(re, "absent")


def test_an_unknown_way_is_refused() -> None:
    ended = python(*RUN, WARPLOOM_JIT="fast")
    assert ended.returncode == 2 and not ended.stdout
    assert ended.stderr == "error: environment variable WARPLOOM_JIT: it must be quick or plain, not 'fast'\n"


@pytest.mark.skipif(not OLDEST_NUMBA.is_dir(), reason="only `make test` and `make build/oldest-numba` install it")
def test_the_oldest_numba_gives_the_same_result() -> None:
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
    (bounds,) = [text for text in declared if text.startswith("numba")]
    oldest, newest = result("-c", TIMED, path=OLDEST_NUMBA, WARPLOOM_JIT=""), result("-c", TIMED, WARPLOOM_JIT="")
    assert bounds.startswith(f"numba>={oldest.pop('numba').removesuffix('.0')},<")
    assert newest.pop("numba") and oldest == newest and oldest["way"] == "quick"
