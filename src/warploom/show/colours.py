"""Colours that mean the same in every chart and on every page, told apart by people who see fewer of them.

They are taken from palettes made for that purpose (Okabe and Ito's, Tol's), darkened or lightened so that each stands out from
white and from black alike. Nothing is said by colour alone: marks have labels, legends or numbers beside them.
"""

from __future__ import annotations

from collections.abc import Sequence

BLUE, ORANGE, GREEN, PINK, SKY, VERMILION, GREY, OLIVE = (
    "#0072b2",
    "#e69f00",
    "#009e73",
    "#cc79a7",
    "#56b4e9",
    "#d55e00",
    "#8c8c8c",
    "#a39a00",
)
ORDER = (GREY, BLUE, ORANGE, GREEN, PINK, SKY, VERMILION, OLIVE, "#aa4499", "#44aa99", "#7c6bd6", "#b5651d")
PUBLISHED = "#b2182b"  # what a paper says
FIXED = {
    # parts of the energy
    "dynamic": BLUE,
    "leakage": ORANGE,
    "overhead": GREEN,
    "time": GREY,
    "total": GREY,
    # states of registers
    "on": VERMILION,
    "drowsy": SKY,
    "off": GREY,
    "allocated": BLUE,
    "live": GREEN,
    # why nothing is issued
    "empty": GREY,
    "fetch": OLIVE,
    "barrier": PINK,
    "scoreboard": BLUE,
    "result": SKY,
    "memory": BLUE,
    "pipeline": ORANGE,
    "allocation": VERMILION,
    "scheduler": "#7c6bd6",
    "inactive": "#7c6bd6",
    "not chosen": "#44aa99",
    "exit": GREY,
    "issuing": GREEN,
}


def colours_of(names: Sequence[str]) -> list[str]:
    """A colour for each name: its own where it has one, else by its place among the others."""
    others = [name for name in names if name not in FIXED]
    return [FIXED[name] if name in FIXED else ORDER[others.index(name) % len(ORDER)] for name in names]
