"""What a run gives: one `Result` per run, plain data that goes to a dictionary and back without loss."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, Self

from warploom.base.errors import WarploomError
from warploom.base.extras import imported
from warploom.base.kept import json_to_keep
from warploom.base.notebook import html_facts
from warploom.chip.result import TimedLaunch
from warploom.designs import Design
from warploom.designs.energy import Term
from warploom.runs.provenance import Provenance, brief, provenance_from_dict
from warploom.runs.spec import RunSpec
from warploom.runs.values import flat, plain

if TYPE_CHECKING:
    import pandas


def verdict(verified: bool | None, doubt: str) -> str:
    """What to call it that an output was compared with a reference, or was not."""
    return {True: "yes", False: "NO", None: doubt or "no reference"}[verified]


@dataclass(frozen=True)
class KernelTotal:
    """All launches of one kernel."""

    kernel: str
    registers: int  # of a thread, in the launch with most
    launches: int
    warp_instructions: int
    cycles: int | None = None  # None: not timed, and then there is no time and no energy either
    seconds: float | None = None
    counters: dict[str, Any] = field(default_factory=dict)  # of the core and the policies; the memory system's are the run's
    energy_pj: dict[str, float] | None = None  # of the register file, by part, as results have it


@dataclass(frozen=True, kw_only=True)
class RunOutcome:
    """What came out of a run, and what was asked for. What people call its parts follows from the latter."""

    provenance: Provenance  # what it was made from, and by whom
    verified: bool | None  # None where nothing says that it was right
    doubt: str = ""  # why it is not verified though there is a reference
    findings: tuple[str, ...] = ()  # of the checks that watched
    warp_instructions: int
    wall_seconds: float  # without what was compiled for it
    compile_seconds: float = 0.0  # which later runs need not wait for
    kernels: tuple[KernelTotal, ...] = ()  # in the order of their first launches

    @property
    def verdict(self) -> str:
        """Whether its output was right, in a word or two."""
        return verdict(self.verified, self.doubt)

    @property
    def spec(self) -> RunSpec:
        """The run that it is the result of."""
        return self.provenance.spec

    @property
    def workload(self) -> str:
        """What the program is called."""
        return self.spec.program.name

    @property
    def size(self) -> str:
        """The size of the inputs; empty where there is only one."""
        return self.spec.size

    def labels(self) -> dict[str, Any]:
        """What people call the run's parts."""
        return {"workload": self.workload, "size": self.size}

    def to_dict(self) -> dict[str, Any]:
        """Plain values, as ``--json`` prints them.

        Inner lists and dictionaries are the result's own: a copy of thousands of samples takes longer than to write them.
        """
        numbers = {item.name: getattr(self, item.name) for item in fields(self)}
        for name in ("doubt", "findings"):  # which most have not
            if not numbers[name]:
                del numbers[name]
        numbers |= {"provenance": self.provenance.to_dict(), "kernels": [dict(vars(kernel)) for kernel in self.kernels]}
        return self.labels() | numbers

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], place: str = "a stored result") -> Self:
        """The result that `to_dict` gave, asked for all that it has; numbers that JSON has not (infinite ones) are None."""
        known = {item.name for item in fields(cls)}
        given = {name: value for name, value in data.items() if name in known}
        given["provenance"] = provenance_from_dict(data.get("provenance"), place)
        try:
            return cls(**given | cls._parts(data))
        except (TypeError, AttributeError) as error:
            raise WarploomError(f"{place}: it is damaged: {error}") from None

    @classmethod
    def _parts(cls, data: Mapping[str, Any]) -> dict[str, Any]:
        """What stands otherwise in a dictionary than in a result."""
        kernels = tuple(KernelTotal(**kernel) for kernel in data.get("kernels", ()))
        return {"findings": tuple(data.get("findings", ())), "kernels": kernels}


@dataclass(frozen=True, kw_only=True)
class Emulation(RunOutcome):
    """A program executed without timing."""

    thread_instructions: int


@dataclass(frozen=True, kw_only=True)
class Result(RunOutcome):
    """A program under one design on one machine."""

    cycles: int
    ipc: float  # warp instructions per cycle of the whole chip
    occupancy: float  # resident warps that resources allow, over the machine's limit; of the busiest launch
    ctas_per_sm: int
    registers_per_thread: int
    register_file_bytes: int  # physical, of one SM
    counters: dict[str, Any]
    energy_pj: dict[str, float]  # dynamic, leakage, overhead, total
    storage_bits: int  # what the design adds to an SM
    launches: tuple[TimedLaunch, ...] = ()
    energy_terms: tuple[Term, ...] = ()
    versus: dict[str, Any] = field(default_factory=dict)  # savings against a reference, see `warploom.runs.savings`
    power: list[dict[str, float]] = field(
        default_factory=list
    )  # watts by part over time: one row per interval, ending at `seconds`
    states: list[dict[str, float]] = field(default_factory=list)  # shares of entries on, drowsy, off, allocated, live; IPC
    observed: dict[str, Any] = field(default_factory=dict)  # by observer, for each launch what it saw; empty where nobody watched

    @property
    def design(self) -> dict[str, Any]:
        """The six choices with every parameter, as `Design.to_dict` gives them."""
        return self.spec.design.to_dict()

    @property
    def machine(self) -> str:
        """The machine's name, with what was changed of it."""
        return self.provenance.machine

    @property
    def technology(self) -> str:
        """The energy table's name; with a digest where it is the user's own."""
        return self.provenance.technology

    @property
    def checked(self) -> bool:
        """Whether the shadow checker watched the run."""
        return self.spec.registers_watched

    def labels(self) -> dict[str, Any]:
        called = {"design": self.design, "machine": self.machine, "technology": self.technology, "checked": self.checked}
        return super().labels() | called

    def to_dict(self, *, power: bool = False) -> dict[str, Any]:
        """Plain values, as ``--json`` prints them; power and states over time, which are long, only where asked for."""
        out = super().to_dict() | {"energy_terms": [term._asdict() for term in self.energy_terms]}
        out["launches"] = [launch.to_dict() for launch in self.launches]
        left_out = [] if power else ["power", "states"]
        left_out += [name for name in ("observed", "versus") if not out[name]]  # which most have not
        return {name: value for name, value in out.items() if name not in left_out}

    @classmethod
    def _parts(cls, data: Mapping[str, Any]) -> dict[str, Any]:
        terms = tuple(Term(**term) for term in data.get("energy_terms", ()))
        launches = tuple(TimedLaunch(**launch) for launch in data.get("launches", ()))
        return super()._parts(data) | {"energy_terms": terms, "launches": launches}

    def _repr_html_(self) -> str:
        """What notebooks show."""
        parts = ", ".join(f"{part} {self.energy_pj[part] / 1000:,.1f}" for part in ("dynamic", "leakage", "overhead"))
        facts = {
            "machine": self.machine,
            "size": self.size or "-",
            "output": {"yes": "agrees with the reference", "NO": "WRONG"}.get(self.verdict, self.verdict),
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
        spec = replace(self.spec, design=design)
        return replace(self, provenance=replace(self.provenance, spec=spec))


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


def tables() -> Any:
    """The library of tables."""
    return imported("pandas", "tables need", "report")


def to_table(results: Iterable[Result]) -> pandas.DataFrame:
    """One row per result, nested values as columns with dotted names; needs the extra ``report``."""
    rows = (result.to_dict() for result in results)
    return tables().DataFrame([dict(flat(row | {"provenance": brief(row["provenance"])})) for row in rows])
