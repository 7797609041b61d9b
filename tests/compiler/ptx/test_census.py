"""Every instruction spelling that a current compiler was seen to emit parses and compiles."""

from pathlib import Path

import pytest
from tiny_kernels import tiny_kernel

from warploom.backend import Options, compile_kernel
from warploom.backend.lower import lower
from warploom.code.table import static_table
from warploom.ptx import parse

DATA = Path(__file__).parents[1] / "data"
CENSUS = (DATA / "ptx-census.tsv").read_text().split()[1:]

NEIGHBOURS = (DATA / "ptx-neighbours.txt").read_text().split()


@pytest.mark.parametrize("spelling", CENSUS + NEIGHBOURS)
def test_spelling_compiles(spelling: str) -> None:
    module = parse(tiny_kernel(spelling), "tiny.ptx")
    code = compile_kernel(module, "tiny", Options())
    assert code.allocated
    assert len(static_table(code)) == len(code)
    literal = lower(module, "tiny", literal=True)
    name = spelling.split(".")[0]
    if name not in ("call", "brx", "st") and not spelling.startswith("ld.param"):
        renamed = {"barrier": "bar", "ldu": "ld", "ret": "exit", "prefetch": "nop", "pmevent": "nop"}.get(name, name)
        assert any(instruction.op.name == renamed for instruction in literal.instructions())


def test_census_is_whole() -> None:
    assert len(CENSUS) == 303
    assert len(set(CENSUS)) == 303
