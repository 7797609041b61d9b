"""Encodes addresses of memory."""

from __future__ import annotations

import numpy as np

from warploom.compiler.code.instruction import Address, Bank, Reg
from warploom.emulator.sass.rows import SassRows

_SCALES = {"X4": 2, "X8": 3, "X16": 4}


def encode_address(rows: SassRows, record: np.void, address: Address) -> None:
    """The row of the base; micro-operations add a uniform register or scale it."""
    base, uniform = address.base, address.uniform
    record["offset"] = address.offset
    wide = _wide(base) or _wide(uniform)
    record["wide_address"] = wide
    places = []
    if isinstance(base, Reg):
        row = rows.row(base)
        if address.scale in _SCALES:
            row = rows.emit("shl.32", [row, rows.constant(_SCALES[address.scale])], rows.temporary())
        elif wide and not _wide(base):
            extend = "widen.s" if address.scale == "S32" else "widen.u"
            row = rows.emit(extend, [row, rows.constant(0)], rows.temporary())
        places.append(row)
    if uniform is not None:
        places.append(rows.row(uniform))
    if len(places) > 1:
        places = [rows.emit("add.64" if wide else "add.32", places, rows.temporary())]
    record["address"] = places[0] if places else rows.constant(0)


def _wide(register: object) -> bool:
    return isinstance(register, Reg) and register.bank in (Bank.D, Bank.UD)
