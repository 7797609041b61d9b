"""Opcodes whose text names fewer registers than they access: predicates by a mask, texels and coordinates by the first one.

A function takes the operation and its operands as written, and gives results and sources with every register listed.
"""

from __future__ import annotations

from collections.abc import Callable

from warploom.compiler.code.instruction import Address, Bank, Imm, Modified, Operand, Operation, Reg, Special
from warploom.compiler.code.sass_classes import WARPGROUP_PRODUCTS
from warploom.compiler.sass.matrix_shapes import LONGEST_VECTOR, matrix_shape, warpgroup_shape
from warploom.compiler.sass.operands import DESCRIPTOR, wide_address, widened

Shape = Callable[[Operation, list[Operand]], tuple[list[Operand], list[Operand]]]
_PREDICATES = 7
_COORDINATES = {"1D": 1, "2D": 2, "3D": 3, "ARRAY_1D": 2, "ARRAY_2D": 3, "CUBE": 3}
_SURFACE_COORDINATES = {"1D": 1, "2D": 2, "3D": 3, "1D_ARRAY": 2, "2D_ARRAY": 3}
_DERIVATIVES = {"1D": 2, "2D": 4, "ARRAY_1D": 2, "ARRAY_2D": 4}
_CHANNELS = 4


def _predicates(mask: Operand) -> list[Operand]:
    """The predicates that a mask names."""
    bits = mask.bits if isinstance(mask, Imm) else (1 << _PREDICATES) - 1
    return [Reg(number, Bank.P) for number in range(_PREDICATES) if bits >> number & 1]


def _from_predicates(_op: Operation, operands: list[Operand]) -> tuple[list[Operand], list[Operand]]:
    target, _file, *others = operands
    return [target], [*others, *_predicates(others[-1])]


def _to_predicates(_op: Operation, operands: list[Operand]) -> tuple[list[Operand], list[Operand]]:
    return _predicates(operands[-1]), operands[1:]


def _consecutive(first: Operand, count: int) -> list[Operand]:
    if not isinstance(first, Reg) or first.bank is not Bank.R:
        return [first] * min(count, 1)
    return [Reg(first.number + number, Bank.R) for number in range(count)]


