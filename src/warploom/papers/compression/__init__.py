"""Warped-compression (ISCA 2015)."""

from warploom.base.library import Paper

PAPER = Paper(
    name="compression",
    title="Warped-compression",
    citation="Lee, Kim, Koo, Jeon, Ro, Annavaram: "
    "Warped-Compression: Enabling Power Efficient GPUs through Register Compression, ISCA 2015",
    year=2015,
    address="https://doi.org/10.1145/2749469.2750417",
    package=__name__,
    policies=("bank_gating", "bdi"),
)
