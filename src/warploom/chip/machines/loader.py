"""Machine files: TOML in, `Machine` out, and a sentence with the key's name for whatever is wrong."""

from __future__ import annotations

import difflib
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import Field, fields
from pathlib import Path
from typing import Any

from warploom.code.classes import OpClass
from warploom.errors import WarploomError
from warploom.library import with_papers
from warploom.machines import schema
from warploom.machines.machine import TABLES, USUAL_CODE, USUAL_DESIGN, Machine
from warploom.sass.module import ARCHITECTURES

FOLDER = Path(__file__).parent
_BY_CLASS = {name: {kind.name.lower(): kind for kind in OpClass} for name in ("latency", "initiation")}
_BASES_ALLOWED = 8  # a longer chain is a cycle

Tables = dict[str, dict[str, Any]]


def machine_names() -> list[str]:
    """The machines that there are, those of papers included."""
    return sorted(_files())


def _files() -> dict[str, Path]:
    return with_papers("machine", {path.stem: path for path in FOLDER.glob("*.toml")}, lambda paper: paper.machines)


def load_machine(name_or_path: str | Path, **overrides: Any) -> Machine:
    """A machine by name, or from a TOML file; `overrides` are values by dotted key (``**{"chip.sms": 1}``)."""
    path = _find(name_or_path)
    text, tables, sources = _read(path, depth=0)
    for key, value in overrides.items():
        table, _, entry = key.partition(".")
        tables.setdefault(table, {})[entry] = value
        sources[key] = "set by the caller"
    return _build(path, text, tables, sources)


def machine_from_dict(data: Mapping[str, Any], where: str) -> Machine:
    """A machine from what `Machine.to_dict` gave."""
    tables = {name: dict(table) for name, table in data.items() if name not in ("name", "title", "code", "design")}
    path = Path(f"{data['name']}.toml")
    try:
        text = {"title": str(data["title"]), "code": str(data.get("code", USUAL_CODE)), "design": str(data.get("design", ""))}
        return _build(path, text, tables, dict.fromkeys((key for key, _ in _leaves(tables)), where))
    except WarploomError as error:
        raise WarploomError(f"{where}: {error}") from None


def _leaves(tables: Tables) -> Iterable[tuple[str, Any]]:
    return ((f"{table}.{key}", value) for table, entries in tables.items() for key, value in entries.items())


def _find(name_or_path: str | Path) -> Path:
    path = Path(name_or_path)
    if path.suffix == ".toml":
        if not path.is_file():
            raise WarploomError(f"{path}: there is no such machine file")
        return path
    known = _files()
    if str(name_or_path) not in known:
        raise WarploomError(f"machine {str(name_or_path)!r} is unknown{_nearest(str(name_or_path), sorted(known))}")
    return known[str(name_or_path)]


def _find_base(path: Path, base: str) -> Path:
    """The file of a base: beside the file that names it, with or without its suffix, or one of Warploom's."""
    beside = path.parent / (base if base.endswith(".toml") else f"{base}.toml")
    if beside.is_file():
        return beside
    if base.endswith(".toml"):
        raise WarploomError(f"{path}: its `base` {base!r} is not there: no file {beside}")
    return _find(base)


def _nearest(word: str, known: Iterable[str]) -> str:
    """The end of a sentence: what was probably meant, and all that is allowed."""
    known = list(known)
    close = difflib.get_close_matches(word, known, n=1)
    guess = f"; did you mean {close[0]!r}?" if close else ""
    return f"{guess} (allowed: {', '.join(known)})"


