"""A plan: which designs, parameters, workloads, machines and so on are to be run, as TOML or in Python."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from dataclasses import fields as fields_of
from pathlib import Path
from typing import Any

from warploom.base.errors import WarploomError
from warploom.base.spelling import did_you_mean
from warploom.base.toml import parse_toml
from warploom.runs.caches import COLD

Axis = Any  # one value, a list of values, or a range as a table


@dataclass(frozen=True)
class Plan:
    """A grid of runs: every combination of what its axes list. An axis is a value, a list, or a range.

    ``parameters`` are those of the designs' policies by dotted name (``allocation.shrink``), a policy for a choice
    (``scheduler``), or an option of designs (``register_file``, ``max_registers``); ``overrides`` are numbers of the machines
    (``l1.latency``); ``fields`` are any other fields of runs (``order``, ``budget``). A design whose policy does not have a
    parameter is run once instead of once for each of its values.
    ``workloads`` are names of workloads and sets, files of recordings, and names that ``kernels`` gives to kernels of the user's
    own, each a table as `warploom.programs.own_kernel.own_kernel_from_dict` reads it.
    ``replicates`` runs every workload with so many seeds, its own and those that follow; ``seeds`` names them. ``where`` are
    conditions that points must fulfil. ``grids`` are further plans, each with what it says itself in place of what this one says.
    """

    designs: Axis = "baseline"
    workloads: Axis = ()
    kernels: Mapping[str, Any] = field(default_factory=dict)
    parameters: Mapping[str, Axis] = field(default_factory=dict)
    machines: Axis = "gtx480"
    overrides: Mapping[str, Axis] = field(default_factory=dict)
    sms: Axis = 0  # so many SMs with their share of L2 and bandwidth; 0: all that the machine has
    sizes: Axis = "small"
    codes: Axis = ""  # what is executed; empty: the machine's usual code
    caches: Axis = COLD  # in what condition launches find them: cold, warm
    technologies: Axis = ""  # energy tables; empty: the machine's own, or the common one
    seeds: Axis = ()
    fields: Mapping[str, Axis] = field(default_factory=dict)  # any other field of runs, by its path: see `RunSpec.vary`
    replicates: int = 1
    check: bool = False  # whether the shadow checker watches
    where: Axis = ()
    grids: tuple[Plan, ...] = ()
    place: str = "plan"  # what messages begin with


_KEYS = tuple(item.name for item in fields_of(Plan) if item.name not in ("grids", "place"))
_TABLES = ("parameters", "overrides", "fields")


def make_plan(plan: Plan | Mapping[str, Any] | str | Path) -> Plan:
    """A plan from whatever describes it: a TOML file, its tables, or a plan."""
    if isinstance(plan, Plan):
        return plan
    if isinstance(plan, Mapping):
        return plan_from_dict(plan)
    return read_plan(plan)


def read_plan(path: str | Path) -> Plan:
    """A plan from a TOML file."""
    return plan_from_dict(read_toml(path, "plan"), str(path))


def read_toml(path: str | Path, what: str) -> dict[str, Any]:
    """The tables of a TOML file."""
    try:
        return parse_toml(Path(path).read_bytes(), str(path))
    except OSError as error:
        raise WarploomError(f"{path}: the {what} cannot be read ({error.strerror or error})") from None


def plan_from_dict(data: Mapping[str, Any], place: str = "plan") -> Plan:
    """A plan from the tables of a TOML file; each ``[[grid]]`` adds to what stands before it, or replaces it."""
    if "objectives" in data:
        raise WarploomError(f"{place}: it is a goal, not a plan; give it to `warploom search`")
    common = _entries(data, place, (*_KEYS, "grid"))
    grids = data.get("grid", [])
    if not isinstance(grids, list) or not all(isinstance(grid, Mapping) for grid in grids):
        raise WarploomError(f"{place}: write further grids as [[grid]], with two brackets")
    common.pop("grid", None)
    below = []
    for number, grid in enumerate(grids, 1):
        own = _entries(grid, f"{place}, grid {number}", _KEYS)
        merged = {name: {**common.get(name, {}), **own.get(name, {})} for name in (*_TABLES, "kernels")}
        below.append(Plan(**(common | own | merged), place=f"{place}, grid {number}"))
    return Plan(**common, grids=tuple(below), place=place)


def _entries(data: Mapping[str, Any], place: str, known: tuple[str, ...]) -> dict[str, Any]:
    out: dict[str, Any] = {}
    for name, value in data.items():
        if name not in known:
            raise WarploomError(f"{place}: {name!r} is not an entry of a plan{did_you_mean(name, known)}")
        if name in _TABLES:
            if not isinstance(value, Mapping):
                raise WarploomError(f"{place}: write {name} as a table, [{name}]")
            value = dotted(value)
        elif name == "kernels" and not isinstance(value, Mapping):
            raise WarploomError(f"{place}: write each kernel as a table, [kernels.NAME]")
        out[name] = value
    return out


@contextmanager
def refused_at(place: str) -> Iterator[None]:
    """What is refused inside is refused with the place in front."""
    try:
        yield
    except WarploomError as error:
        raise WarploomError(f"{place}: {error}") from None


def dotted(table: Mapping[str, Any]) -> dict[str, Any]:
    """The entries of nested tables under dotted names; a range, even half of one, is a table too and stays one."""
    out: dict[str, Any] = {}
    for name, value in table.items():
        if isinstance(value, Mapping) and not ("from" in value or "to" in value):
            out |= {f"{name}.{inner}": entry for inner, entry in dotted(value).items()}
        else:
            out[name] = value
    return out
