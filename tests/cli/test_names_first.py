"""A misspelt name is answered before anything is imported that takes seconds; a right one is never refused for it."""

from __future__ import annotations

import subprocess
import sys

import pytest

from warploom.chip.machines import machine_names
from warploom.chip.sm import CHOICES, policies_of
from warploom.cli.names_first import check_names, known_designs
from warploom.designs import named_designs
from warploom.programs.workloads.registry import set_names, workload_names

TOLD = """
import sys
from warploom.cli.app import run_command
code = run_command(sys.argv[1:])
print(code, "numba" in sys.modules)
"""


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["run", "hotspt"], "did you mean 'hotspot'"),
        (["run", "hotspot", "--machine", "hoper"], "did you mean 'hopper'"),
        (["profile", "hotspot", "--design", "rfv + wared-rf(threshold=2)"], "did you mean 'warped-rf'"),
        (["compare", "--workloads", "bfs,hotspt"], "did you mean 'hotspot'"),
        (["compare", "--designs", "baseline,rfvv"], "did you mean 'rfv'"),
        (["report", "--designs", "rfvv"], "did you mean 'rfv'"),
        (["inspect", "hotspt"], "did you mean 'hotspot'"),
        (["run", "hotspot", "--desing", "rfv"], "No such option"),
    ],
)
def test_a_misspelt_name_does_not_wait_for_numba(words: list[str], said: str) -> None:
    ended = subprocess.run([sys.executable, "-c", TOLD, *words], capture_output=True, text=True, check=True)
    assert said in ended.stderr and ended.stderr.count("\n") == 1
    assert ended.stdout == "2 False\n"


def test_every_name_that_there_is_passes() -> None:
    kinds = [kind for choice in CHOICES for kind in policies_of(choice).values() if kind.__module__.startswith("warploom.")]
    assert {kind.NAME for kind in kinds} | set(named_designs()) <= known_designs()
    check_names({"target": ",".join([*workload_names(), *set_names(), "all", "own.cu", "kept.wlr"])})
    for name in [*machine_names(), "my.toml"]:
        check_names({"machine": name})
    check_names({"design": [*named_designs(), "rfv(shrink=0.5) + encoding=bdi + max_registers=24", "mine.toml", "gto + lrr"]})
    check_names({"design": ["nobody-knows"], "policy": ["mine.py"]})
