"""The register file cache and the two-level scheduler (ISCA 2011)."""

from warploom.base.library import Paper

PAPER = Paper(
    name="rfc",
    title="Register file cache and two-level scheduler",
    citation="Gebhart, Johnson, Tarjan, Keckler, Dally, Lindholm, Skadron: "
    "Energy-efficient Mechanisms for Managing Thread Context in Throughput Processors, ISCA 2011",
    year=2011,
    address="https://doi.org/10.1145/2000064.2000093",
    package=__name__,
    code="sm_75",  # its traces are "encoded in NVIDIA's native ISA", most of them scheduled by its production compiler
    policies=("rfc",),
)
