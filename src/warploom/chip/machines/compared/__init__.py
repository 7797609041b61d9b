"""How far a machine is off: what comparisons with kernels gave that it was not adjusted on, a file for each machine compared."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any

from warploom.base.toml import parse_toml

_FOLDER = Path(__file__).parent


@dataclass(frozen=True)
class Unseen:
    """Kernels that a machine was not adjusted on: the absolute error of their cycles, as a share."""

    caches: str
    launches: int
    kernels: int
    median: float
    mean: float | None = None


@dataclass(frozen=True)
class Comparison:
    """What a machine was compared with."""

    beside: str
    date: str
    unseen: tuple[Unseen, ...]

    def to_dict(self) -> dict[str, Any]:
        """Plain values, as ``--json`` prints them."""
        return asdict(self)


@cache
def comparison(machine: str) -> Comparison | None:
    """The comparison of a machine of this name; None of one that was never compared."""
    file = _FOLDER / f"{machine}.toml"
    if not file.is_file():
        return None
    data = parse_toml(file.read_bytes(), str(file))
    return Comparison(data["with"], data["date"], tuple(Unseen(**each) for each in data["unseen"]))


def error_sentence(label: str, caches: str) -> str:
    """How far a result on a machine may be off, by its name with what was changed of it, and the caches of the run."""
    name, changed, _ = label.partition("[")
    known = comparison(name)
    if known is None:
        return f"{name} was never compared with a chip: how far its cycles are off is not known."
    kinds = [each for each in known.unseen if caches in each.caches] or known.unseen
    errors = ", ".join(f"{each.median:.1%} in the median ({each.launches} launches, caches {each.caches})" for each in kinds)
    whole = " That is of the machine as it stands, not of one that was changed." if changed else ""
    return f"Beside {known.beside}, cycles of kernels that {name} was not adjusted on are off by {errors}.{whole}"
