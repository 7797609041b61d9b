"""Kernel arguments as people type them: ``in=f32[1048576]:random``, ``out=f32[1024]``, ``n=1024``, ``x=f32[8]:data.npy``.

Also ``p=NULL``, ``flag=true``, a structure ``s={f32:1.5, s32:3}`` laid out as C does, and a texture ``t=tex:f32[64,64]:random``.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from warploom.base.errors import WarploomError
from warploom.base.files import is_file
from warploom.base.spelling import did_you_mean
from warploom.programs.array_files import read_npy

DTYPES = {
    **{f"f{bits}": np.dtype(f"f{bits // 8}") for bits in (16, 32, 64)},
    **{f"s{bits}": np.dtype(f"i{bits // 8}") for bits in (8, 16, 32, 64)},
    **{f"u{bits}": np.dtype(f"u{bits // 8}") for bits in (8, 16, 32, 64)},
}
FILLS = ("random", "zeros", "ones", "iota")
_ARRAY = re.compile(r"(?P<type>[A-Za-z]\w*)\[(?P<shape>[\d,\s]*)\](?::(?P<fill>.+))?")
_TEXTURE = "tex:"
_LARGEST = 1 << 31  # bytes of one array; device memory ends below 4 GiB


@dataclass(frozen=True)
class Argument:
    """One ``--arg``: an array to copy to the device, or the text of a scalar whose type the kernel decides."""

    name: str
    array: np.ndarray | None
    scalar: str = ""
    texture: bool = False  # the array is read through a texture


@dataclass(frozen=True)
class KernelParameter:
    """A parameter of the kernel: what the PTX says, and what the CUDA source adds where there is one."""

    name: str
    type: str  # PTX type
    size: int
    pointer: bool
    element: str = ""  # of a pointer, where known: "f32"


def parse_argument(text: str, seed: int) -> Argument:
    """Read one ``--arg``. Random contents follow from ``seed`` alone."""
    name, equals, value = (part.strip() for part in text.partition("="))
    if not equals or not name or not value:
        raise WarploomError(f"--arg {text!r}: write name=value, such as 'n=1024' or 'in=f32[1024]:random'")
    texture = value.startswith(_TEXTURE)
    value = value.removeprefix(_TEXTURE)
    if "[" not in value:
        return Argument(name, None, value)
    match = _ARRAY.fullmatch(value)
    if match is None:
        raise WarploomError(f"--arg {text!r}: write an array as type[elements]:contents, such as f32[1024]:random")
    kind = match["type"]
    if kind not in DTYPES:
        raise WarploomError(f"--arg {text!r}: element type {kind!r} is not known{did_you_mean(kind, DTYPES)}")
    try:
        shape = tuple(int(extent) for extent in match["shape"].split(","))
    except ValueError:
        raise WarploomError(f"--arg {text!r}: say how many elements in the brackets") from None
    if math.prod(shape) == 0 or math.prod(shape) * DTYPES[kind].itemsize > _LARGEST:
        raise WarploomError(f"--arg {text!r}: an array must have at least one element and at most 2 GiB")
    return Argument(name, _contents(match["fill"] or "zeros", shape, DTYPES[kind], seed, text), texture=texture)


def _contents(fill: str, shape: tuple[int, ...], dtype: np.dtype, seed: int, text: str) -> np.ndarray:
    count = math.prod(shape)
    if fill == "zeros":
        return np.zeros(shape, dtype)
    if fill == "ones":
        return np.ones(shape, dtype)
    if fill == "iota":
        return np.arange(count).astype(dtype).reshape(shape)
    if fill == "random":
        generator = np.random.default_rng(seed)
        if dtype.kind == "f":
            return generator.random(shape).astype(dtype)
        return generator.integers(0, min(np.iinfo(dtype).max, 1 << 16), shape, endpoint=True).astype(dtype)
    if fill.endswith(".npy"):
        return _from_file(Path(fill), shape, dtype, text)
    try:
        return np.full(shape, _number(fill, dtype), dtype)
    except ValueError:
        hint = f"choose {', '.join(FILLS)}, a number or a .npy file"
        raise WarploomError(f"--arg {text!r}: contents {fill!r} are not known; {hint}") from None


def _from_file(path: Path, shape: tuple[int, ...], dtype: np.dtype, text: str) -> np.ndarray:
    if not is_file(path):
        raise WarploomError(f"--arg {text!r}: there is no file {path}")
    try:
        values = read_npy(path)
    except ValueError as error:
        raise WarploomError(f"--arg {text!r}: {path}: {error}") from None
    if values.dtype != dtype or values.size != math.prod(shape):
        raise WarploomError(
            f"--arg {text!r}: {path} holds {values.size} elements of {values.dtype}, not {math.prod(shape)} of {dtype}"
        )
    return values.reshape(shape)


def _number(word: str, dtype: np.dtype) -> int | float:
    """A number that the type can hold; ValueError otherwise."""
    if dtype.kind == "f":
        return float(word)
    value = int(word, 0)
    limits = np.iinfo(dtype)
    if not limits.min <= value <= limits.max:
        raise ValueError(word)
    return value


def match_arguments(
    slots: Sequence[KernelParameter], arguments: Sequence[Argument], kernel: str
) -> list[np.ndarray | np.generic]:
    """The launch's arguments in the kernel's order: arrays for pointers, NumPy scalars for the rest.

    Where the kernel's parameter names are known (from CUDA source), arguments go by name, in any order; otherwise by position.
    """
    names = [argument.name for argument in arguments]
    for name in names:
        if names.count(name) > 1:
            raise WarploomError(f"kernel {kernel}: argument {name!r} is given twice")
    if {slot.name for slot in slots} & set(names):
        by_name = {argument.name: argument for argument in arguments}
        for name in names:
            if name not in {slot.name for slot in slots}:
                known = did_you_mean(name, [slot.name for slot in slots])
                raise WarploomError(f"kernel {kernel}: there is no parameter {name!r}{known}")
        ordered = [by_name.get(slot.name) for slot in slots]
    else:
        if len(arguments) > len(slots):
            extra = arguments[len(slots)].name
            raise WarploomError(f"kernel {kernel}: argument {extra!r} is one too many; the kernel has {len(slots)} parameters")
        ordered = [*arguments, *[None] * (len(slots) - len(arguments))]
    return [_fit(slot, argument, index, kernel) for index, (slot, argument) in enumerate(zip(slots, ordered, strict=True))]


def _fit(slot: KernelParameter, argument: Argument | None, index: int, kernel: str) -> np.ndarray | np.generic:
    what = f"{slot.element or 'any type'} array" if slot.pointer else slot.type
    if argument is None:
        example = f"{slot.element or 'f32'}[1024]:random" if slot.pointer else "1"
        raise WarploomError(
            f"kernel {kernel}: parameter {index + 1} ({slot.name}, {what}) has no argument; add --arg '{slot.name}={example}'"
        )
    where = f"kernel {kernel}: argument {argument.name!r}"
    if argument.array is not None:
        if not slot.pointer and slot.size != 8:
            raise WarploomError(f"{where} is an array but parameter {index + 1} is a scalar of type {slot.type}")
        if slot.element and DTYPES[slot.element] != argument.array.dtype:
            raise WarploomError(
                f"{where} has elements of {argument.array.dtype} but the kernel takes a pointer to {slot.element}"
            )
        return argument.array
    if argument.scalar.upper() == "NULL" and slot.size == 8:
        return np.void(bytes(8))
    if argument.scalar.startswith("{"):
        return structure(argument.scalar, slot.size, where)
    if slot.pointer:
        raise WarploomError(f"{where} is the number {argument.scalar} but parameter {index + 1} is a pointer; give an array")
    return _scalar(slot, argument.scalar, where)


def structure(text: str, size: int, where: str) -> np.void:
    """The bytes of a structure written as ``{f32:1.5, s32:3}``, with C's gaps between its members."""
    members = []
    for part in text.strip("{}").split(","):
        kind, colon, word = (piece.strip() for piece in part.partition(":"))
        if not colon or kind not in DTYPES:
            raise WarploomError(f"{where}: write the members of a structure as {{f32:1.5, s32:3}}, not {part.strip()!r}")
        try:
            members.append((DTYPES[kind], _number(word, DTYPES[kind])))
        except ValueError:
            raise WarploomError(f"{where}: {word!r} is not a number of type {kind}") from None
    record = np.zeros(1, np.dtype([(f"m{place}", kind) for place, (kind, _) in enumerate(members)], align=True))
    for place, (_, value) in enumerate(members):
        record[f"m{place}"] = value
    if record.itemsize != size:
        raise WarploomError(f"{where}: these members take {record.itemsize} bytes, but the parameter has {size}")
    return np.void(record.tobytes())


def _scalar(slot: KernelParameter, word: str, where: str) -> np.generic:
    if slot.size == 1 and word in ("true", "false"):
        return np.uint8(word == "true")
    bits = slot.type[1:]
    if slot.type[0] == "f" and slot.type in DTYPES:
        candidates = [slot.type]
    elif bits in ("8", "16", "32", "64"):
        candidates = [f"u{bits}", f"s{bits}"]  # PTX declares int as u32: either range is meant
        if slot.type[0] == "b":
            candidates.append(f"f{bits}")
    else:
        raise WarploomError(f"{where}: a parameter of type {slot.type} and {slot.size} bytes cannot be given on the command line")
    for candidate in candidates:
        if candidate in DTYPES:
            try:
                return DTYPES[candidate].type(_number(word, DTYPES[candidate]))
            except ValueError:
                continue
    raise WarploomError(f"{where}: {word!r} is not a number of type {slot.type}")
