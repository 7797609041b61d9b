"""Opcodes of which one row says all: of what kind they are, or which operation on words they are."""

from __future__ import annotations

import re
from enum import IntEnum
from typing import NamedTuple

import numpy as np

from warploom.compiler.code.instruction import Instruction
from warploom.emulator.records import Kind
from warploom.emulator.sass.records import SassKind
from warploom.emulator.sass.registry import encodes
from warploom.emulator.sass.rows import SassRows

_KINDS: tuple[tuple[IntEnum, str], ...] = (
    (Kind.NOTHING, "NOP"),
    # Copies are done at once and in order, and so are products: nobody waits for them. Caches are not told of what is to come.
    (Kind.NOTHING, "FENCE UTMACMDFLUSH UTMACCTL UTMAPF UBLKPF WARPGROUP"),
    # Registers that a warp gives away or asks for are there anyway; launches come one after the other, and none begins early.
    (Kind.NOTHING, "USETMAXREG ACQBULK PREEXIT"),
    (Kind.TRAP, "BPT KILL"),
    (Kind.SLEEP, "NANOSLEEP"),
    (SassKind.YIELD, "YIELD"),
    (SassKind.CLUSTER_ARRIVE, "UCGABAR_ARV"),
    (SassKind.CLUSTER_WAIT, "UCGABAR_WAIT"),
)


class _Words(NamedTuple):
    """Opcodes whose sources are words that one operation makes a word of."""

    opcodes: str
    operation: str  # ``{X?a:b}`` is a with the modifier X, else b
    sources: tuple[int, ...] = (0, 1, 2)  # in the order in which the operation takes them; those that there are
    only: str | None = None  # the modifiers that are known; None: all others change nothing


_WORDS = (
    _Words("IABS", "abs.32", only=""),
    _Words("POPC UPOPC", "popc.32", only=""),
    _Words("BREV UBREV", "brev.32"),
    _Words("FLO UFLO", "bfind.{SH?shiftamt.:}{U32?u:s}32", only="U32 SH"),
    _Words("BMSK UBMSK", "bmsk.{W?wrap:clamp}"),
    _Words("SGXT USGXT", "szext.{W?wrap:clamp}.{U32?u:s}"),
    _Words("PRMT UPRMT", "prmt{F4E?.f4e:}{B4E?.b4e:}{RC8?.rc8:}{ECL?.ecl:}{ECR?.ecr:}{RC16?.rc16:}", sources=(0, 2, 1)),
    _Words("VABSDIFF", "sad.{U32?u:s}32", only="U32"),
)
_CHOICE = re.compile(r"\{(\w+)\?([^:]*):([^}]*)\}")


def _of_kind(kind: IntEnum, opcodes: str) -> None:
    @encodes(*opcodes.split())
    def encode(_rows: SassRows, _instruction: Instruction, record: np.void) -> None:
        record["kind"] = kind


def _of_words(row: _Words) -> None:
    @encodes(*row.opcodes.split(), only=None if row.only is None else tuple(row.only.split()))
    def encode(rows: SassRows, instruction: Instruction, _record: np.void) -> None:
        modifiers, sources = instruction.op.modifiers, instruction.srcs
        name = _CHOICE.sub(lambda choice: choice[2] if choice[1] in modifiers else choice[3], row.operation)
        words = [rows.word(sources[place]) for place in row.sources if place < len(sources)]
        rows.emit(name, words, rows.result(instruction.dsts[0]))


for _kind, _opcodes in _KINDS:
    _of_kind(_kind, _opcodes)
for _row in _WORDS:
    _of_words(_row)
