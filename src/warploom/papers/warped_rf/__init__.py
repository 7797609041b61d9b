"""Warped Register File (HPCA 2013)."""

from warploom.base.library import Paper

PAPER = Paper(
    name="warped-rf",
    title="Tri-modal registers and active-mask gating",
    citation="Abdel-Majeed, Annavaram: Warped Register File: A Power Efficient Register File for GPGPUs, HPCA 2013",
    year=2013,
    address="https://doi.org/10.1109/HPCA.2013.6522337",
    package=__name__,
    policies=("active_mask", "trimodal"),
)
