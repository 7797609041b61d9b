"""Technology tables: what one access, one metre of wire, one second of leakage and one added part cost, and how that scales."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

from warploom.base.errors import WarploomError
from warploom.base.files import is_file
from warploom.base.library import with_papers
from warploom.base.spelling import did_you_mean
from warploom.base.toml import parse_toml
from warploom.compiler.code.lanes import REGISTER_BITS

# Halving the register file lowers dynamic power by 20% and total power by 30% (rfv, figure 7, GPUWattch). The first gives the
# exponent of access energy over size; with leakage proportional to size the second follows for a 2:1 split of dynamic to leakage.
SIZE_EXPONENT = -math.log2(0.8)
SLICE_BITS = 128  # the access that tables quote: one register of four lanes
SLICES = REGISTER_BITS // SLICE_BITS  # such accesses that one register of all lanes takes
COMMON = "common"
FOLDER = Path(__file__).parent / "technologies"


@dataclass(frozen=True)
class RegisterFileEnergy:
    """The main register file that a table's numbers are for."""

    bytes: int
    banks: int
    read: float  # J, one 128-bit slice
    write: float  # J, one 128-bit slice
    leakage: float  # W, one bank
    distance: float = 0.0  # m, from the banks to the execution units
    access_in_leakage: float = 0.0  # where a table gives access energy as a multiple of one bank's leakage over one cycle

    @property
    def leakage_total(self) -> float:
        """Watts of the whole file of one SM with every entry on."""
        return self.leakage * self.banks


@dataclass(frozen=True)
class Wire:
    """On-chip wires: energy follows from capacitance, supply and the share of wires that switch."""

    capacitance: float  # F/m
    activity: float  # share of the wires that toggle


@dataclass(frozen=True)
class Table:
    """A small SRAM table beside the register file, such as the renaming table."""

    bytes: int
    banks: int
    access: float  # J
    leakage: float  # W, one bank


@dataclass(frozen=True)
class LogicUnit:
    """A unit that is activated, such as a compressor."""

    activation: float  # J
    leakage: float  # W


@dataclass(frozen=True)
class ReuseCache:
    """A cache of a few operands in front of the pipes."""

    read: float  # J, one 128-bit slice
    write: float  # J, one 128-bit slice


@dataclass(frozen=True)
class Drowsy:
    """Leakage of an SRAM cell that is held at its data retention voltage plus a margin."""

    retention_voltage: float  # V
    margin: float  # V
    slope: float  # V: leakage falls by e for each such step of supply voltage

    def ratio(self, voltage: float, margin: float | None = None) -> float:
        """Leakage in the drowsy state relative to full supply."""
        held = self.retention_voltage + (self.margin if margin is None else margin)
        return min(1.0, math.exp(-(voltage - held) / self.slope))


@dataclass(frozen=True)
class Area:
    """What parts beside the main register file take of the chip, each in areas of one bit of the main file."""

    small_bit: float  # one bit of a small array, such as a renaming table or a register file cache
    gate: float  # one gate that ends a segment of a word line
    compressor: float
    decompressor: float


