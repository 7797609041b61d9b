"""Banks, read ports and the reuse cache of `hopper` beside an H200: every number to the cycle, but for those named here."""

from __future__ import annotations

import re

import pytest
from register_patterns import modelled

from warploom.validation.microbenchmarks.registers import slopes
from warploom.validation.microbenchmarks.slopes import Slope
from warploom.validation.recorded import folder_of, read_numbers

MEASURED = {number.name: number.value for number in read_numbers(folder_of("h200"))[1]}
GROUPS = ("bank.", "read.", "reuse.", "shared_bank.")
NEAR = 0.05  # cycles; times of several warps vary by 0.02 from run to run

OTHERWISE = {  # what differs: names, and why
    r"read\.mufu_crowded": "a MUFU among FADDs that ask for every cycle of its bank costs a cycle on the device, here none",
    r"reuse\.written\.HFMA2\.MMA\..*": "HFMA2.MMA among instructions that ask for every cycle of a bank costs one more there",
    r"reuse\.written\.IMAD\.(4|6|8|10)": "an IMAD that finds the heavy half taken costs a cycle there although a read was late",
    r"shared_bank\.e(ee|eo|ez)\.stall[5-8]\.(8|12|16)w": "how warps fall in beside each other decides: on the device some took "
    "less than stall counts (eee.stall7.8w: 3.2 cycles of two warps that stall for 7) or the bank (eeo.stall5.12w: 1.75) allow",
    r"shared_bank\.e(eo|ez|zz)\.stall3\.16w": "three of four warps leave nothing to the oldest here; the device shares",
}
AS_MEASURED = {  # of the names above, those that agree nevertheless
    *("shared_bank.eee.stall5.12w", "shared_bank.eee.stall5.16w", "shared_bank.eee.stall6.8w", "shared_bank.eee.stall6.16w"),
    *("shared_bank.eeo.stall5.16w", "shared_bank.eeo.stall8.8w", "shared_bank.eeo.stall8.12w"),
    *("shared_bank.eez.stall5.16w", "shared_bank.eez.stall8.8w", "shared_bank.eez.stall8.12w"),
}


def differs(name: str) -> bool:
    return name not in AS_MEASURED and any(re.fullmatch(names, name) for names in OTHERWISE)


CHOSEN = [slope for slope in slopes() if slope.name.startswith(GROUPS)]


def test_all_groups_were_measured() -> None:
    assert {slope.name for slope in CHOSEN} == {name for name in MEASURED if name.startswith(GROUPS)}
    assert sum(differs(slope.name) for slope in CHOSEN) <= 45


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
