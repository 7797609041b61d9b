"""Words of memory that several threads of compiled code change: what one thread has stored before, another sees after.

Each function takes an array of 64-bit numbers, such as a field of a record, and a place in it. In plain Python, where no two
threads ever run compiled code, they are what they say without being atomic.
"""

from __future__ import annotations

import time
from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.np.arrayobj import make_array

from warploom.base.records import Array
from warploom.jit.cached import intrinsic
from warploom.jit.callees import inlined

_BYTES = 8
_PAUSES = {"x86_64": "llvm.x86.sse2.pause"}  # what tells a processor that a thread is only waiting


def _address(context: Any, builder: Any, kind: Any, words: Any, place: Any) -> Any:
    return builder.gep(make_array(kind)(context, builder, words).data, [place])


@intrinsic
def _load(typing_context: Any, words: Any, place: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.load_atomic(_address(context, builder, signature.args[0], *args), "acquire", _BYTES)

    return types.int64(words, types.int64), generate


@intrinsic
def _add(typing_context: Any, words: Any, place: Any, amount: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.atomic_rmw("add", _address(context, builder, signature.args[0], *args[:2]), args[2], "acq_rel")

    return types.int64(words, types.int64, types.int64), generate


@intrinsic
def _pause(typing_context: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        machine = builder.module.triple.partition("-")[0]
        if machine in _PAUSES:
            kind = ir.FunctionType(ir.VoidType(), [])
            builder.call(cgutils.get_or_insert_function(builder.module, kind, _PAUSES[machine]), [])
        return context.get_dummy_value()

    return types.void(), generate


@intrinsic
def _sleep(typing_context: Any, microseconds: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        kind = ir.FunctionType(ir.IntType(32), [ir.IntType(32)])
        builder.call(cgutils.get_or_insert_function(builder.module, kind, "usleep"), args)
        return context.get_dummy_value()

    return types.void(types.uint32), generate


def load_word(words: Array[int], place: int) -> int:
    """A word, and with it all that was stored before it was."""
    return words[place]


@inlined(stands_for=load_word)
def _load_word(words: Array[int], place: int) -> Any:
    return _load(words, place)


def add_to_word(words: Array[int], place: int, amount: int) -> int:
    """Add to a word; what it was before, which no two threads are told."""
    before = words[place]
    words[place] += amount
    return before


@inlined(stands_for=add_to_word)
def _add_to_word(words: Array[int], place: int, amount: int) -> Any:
    return _add(words, place, amount)


def pause() -> None:
    """Let a thread that looks at a word again and again leave the core's units to others for some cycles."""


@inlined(stands_for=pause)
def _pause_here() -> None:
    _pause()


def sleep(microseconds: int) -> None:
    """Give the core to others for at least this long."""
    time.sleep(1e-6 * microseconds)


@inlined(stands_for=sleep)
def _sleep_here(microseconds: int) -> None:
    _sleep(microseconds)
