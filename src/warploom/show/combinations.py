"""Designs that stand side by side in the report: the published ones, and what they give together."""

from warploom.base.library import papers


def published_designs() -> list[str]:
    """The baseline, to which everything is relative, the designs of all papers, and their limits."""
    return ["baseline", *(name for paper in papers() for name in paper.designs), *LIMITS]


# Bounds, not designs that could be chosen: of allocation alone, and of allocation with sleeping registers.
LIMITS = ("oracle", "oracle-free-wakeup")


# Each combination with the published designs that it is made of. Where two designs bring a policy for the same choice, the
# text says which one is kept: trimodal registers, because they also cover entries that a coarser gating would switch off whole.
COMBINATIONS = {
    "rfv + compression + power=subarray-gating": ("rfv", "compression"),
    "rfv + warped-rf + power=trimodal": ("rfv", "warped-rf"),
    "rfc + warped-rf": ("rfc", "warped-rf"),
    "regmutex + compression": ("regmutex", "compression"),
    "rfc + rfv + warped-rf + compression + power=trimodal": ("rfc", "rfv", "warped-rf", "compression"),
}
