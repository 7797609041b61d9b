"""Constants that are looked up by a register are accesses to memory, for uniform registers too."""

from __future__ import annotations

from warploom.compiler.code.table import Flag, Space, static_table
from warploom.compiler.sass.module import from_cubin
from warploom.studies.validate.recorded import folder_of


def test_every_look_up_by_index_is_a_load_of_the_table_and_others_are_not() -> None:
    """The trace has an entry for each of them: one that the table leaves out would shift those of all accesses behind it."""
    cubin = folder_of("h200").parent / "kernels" / "constant_table.cubin"
    code = from_cubin(cubin.read_bytes(), cubin.name).kernel("constant_table", None)
    table = static_table(code)
    named = [(str(one), row) for one, row in zip(code.instructions(), table, strict=True) if one.op.name in ("LDC", "ULDC")]
    indexed = [row for text, row in named if "c[0x3][" in text]
    assert {one.op.name for one in code.instructions()} >= {"LDC", "ULDC"} and len(indexed) > 8
    assert all(row["flags"] & Flag.LOAD and row["space"] == Space.CONST for row in indexed)
    assert not any(row["flags"] & Flag.LOAD for text, row in named if "c[0x0][" in text)
