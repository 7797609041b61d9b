"""Every instruction spelling that a current compiler was seen to emit parses and compiles."""

import pytest

from support.places import DATA
from support.tiny_kernels import tiny_kernel
from warploom.compiler.backend import Options, compile_kernel
from warploom.compiler.backend.lower import lower
from warploom.compiler.code.table import static_table
from warploom.compiler.ptx import parse

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