@dataclass(frozen=True)
class Technology:
    """One technology: a node, a supply, and what the parts of a register file cost in it."""

    name: str
    title: str
    node: float  # m
    voltage: float  # V
    register_file: RegisterFileEnergy
    wire: Wire
    drowsy: Drowsy
    renaming_table: Table
    compressor: LogicUnit
    decompressor: LogicUnit
    reuse_cache: ReuseCache
    register_cache: Mapping[tuple[int, int], tuple[float, float]]  # (active warps, entries): J read, J write of one slice
    area: Area = field(repr=False)  # of no node, for all of it is relative; no run's result depends on it
    sources: Mapping[str, str] = field(default_factory=dict)  # "register_file.read": where the number is from
    borrowed: tuple[str, ...] = ()  # sections taken from the common table, scaled to this node and supply

    @property
    def wire_energy(self) -> float:
        """Joules to move one bit by one metre."""
        return 0.5 * self.wire.capacitance * self.voltage**2 * self.wire.activity

    @property
    def drowsy_ratio(self) -> float:
        """Leakage of a drowsy entry relative to one that is on."""
        return self.drowsy.ratio(self.voltage)

    def access(self, kind: str, cycle_time: float) -> float:
        """Joules to read or write one whole warp register of 1024 bits. ``kind`` is "read" or "write"."""
        rf = self.register_file
        if rf.access_in_leakage:
            return rf.access_in_leakage * rf.leakage * cycle_time
        return (rf.read if kind == "read" else rf.write) * SLICES

    def small_array(self, bits: int, word_bits: int, cycle_time: float) -> tuple[float, float]:
        """Joules to access one word of a small memory of so many bits, and the watts that it leaks, scaled from a bank's."""
        rf = self.register_file
        bank_bits = 8 * rf.bytes / rf.banks
        access = self.access("read", cycle_time) * word_bits / REGISTER_BITS * (bits / bank_bits) ** SIZE_EXPONENT
        return access, rf.leakage * bits / bank_bits

    def table(self, size: float) -> Table:
        """A renaming table of so many bytes: access energy scales with size as the register file's does, leakage with cells."""
        published = self.renaming_table
        scale = size / published.bytes
        return Table(int(size), published.banks, published.access * scale**SIZE_EXPONENT, published.leakage * scale)

    def register_cache_energy(self, active: int, entries: int) -> tuple[float, float]:
        """Joules to read and to write one slice of a register file cache for so many warps and entries per thread.

        Sizes that the table lacks follow the power law in capacity (active x entries) that fits the table best.
        """
        known = self.register_cache.get((active, entries))
        if known is not None:
            return known
        logs = [(math.log(a * e), math.log(read), math.log(write)) for (a, e), (read, write) in self.register_cache.items()]
        size = math.log(active * entries)
        return _power_law([(x, y) for x, y, _ in logs], size), _power_law([(x, y) for x, _, y in logs], size)

    def scaled(self, *, bytes: int | None = None, banks: int | None = None, node: float | None = None) -> Technology:
        """The same technology for a register file of another size or bank count, or at another node.

        Access energy follows the size of a bank with `SIZE_EXPONENT`, leakage the number of cells. To another node energies go
        with capacitance (the feature size) times supply squared; supply, leakage and retention voltage are interpolated
        between the nodes of warped-rf's table 2.
        """
        result = self
        if bytes is not None or banks is not None:
            rf = self.register_file
            new_bytes, new_banks = bytes or rf.bytes, banks or rf.banks
            bank_size = (new_bytes / new_banks) / (rf.bytes / rf.banks)
            factor = bank_size**SIZE_EXPONENT
            # Access quoted in units of a bank's leakage must not shrink a second time with that leakage.
            result = replace(
                result,
                register_file=replace(
                    rf,
                    bytes=new_bytes,
                    banks=new_banks,
                    read=rf.read * factor,
                    write=rf.write * factor,
                    leakage=rf.leakage * bank_size,
                    access_in_leakage=rf.access_in_leakage * factor / bank_size,
                ),
            )
        return result if node is None else result._at_node(node, node_supply(node))

    def _at_node(self, node: float, voltage: float) -> Technology:
        dynamic = (node / self.node) * (voltage / self.voltage) ** 2
        static = node_leakage(node) / node_leakage(self.node)
        rf, table = self.register_file, self.renaming_table

        def unit(u: LogicUnit) -> LogicUnit:
            return LogicUnit(u.activation * dynamic, u.leakage * static)

        return replace(
            self,
            node=node,
            voltage=voltage,
            register_file=replace(rf, read=rf.read * dynamic, write=rf.write * dynamic, leakage=rf.leakage * static),
            drowsy=replace(self.drowsy, retention_voltage=node_retention(node)),
            renaming_table=replace(table, access=table.access * dynamic, leakage=table.leakage * static),
            compressor=unit(self.compressor),
            decompressor=unit(self.decompressor),
            reuse_cache=ReuseCache(self.reuse_cache.read * dynamic, self.reuse_cache.write * dynamic),
            register_cache={k: (r * dynamic, w * dynamic) for k, (r, w) in self.register_cache.items()},
        )


# warped-rf, table 2: node: (supply V, leakage of an 8 KB bank W, data retention voltage V).
NODES = {90e-9: (1.2, 2.9e-3, 0.120), 65e-9: (1.1, 3.5e-3, 0.145), 32e-9: (0.9, 5.6e-3, 0.220)}


def node_supply(node: float) -> float:
    """Supply voltage that is usual at a node."""
    return _between_nodes(node, 0)


def node_leakage(node: float) -> float:
    """Leakage of an 8 KB bank at a node."""
    return _between_nodes(node, 1)


def node_retention(node: float) -> float:
    """Data retention voltage at a node."""
    return _between_nodes(node, 2)


