"""Which opcodes of some 900 public kernels are executed; `tests/data/sass-census-*.tsv` says how often each spelling occurs."""

from __future__ import annotations

import pytest

from support.places import DATA
from warploom.compiler.code.sass_classes import SASS_CLASSES
from warploom.emulator.sass.registry import encoders


def _opcodes(architecture: str) -> set[str]:
    lines = (DATA / f"sass-census-{architecture}.tsv").read_text().splitlines()[1:]
    return {line.split("\t")[0].split(".")[0] for line in lines}


@pytest.mark.parametrize("architecture", ["sm_75", "sm_90"])
def test_every_opcode_of_the_census_is_executed(architecture: str) -> None:
    found = _opcodes(architecture)
    assert len(found) > 100
    assert found <= set(encoders())


def test_every_opcode_that_is_executed_has_a_class() -> None:
    assert set(encoders()) <= set(SASS_CLASSES)
