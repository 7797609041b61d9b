"""The figures of register file virtualization: which runs are compared with which."""

from __future__ import annotations

from warploom.papers.rfv import figures as rfv


def test_times_are_those_of_programs_with_the_fewest_registers() -> None:
    """On every side of a comparison; compiler spill alone is compared with the code that it is made of."""
    (figure,) = (figure for figure in rfv.FIGURES if figure.place == "figure 11")
    designs = {run.design.name for run in figure.runs("tiny")}
    assert {design for design in designs if "max_registers=least" not in design} == {rfv.BASELINE, rfv.SPILL}
    assert {rfv.FRUGAL_WHOLE, rfv.FRUGAL_BASELINE, rfv.ALL_GUARDED, *rfv.SHRUNK.values()} <= designs
