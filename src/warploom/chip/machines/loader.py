"""Machine files: TOML in, `Machine` out, and a sentence with the key's name for whatever is wrong."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

from warploom.base.errors import WarploomError
from warploom.base.files import is_file
from warploom.base.library import with_papers
from warploom.base.spelling import did_you_mean
from warploom.base.toml import parse_toml
from warploom.chip.machines import schema
from warploom.chip.machines.keys import Key, key_of, lowest
from warploom.chip.machines.limits import MAX_CACHE_LINES, MAX_L2_LINES
from warploom.chip.machines.machine import USUAL_CODE, USUAL_DESIGN, Machine
from warploom.chip.machines.sm_tables import OperandPath
from warploom.compiler.sass.module import ARCHITECTURES

FOLDER = Path(__file__).parent
NOT_SET = "not set by the machine's files: what changes nothing"
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
        _check_override(path.stem, key)
        tables.setdefault(table, {})[entry] = value
        sources[key] = "set by the caller"
    changed = ", ".join(f"{key}={value}" for key, value in overrides.items())
    return _build(path.stem, f"machine {path.stem} with {changed}" if changed else str(path), text, tables, sources)


def _check_override(machine: str, key: str) -> None:
    """Refuse a dotted key that no machine has: what a person typed, not a line of a file."""
    if key not in schema.KEYS:
        hint = did_you_mean(key, schema.KEYS, otherwise=f"; `warploom machines {machine}` lists them")
        raise WarploomError(f"machine {machine}: there is no key {key!r}{hint}")


def machine_from_dict(data: Mapping[str, Any], where: str) -> Machine:
    """A machine from what `Machine.to_dict` gave."""
    tables = {name: dict(table) for name, table in data.items() if name not in ("name", "title", "code", "design")}
    name = Path(f"{data['name']}.toml").stem
    try:
        text = {"title": str(data["title"]), "code": str(data.get("code", USUAL_CODE)), "design": str(data.get("design", ""))}
        return _build(name, f"{name}.toml", text, tables, dict.fromkeys((key for key, _ in _leaves(tables)), where))
    except WarploomError as error:
        raise WarploomError(f"{where}: {error}") from None


def _leaves(tables: Tables) -> Iterable[tuple[str, Any]]:
    return ((f"{table}.{key}", value) for table, entries in tables.items() for key, value in entries.items())


def check_machine_name(name: str) -> None:
    """Refuse a name that no machine has."""
    if name not in _files():
        raise WarploomError(f"machine {name!r} is unknown{did_you_mean(name, machine_names())}")


def _find(name_or_path: str | Path) -> Path:
    path = Path(name_or_path)
    if path.suffix == ".toml":
        if not is_file(path):
            raise WarploomError(f"{path}: there is no such machine file")
        return path
    known = _files()
    check_machine_name(str(name_or_path))
    return known[str(name_or_path)]


def _find_base(path: Path, base: str) -> Path:
    """The file of a base: beside the file that names it, with or without its suffix, or one of Warploom's."""
    beside = path.parent / (base if base.endswith(".toml") else f"{base}.toml")
    if is_file(beside):
        return beside
    if base.endswith(".toml"):
        raise WarploomError(f"{path}: its `base` {base!r} is not there: no file {beside}")
    return _find(base)


def _read(path: Path, depth: int) -> tuple[dict[str, str], Tables, dict[str, str]]:
    """The file's texts, its tables on top of its base's, and the source of each key that any of them sets."""
    if depth > _BASES_ALLOWED:
        raise WarploomError(f"{path}: the chain of `base` machines never ends")
    try:
        data = parse_toml(path.read_bytes(), str(path))
    except OSError as error:
        raise WarploomError(f"{path}: the machine cannot be read ({error.strerror})") from None
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
        raise WarploomError(
            f"{path}: `code` {text['code']!r} is unknown{did_you_mean(text['code'], (USUAL_CODE, *ARCHITECTURES))}"
        )
    _check_names(str(path), data)
    for table, entries in data.items():
        for key, value in entries.items():
            tables.setdefault(table, {})[key] = value
            sources[f"{table}.{key}"] = _source(path, own_sources, table, key)
    _check_sources(path, own_sources, sources)
    return text, tables, sources


def _check_names(where: str, data: dict[str, Any]) -> None:
    for table, entries in data.items():
        known = [*schema.TABLES, *schema.BY_CLASS]
        if table not in known:
            kind = "table" if isinstance(entries, dict) else "key"
            raise WarploomError(
                f"{where}: unknown {kind} `{table}`{did_you_mean(table, ['title', 'base', 'code', 'design', 'sources', *known])}"
            )
        if not isinstance(entries, dict):
            raise WarploomError(f"{where}: `{table}` is a table and wants its values under [{table}]")
        allowed = _keys(table)
        for key in entries:
            if key not in allowed:
                raise WarploomError(f"{where}: unknown key `{table}.{key}`{did_you_mean(key, allowed)}")