def _between_nodes(node: float, column: int) -> float:
    nodes = sorted(NODES)
    if not 3e-9 <= node <= 180e-9:
        raise WarploomError(f"technology node {node:g} m: give it in metres, between 3e-9 and 180e-9")
    upper = next((i for i, known in enumerate(nodes) if known >= node), len(nodes) - 1) or 1
    a, b = nodes[upper - 1], nodes[upper]
    t = (math.log(node) - math.log(a)) / (math.log(b) - math.log(a))
    return math.exp(math.log(NODES[a][column]) * (1 - t) + math.log(NODES[b][column]) * t)


def _power_law(points: list[tuple[float, float]], x: float) -> float:
    """Least squares through points of logarithms, evaluated at ``x`` and taken out of the logarithm."""
    n = len(points)
    mean_x, mean_y = sum(p[0] for p in points) / n, sum(p[1] for p in points) / n
    spread = sum((p[0] - mean_x) ** 2 for p in points)
    slope = sum((p[0] - mean_x) * (p[1] - mean_y) for p in points) / spread
    return math.exp(mean_y + slope * (x - mean_x))


# Sections and their keys, with the unit that the file must state.
_SCHEMA: dict[str, tuple[type, dict[str, str]]] = {
    "register_file": (
        RegisterFileEnergy,
        {"bytes": "B", "banks": "1", "read": "J", "write": "J", "leakage": "W", "distance": "m", "access_in_leakage": "1"},
    ),
    "wire": (Wire, {"capacitance": "F/m", "activity": "1"}),
    "drowsy": (Drowsy, {"retention_voltage": "V", "margin": "V", "slope": "V"}),
    "renaming_table": (Table, {"bytes": "B", "banks": "1", "access": "J", "leakage": "W"}),
    "compressor": (LogicUnit, {"activation": "J", "leakage": "W"}),
    "decompressor": (LogicUnit, {"activation": "J", "leakage": "W"}),
    "reuse_cache": (ReuseCache, {"read": "J", "write": "J"}),
    "area": (Area, {"small_bit": "1", "gate": "1", "compressor": "1", "decompressor": "1"}),
}
_OPTIONAL = {f"register_file.{key}" for key in ("distance", "access_in_leakage", "read", "write")}
# What other numbers are divided by, or taken the logarithm of.
_POSITIVE = {".node", ".voltage", "register_file.bytes", "register_file.banks", "drowsy.slope", "renaming_table.bytes"}
_POSITIVE |= {"register_cache.read", "register_cache.write"}
_LARGEST = 1e12  # in any unit; far from where arithmetic overflows


def technology_names() -> list[str]:
    """Names of the tables that there are, those of papers included."""
    return sorted(_files())


def load_technology(name: str | Path) -> Technology:
    """A table by name, or from a TOML file of the user's own."""
    text = str(name)
    if text.endswith(".toml"):
        path = Path(text)
        if not is_file(path):
            raise WarploomError(f"{text}: no such technology file")
        try:
            written = path.read_text(encoding="utf-8")
        except OSError as error:
            raise WarploomError(f"{text}: the technology cannot be read ({error.strerror})") from None
        except UnicodeDecodeError as error:
            raise WarploomError(f"{text}: not valid TOML: {error}") from None
        return _parse(written, path.stem, text)
    files = _files()
    if text not in files:
        raise WarploomError(f"technology {text!r} is not known{did_you_mean(text, sorted(files))}")
    return _kept(files[text])


@cache
def _kept(path: Path) -> Technology:
    return _parse(path.read_text(encoding="utf-8"), path.stem, str(path))


def _files() -> dict[str, Path]:
    return with_papers("technology", {path.stem: path for path in FOLDER.glob("*.toml")}, lambda paper: paper.technologies)