def _read(path: Path, depth: int) -> tuple[dict[str, str], Tables, dict[str, str]]:
    """The file's texts, its tables on top of its base's, and the source of each key that any of them sets."""
    if depth > _BASES_ALLOWED:
        raise WarploomError(f"{path}: the chain of `base` machines never ends")
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise WarploomError(f"{path}: the machine cannot be read ({error.strerror})") from None
    except ValueError as error:  # of TOML, of UTF-8, or a number of thousands of digits
        raise WarploomError(f"{path}: not a TOML file: {error}") from None
    text = {key: data.pop(key, "") for key in ("title", "base", "code", "design")}
    for key, value in text.items():
        if not isinstance(value, str):
            raise WarploomError(f"{path}: `{key}` must be text, not {value!r}")
    own_sources = data.pop("sources", {})
    tables: Tables = {}
    sources: dict[str, str] = {}
    if text["base"]:
        base, tables, sources = _read(_find_base(path, text["base"]), depth + 1)
        text["code"] = text["code"] or base["code"]
        text["design"] = text["design"] or base["design"]
    if text["code"] not in ("", USUAL_CODE, *ARCHITECTURES):
        raise WarploomError(f"{path}: `code` {text['code']!r} is unknown{_nearest(text['code'], (USUAL_CODE, *ARCHITECTURES))}")
    _check_names(path, data)
    for table, entries in data.items():
        for key, value in entries.items():
            tables.setdefault(table, {})[key] = value
            sources[f"{table}.{key}"] = _source(path, own_sources, table, key)
    _check_sources(path, own_sources, sources)
    return text, tables, sources


def _check_names(path: Path, data: dict[str, Any]) -> None:
    for table, entries in data.items():
        known = [*TABLES, *_BY_CLASS]
        if table not in known:
            kind = "table" if isinstance(entries, dict) else "key"
            raise WarploomError(
                f"{path}: unknown {kind} `{table}`{_nearest(table, ['title', 'base', 'code', 'design', 'sources', *known])}"
            )
        if not isinstance(entries, dict):
            raise WarploomError(f"{path}: `{table}` is a table and wants its values under [{table}]")
        for key in entries:
            allowed = _keys(table)
            if key not in allowed:
                raise WarploomError(f"{path}: unknown key `{table}.{key}`{_nearest(key, allowed)}")


def _keys(table: str) -> list[str]:
    return list(_BY_CLASS[table]) if table in _BY_CLASS else [item.name for item in fields(TABLES[table])]


def _source(path: Path, own: dict[str, Any], table: str, key: str) -> str:
    for key_or_table in (f"{table}.{key}", table, "default"):
        if key_or_table in own:
            return str(own[key_or_table])
    raise WarploomError(f'{path}: `{table}.{key}` has no source; add `"{table}.{key}" = "…"` or `{table} = "…"` under [sources]')


def _check_sources(path: Path, own: dict[str, Any], covered: dict[str, str]) -> None:
    """A source for something that no file sets is a leftover or a misspelling."""
    tables = {key.partition(".")[0] for key in covered}
    for named in own:
        if named != "default" and named not in covered and named not in tables:
            raise WarploomError(f"{path}: [sources] names `{named}`, which the file does not set{_nearest(named, covered)}")


def _build(path: Path, text: dict[str, str], tables: Tables, sources: dict[str, str]) -> Machine:
    _check_names(path, tables)
    parts: dict[str, Any] = {}
    for table, kind in TABLES.items():
        given = tables.get(table, {})
        values = {}
        for item in fields(kind):
            if item.name not in given:
                raise WarploomError(f"{path}: `{table}.{item.name}` is missing ({item.metadata['meaning']})")
            values[item.name] = _value(path, f"{table}.{item.name}", item, given[item.name])
        parts[table] = kind(**values)
    for table, classes in _BY_CLASS.items():
        given = tables.get(table, {})
        for key in classes:
            if key not in given:
                raise WarploomError(f"{path}: `{table}.{key}` is missing (cycles, by class of operation)")
        parts[table] = tuple(_integer(path, f"{table}.{key}", given[key], 1, 2000) for key in classes)
    code = text.get("code") or USUAL_CODE
    design = text.get("design") or USUAL_DESIGN
    machine = Machine(name=path.stem, title=text["title"], sources=sources, code=code, design=design, **parts)
    check(machine, str(path))
    return machine


