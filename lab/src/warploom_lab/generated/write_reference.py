"""Write docs/reference/machine-keys.md and docs/reference/counters.md: what every key of a machine file and every counter means.

warploom-lab write-reference
"""

from __future__ import annotations

from collections.abc import Iterator
from inspect import getdoc

from warploom.chip.counters import known_counters
from warploom.chip.machines.schema import BY_CLASS, KEYS, TABLES
from warploom_lab import CHECKOUT

DOCS = CHECKOUT / "docs" / "reference"
HEAD = (
    "Written by `warploom-lab write-reference`, not by hand, from where {what} declared; `warploom {command}` prints the same.\n"
)
OF_CLASSES = {
    "latency": "How long operations take, by their class.",
    "initiation": "How soon another can follow in the same unit, by class of operation.",
}


def machine_keys() -> str:
    """The page of keys: a section for each table."""
    head = HEAD.format(what="they are", command="machines --keys")
    return (
        "\n".join(["# Machine keys", "", f"{head}A machine file is described in [machines.md](machines.md).", *_tables()]) + "\n"
    )


def _tables() -> Iterator[str]:
    for table in (*TABLES, *BY_CLASS):
        about = OF_CLASSES.get(table) or " ".join((getdoc(TABLES[table]) or "").split())
        yield from ("", f"## [{table}]", "", about, "", "| key | unit | allowed | meaning |", "| --- | --- | --- | --- |")
        for name, key in KEYS.items():
            if name.startswith(f"{table}."):
                unless = "" if key.unless is None else f" Not set: {str(key.unless).lower()}."
                yield f"| `{name.partition('.')[2]}` | {key.unit} | {key.allowed} | {key.meaning}{unless} |"


def counters() -> str:
    """The page of counters: one table."""
    rows = [f"| `{one.name}` | {one.unit} | {one.meaning} | {', '.join(one.counted_by)} |" for one in known_counters()]
    head = HEAD.format(what="each is", command="counters")
    about = "They are in `counters` of a result (`run --json`); those of observers in what the observer reports."
    return (
        "\n".join(
            [
                "# Counters",
                "",
                f"{head}{about}",
                "",
                "| counter | unit | meaning | counted by |",
                "| --- | --- | --- | --- |",
                *rows,
            ]
        )
        + "\n"
    )


PAGES = {"machine-keys.md": machine_keys, "counters.md": counters}


def main() -> None:
    """Write both pages."""
    for name, page in PAGES.items():
        (DOCS / name).write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main()
