"""``warploom cache``: what is kept in the cache, where, and how large it is."""

from __future__ import annotations

from typing import Annotated

import typer

from warploom.cli.output import message, narrow_table, print_json, results_console


def command(
    clear: Annotated[bool, typer.Option("--clear", help="Remove all of it; it is made again when it is needed.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print JSON: one object per part.")] = False,
) -> None:
    """Show what is kept in the cache: compiled code, traces, machine code. WARPLOOM_CACHE names its folder."""
    from warploom.base import cache
    from warploom.base.errors import WarploomError

    try:
        before = cache.holdings()
        if clear:
            cache.clear()
    except cache.NoCache as error:
        raise WarploomError(f"there is no cache: {error}") from None
    if clear:
        message(f"removed {_size(sum(part.bytes for part in before))} from {cache.cache_root()}")
    parts = cache.holdings()
    if json:
        print_json(
            [
                {
                    "part": part.part,
                    "what": cache.PARTS[part.part].what,
                    "folder": str(part.folder),
                    "entries": part.entries,
                    "bytes": part.bytes,
                }
                for part in parts
            ]
        )
        return
    rows = [((cache.PARTS[part.part].what, f"{part.entries:,}", _size(part.bytes)), str(part.folder)) for part in parts]
    narrow_table(results_console(), ("what", "entries", "size"), rows)


def _size(number: int) -> str:
    for unit, factor in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if number >= factor:
            return f"{number / factor:.1f} {unit}"
    return f"{number} bytes"
