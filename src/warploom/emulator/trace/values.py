"""The value class of a register: how its 32 lanes relate to each other (see `trace.format` for the bits)."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types

from warploom.emulator.trace.format import BASE4_SHIFT, BASE8_SHIFT, BIN_SHIFT, ONE_ZERO_SHIFT, TWO_ONE_SHIFT
from warploom.jit import intrinsic

_LANES = 32
_WORD = ir.IntType(32)


def _vector(bits: int, count: int) -> ir.VectorType:
    return ir.VectorType(ir.IntType(bits), count)


def _all(builder: ir.IRBuilder, condition: ir.Value) -> ir.Value:
    """Whether a vector of conditions holds throughout."""
    bits = ir.IntType(condition.type.count)
    return builder.icmp_signed("==", builder.bitcast(condition, bits), bits(-1))


def _spread(builder: ir.IRBuilder, value: ir.Value) -> ir.Value:
    """A vector that repeats the first element."""
    return builder.shuffle_vector(value, value, ir.Constant(_vector(32, value.type.count), [0] * value.type.count))


def _fits(builder: ir.IRBuilder, deltas: ir.Value, byte_count: int) -> ir.Value:
    """Whether all signed deltas fit so many bytes."""
    kind = deltas.type
    half, whole = 1 << (8 * byte_count - 1), 1 << (8 * byte_count)
    raised = builder.add(deltas, ir.Constant(kind, [half] * kind.count))
    return _all(builder, builder.icmp_unsigned("<", raised, ir.Constant(kind, [whole] * kind.count)))


def _narrowest(builder: ir.IRBuilder, lanes: ir.Value, bits: int, widths: tuple[int, ...]) -> ir.Value:
    """The index of the narrowest delta width (0 bytes first) that fits chunks of so many bits; past the end if none does."""
    chunks = builder.bitcast(lanes, _vector(bits, _LANES * 32 // bits))
    deltas = builder.sub(chunks, _spread(builder, chunks))
    zero = _all(builder, builder.icmp_signed("==", deltas, ir.Constant(deltas.type, [0] * deltas.type.count)))
    result: ir.Value = _WORD(len(widths) + 1)
    for index in range(len(widths), 0, -1):
        result = builder.select(_fits(builder, deltas, widths[index - 1]), _WORD(index), result)
    return builder.select(zero, _WORD(0), result)


def _distance_bin(builder: ir.IRBuilder, lanes: ir.Value) -> ir.Value:
    neighbours = ir.Constant(_vector(32, _LANES), [*range(1, _LANES), _LANES - 1])
    steps = builder.sub(builder.shuffle_vector(lanes, lanes, neighbours), lanes)
    kind = steps.type
    result: ir.Value = _WORD(3)
    for number, most in ((2, 1 << 15), (1, 128), (0, 0)):
        raised = builder.add(steps, ir.Constant(kind, [most] * _LANES))
        within = _all(builder, builder.icmp_unsigned("<=", raised, ir.Constant(kind, [2 * most] * _LANES)))
        result = builder.select(within, _WORD(number), result)
    return result


@intrinsic
def classify(_typing: Any, address: int) -> Any:
    """The 16-bit class of the 32 words at an address."""

    def generate(_context: Any, builder: ir.IRBuilder, _signature: Any, arguments: Any) -> ir.Value:
        lanes = builder.load(builder.inttoptr(arguments[0], _vector(32, _LANES).as_pointer()), align=4)
        four = _narrowest(builder, lanes, 32, (1, 2))
        eight = _narrowest(builder, lanes, 64, (1, 2, 4))
        halves = builder.bitcast(lanes, _vector(16, 2 * _LANES))
        two_one = _fits(builder, builder.sub(halves, _spread(builder, halves)), 1)
        octets = builder.bitcast(lanes, _vector(8, 4 * _LANES))
        one_zero = _all(builder, builder.icmp_signed("==", octets, _spread(builder, octets)))
        parts = (
            (four, BASE4_SHIFT),
            (eight, BASE8_SHIFT),
            (builder.zext(one_zero, _WORD), ONE_ZERO_SHIFT),
            (builder.zext(two_one, _WORD), TWO_ONE_SHIFT),
            (_distance_bin(builder, lanes), BIN_SHIFT),
        )
        total: ir.Value = _WORD(0)
        for value, shift in parts:
            total = builder.or_(total, builder.shl(value, _WORD(shift)))
        return total

    return types.uint32(types.int64), generate
