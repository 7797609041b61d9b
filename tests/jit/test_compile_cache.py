"""Compiled code on disk is never stale: an edit in the file of a function that another file calls is seen."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import warploom
from warploom.base.sources import file_digest

CALL = "from warploom.asking import ask; print(ask(5), sum(ask.stats.cache_hits.values()))"
ASKING = """
from warploom.answering import answer
from warploom.jit import whole

@whole
def ask(number):
    return answer(number)
"""
ANSWERING = """
from warploom.jit import callee

@callee
def answer(number):
    return number + 1
"""


def call(package: Path, cache: Path, **variables: str) -> tuple[int, int]:
    """What a compiled function gives in a fresh process, and how often its code came from the disk."""
    environment = {**os.environ, "PYTHONPATH": str(package), "WARPLOOM_CACHE": str(cache), **variables}
    environment.pop("NUMBA_CACHE_DIR", None)
    ended = subprocess.run([sys.executable, "-c", CALL], env=environment, capture_output=True, text=True, check=True)
    value, loaded = ended.stdout.split()
    return int(value), int(loaded)


def package_with_a_callee(folder: Path) -> Path:
    """A copy of Warploom with two modules more."""
    package = folder / "package"
    shutil.copytree(Path(warploom.__file__).parent, package / "warploom", ignore=shutil.ignore_patterns("__pycache__", "*.cu"))
    (package / "warploom" / "asking.py").write_text(ASKING)
    (package / "warploom" / "answering.py").write_text(ANSWERING)
    return package


def test_code_for_another_processor_is_kept_apart(tmp_path: Path) -> None:
    package, cache = package_with_a_callee(tmp_path), tmp_path / "cache"
    plain = {"NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": ""}
    newer = {"NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": "+sse3"}
    assert [call(package, cache, **variables) for variables in (newer, plain) * 2] == [(6, 0), (6, 0), (6, 1), (6, 1)]


def test_an_edit_in_a_callees_file_is_seen(tmp_path: Path) -> None:
    package, cache = package_with_a_callee(tmp_path), tmp_path / "cache"
    answering = package / "warploom" / "answering.py"
    assert call(package, cache) == (6, 0)
    assert call(package, cache) == (6, 1)
    answering.write_text(ANSWERING.replace("+ 1", "+ 100"))
    assert call(package, cache) == (105, 0)
    answering.write_text(ANSWERING)
    assert call(package, cache) == (6, 1)  # what was compiled before the edit is still there


BOTH_WAYS = """
import numpy as np
from warploom.runs.simulate import emulate
from warploom.emulator.trace.encoding import compress

emulate("vectoradd", size="tiny")  # compress is a part of it
image = np.zeros(128, np.uint8)
print(compress(np.arange(128, dtype=np.uint8), 4, 1, image), image[0])
"""


def test_a_part_of_a_whole_can_be_called_by_itself() -> None:
    for _ in range(2):  # the second time, both surely come from the disk
        ended = subprocess.run([sys.executable, "-c", BOTH_WAYS], capture_output=True, text=True)
        assert ended.returncode == 0, ended.stderr[-2000:]
        assert ended.stdout.split() == ["35", "0"]


def test_an_edit_beside_a_source_outside_of_the_package_is_seen(tmp_path: Path) -> None:
    """A paper's folder imports its own modules by a dot; compiled code depends on them like on ours."""
    policy, step = tmp_path / "policy.py", tmp_path / "step.py"
    policy.write_text("from .step import (\n    step,\n)\n")
    step.write_text("step = 1\n")
    before = file_digest(policy)
    step.write_text("step = 2\n")
    assert file_digest(policy) != before
