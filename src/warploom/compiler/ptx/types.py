"""PTX's fundamental types: their sizes, and which register can hold a value of which type."""

from __future__ import annotations

_SIZES = {"8": 1, "16": 2, "32": 4, "64": 8}

SIZE: dict[str, int] = {f"{kind}{bits}": size for kind in "bus" for bits, size in _SIZES.items()}
SIZE |= {"f16": 2, "f16x2": 4, "f32": 4, "f64": 8, "pred": 0}

DOUBLED = {f"{kind}{bits}": f"{kind}{2 * bits}" for kind in "us" for bits in (8, 16, 32)}
"""The type of a ``.wide`` result."""


def kind(type_: str) -> str:
    """``i`` for integers of either sign, ``f`` for floats, ``b`` for untyped bits, ``p`` for predicates."""
    return {"u": "i", "s": "i"}.get(type_[0], type_[0])


def _compatible(register: str, instruction: str, relaxed: bool) -> bool:
    if "pred" in (register, instruction):
        return register == instruction
    have, need = kind(register), kind(instruction)
    if SIZE[register] != SIZE[instruction]:
        # ld, st and cvt may use a wider register for an integer or for bits: the rest is extended or ignored
        return relaxed and SIZE[register] > SIZE[instruction] and need != "f" and have != "f"
    return have == need or "b" in (have, need)


HOLDS = {
    (register, type_, relaxed)
    for register in SIZE
    for type_ in SIZE
    for relaxed in (False, True)
    if _compatible(register, type_, relaxed)
}
"""``(register's declared type, instruction's type, relaxed)`` for every combination that PTX allows."""
