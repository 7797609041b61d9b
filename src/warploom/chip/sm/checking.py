"""The points at which a checked run looks: no-ops by default, answered by `warploom.chip.checker.Checker`."""

from __future__ import annotations

from typing import Any

from warploom.chip.sm.context import Context
from warploom.chip.sm.hooks import hook
from warploom.chip.sm.layout import Sm


@hook()
def check_issue(check: Any, ctx: Context, sm: Sm, cycle: int, slot: int) -> None:
    """An instruction has been issued: note the versions that its reads must see and that its writes make."""


@hook()
def check_wide(check: Any, ctx: Context, sm: Sm, cycle: int, slot: int) -> None:
    """An instruction with many registers has been issued: nobody else may access those until its pieces have."""


@hook()
def check_cached(check: Any, ctx: Context, sm: Sm, cycle: int, slot: int, operand: int, place: int) -> None:
    """An operand is read from a place of the upper level."""


@hook()
def check_read(check: Any, ctx: Context, sm: Sm, cycle: int, slot: int, operand: int, entry: int) -> None:
    """An operand is read from a physical entry."""


@hook()
def check_placed(check: Any, ctx: Context, sm: Sm, cycle: int, slot: int, write: int, place: int) -> None:
    """A result is written to a place of the upper level."""


@hook()
def check_filled(check: Any, ctx: Context, sm: Sm, cycle: int, warp: int, register: int, place: int) -> None:
    """A place of the upper level takes a copy of an operand that is read from the main register file."""


@hook()
def check_brought(check: Any, ctx: Context, sm: Sm, cycle: int, place: int, entry: int, passing: bool) -> None:
    """A place of the upper level takes what an entry holds or, ``passing``, what is on its way down to it."""


@hook()
def check_write(check: Any, ctx: Context, sm: Sm, cycle: int, slot: int, write: int, entry: int) -> None:
    """A result is written to a physical entry."""


@hook()
def check_evict(check: Any, ctx: Context, sm: Sm, cycle: int, slot: int, place: int) -> None:
    """The value of a place leaves for the main register file, as the pseudo-instruction in ``slot``."""


@hook()
def check_allocate(check: Any, ctx: Context, sm: Sm, cycle: int, warp: int, register: int, entry: int, mask: int) -> None:
    """A physical entry, or some bytes of it, is given to a register."""


@hook()
def check_unmapped(check: Any, ctx: Context, sm: Sm, cycle: int, warp: int, register: int, write: bool) -> None:
    """An instruction names a register that has no physical entry."""


@hook()
def check_forwarded(check: Any, ctx: Context, sm: Sm, cycle: int, slot: int, operand: int, entry: int) -> None:
    """An operand is taken from an eviction that is on its way to the entry."""


@hook()
def check_launch(check: Any, ctx: Context, sm: Sm, warp: int) -> None:
    """A warp starts with registers that hold nothing."""
