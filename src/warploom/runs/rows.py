"""Results as rows of Arrow tables, whose columns differ from design to design."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from warploom.base.extras import imported
from warploom.runs.provenance import brief
from warploom.runs.values import flat

MADE_FROM = "made_from"  # the column with the whole provenance, as JSON


def row_of(key: str, result: dict[str, Any]) -> dict[str, Any]:
    """A stored result as a row: its numbers under dotted names, where it is from in brief and, as JSON, in full."""
    made_from = result.get("provenance", {})
    short = result | {"provenance": brief(made_from)}
    numbers = {name: value for name, value in flat(short) if not isinstance(value, list)}
    return {"key": key, **numbers, MADE_FROM: json.dumps(made_from)}


def table_of(rows: Sequence[dict[str, Any]]) -> Any:
    """A table of rows, with every column that some row has."""
    arrow = pyarrow()
    names = dict.fromkeys(name for row in rows for name in row)
    return arrow.table({name: _column([row.get(name) for row in rows]) for name in names})


def _column(values: list[Any]) -> Any:
    arrow = pyarrow()
    try:
        return arrow.array(values)
    except (arrow.ArrowInvalid, arrow.ArrowTypeError):  # 24 registers, or "fit"
        return arrow.array([None if value is None else str(value) for value in values])


def joined(tables: Sequence[Any]) -> Any:
    """Tables below each other. Where a column holds numbers in one and words in another, it becomes words."""
    arrow = pyarrow()
    if not tables:
        return arrow.table({"key": arrow.array([], arrow.string())})
    kinds: dict[str, set[Any]] = {}
    for table in tables:
        for field in table.schema:
            if not arrow.types.is_null(field.type):
                kinds.setdefault(field.name, set()).add(field.type)
    words = {name for name, found in kinds.items() if len(found) > 1 and not all(map(_is_number, found))}
    alike = []
    for table in tables:
        for place, field in enumerate(table.schema):
            if field.name in words:
                table = table.set_column(place, field.name, table[field.name].cast(arrow.string()))
        alike.append(table)
    return arrow.concat_tables(alike, promote_options="permissive")


def _is_number(kind: Any) -> bool:
    return pyarrow().types.is_integer(kind) or pyarrow().types.is_floating(kind)


def pyarrow() -> Any:
    """The library that reads and writes Parquet."""
    imported("pyarrow.parquet", "stored runs need", "report")
    return imported("pyarrow", "stored runs need", "report")
