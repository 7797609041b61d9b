"""Banks, read ports and the reuse cache of `hopper` beside an H200: every number to the cycle, but for those named here."""

from __future__ import annotations

import re

import pytest

from support.register_patterns import modelled, slopes
from warploom.studies.validate.recorded import folder_of, read_numbers
from warploom_lab.microbenchmarks.slopes import Slope

pytestmark = pytest.mark.oracle

MEASURED = {number.name: number.value for number in read_numbers(folder_of("h200"))[1]}
GROUPS = ("bank.", "read.", "reuse.", "shared_bank.", "lost.")
NEAR = 0.05  # cycles; times of several warps vary by 0.02 from run to run

OTHERWISE = {  # what differs: names, and why
    r"lost\.bubble\.(two_(iadd|imad)\.2\+[89]|imad\.2\+9)": "who waits for its pipe leaves a port to one more behind it there",
    r"lost\.write\.(POPC|MUFU\.EX2|F2I)\.same\..*": "a result of variable latency costs those a cycle there that write its bank",
    r"shared_bank\.e(eo|ez|zz)\.stall3\.16w": "three of four warps leave nothing to the oldest here; the device shares",
}


def differs(name: str) -> bool:
    return any(re.fullmatch(names, name) for names in OTHERWISE)


CHOSEN = [slope for slope in slopes() if slope.name.startswith(GROUPS)]


def test_all_groups_were_measured() -> None:
    whole = GROUPS[:-1]  # of the last some patterns have to be executed
    assert {slope.name for slope in CHOSEN} <= MEASURED.keys()
    assert {slope.name for slope in CHOSEN if slope.name.startswith(whole)} == {n for n in MEASURED if n.startswith(whole)}
    assert sum(differs(slope.name) for slope in CHOSEN) <= 17


@pytest.mark.parametrize("slope", CHOSEN, ids=lambda slope: slope.name)
def test_cycles(slope: Slope) -> None:
    ours, measured = modelled(slope), MEASURED[slope.name]
    if differs(slope.name):
        assert abs(ours - measured) >= NEAR, "it agrees now: strike it off the list of what differs"
    else:
        assert ours == pytest.approx(measured, abs=NEAR)


def test_without_a_reuse_cache_flags_change_nothing() -> None:
    """The same patterns without the cache take what their reads take."""
    by_name = {slope.name: slope for slope in CHOSEN}
    assert modelled(by_name["reuse.abc_both.1w"], "scheduler=cggty") == pytest.approx(3, abs=NEAR)
    assert modelled(by_name["reuse.none.1w"], "scheduler=cggty") == modelled(by_name["reuse.none.1w"])
