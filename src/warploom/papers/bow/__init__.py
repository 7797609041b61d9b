"""Breathing operand windows (MICRO 2020): values are forwarded between neighbouring instructions inside the collector."""

from warploom.base.library import Paper

PAPER = Paper(
    name="bow",
    title="Breathing operand windows",
    citation="Asghari Esfeden, Abdolrashidi, Rahman, Wong, Abu-Ghazaleh: "
    "BOW: Breathing Operand Windows to Exploit Bypassing in GPUs, MICRO 2020",
    year=2020,
    address="https://www.cs.ucr.edu/~nael/pubs/micro20-bow.pdf",
    package=__name__,
    policies=("bow",),
)