def _value(path: Path, key: str, item: Field[Any], value: Any) -> Any:
    metadata = item.metadata
    if "names" in metadata:
        if value not in metadata["names"]:
            raise WarploomError(f"{path}: `{key}` must be one of {', '.join(metadata['names'])}, not {value!r}")
        return value
    if "low" not in metadata:
        if not isinstance(value, bool):
            raise WarploomError(f"{path}: `{key}` must be true or false, not {value!r}")
        return value
    low, high = metadata["low"], metadata["high"]
    if item.type == "float":
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not low <= value <= high:
            raise WarploomError(f"{path}: `{key}` must be a number from {low} to {high}, not {value!r}")
        return float(value)
    value = _integer(path, key, value, low, high)
    if metadata["power_of_two"] and value & (value - 1):
        raise WarploomError(f"{path}: `{key}` must be a power of two, not {value}")
    return value


def _integer(path: Path, key: str, value: Any, low: int, high: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise WarploomError(f"{path}: `{key}` must be a whole number from {low} to {high}, not {value!r}")
    return value


def check(machine: Machine, where: str = "") -> None:
    """Refuse a machine whose numbers contradict each other."""
    where = where or f"machine {machine.name}"
    sm, rf, dram, l2 = machine.sm, machine.register_file, machine.dram, machine.l2

    def demand(holds: bool, sentence: str) -> None:
        if not holds:
            raise WarploomError(f"{where}: {sentence}")

    rf_bytes = rf.banks * rf.entries_per_bank * rf.entry_bytes
    demand(
        rf_bytes == 4 * sm.registers_per_sm,
        f"`register_file` holds {rf_bytes} bytes (banks x entries_per_bank x entry_bytes), "
        f"but `sm.registers_per_sm` needs {4 * sm.registers_per_sm}",
    )
    span = 128 // rf.entry_bytes
    demand(rf.banks % span == 0, f"`register_file.banks` must be a multiple of {span}, the banks that one warp register spans")
    demand(rf.banks // span % sm.sub_cores == 0, "`register_file.banks` must divide evenly among `sm.sub_cores`")
    demand(rf.entries_per_bank % rf.subarrays_per_bank == 0, "`register_file.subarrays_per_bank` must divide `entries_per_bank`")
    demand(sm.schedulers % sm.sub_cores == 0, "`sm.schedulers` must divide evenly among `sm.sub_cores`")
    demand(sm.threads_per_sm <= 32 * sm.warps_per_sm, "`sm.threads_per_sm` must not exceed 32 x `sm.warps_per_sm`")
    demand(sm.max_registers_per_thread <= sm.registers_per_sm // 32, "`sm.max_registers_per_thread` exceeds the register file")
    for name in ("l1", "l1i", "l1c", "l1t"):
        cache = getattr(machine, name)
        lines = cache.sets * cache.ways
        demand(
            lines <= schema.MAX_CACHE_LINES,
            f"`{name}` has {lines} lines (sets x ways); at most {schema.MAX_CACHE_LINES} are possible",
        )
    demand(l2.slices % dram.channels == 0, "`l2.slices` must be a multiple of `dram.channels`")
    per_channel = l2.slices // dram.channels
    demand(per_channel in (1, 2), "`l2.slices` must be one or two per channel of `dram.channels`")
    lines = l2.slices * l2.sets * l2.ways
    demand(
        lines <= schema.MAX_L2_LINES, f"`l2` has {lines} lines (slices x sets x ways); at most {schema.MAX_L2_LINES} are possible"
    )
    demand(
        machine.bulk.lines == 0 or machine.stages.operands == "ports",
        "`bulk.lines` must be 0 where operands come through collectors: only sub-cores with read ports have such a unit",
    )
    demand(dram.bank_groups <= dram.banks, "`dram.bank_groups` must not exceed `dram.banks`")
    demand(
        machine.chip.quantum <= machine.memory_round_trip,
        f"`chip.quantum` must not exceed {machine.memory_round_trip}, the shortest way to L2 and back",
    )
