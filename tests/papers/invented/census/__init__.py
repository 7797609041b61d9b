"""An invented paper: the compiler tells the hardware at the start of each block how many registers are live."""

from warploom.kit import Paper

PAPER = Paper(
    name="census",
    title="A census of live registers",
    citation="Nobody: A Census of Live Registers, nowhere, 2020",
    year=2020,
    package=__name__,
    policies=("policy",),
)
