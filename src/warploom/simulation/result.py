"""What a run gives: one `Result` per program and design, plain data."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from warploom.errors import WarploomError
from warploom.errors.notebook import html_facts
from warploom.storage.kept import json_to_keep

if TYPE_CHECKING:
    import pandas

    from warploom.designs import Design
    from warploom.energy import Term
    from warploom.simulation.provenance import Provenance


@dataclass(frozen=True)
class Emulation:
    """A program executed without timing."""

    workload: str
    size: str
    verified: bool | None  # None where no reference exists
    warp_instructions: int
    thread_instructions: int
    wall_seconds: float
    provenance: Provenance | None = None  # what it was made from; None only for one that nobody ran

    def to_dict(self) -> dict[str, Any]:
        """Plain values, as ``--json`` prints them."""
        return asdict(self) | {"provenance": self.provenance.to_dict() if self.provenance else None}


@dataclass(frozen=True)
class Result:
    """A program under one design on one machine."""

    workload: str
    design: dict[str, Any]  # the six choices with every parameter, as `Design.to_dict` gives them
    machine: str  # its name, with what was changed of it
    size: str
    technology: str  # the energy table's name; with a digest where it is the user's own
    verified: bool | None  # None where no reference exists
    checked: bool  # whether the shadow checker watched the run
    cycles: int
    warp_instructions: int
    ipc: float  # warp instructions per cycle of the whole chip
    occupancy: float  # resident warps that resources allow, over the machine's limit; of the busiest launch
    ctas_per_sm: int
    registers_per_thread: int
    register_file_bytes: int  # physical, of one SM
    counters: dict[str, Any]
    energy_pj: dict[str, float]  # dynamic, leakage, overhead, total
    storage_bits: int  # what the design adds to an SM
    wall_seconds: float
    kernels: list[dict[str, Any]] = field(default_factory=list)
    energy_terms: tuple[Term, ...] = ()
    versus: dict[str, Any] = field(default_factory=dict)  # savings against a reference, see `warploom.simulation.versus`
    power: list[dict[str, float]] = field(
        default_factory=list
    )  # watts by part over time: one row per interval, ending at `seconds`
    provenance: Provenance | None = None  # what it was made from; None only for one that nobody ran
    states: list[dict[str, float]] = field(default_factory=list)  # shares of entries on, drowsy, off, allocated, live; IPC
    observed: dict[str, Any] = field(default_factory=dict)  # by observer, for each launch what it saw; empty where nobody watched

    def to_dict(self, *, power: bool = False) -> dict[str, Any]:
        """Plain values, as ``--json`` prints them; power and states over time, which are long, only where asked for.

        Inner lists and dictionaries are the result's own: a copy of thousands of samples takes longer than to write them.
        """
        out = {item.name: getattr(self, item.name) for item in fields(self)}
        if not power:
            del out["power"], out["states"]
        if not self.observed:
            del out["observed"]
        out |= out.pop("versus")
        out["provenance"] = self.provenance.to_dict() if self.provenance else None
        out["energy_terms"] = {f"{term.part}: {term.what}": term.joules * 1e12 for term in self.energy_terms}
        return out

    def _repr_html_(self) -> str:
        """What notebooks show."""
        parts = ", ".join(f"{part} {self.energy_pj[part] / 1000:,.1f}" for part in ("dynamic", "leakage", "overhead"))
        facts = {
            "machine": self.machine,
            "size": self.size or "-",
            "output": {True: "agrees with the reference", False: "WRONG", None: "no reference"}[self.verified],
            "cycles": f"{self.cycles:,}",
            "IPC": f"{self.ipc:.2f}",
            "warp instructions": f"{self.warp_instructions:,}",
            "registers per thread": self.registers_per_thread,
            "occupancy": f"{self.occupancy:.0%}, {self.ctas_per_sm} CTAs per SM",
            "register file energy, nJ": f"{self.energy_pj['total'] / 1000:,.1f} ({parts})",
            "bits added to an SM": f"{self.storage_bits:,}",
        }
        return html_facts(f"{self.workload} under {self.design['name']}", facts)

    def under_name_of(self, design: Design) -> Result:
        """The same result for an equal design, which may have another name."""
        named = replace(self.provenance, design=design.to_dict()) if self.provenance else None
        return replace(self, design=design.to_dict(), provenance=named)


@dataclass(frozen=True)
class Encoded:
    """A result as the bytes of the file that holds it, and how long its run took."""

    file: bytes
    wall_seconds: float


def encoded(result: Result) -> Encoded:
    """A result as it is stored, with power and states over time, which are most of it.

    Whoever makes a run does this too, so that a process that stores the results of many has only to write them.
    """
    return Encoded(encode(result.to_dict(power=True)), result.wall_seconds)


def encode(values: dict[str, Any]) -> bytes:
    """The values of a result as the bytes of the file that holds them."""
    return json_to_keep(plain(values))


def result_from_dict(data: dict[str, Any]) -> Result:
    """A result from what `Result.to_dict` gave; energy terms and savings stay behind."""
    from warploom.simulation.provenance import provenance_from_dict

    known = {item.name for item in fields(Result)} - {"energy_terms", "versus", "provenance"}
    made_from = provenance_from_dict(data.get("provenance"), "a stored result")
    return Result(**{key: value for key, value in data.items() if key in known}, provenance=made_from)


def to_table(results: Iterable[Result]) -> pandas.DataFrame:
    """One row per result, nested values as columns with dotted names; needs the extra ``report``."""
    try:
        import pandas
    except ImportError:
        raise WarploomError("tables need pandas: pip install 'warploom[report]'") from None
    from warploom.simulation.provenance import brief

    rows = (result.to_dict() for result in results)
    return pandas.DataFrame([dict(flat(row | {"provenance": brief(row["provenance"] or {})})) for row in rows])


def flat(values: dict[str, Any], prefix: str = "") -> Iterable[tuple[str, Any]]:
    """The leaves of nested values, under dotted names."""
    for key, value in values.items():
        if isinstance(value, dict):
            yield from flat(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value


def plain(value: Any) -> Any:
    """The same value in JSON's own types: NumPy's numbers and arrays converted, what is not finite as null."""
    if type(value) is float:  # first, because most values are: those of power and states over time
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, np.generic):
        return plain(value.item())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
