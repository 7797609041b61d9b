"""How much is loaded for a short run whose code is known: what it does not need takes longer than the run."""

from __future__ import annotations

import subprocess
import sys

import pytest

pytestmark = pytest.mark.compiled

PROBE = """
import resource, sys
from warploom.cli.app import run_command
assert run_command(sys.argv[1:]) == 0
usage = resource.getrusage(resource.RUSAGE_SELF)
print(usage.ru_utime + usage.ru_stime, *sys.modules, file=sys.stderr)
"""
LATER = {"scipy.linalg", "pandas", "pyarrow", "dask", "optuna", "numba.np.arraymath", "warploom.cli.sweep"}
SECONDS = 3.0  # one on a machine of its own, where this test is not the one to measure it


@pytest.mark.parametrize("more", [(), ("--emulate-only",)], ids=["timed", "executed"])
def test_a_short_run_loads_what_it_needs(more: tuple[str, ...]) -> None:
    command = [sys.executable, "-c", PROBE, "run", "vectoradd", "--size", "tiny", *more]
    for _ in range(2):  # the first may compile
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    seconds, *modules = done.stderr.splitlines()[-1].split()
    assert "warploom.emulator.emulator" in modules
    assert not LATER & set(modules)
    assert float(seconds) < SECONDS