def _texture(op: Operation, operands: list[Operand]) -> tuple[list[Operand], list[Operand]]:
    """Results: the channels that the mask names, the first two in the second register named, the others in the first.

    Sources: coordinates, then what is written (level of detail or derivatives, handle), then the kind of texture and the mask.
    With ``.B`` the handle is in a register, before the level of detail. With ``.SCR`` coordinates, handle and level of detail are
    shared out between two registers and their neighbours.
    """
    predicate = isinstance(operands[0], Reg) and operands[0].bank in (Bank.P, Bank.PT)
    if predicate:
        if operands[0] != Reg(0, Bank.PT):
            raise ValueError("whether all texels are there is not told")
        operands = operands[1:]
    upper, lower, coordinates, *others = operands
    place = next(index for index, operand in enumerate(others) if isinstance(operand, Special) and operand.name in _COORDINATES)
    shape = others[place]
    assert isinstance(shape, Special)
    mask = others[place + 1] if len(others) > place + 1 and isinstance(others[place + 1], Imm) else Imm((1 << _CHANNELS) - 1)
    assert isinstance(mask, Imm)
    count = mask.bits.bit_count()
    results = _consecutive(lower, min(count, 2)) + _consecutive(upper, max(count - 2, 0))
    named, before = _COORDINATES[shape.name], others[:place]
    places = _consecutive(coordinates, named)
    if op.name == "TXD":
        before = [*_consecutive(before[0], _DERIVATIVES.get(shape.name, 4)), *before[1:]]
    elif isinstance(before[0], Reg) and before[0].bank in (Bank.R, Bank.RZ):
        handle = not any(isinstance(operand, Imm) for operand in before)
        wanted = named + handle + ("LL" in op.modifiers)
        first = -(-wanted // 2) if "SCR" in op.modifiers else named
        behind = _consecutive(before[0], wanted - first) if before[0].bank is Bank.R else [before[0]] * (wanted - first)
        shared_out = [*_consecutive(coordinates, first), *behind]
        places, before = shared_out[:named], [*shared_out[named:], *before[1:]]
    return results, [*places, *before, shape, mask]


def _surface(op: Operation, operands: list[Operand]) -> tuple[list[Operand], list[Operand]]:
    """Coordinates and the words that are moved; then the handle. A load names its result first, a store its words second."""
    words = 4 if "128" in op.modifiers else 2 if "64" in op.modifiers else 1
    data, address = (operands[0], operands[1]) if op.name == "SULD" else (operands[1], operands[0])
    assert isinstance(address, Address)
    count = next(_SURFACE_COORDINATES[word] for word in op.modifiers if word in _SURFACE_COORDINATES)
    coordinates = _consecutive(address.base, count) if isinstance(address.base, Reg) else [Reg(0, Bank.RZ)] * count
    moved = _consecutive(data, words)
    return (moved, [*coordinates, *operands[2:]]) if op.name == "SULD" else ([], [*coordinates, *moved, *operands[2:]])


def _copy(_op: Operation, operands: list[Operand]) -> tuple[list[Operand], list[Operand]]:
    """From device memory to shared memory, whose address comes first."""
    target, source, *others = operands
    return [], [target, wide_address(source) if isinstance(source, Address) else source, *others]


def _bulk_copy(_op: Operation, operands: list[Operand]) -> tuple[list[Operand], list[Operand]]:
    """The uniform registers that hold addresses come in pairs."""
    target, source, *others = operands
    assert isinstance(target, Address) and isinstance(source, Address)
    return [], [wide_address(target), wide_address(source), *others]


def _tensor_copy(op: Operation, operands: list[Operand]) -> tuple[list[Operand], list[Operand]]:
    """Behind the register of the tile's address come a barrier, of loads, and coordinates; the map's address is a pair."""
    near, described, *others = operands
    assert isinstance(near, Address) and isinstance(described, Address) and near.uniform is not None
    dimensions = next(int(word[0]) for word in op.modifiers if word[1:] == "D" and word[0].isdigit())
    behind = dimensions + (op.name == "UTMALDG")
    read = [Reg(near.uniform.number + number, Bank.U) for number in range(1, behind + 1)]
    return [], [near, wide_address(described), *others, *read]


def _vectors(first: Operand, words: int) -> list[Operand]:
    """As many consecutive registers as there are words, as vectors of up to four."""
    inner = first.operand if isinstance(first, Modified) else first
    if words <= LONGEST_VECTOR or not isinstance(inner, Reg) or inner.bank is not Bank.R:
        return [widened(first, words)] * -(-words // LONGEST_VECTOR)
    vectors = [Reg(inner.number + word, Bank.Q) for word in range(0, words, LONGEST_VECTOR)]
    return [first._replace(operand=vector) if isinstance(first, Modified) else vector for vector in vectors]


def _product_of_doubles(op: Operation, operands: list[Operand]) -> tuple[list[Operand], list[Operand]]:
    """Of sixteen rows it has up to sixteen registers of A."""
    shape = matrix_shape(op.name, op.modifiers)
    target, *sources = operands
    if shape is None:  # shown, and refused by name when it has to be executed
        return [target], sources
    read = [vector for first, words in zip(sources, shape.words, strict=False) for vector in _vectors(first, words)]
    return _vectors(target, shape.result_words), [*read, *sources[3:]]


def _warpgroup_product(op: Operation, operands: list[Operand]) -> tuple[list[Operand], list[Operand]]:
    """Sources: registers of A or nothing, then the descriptors of both matrices, the addend, whether it counts, the rest.

    The addend is not listed where it certainly does not count.
    """
    shape = warpgroup_shape(op.modifiers)
    target, *sources = operands
    if shape is None:  # shown, and refused by name when it has to be executed
        return [target], sources
    at = next(number for number, source in enumerate(sources) if _is_descriptor(source))
    first = sources[0] if at else None
    negated = isinstance(first, Modified)
    registers = _consecutive(first.operand if isinstance(first, Modified) else first, 4) if first is not None else []
    descriptor, addend, *others = sources[at:]
    counts: Operand = Reg(0, Bank.UPT)  # nothing is written where it always counts
    if others and not isinstance(others[0], Special):
        counts, *others = others
    assert isinstance(descriptor, Modified)
    both = widened(descriptor.operand, 4)  # that of A, which does not count where A is in registers, then that of B
    assert isinstance(both, Reg)
    described = descriptor._replace(operand=both, negated=negated)
    never = counts == Modified(Reg(0, Bank.UPT), inverted=True)
    added = [] if never else _consecutive(addend, shape.result_words)
    return _consecutive(target, shape.result_words), [*registers, described, *added, counts, *others]


def _is_descriptor(operand: Operand) -> bool:
    return isinstance(operand, Modified) and operand.part.startswith(DESCRIPTOR)


SHAPES: dict[str, Shape] = {
    "P2R": _from_predicates,
    "R2P": _to_predicates,
    **dict.fromkeys(("TEX", "TLD", "TLD4", "TXD"), _texture),
    **dict.fromkeys(("SULD", "SUST"), _surface),
    "LDGSTS": _copy,
    **dict.fromkeys(("UBLKCP", "UBLKRED"), _bulk_copy),
    "DMMA": _product_of_doubles,
    **dict.fromkeys(("UTMALDG", "UTMASTG", "UTMAREDG"), _tensor_copy),
    **dict.fromkeys(WARPGROUP_PRODUCTS, _warpgroup_product),
}
