"""What a design is measured against."""

from __future__ import annotations

import pytest

from warploom.designs import parse_design
from warploom.designs.reading import named_designs
from warploom.runs.savings import reference_of

pytestmark = pytest.mark.unit


@pytest.mark.parametrize("name", named_designs())
def test_every_named_design_has_a_reference(name: str) -> None:
    reference = reference_of(parse_design(name))
    assert reference.policies.allocation.NAME == "static"
    assert reference.policies.hierarchy.NAME == reference.policies.encoding.NAME == "none"


def test_the_scheduler_is_kept_where_it_stands_alone() -> None:
    assert reference_of(parse_design("rfc")).policies.scheduler.NAME == "two-level"
    assert reference_of(parse_design("owf")).policies.scheduler.NAME == "gto"
