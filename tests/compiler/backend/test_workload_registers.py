"""The real kernels that come with the package: what allocation makes of them."""

from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from warploom.compiler.backend import Options, compile_kernel
from warploom.compiler.code.liveness import thread_liveness
from warploom.compiler.ptx import parse

SOURCES = sorted(Path(str(files("warploom.programs.workloads"))).glob("*/kernel.ptx"))


def compiled(options: Options) -> Iterator[Any]:
    for folder in SOURCES:
        module = parse(folder.read_text(), folder.parent.name)
        for name in module.kernels:
            yield compile_kernel(module, name, options)


def test_allocation_needs_what_is_live() -> None:
    """Every allocation is proved; nearly every kernel gets exactly the most that is live at once."""
    excess = [code.registers - thread_liveness(code).max_live for code in compiled(Options(verify=True))]
    assert len(excess) > 20
    assert sum(extra == 0 for extra in excess) >= 0.9 * len(excess) and max(excess) <= 2


@pytest.mark.parametrize("limit", [20, 10])
def test_every_kernel_fits_a_limit(limit: int) -> None:
    codes = list(compiled(Options(max_registers=limit, verify=True)))
    assert all(code.registers <= limit for code in codes)
    assert any(code.spill_loads for code in codes)
