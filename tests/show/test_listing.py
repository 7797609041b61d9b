import io
from typing import Any

import pytest
from rich.console import Console

from support.assembler import assemble
from support.random_kernels import options, random_kernel
from warploom.compiler.backend.allocate import allocate
from warploom.compiler.code.instruction import Code
from warploom.show.listing import inspect_summary, render_listing

pytestmark = pytest.mark.unit


def drawn(code: Code, width: int = 100, **how: Any) -> list[str]:
    written = io.StringIO()
    console = Console(width=width, file=written, highlight=False)
    render_listing(code, console, **how)
    return written.getvalue().splitlines()


LOOP = assemble(
    """
    mov.u32 R0 = %tid.x
    mov.u32 R1 = 0
loop:
    add.u32 R1 = R1, R0
    sub.u32 R0 = R0, 1
    setp.gt.s32 P0 = R0, 0
    @P0 bra loop
    st.global.u32 [64], R1
    exit
    """,
    allocated=True,
    registers=3,
    predicates=1,
)


def test_marks_pressure_blocks_and_loops() -> None:
    lines = drawn(LOOP)
    assert "8 instructions in 3 blocks, 1 loop" in lines[0]
    assert "3 registers allocated, 2 live at most" in lines[1]
    text = {int(line[:5]): line[6:] for line in lines if line[:5].strip().isdigit()}
    marks = {pc: line.split("%tid.x" if pc == 0 else "  ", 1)[1].split(None, 1) for pc, line in text.items()}
    assert marks[0] == ["1", "^"]
    assert text[1].endswith("2 :^")
    assert text[2].startswith("  add") and text[2].endswith("2 vx")
    assert text[3].endswith("2 x:")
    assert text[4].endswith("2 v:  ^")
    assert text[5].endswith("2 ::  v")
    assert text[6].endswith("1  v")
    assert any("B1" in line and "loop of 1 block, depth 1" in line and "divergent, meets at B2" in line for line in lines)


def test_listings_fit_a_hundred_columns() -> None:
    for code in (LOOP, allocate(random_kernel(4, 300, 90), options())):
        lines = drawn(code)
        assert max(map(len, lines)) <= 100
        assert sum(line[:5].strip().isdigit() for line in lines) == len(code)
    assert any("not drawn" in line for line in lines)


def test_some_blocks_and_notes() -> None:
    lines = drawn(LOOP, blocks=[2], annotations={6: "release"})
    assert [line for line in lines if "add" in line] == []
    assert next(line for line in lines if "st.global" in line).endswith("release")


def test_summary() -> None:
    assert inspect_summary(LOOP) == {
        "name": "test",
        "instructions": 8,
        "blocks": 3,
        "registers": 3,
        "max_live": 2,
        "predicates": 1,
        "spill_loads": 0,
        "spill_stores": 0,
        "shared_bytes": 0,
        "local_bytes": 0,
    }
