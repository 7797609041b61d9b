"""What is said of how far a machine is off: from one file beside it, and the pages of the manual say the same."""

from __future__ import annotations

from support.places import ROOT
from warploom.chip.machines import machine_names
from warploom.chip.machines.compared import comparison, error_sentence


def test_a_result_says_how_far_unseen_kernels_are_off() -> None:
    assert error_sentence("hopper", "cold") == (
        "Compared with an H200, cycles of kernels that hopper was not adjusted on are off by 5.8% in the median "
        "(224 launches, caches cold)."
    )
    assert "10.0% in the median (224 launches, caches warm)" in error_sentence("hopper", "warm")
    assert error_sentence("hopper[sms=4]", "cold").endswith("not of one that was changed.")
    assert "a simulator, not a chip" in error_sentence("gtx480", "warm")


def test_a_machine_that_was_never_compared_says_that() -> None:
    for name in set(machine_names()) - {"hopper", "gtx480"} | {"mine"}:
        assert comparison(name) is None
        assert error_sentence(name, "cold").startswith(f"{name} was never compared with a chip")


def test_the_manual_says_the_same() -> None:
    hopper, gtx480 = comparison("hopper"), comparison("gtx480")
    assert hopper is not None and gtx480 is not None
    page = " ".join((ROOT / "docs" / "lab" / "hopper.md").read_text("utf-8").split())
    for kind in hopper.unseen:  # columns: adjust, held-out, all
        assert f"% {kind.median:.1%} " in page and f"% {kind.mean:.1%} " in page and f" {kind.launches} 477 " in page
    cold = hopper.unseen[0]
    assert f"{cold.mean:.1%} off in the mean ({cold.median:.1%} in the median)" in (ROOT / "README.md").read_text("utf-8")
    (kind,) = gtx480.unseen
    machines = " ".join((ROOT / "docs" / "reference" / "machines.md").read_text("utf-8").split())
    assert f"In {kind.launches} runs they differ by {kind.median:.1%} in the median" in machines
