"""LTRF (ASPLOS 2018): registers prefetched by intervals into a cache before a large slow main file."""

from warploom.base.library import Paper

PAPER = Paper(
    name="ltrf",
    title="Latency-tolerant register file",
    citation="Sadrosadati, Mirhosseini, Ehsani, Sarbazi-Azad, Drumond, Falsafi, Ausavarungnirun, Mutlu: "
    "LTRF: Enabling High-Capacity Register Files for GPUs via Hardware/Software Cooperative Register Prefetching, ASPLOS 2018",
    year=2018,
    address="https://doi.org/10.1145/3173162.3173211",
    package=__name__,
    policies=("ltrf",),
)
