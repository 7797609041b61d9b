"""Encodes copies of tiles of tensors."""

from __future__ import annotations

import numpy as np

from warploom.compiler.code.instruction import Address, Instruction
from warploom.emulator.lanes import ROW_BYTES
from warploom.emulator.sass.encode_transactions import encode_reduction
from warploom.emulator.sass.records import SassKind
from warploom.emulator.sass.registry import encodes
from warploom.emulator.sass.rows import SassRows
from warploom.emulator.sass.tensor_maps import TensorCopy

_DIMENSIONS = {f"{count}D": count for count in range(1, 6)}
_COPIES = {"UTMALDG": TensorCopy.LOAD, "UTMASTG": TensorCopy.STORE, "UTMAREDG": TensorCopy.REDUCE}


@encodes("UTMALDG", "UTMASTG", "UTMAREDG")
def _copy(rows: SassRows, instruction: Instruction, record: np.void) -> None:
    """A copy for the warp, done at once. Behind the register of the tile's address come a barrier, of loads, and coordinates."""
    modifiers = instruction.op.modifiers
    near, described, *others = instruction.srcs
    if modifiers[0] not in _DIMENSIONS or not isinstance(near, Address) or not isinstance(described, Address):
        raise rows.trouble("the emulator does not know this copy")
    copy = _COPIES[instruction.op.name]
    further = [word for word in modifiers[1:] if word != "MULTICAST"]
    if (
        near.uniform is None
        or described.uniform is None
        or near.offset
        or described.offset
        or (further and copy != TensorCopy.REDUCE)
    ):
        raise rows.trouble("the emulator does not know this copy")
    assert near.uniform is not None and described.uniform is not None
    first = rows.row(near.uniform)
    loads = copy is TensorCopy.LOAD
    record["kind"], record["operation"], record["matrices"] = SassKind.TENSOR_COPY, copy, _DIMENSIONS[modifiers[0]]
    record["rows"][0], record["rows"][1] = first, rows.row(described.uniform)
    record["rows"][2] = first + ROW_BYTES if loads else -1
    record["rows"][3] = first + (2 if loads else 1) * ROW_BYTES
    record["rows"][4] = rows.row(others[0]) if "MULTICAST" in modifiers else -1
    if copy is TensorCopy.REDUCE:  # of what type, the map tells
        encode_reduction(rows, record, tuple(further))