def _parse(text: str, name: str, place: str) -> Technology:
    data = parse_toml(text, place)
    sources: dict[str, str] = {}

    def quantity(section: str, key: str, entry: Any, unit: str) -> float:
        where = f"{place}: {section}.{key}" if section else f"{place}: {key}"
        if not isinstance(entry, dict) or not isinstance(entry.get("value"), int | float) or isinstance(entry["value"], bool):
            raise WarploomError(f'{where} must be written as {{ value = number, unit = "{unit}", source = "..." }}')
        if entry.get("unit") != unit:
            raise WarploomError(f"{where} must be in {unit}, not {entry.get('unit')!r}")
        if not isinstance(entry.get("source"), str) or not entry["source"]:
            raise WarploomError(f"{where} needs a source")
        lowest, most = ("above 0" if f"{section}.{key}" in _POSITIVE else "zero or more"), _LARGEST
        if not 0 <= entry["value"] <= most or (entry["value"] == 0 and lowest == "above 0"):
            raise WarploomError(f"{where} must be {lowest} and at most {most:g}, not {entry['value']}")
        sources[f"{section}.{key}" if section else key] = entry["source"]
        return entry["value"]

    known = {"title", "node", "voltage", "register_cache", *_SCHEMA}
    for key in data:
        if key not in known:
            raise WarploomError(f"{place}: {key!r} is not a section of a technology table{did_you_mean(key, sorted(known))}")
    for key in ("title", "node", "voltage", "register_file"):
        if key not in data:
            raise WarploomError(f"{place}: {key!r} is missing")
    if not isinstance(data["title"], str):
        raise WarploomError(f"{place}: the title must be text, not {data['title']!r}")
    node, voltage = quantity("", "node", data["node"], "m"), quantity("", "voltage", data["voltage"], "V")
    _between_nodes(node, 0)
    parts: dict[str, Any] = {}
    borrowed: list[str] = []
    for section, (kind, units) in _SCHEMA.items():
        if section not in data:
            borrowed.append(section)
            continue
        if not isinstance(data[section], dict):
            raise WarploomError(f"{place}: {section!r} is a section and wants its values under [{section}]")
        values: dict[str, Any] = {}
        for key, entry in data[section].items():
            if key not in units:
                raise WarploomError(f"{place}: {section}.{key} is not known{did_you_mean(key, list(units))}")
            values[key] = quantity(section, key, entry, units[key])
        for key in units:
            if key not in values and f"{section}.{key}" not in _OPTIONAL:
                raise WarploomError(f"{place}: {section}.{key} is missing")
        if section == "register_file":
            if not values.get("access_in_leakage") and not (values.get("read") and values.get("write")):
                raise WarploomError(f"{place}: register_file needs read and write, or access_in_leakage")
            values.setdefault("read", 0.0)
            values.setdefault("write", 0.0)
        parts[section] = kind(**values)
    if "register_cache" in data:
        parts["register_cache"] = {
            _capacity(row, place): (
                quantity("register_cache", "read", row.get("read"), "J"),
                quantity("register_cache", "write", row.get("write"), "J"),
            )
            for row in _rows(data["register_cache"], place)
        }
        if len({active * entries for active, entries in parts["register_cache"]}) < 2:
            raise WarploomError(f"{place}: register_cache needs rows of two capacities at least, to find others between them")
    else:
        borrowed.append("register_cache")
    if borrowed:
        if name == COMMON:
            raise WarploomError(f"{place}: the common table must have {', '.join(borrowed)}")
        common = _kept(FOLDER / f"{COMMON}.toml")._at_node(node, voltage)
        parts |= {section: getattr(common, section) for section in borrowed}
        if "register_cache" in borrowed and parts["register_file"].read:
            parts["register_cache"] = _cache_beside(parts["register_file"], common)
    return Technology(
        name=name, title=data["title"], node=node, voltage=voltage, sources=sources, borrowed=tuple(borrowed), **parts
    )


def _cache_beside(main: RegisterFileEnergy, common: Technology) -> dict[tuple[int, int], tuple[float, float]]:
    """The common table's register file cache with the same ratios to another main file."""
    read, write = main.read / common.register_file.read, main.write / common.register_file.write
    return {size: (r * read, w * write) for size, (r, w) in common.register_cache.items()}


def _rows(entry: Any, place: str) -> list[dict[str, Any]]:
    if not isinstance(entry, list) or not all(isinstance(row, dict) for row in entry):
        raise WarploomError(f"{place}: register_cache is written as rows, each under [[register_cache]]")
    for row in entry:
        for key in row:
            if key not in ("active", "entries", "read", "write"):
                raise WarploomError(
                    f"{place}: register_cache.{key} is not known{did_you_mean(key, ['active', 'entries', 'read', 'write'])}"
                )
    return entry


def _capacity(row: dict[str, Any], place: str) -> tuple[int, int]:
    for key in ("active", "entries"):
        value = row.get(key)
        if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= 1024:
            raise WarploomError(f"{place}: register_cache.{key} must be a whole number from 1 to 1024, not {value!r}")
    return row["active"], row["entries"]
