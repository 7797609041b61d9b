"""Indices in code of ours count from zero: nobody asks whether one is negative, and none is."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numba
import numpy as np
import pytest

from support.places import ROOT, TESTS
from warploom.jit import callee, specialised_anew


@callee
def element(numbers: Any, index: int) -> int:
    """A callee that reads an array."""
    return numbers[index]


def through_a_callee(numbers: Any, index: int) -> int:
    """A whole that reads an array itself and through a callee."""
    return numbers[index] + element(numbers, index)


def last(numbers: Any, index: int) -> int:
    """A constant may count from the end."""
    return numbers[-1] + index


def test_an_index_is_taken_as_it_is() -> None:
    whole = specialised_anew(through_a_callee)
    numbers = np.arange(8)
    assert whole(numbers, 3) == 6
    (signature,) = whole.signatures
    assert "select" not in whole.inspect_llvm(signature)  # the question would be one
    others = numba.njit(lambda numbers, index: numbers[index])
    assert others(numbers, -1) == 7


def test_a_constant_may_count_from_the_end() -> None:
    assert specialised_anew(last)(np.arange(8), 1) == 8


# Compiles the question back in, with a trap for an answer.
TRAP = """
import sys
from llvmlite import ir
from numba.core import types
from numba.np import arrayobj
import numpy as np
from warploom.jit import specialised_anew
from warploom.jit.linking import CalleeLibrary, WholeLibrary

as_it_is = arrayobj.fix_integer_index

def trapped(context, builder, kind, index, size):
    fixed = as_it_is(context, builder, kind, index, size)
    if kind.signed and isinstance(context.active_code_library, CalleeLibrary | WholeLibrary):
        negative = builder.icmp_signed("<", fixed, ir.Constant(fixed.type, 0))
        with builder.if_then(negative, likely=False):
            builder.call(builder.module.declare_intrinsic("llvm.trap", (), ir.FunctionType(ir.VoidType(), ())), ())
    return fixed

arrayobj.fix_integer_index = trapped
"""
NEGATIVE = "specialised_anew(lambda numbers, index: numbers[index])(np.arange(8), -1)"
TIMED = """
from support.timing_kernels import Kernel, add, barrier, exit_, load, store
from warploom.chip.simulate import time_launches
from warploom.designs import parse_design
from warploom.chip.machines import load_machine

body = [load(1, 0), add(2, 1, 0), add(3, 2, 2), load(4, 3), barrier(), add(5, 4, 1), store(0, 5), exit_()]
launch = Kernel([body], 8, warps_per_cta=4, ctas=60).launch()
print(time_launches([launch], parse_design(sys.argv[1]).policies, load_machine("gtx480"), check=True).cycles)
"""


def trapped(source: str, *arguments: str, cache: Path) -> subprocess.CompletedProcess[str]:
    """Run a source where a negative index ends the process."""
    folders = os.pathsep.join([str(ROOT / "src"), str(TESTS), os.environ.get("PYTHONPATH", "")])
    environment = {**os.environ, "PYTHONPATH": folders, "WARPLOOM_CACHE": str(cache), "WARPLOOM_JIT": "quick"}
    command = [sys.executable, "-c", TRAP + source, *arguments]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=600)


def test_a_negative_index_is_found(tmp_path: Path) -> None:
    assert trapped(NEGATIVE, cache=tmp_path).returncode == -signal.SIGILL


DESIGNS = ("rfc", "rfv", "compression", "warped-rf", "regmutex", "owf", "bow", "ltrf", "scheduler=two-level")


@pytest.mark.parametrize("design", ["baseline", *(pytest.param(design, marks=pytest.mark.slow) for design in DESIGNS)])
def test_no_index_of_the_core_is_negative(tmp_path: Path, design: str) -> None:
    ended = trapped(TIMED, design, cache=tmp_path)
    assert ended.returncode == 0, ended.stderr[-3000:]
    assert int(ended.stdout) > 0