def _keys(table: str) -> list[str]:
    return [key.removeprefix(f"{table}.") for key in schema.KEYS if key.startswith(f"{table}.")]


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
            raise WarploomError(f"{path}: [sources] names `{named}`, which the file does not set{did_you_mean(named, covered)}")


def _build(stem: str, where: str, text: dict[str, str], tables: Tables, sources: dict[str, str]) -> Machine:
    """A machine from its tables; errors begin with where they are from."""
    _check_names(where, tables)
    parts: dict[str, Any] = {}
    for table, kind in schema.TABLES.items():
        given = tables.get(table, {})
        if table in schema.OF_PORTS and parts["stages"].operands == OperandPath.COLLECTORS:
            if given:
                raise WarploomError(f"{where}: [{table}] is for machines whose `stages.operands` is `ports`; take it out")
            parts[table] = lowest(kind)
            continue
        values = {}
        for item in fields(kind):
            name, key = f"{table}.{item.name}", key_of(item)
            if item.name in given:
                values[item.name] = _value(where, name, key, item.type != "f8", given[item.name])
            elif key.unless is not None:
                values[item.name], sources[name] = key.unless, NOT_SET
            else:
                raise WarploomError(f"{where}: `{name}` is missing: {key.meaning}")
        parts[table] = kind(**values)
    for table, classes in schema.BY_CLASS.items():
        parts[table] = tuple(_number_of_class(where, f"{table}.{kind.name.lower()}", tables.get(table, {})) for kind in classes)
    code = text.get("code") or USUAL_CODE
    design = text.get("design") or USUAL_DESIGN
    machine = Machine(name=stem, title=text["title"], sources=sources, code=code, design=design, **parts)
    check(machine, where)
    return machine


def _number_of_class(where: str, name: str, given: dict[str, Any]) -> int:
    """A number by class of operation."""
    key, entry = schema.KEYS[name], name.partition(".")[2]
    if entry not in given:
        raise WarploomError(f"{where}: `{name}` is missing: {key.meaning}")
    return _integer(where, name, key, given[entry])


def _value(where: str, name: str, key: Key, whole: bool, value: Any) -> Any:
    if key.words is not None:
        words = {word.name.lower(): word for word in key.words}
        if value not in words:
            raise WarploomError(f"{where}: `{name}` must be one of {', '.join(words)}, not {value!r}")
        return words[value]
    if key.low is None or key.high is None:
        if not isinstance(value, bool):
            raise WarploomError(f"{where}: `{name}` must be true or false, not {value!r}")
        return value
    if whole:
        return _integer(where, name, key, value)
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not key.low <= value <= key.high:
        raise WarploomError(f"{where}: `{name}` must be a number from {key.low} to {key.high}, not {value!r}")
    return float(value)


def _integer(where: str, name: str, key: Key, value: Any) -> int:
    assert key.low is not None and key.high is not None
    if isinstance(value, bool) or not isinstance(value, int) or not key.low <= value <= key.high:
        raise WarploomError(f"{where}: `{name}` must be a whole number from {key.low} to {key.high}, not {value!r}")
    if key.power_of_two and value & (value - 1):
        raise WarploomError(f"{where}: `{name}` must be a power of two, not {value}")
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
            lines <= MAX_CACHE_LINES,
            f"`{name}` has {lines} lines (sets x ways); at most {MAX_CACHE_LINES} are possible",
        )
    demand(l2.slices % dram.channels == 0, "`l2.slices` must be a multiple of `dram.channels`")
    per_channel = l2.slices // dram.channels
    demand(per_channel in (1, 2), "`l2.slices` must be one or two per channel of `dram.channels`")
    lines = l2.slices * l2.sets * l2.ways
    demand(lines <= MAX_L2_LINES, f"`l2` has {lines} lines (slices x sets x ways); at most {MAX_L2_LINES} are possible")
    demand(
        machine.l0i.near_lines % machine.l0i.near_ways == 0,
        "`l0i.near_lines` must be a multiple of `l0i.near_ways`, the lines of a set",
    )
    demand(dram.bank_groups <= dram.banks, "`dram.bank_groups` must not exceed `dram.banks`")
    demand(
        machine.chip.quantum <= machine.memory_round_trip,
        f"`chip.quantum` must not exceed {machine.memory_round_trip}, the shortest way to L2 and back",
    )
