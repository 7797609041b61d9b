"""One small PTX kernel for every spelling of an instruction, with the inputs that it is tried on.

Used twice: `instruction_goldens.py` runs the kernels on a real GPU and stores the outputs, the tests run them in the emulator and
compare. Needs nothing but NumPy. Everything is a function of the spelling alone, so both sides see the same bits.
"""

from __future__ import annotations

import hashlib
import itertools
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np

THREADS = 512  # per case, unless the case says otherwise
BLOCK = 128
HEADER = ".version 9.0\n.target sm_75\n.address_size 64\n"
DTYPES = {
    **{f"{kind}{bits}": f"{'i' if kind == 's' else 'u'}{bits // 8}" for kind in "usb" for bits in (8, 16, 32, 64)},
    "f32": "f4",
    "f64": "f8",
}


@dataclass(frozen=True)
class Texture:
    """A texture that the kernel gets as its last parameter."""

    shape: tuple[int, ...]
    dtype: str = "f4"
    linear: bool = False
    address: str = "clamp"  # clamp, wrap or border
    normalized: bool = False
    fetch: bool = False  # over linear memory, read with integer coordinates


@dataclass(frozen=True)
class Case:
    """A kernel ``k`` whose parameters are the addresses of its inputs, then of its outputs (and a texture)."""

    name: str
    ptx: str
    inputs: tuple[np.ndarray, ...]
    outputs: tuple[tuple[str, int], ...]  # dtype and length
    tolerance: str = "exact"  # else the name of a rule of the test
    grid: int = THREADS // BLOCK
    block: tuple[int, ...] = (BLOCK,)
    in_place: tuple[int, ...] = ()  # inputs that the kernel changes; they are compared as well
    texture: Texture | None = None
    texels: np.ndarray | None = field(default=None, compare=False)


# --- values ------------------------------------------------------------------------------------------------------------------

_F32_SPECIAL = (
    "0 80000000 1 80000001 7fffff 807fffff 800000 80800000 3f800000 bf800000 3f800001 3f7fffff 7f7fffff "
    "ff7fffff 7f800000 ff800000 7fc00000 7fffffff ffc00001 7f800001 3f000000 3fc00000 40200000 c0200000 "
    "4b800001 4f000000 cf000000 4f800000 5f000000 5f800000 df000000 42fe0000 43000000 c3150000 c2fc0000 "
    "40490fdb 3dcccccd 477fe000 38800000 33800000 c7000000 437f8000"
)
_F64_SPECIAL = (
    "0 8000000000000000 1 8000000000000001 fffffffffffff 10000000000000 8010000000000000 3ff0000000000000 bff0000000000000 "
    "3ff0000000000001 3fefffffffffffff 7fefffffffffffff ffefffffffffffff 7ff0000000000000 fff0000000000000 7ff8000000000000 "
    "fff8000000000001 7ff0000000000001 3fe0000000000000 3ff8000000000000 4004000000000000 c004000000000000 41e0000000000000 "
    "c1e0000000000000 41f0000000000000 43e0000000000000 43f0000000000000 c3e0000000000000 47efffffe0000000 47effffff0000000 "
    "36a0000000000000 3690000000000000 380fffffc0000000 3810000000000000 41dfffffffc00000 4340000000000001 400921fb54442d18"
)


def _special(name: str) -> np.ndarray:
    if name in ("f32", "f64"):
        text, dtype = (_F32_SPECIAL, "u4") if name == "f32" else (_F64_SPECIAL, "u8")
        return np.array([int(word, 16) for word in text.split()], dtype)
    bits = int(name[1:])
    values = {0, 1, 2, 3, 7, 8, 15, 16, 31, 32, 33, 63, 64, 65, 100, 127, 128, 255, 256, 0x7FFF, 0x8000, 0xFFFF, 0x7FFFFFFF}
    values |= {0x80000000, 0xFFFFFFFF, 0x100000000, 0x7FFFFF, 0x800000, 0xFFFFFF, 0x1000001, (1 << 53) + 1}
    values |= {(1 << (bits - 1)) - 1, 1 << (bits - 1), (1 << (bits - 1)) + 1, (1 << bits) - 1, (1 << bits) - 2, (1 << bits) - 32}
    return np.array(sorted({value & ((1 << bits) - 1) for value in values}), f"u{bits // 8}")


def values(kind: str, count: int, rng: np.random.Generator) -> np.ndarray:
    """Half special values in random order, half random ones of all magnitudes. ``kind`` is a type, or ``shift`` for amounts."""
    if kind == "shift":
        return np.where(rng.random(count) < 0.9, rng.integers(0, 72, count), rng.integers(0, 2**32, count)).astype("u4")
    if kind == "bit":
        return rng.integers(0, 2, count).astype("u4")
    dtype = np.dtype(DTYPES[kind])
    raw = np.dtype(f"u{dtype.itemsize}")
    special = _special(kind)
    bits = dtype.itemsize * 8
    random = rng.integers(0, 2**bits - 1, count, dtype=raw, endpoint=True)
    if dtype.kind == "f":
        ordinary = rng.normal(0, 1, count) * 2.0 ** rng.integers(-12, 12, count)
        random = np.where(rng.random(count) < 0.6, ordinary.astype(dtype).view(raw), random)
    else:
        small = rng.integers(0, 200, count).astype(raw)
        shifted = random >> rng.integers(0, bits, count).astype(raw)
        random = np.choose(rng.integers(0, 3, count), [random, small, shifted]).astype(raw)
    chosen = np.where(rng.random(count) < 0.5, special[rng.integers(0, len(special), count)], random)
    return chosen.astype(raw).view(dtype)


def generator(name: str) -> np.random.Generator:
    """The random numbers of one case."""
    return np.random.Generator(np.random.PCG64(zlib.crc32(name.encode())))


# --- kernels -----------------------------------------------------------------------------------------------------------------


def _register(kind: str) -> str:
    """The register type that holds a value of a type."""
    if kind in ("shift", "bit"):
        return "b32"
    if kind in ("f32", "f64"):
        return kind
    return f"b{max(16, int(kind[1:]))}"


def _memory(kind: str) -> str:
    """The type by which a value is loaded and stored."""
    return {"shift": "b32", "bit": "b32"}.get(kind, kind)


def _bytes(kind: str) -> int:
    return 4 if kind in ("shift", "bit") else np.dtype(DTYPES[kind]).itemsize


def kernel(inputs: int, body: str, declarations: str = "", outside: str = "", texture: bool = False) -> str:
    """A kernel around a body. It has the thread's number in ``i`` and the parameters' global addresses in ``p0``, ``p1``, …"""
    count = inputs + (1 if texture else 0)
    parameters = ", ".join(f".param .u64 a{n}" for n in range(count))
    loads = "".join(f"ld.param.u64 p{n}, [a{n}]; cvta.to.global.u64 p{n}, p{n};\n" for n in range(inputs))
    if texture:
        loads += f"ld.param.u64 handle, [a{inputs}];\n"
        declarations += ".reg .b64 handle;\n"
    pointers = "".join(f".reg .b64 p{n};\n" for n in range(inputs))
    return (
        f"{HEADER}{outside}.visible .entry k({parameters})\n{{\n.reg .b32 i, t0, t1;\n{pointers}.reg .b64 at;\n{declarations}"
        f"{loads}mov.u32 i, %tid.x; mov.u32 t0, %ctaid.x; mov.u32 t1, %ntid.x; mad.lo.s32 i, t0, t1, i;\n{body}ret;\n}}\n"
    )


def _at(pointer: int, size: int, index: str = "i") -> str:
    return f"mul.wide.u32 at, {index}, {size}; add.s64 at, p{pointer}, at;\n"


def lanewise(
    name: str,
    text: str,
    destinations: dict[str, str],
    sources: dict[str, str],
    tolerance: str = "exact",
    count: int = THREADS,
    adjust: Callable[[list[np.ndarray], np.random.Generator], None] | None = None,
) -> Case:
    """Each thread loads its sources, executes the text, stores its destinations. The type ``pred`` travels as 0 or 1."""
    declarations, body = "", ""
    pointer = 0
    arrays: list[np.ndarray] = []
    rng = generator(name)
    for register, kind in sources.items():
        if kind == "pred":
            declarations += f".reg .pred {register}; .reg .b32 {register}_bit;\n"
            body += _at(pointer, 4) + f"ld.global.b32 {register}_bit, [at]; setp.ne.s32 {register}, {register}_bit, 0;\n"
            arrays.append(values("bit", count, rng))
        else:
            declarations += f".reg .{_register(kind)} {register};\n"
            body += _at(pointer, _bytes(kind)) + f"ld.global.{_memory(kind)} {register}, [at];\n"
            arrays.append(values(kind, count, rng))
        pointer += 1
    if adjust is not None:
        adjust(arrays, rng)
    body += text + "\n"
    outputs = []
    for register, kind in destinations.items():
        if kind == "pred":
            declarations += f".reg .pred {register}; .reg .b32 {register}_bit;\n"
            body += _at(pointer, 4) + f"selp.b32 {register}_bit, 1, 0, {register}; st.global.b32 [at], {register}_bit;\n"
            outputs.append(("u4", count))
        else:
            declarations += f".reg .{_register(kind)} {register};\n"
            body += _at(pointer, _bytes(kind)) + f"st.global.{_memory(kind)} [at], {register};\n"
            outputs.append((DTYPES[kind], count))
        pointer += 1
    return Case(name, kernel(pointer, body, declarations), tuple(arrays), tuple(outputs), tolerance, grid=count // BLOCK)


def plain(spelling: str, destination: str, *sources: str, tolerance: str = "exact", count: int = THREADS, tail: str = "") -> Case:
    """The usual form: one destination, up to three sources, optionally constants after them."""
    names = "abc"[: len(sources)]
    operands = ", ".join(["d", *names]) + tail
    name = spelling + (f" {tail[2:]}" if tail else "")
    return lanewise(name, f"{spelling} {operands};", {"d": destination}, dict(zip(names, sources, strict=True)), tolerance, count)


INTEGERS = ("u16", "s16", "u32", "s32", "u64", "s64")


def _arithmetic() -> Iterator[Case]:
    for kind in INTEGERS:
        for name in ("add", "sub", "mul.lo", "mul.hi", "div", "rem", "min", "max"):
            yield plain(f"{name}.{kind}", kind, kind, kind)
        for name in ("mad.lo", "mad.hi", "sad"):
            yield plain(f"{name}.{kind}", kind, kind, kind, kind)
        if kind[0] == "s":
            yield plain(f"abs.{kind}", kind, kind)
            yield plain(f"neg.{kind}", kind, kind)
    for sign, bits in itertools.product("us", (16, 32)):
        narrow, wide = f"{sign}{bits}", f"{sign}{bits * 2}"
        yield plain(f"mul.wide.{narrow}", wide, narrow, narrow)
        yield plain(f"mad.wide.{narrow}", wide, narrow, narrow, wide)
    for kind, half in itertools.product(("u32", "s32"), ("lo", "hi")):
        yield plain(f"mul24.{half}.{kind}", kind, kind, kind)
        yield plain(f"mad24.{half}.{kind}", kind, kind, kind, kind)
    yield plain("add.sat.s32", "s32", "s32", "s32")
    yield plain("sub.sat.s32", "s32", "s32", "s32")
    yield plain("mad.hi.sat.s32", "s32", "s32", "s32", "s32")
    yield plain("mad24.hi.sat.s32", "s32", "s32", "s32", "s32")
    for signs in itertools.product(("u32", "s32"), repeat=2):
        result = "s32" if "s32" in signs else "u32"
        yield plain(f"dp4a.{'.'.join(signs)}", result, signs[0], signs[1], result)
        for half in ("lo", "hi"):
            yield plain(f"dp2a.{half}.{'.'.join(signs)}", result, signs[0], signs[1], result)


def _carries() -> Iterator[Case]:
    for bits in (32, 64):
        kind = f"u{bits}"
        sources = {"a": kind, "b": kind, "c": kind}
        destinations = {"d": kind, "e": kind, "f": kind}
        for name in ("add", "sub"):
            text = f"{name}.cc.{kind} d, a, b; {name}c.cc.{kind} e, b, c; {name}c.{kind} f, c, a;"
            yield lanewise(f"{name}.cc.{kind} {name}c.cc.{kind} {name}c.{kind}", text, destinations, sources)
        for first, second in itertools.product(("lo", "hi"), repeat=2):
            text = f"mad.{first}.cc.{kind} d, a, b, c; madc.{second}.cc.{kind} e, a, c, b; madc.{first}.{kind} f, b, c, a;"
            name = f"mad.{first}.cc.{kind} madc.{second}.cc.{kind} madc.{first}.{kind}"
            yield lanewise(name, text, destinations, sources)
        yield from _mixed_carries(kind)


def _mixed_carries(kind: str) -> Iterator[Case]:
    """The flag that one kind of instruction leaves, read by another: after a subtraction it is 1 where nothing was borrowed."""
    steps = ("add", "sub", "mad.lo", "mad.hi")
    sources = {"a": kind, "b": kind, "c": kind}
    destinations = {"d": kind, "e": kind, "f": kind}

    def spell(step: str, *, reads: bool, sets: bool) -> str:
        name, _, half = step.partition(".")
        return ".".join(part for part in (name + ("c" if reads else ""), half, "cc" if sets else "", kind) if part)

    for first, second, third in itertools.product(steps, steps, ("add", "sub")):
        one, two = spell(first, reads=False, sets=True), spell(second, reads=True, sets=True)
        three = spell(third, reads=True, sets=False)
        text = f"{one} d, a, b{', c' if 'mad' in one else ''}; {two} e, b, c{', a' if 'mad' in two else ''}; {three} f, c, a;"
        yield lanewise(f"{one} {two} {three} mixed", text, destinations, sources, count=BLOCK)
    zero = f"addc.{kind} f, 0, 0;"  # the flag itself
    special = {
        "of a number less zero": f"mov.{kind} d, 0; sub.cc.{kind} e, a, 0; {zero}",
        "of zero less a number": f"mov.{kind} d, 0; sub.cc.{kind} e, 0, a; {zero}",
        "of a number less itself": f"mov.{kind} d, 0; sub.cc.{kind} e, a, a; {zero}",
        "of a number and minus one": f"mov.{kind} d, 0; add.cc.{kind} e, a, -1; {zero}",
        "as a mask": f"sub.cc.{kind} d, a, b; subc.cc.{kind} e, 0, 0; {zero}",
        "past an addition that leaves it": f"sub.cc.{kind} d, a, b; add.{kind} e, b, c; {zero}",
        "past a subtraction that only reads it": f"add.cc.{kind} d, a, b; subc.{kind} e, b, c; {zero}",
        "of two subtractions": f"sub.cc.{kind} d, a, b; subc.cc.{kind} e, b, c; {zero}",
    }
    for what, text in special.items():
        yield lanewise(f"addc.{kind} the flag {what}", text, destinations, sources, count=BLOCK)
    guarded = f"mov.{kind} e, c; add.cc.{kind} d, a, b; @p sub.cc.{kind} e, b, c; {zero}"
    yield lanewise(f"addc.{kind} the flag of a guarded sub.cc", guarded, destinations, {**sources, "p": "pred"}, count=BLOCK)


def _logic() -> Iterator[Case]:
    for bits in (16, 32, 64):
        kind = f"b{bits}"
        for name in ("and", "or", "xor"):
            yield plain(f"{name}.{kind}", kind, kind, kind)
        for name in ("not", "cnot"):
            yield plain(f"{name}.{kind}", kind, kind)
        yield plain(f"shl.{kind}", kind, kind, "shift")
        for sign in "usb":
            yield plain(f"shr.{sign}{bits}", f"{sign}{bits}", f"{sign}{bits}", "shift")
    for name in ("and", "or", "xor"):
        yield plain(f"{name}.pred", "pred", "pred", "pred", count=128)
    yield plain("not.pred", "pred", "pred", count=128)
    yield plain("mov.pred", "pred", "pred", count=128)
    for table in (0x00, 0x1B, 0x80, 0x96, 0xCA, 0xE8, 0xFE, 0xFF):
        yield plain("lop3.b32", "b32", "b32", "b32", "b32", tail=f", {table:#x}", count=128)
    for side, mode in itertools.product("lr", ("wrap", "clamp")):
        yield plain(f"shf.{side}.{mode}.b32", "b32", "b32", "b32", "shift")
    for kind in ("u32", "s32", "u64", "s64"):
        yield plain(f"bfe.{kind}", kind, kind, "shift", "shift")
        yield plain(f"bfind.{kind}", "u32", kind)
        yield plain(f"bfind.shiftamt.{kind}", "u32", kind)
    for bits in (32, 64):
        text = f"bfi.b{bits} d, a, b, c, e;"
        sources = {"a": f"b{bits}", "b": f"b{bits}", "c": "shift", "e": "shift"}
        yield lanewise(f"bfi.b{bits}", text, {"d": f"b{bits}"}, sources)
        yield plain(f"brev.b{bits}", f"b{bits}", f"b{bits}")
        yield plain(f"popc.b{bits}", "u32", f"b{bits}")
        yield plain(f"clz.b{bits}", "u32", f"b{bits}")
    for mode in ("", ".f4e", ".b4e", ".rc8", ".ecl", ".ecr", ".rc16"):
        yield plain(f"prmt.b32{mode}", "b32", "b32", "b32", "b32")
    for mode in ("clamp", "wrap"):
        yield plain(f"bmsk.{mode}.b32", "b32", "shift", "shift")
        yield plain(f"szext.{mode}.u32", "u32", "u32", "shift")
        yield plain(f"szext.{mode}.s32", "s32", "s32", "shift")
    yield plain("fns.b32", "b32", "b32", "shift", "s32")


INTEGER_COMPARISONS = ("eq", "ne", "lt", "le", "gt", "ge")
FLOAT_COMPARISONS = (*INTEGER_COMPARISONS, "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan")


def _near(arrays: list[np.ndarray], rng: np.random.Generator) -> None:
    """Make a third of the pairs equal, so that comparisons for equality are tried both ways."""
    same = rng.random(len(arrays[0])) < 0.33
    arrays[1][same] = arrays[0][same]


def _compare(spelling: str, kind: str) -> Case:
    return lanewise(spelling, f"{spelling} d, a, b;", {"d": "pred"}, {"a": kind, "b": kind}, adjust=_near)


def _comparisons() -> Iterator[Case]:
    for kind in INTEGERS:
        names = [*INTEGER_COMPARISONS, *(("lo", "ls", "hi", "hs") if kind[0] == "u" else ())]
        for name in names:
            yield _compare(f"setp.{name}.{kind}", kind)
    for name, bits in itertools.product(("eq", "ne"), (16, 32, 64)):
        yield _compare(f"setp.{name}.b{bits}", f"b{bits}")
    for name, kind in itertools.product(FLOAT_COMPARISONS, ("f32", "f64")):
        yield _compare(f"setp.{name}.{kind}", kind)
        if kind == "f32":
            yield _compare(f"setp.{name}.ftz.f32", "f32")
    for combine, (name, kind) in itertools.product(("and", "or", "xor"), (("lt", "s32"), ("geu", "f32"), ("ne", "u64"))):
        spelling = f"setp.{name}.{combine}.{kind}"
        yield lanewise(
            spelling, f"{spelling} d|e, a, b, c;", {"d": "pred", "e": "pred"}, {"a": kind, "b": kind, "c": "pred"}, adjust=_near
        )
    yield lanewise(
        "setp.gt.s32 d|e", "setp.gt.s32 d|e, a, b;", {"d": "pred", "e": "pred"}, {"a": "s32", "b": "s32"}, adjust=_near
    )
    yield lanewise(
        "setp.lt.f64 d|e", "setp.lt.f64 d|e, a, b;", {"d": "pred", "e": "pred"}, {"a": "f64", "b": "f64"}, adjust=_near
    )
    compared = (("lt", "s32"), ("ne", "b64"), ("gtu", "f32"), ("le", "f64"))
    for result, (name, kind) in itertools.product(("u32", "s32", "f32"), compared):
        spelling = f"set.{name}.{result}.{kind}"
        yield lanewise(spelling, f"{spelling} d, a, b;", {"d": result}, {"a": kind, "b": kind}, adjust=_near)
    yield plain("set.lt.and.u32.f32", "u32", "f32", "f32", "pred")
    for kind in ("b16", "b32", "b64", "u16", "s16", "u32", "s32", "u64", "s64", "f32", "f64"):
        yield plain(f"selp.{kind}", kind, kind, kind, "pred", count=128)
        yield plain(f"slct.{kind}.s32", kind, kind, kind, "s32", count=128)
        yield plain(f"slct.{kind}.f32", kind, kind, kind, "f32", count=256)
    yield plain("slct.ftz.b32.f32", "b32", "b32", "b32", "f32", count=256)
    for kind, name in itertools.product(("f32", "f64"), ("finite", "infinite", "number", "notanumber", "normal", "subnormal")):
        yield plain(f"testp.{name}.{kind}", "pred", kind, count=256)


ROUNDINGS = (".rn", ".rz", ".rm", ".rp")


def _floats() -> Iterator[Case]:
    for name, rounding, flush, saturate in itertools.product(("add", "sub", "mul"), ("", *ROUNDINGS), ("", ".ftz"), ("", ".sat")):
        yield plain(f"{name}{rounding}{flush}{saturate}.f32", "f32", "f32", "f32")
    for rounding, flush, saturate in itertools.product(ROUNDINGS, ("", ".ftz"), ("", ".sat")):
        yield plain(f"fma{rounding}{flush}{saturate}.f32", "f32", "f32", "f32", "f32")
    yield plain("mad.rn.f32", "f32", "f32", "f32", "f32")
    yield plain("mad.rz.ftz.sat.f32", "f32", "f32", "f32", "f32")
    for name, rounding in itertools.product(("add", "sub", "mul"), ("", *ROUNDINGS)):
        yield plain(f"{name}{rounding}.f64", "f64", "f64", "f64")
    for rounding in ROUNDINGS:
        yield plain(f"fma{rounding}.f64", "f64", "f64", "f64", "f64")
        yield plain(f"mad{rounding}.f64", "f64", "f64", "f64", "f64")
        yield plain(f"div{rounding}.f64", "f64", "f64", "f64")
        yield plain(f"rcp{rounding}.f64", "f64", "f64")
        yield plain(f"sqrt{rounding}.f64", "f64", "f64")
        for flush in ("", ".ftz"):
            yield plain(f"div{rounding}{flush}.f32", "f32", "f32", "f32")
            yield plain(f"rcp{rounding}{flush}.f32", "f32", "f32")
            yield plain(f"sqrt{rounding}{flush}.f32", "f32", "f32")
    for flush in ("", ".ftz"):
        for name in ("abs", "neg"):
            yield plain(f"{name}{flush}.f32", "f32", "f32")
        for name in ("min", "max"):
            yield plain(f"{name}{flush}.f32", "f32", "f32", "f32")
    for name in ("abs", "neg"):
        yield plain(f"{name}.f64", "f64", "f64")
    for name in ("min", "max"):
        yield plain(f"{name}.f64", "f64", "f64", "f64")
    for kind in ("f32", "f64"):
        yield plain(f"copysign.{kind}", kind, kind, kind)
    for flush in ("", ".ftz"):
        yield plain(f"div.approx{flush}.f32", "f32", "f32", "f32", tolerance="div.approx")
        yield plain(f"div.full{flush}.f32", "f32", "f32", "f32", tolerance="div.full")
        for name in ("rcp", "sqrt", "rsqrt", "sin", "cos", "lg2", "ex2"):
            yield plain(f"{name}.approx{flush}.f32", "f32", "f32", tolerance=f"{name}.approx")
    yield plain("tanh.approx.f32", "f32", "f32", tolerance="tanh.approx")
    yield plain("rcp.approx.ftz.f64", "f64", "f64", tolerance="approx.f64")
    yield plain("rsqrt.approx.f64", "f64", "f64", tolerance="approx.f64")
    yield plain("rsqrt.approx.ftz.f64", "f64", "f64", tolerance="approx.f64")


def _conversions() -> Iterator[Case]:
    integers = ("u8", "s8", *INTEGERS)
    for target, source in itertools.permutations(integers, 2):
        for saturate in ("", ".sat"):
            yield plain(f"cvt{saturate}.{target}.{source}", target, source, count=128)
    for source, target, rounding in itertools.product(integers, ("f32", "f64"), ROUNDINGS):
        yield plain(f"cvt{rounding}.{target}.{source}", target, source, count=256)
    yield plain("cvt.rn.sat.f32.s32", "f32", "s32", count=128)
    for target, source, rounding in itertools.product(integers, ("f32", "f64"), ("rni", "rzi", "rmi", "rpi")):
        yield plain(f"cvt.{rounding}.{target}.{source}", target, source, count=256)
        if source == "f32" and target in ("u32", "s32", "s64", "u64"):
            yield plain(f"cvt.{rounding}.ftz.{target}.{source}", target, source, count=256)
    for rounding in ROUNDINGS:
        yield plain(f"cvt{rounding}.f32.f64", "f32", "f64")
        yield plain(f"cvt{rounding}.ftz.f32.f64", "f32", "f64")
    yield plain("cvt.rn.sat.f32.f64", "f32", "f64")
    yield plain("cvt.f64.f32", "f64", "f32")
    yield plain("cvt.ftz.f64.f32", "f64", "f32")
    yield plain("cvt.sat.f32.f32", "f32", "f32")
    yield plain("cvt.ftz.f32.f32", "f32", "f32")
    yield plain("cvt.sat.f64.f64", "f64", "f64")
    for kind, rounding in itertools.product(("f32", "f64"), ("rni", "rzi", "rmi", "rpi")):
        yield plain(f"cvt.{rounding}.{kind}.{kind}", kind, kind)
    yield plain("cvt.rzi.ftz.f32.f32", "f32", "f32")
    yield plain("cvt.rni.sat.f32.f32", "f32", "f32")


def _moves() -> Iterator[Case]:
    for kind in ("u16", "b32", "u32", "b64", "u64", "f32", "f64"):
        yield plain(f"mov.{kind}", kind, kind, count=128)
    yield lanewise("mov.b64 pack", "mov.b64 d, {a, b};", {"d": "b64"}, {"a": "b32", "b": "b32"}, count=128)
    yield lanewise("mov.b64 unpack", "mov.b64 {d, e}, a;", {"d": "b32", "e": "b32"}, {"a": "b64"}, count=128)
    yield lanewise("mov.b32 pack", "mov.b32 d, {a, b};", {"d": "b32"}, {"a": "b16", "b": "b16"}, count=128)
    yield lanewise("mov.b32 unpack", "mov.b32 {d, e}, a;", {"d": "b16", "e": "b16"}, {"a": "b32"}, count=128)
    text = "mov.b32 d, b; @c add.s32 d, a, b; @!c sub.s32 d, a, b;"
    yield lanewise("guard", text, {"d": "b32"}, {"a": "b32", "b": "b32", "c": "pred"})


# --- memory ------------------------------------------------------------------------------------------------------------------


def _vector(kind: str, count: int, letter: str) -> tuple[str, str]:
    """Registers for a vector operand: its declaration and its text."""
    names = [f"{letter}{n}" for n in range(count)]
    declaration = f".reg .{_register(kind)} {', '.join(names)};\n"
    return declaration, names[0] if count == 1 else "{" + ", ".join(names) + "}"


def _through(space: str, modifier: str, kind: str, vector: int) -> Case:
    """Values go from global memory through a space and back, by vector accesses."""
    suffix = (f".v{vector}" if vector > 1 else "") + f".{kind}"
    load, store = f"ld{modifier}.{space}{suffix}", f"st{modifier}.{space}{suffix}"
    size = _bytes(kind) * vector
    declaration, operand = _vector(kind, vector, "v")
    name = load if space == "const" else f"{load} {store}"
    rng = generator(name)
    data = values(kind, BLOCK * vector, rng)
    outside, extra = "", ""
    fill = _at(0, size) + f"ld.global{suffix} {operand}, [at];\n"
    if space == "shared":
        extra = f".shared .align 16 .b8 buffer[{BLOCK * size}];\n.reg .b32 s;\n"
        fill += f"mov.u32 s, buffer; mad.lo.s32 s, i, {size}, s; {store} [s], {operand};\nbar.sync 0;\n"
        fill += f"xor.b32 t0, i, 5; mov.u32 s, buffer; mad.lo.s32 s, t0, {size}, s; {load} {operand}, [s];\n"
    elif space == "local":
        extra = f".local .align 16 .b8 buffer[{size * 4}];\n.reg .b64 l; .reg .b32 s;\n"
        fill += f"and.b32 s, i, 3; mul.wide.u32 at, s, {size}; mov.u64 l, buffer; add.s64 l, l, at; {store} [l], {operand};\n"
        fill += f"{load} {operand}, [l];\n"
    elif space == "const":
        words = ", ".join(str(int(word)) for word in data.view("u1"))
        outside = f".const .align 16 .b8 table[{data.nbytes}] = {{{words}}};\n"
        extra = ".reg .b64 l;\n"
        fill = f"mul.wide.u32 at, i, {size}; mov.u64 l, table; add.s64 l, l, at; {load} {operand}, [l];\n"
    else:
        fill = _at(0, size) + f"{load} {operand}, [at];\n"
    volatile = modifier if space == "global" else ""
    body = fill + _at(1, size) + f"st{volatile}.global{suffix} [at], {operand};\n"
    ptx = kernel(2, body, declaration + extra, outside)
    return Case(name, ptx, (data,), ((DTYPES[kind], len(data)),), grid=1)


def _memory_cases() -> Iterator[Case]:
    scalars = ("u8", "s8", "b8", "u16", "s16", "b16", "u32", "s32", "b32", "u64", "s64", "b64", "f32", "f64")
    vectors = [(kind, 2) for kind in scalars] + [(kind, 4) for kind in scalars if _bytes(kind) <= 4]
    for kind, vector in [*((kind, 1) for kind in scalars), *vectors]:
        for space in ("global", "shared", "local", "const"):
            yield _through(space, "", kind, vector)
    for kind in ("f32", "f64", "u32", "u64"):
        yield _through("shared", ".volatile", kind, 1)
        yield _through("global", ".volatile", kind, 1)
    for kind, vector in (
        ("f32", 1),
        ("f64", 1),
        ("u32", 1),
        ("u64", 1),
        ("u8", 1),
        ("f32", 2),
        ("f64", 2),
        ("u32", 2),
        ("f32", 4),
    ):
        suffix = (f".v{vector}" if vector > 1 else "") + f".{kind}"
        declaration, operand = _vector(kind, vector, "v")
        size = _bytes(kind) * vector
        name = f"ld.global.nc{suffix}"
        data = values(kind, BLOCK * vector, generator(name))
        body = _at(0, size) + f"{name} {operand}, [at];\n" + _at(1, size) + f"st.global{suffix} [at], {operand};\n"
        yield Case(name, kernel(2, body, declaration), (data,), ((DTYPES[kind], len(data)),), grid=1)
    for kind, signed in (
        ("u8", "s32"),
        ("s8", "s32"),
        ("u16", "s32"),
        ("s16", "s32"),
        ("s8", "s64"),
        ("u32", "s64"),
        ("s32", "s64"),
    ):
        declaration = f".reg .b{signed[1:]} v;\n"  # a load into a wider register extends by the type of the load
        name = f"ld.global.{kind} into {signed}"
        data = values(kind, BLOCK, generator(name))
        body = _at(0, _bytes(kind)) + f"ld.global.{kind} v, [at];\n" + _at(1, _bytes(signed)) + f"st.global.{signed} [at], v;\n"
        yield Case(name, kernel(2, body, declaration), (data,), ((DTYPES[signed], BLOCK),), grid=1)
    declaration = ".reg .b64 g, h; .reg .b32 v; .reg .pred q;\n.shared .align 4 .b8 buffer[512];\n"
    body = (
        "mov.u64 g, buffer; cvta.shared.u64 g, g; mul.wide.u32 h, i, 4; add.s64 g, g, h;\n"
        + _at(0, 4)
        + "ld.global.u32 v, [at]; st.u32 [g], v; bar.sync 0; xor.b32 t0, i, 3; xor.b32 t0, t0, i; ld.u32 v, [g];\n"
        + "isspacep.shared q, g; @q add.u32 v, v, 1; cvta.global.u64 h, at; isspacep.global q, h; @q add.u32 v, v, 2;\n"
        + _at(1, 4)
        + "cvta.global.u64 at, at; st.u32 [at], v;\n"
    )
    yield Case("generic", kernel(2, body, declaration), (values("u32", BLOCK, generator("generic")),), (("u4", BLOCK),), grid=1)


def _atomics() -> Iterator[Case]:
    operations = {
        "add": ("u32", "s32", "u64", "f32", "f64"),
        "min": ("u32", "s32", "u64", "s64"),
        "max": ("u32", "s32", "u64", "s64"),
        **dict.fromkeys(("and", "or", "xor", "exch"), ("b32", "b64")),
        "inc": ("u32",),
        "dec": ("u32",),
        "cas": ("b32", "b64", "b16"),
    }
    for space, (name, kinds) in itertools.product(("global", "shared"), operations.items()):
        for kind in kinds:
            yield _own_address(space, name, kind)
            if name not in ("exch", "cas") and kind[0] != "f":
                yield _contended(space, name, kind)


def _own_address(space: str, name: str, kind: str) -> Case:
    """Every thread has a word of its own: the value returned and the value left behind are both known."""
    spelling = f"atom.{space}.{name}.{kind}"
    register, size = _register(kind), _bytes(kind)
    declaration = f".reg .{register} v, w, x, r;\n"
    body = _at(1, size) + f"ld.global.{kind} v, [at];\n" + _at(2, size) + f"ld.global.{kind} w, [at];\n"
    operands = "w, v" if name == "cas" else "v"
    if space == "shared":
        declaration += f".shared .align 8 .b8 buffer[{BLOCK * size}];\n.reg .b32 s;\n"
        body += f"mov.u32 s, buffer; mov.u32 t0, %tid.x; mad.lo.s32 s, t0, {size}, s;\n" + _at(0, size)
        body += f"ld.global.{kind} x, [at]; st.shared.{kind} [s], x; bar.sync 0;\n{spelling} r, [s], {operands};\n"
        body += f"bar.sync 0; ld.shared.{kind} x, [s]; st.global.{kind} [at], x;\n"
    else:
        body += _at(0, size) + f"{spelling} r, [at], {operands};\n"
    body += _at(3, size) + f"st.global.{kind} [at], r;\n"
    rng = generator(spelling)
    arrays = [values(kind, THREADS, rng) for _ in range(3)]
    same = rng.random(THREADS) < 0.5
    arrays[2][same] = arrays[0][same]  # so that half of the compare-and-swaps succeed
    return Case(spelling, kernel(4, body, declaration), tuple(arrays), ((DTYPES[kind], THREADS),), in_place=(0,))


def _contended(space: str, name: str, kind: str) -> Case:
    """Many threads meet at few words: only what is left at the end is known. ``red`` where the result is not needed."""
    spelling = f"red.{space}.{name}.{kind}"
    size = _bytes(kind)
    declaration = f".reg .{_register(kind)} v, x;\n"
    body = _at(1, size) + f"ld.global.{kind} v, [at];\n"
    if name in ("inc", "dec"):
        body += "mov.u32 v, 37;\n"
    body += "rem.u32 t0, i, 7;\n"
    if space == "shared":
        declaration += ".shared .align 8 .b8 buffer[64];\n.reg .b32 s; .reg .pred q;\n"
        body += f"mov.u32 s, buffer; mov.u32 t1, %tid.x; setp.lt.u32 q, t1, 7; mad.lo.s32 t0, t0, {size}, s;\n"
        body += f"mad.lo.s32 s, t1, {size}, s; " + _at(0, size) + f"@q ld.global.{kind} x, [at]; @q st.shared.{kind} [s], x;\n"
        body += f"bar.sync 0; {spelling} [t0], v; bar.sync 0;\n@q ld.shared.{kind} x, [s]; @q st.global.{kind} [at], x;\n"
    else:
        body += _at(0, size, "t0") + f"{spelling} [at], v;\n"
    rng = generator(spelling)
    arrays = (values(kind, THREADS, rng), values(kind, THREADS, rng))
    if name in ("inc", "dec"):
        arrays[0][:] = 5
    return Case(spelling, kernel(2, body, declaration), arrays, (), in_place=(0,))


# --- warps and blocks --------------------------------------------------------------------------------------------------------


def _shuffles() -> Iterator[Case]:
    for mode, clamp in itertools.product(("up", "down", "bfly", "idx"), (0x1F, 0x1C1F, 0x0, 0x181F, 0x1C00, 0x0F)):
        for with_predicate in (False, True):
            pair = "d|e" if with_predicate else "d"
            text = f"shfl.sync.{mode}.b32 {pair}, a, b, {clamp:#x}, 0xffffffff;"
            destinations = {"d": "b32", "e": "pred"} if with_predicate else {"d": "b32"}
            name = f"shfl.sync.{mode}.b32 {clamp:#x}" + (" predicate" if with_predicate else "")

            def amounts(arrays: list[np.ndarray], rng: np.random.Generator) -> None:
                arrays[1][:] = rng.integers(0, 40, len(arrays[1]))

            yield lanewise(name, text, destinations, {"a": "b32", "b": "b32"}, count=256, adjust=amounts)
    text = (
        "mov.b32 d, 7; mov.b32 m, 0; @c bra taken; bra done;\ntaken: activemask.b32 m; shfl.sync.idx.b32 d, a, b, 31, m;\ndone:"
    )

    def lanes(arrays: list[np.ndarray], rng: np.random.Generator) -> None:
        for predicate, lane in zip(arrays[2].reshape(-1, 32), arrays[1].reshape(-1, 32), strict=True):
            predicate[rng.integers(0, 32)] = 1
            lane[:] = rng.choice(np.flatnonzero(predicate), 32)  # reading a lane that is away would be undefined

    sources = {"a": "b32", "b": "b32", "c": "pred"}
    yield lanewise("shfl.sync.idx.b32 divergent", text, {"d": "b32", "m": "b32"}, sources, count=256, adjust=lanes)


def _votes() -> Iterator[Case]:
    def mixed(arrays: list[np.ndarray], rng: np.random.Generator) -> None:
        warps = arrays[0].reshape(-1, 32)
        warps[0], warps[1] = 0, 1
        warps[2] = np.arange(32) == 9
        warps[3] = np.arange(32) != 9

    for name in ("all", "any", "uni"):
        text = f"vote.sync.{name}.pred d, a, 0xffffffff;"
        yield lanewise(f"vote.sync.{name}.pred", text, {"d": "pred"}, {"a": "pred"}, count=256, adjust=mixed)
    text = "vote.sync.ballot.b32 d, a, 0xffffffff;"
    yield lanewise("vote.sync.ballot.b32", text, {"d": "b32"}, {"a": "pred"}, count=256, adjust=mixed)
    text = ".reg .pred q;\nmov.b32 d, 0; mov.b32 e, 0; mov.b32 f, 0; @!a bra done;\n"
    text += "activemask.b32 d; vote.sync.ballot.b32 e, b, d; setp.ne.s32 q, e, d; @q mov.b32 f, 1;\n"
    text += "done: bar.warp.sync 0xffffffff;"
    destinations = {"d": "b32", "e": "b32", "f": "b32"}
    yield lanewise("vote divergent", text, destinations, {"a": "pred", "b": "pred"}, count=256)

    def few(arrays: list[np.ndarray], rng: np.random.Generator) -> None:
        arrays[0][:] = rng.integers(0, 4, len(arrays[0]))
        arrays[0].reshape(-1, 32)[1] = 3

    for bits in (32, 64):
        kind = f"b{bits}"
        text = f"match.any.sync.{kind} d, a, 0xffffffff; match.all.sync.{kind} e|f, a, 0xffffffff;"
        yield lanewise(f"match.sync.{kind}", text, {"d": "b32", "e": "b32", "f": "pred"}, {"a": kind}, count=256, adjust=few)
    for name in ("popc.u32", "and.pred", "or.pred"):
        result = "u32" if name == "popc.u32" else "pred"
        yield lanewise(f"bar.red.{name}", f"barrier.red.{name} d, 1, a;", {"d": result}, {"a": "pred"}, count=256, adjust=mixed)


def _barriers() -> Iterator[Case]:
    declaration = ".shared .align 4 .b8 buffer[512];\n.reg .b32 s, v; .reg .pred q;\n"
    start = "mov.u32 s, buffer; mov.u32 t0, %tid.x; mad.lo.s32 s, t0, 4, s;\n" + _at(0, 4) + "ld.global.u32 v, [at];\n"
    finish = _at(1, 4) + "st.global.u32 [at], v;\n"
    data = (values("u32", BLOCK, generator("barriers")),)
    bodies = {
        "bar.sync": "st.shared.u32 [s], v; bar.sync 0; xor.b32 s, s, 256; ld.shared.u32 v, [s];\n",
        "barrier.sync": "st.shared.u32 [s], v; barrier.sync 3; xor.b32 s, s, 256; ld.shared.u32 v, [s];\n",
        "bar.sync id count": "setp.lt.u32 q, t0, 64; st.shared.u32 [s], v; @q bra low;\n"
        "bar.sync 2, 64; bra join;\nlow: bar.sync 1, 64;\n"
        "join: xor.b32 s, s, 128; ld.shared.u32 v, [s];\n",
        "bar.arrive": "setp.lt.u32 q, t0, 64; @q bra low;\nbar.sync 4, 128; xor.b32 s, s, 256; ld.shared.u32 v, [s]; bra join;\n"
        "low: st.shared.u32 [s], v; bar.arrive 4, 128;\njoin:\n",
        "bar.warp.sync": "st.shared.u32 [s], v; bar.warp.sync 0xffffffff; xor.b32 s, s, 4; ld.shared.u32 v, [s];\n",
        "membar": "st.shared.u32 [s], v; membar.cta; membar.gl; fence.acq_rel.gpu; ld.shared.u32 v, [s];\n",
    }
    for name, body in bodies.items():
        yield Case(name, kernel(2, start + body + finish, declaration), data, (("u4", BLOCK),), grid=1)


def _registers() -> Iterator[Case]:
    names = [f"{base}.{axis}" for base in ("tid", "ntid", "ctaid", "nctaid") for axis in "xyz"]
    names += ["laneid", "lanemask_eq", "lanemask_le", "lanemask_lt", "lanemask_ge", "lanemask_gt"]
    body = "mov.u32 t0, %tid.y; mov.u32 t1, %tid.z; mad.lo.s32 t0, t1, 5, t0;\n"
    body += "mov.u32 t1, %tid.x; mad.lo.s32 i, t0, 7, t1;\n"
    body += "mov.u32 t1, %ctaid.x; mad.lo.s32 i, t1, 105, i;\n"
    for number, name in enumerate(names):
        body += f"mov.u32 t0, %{name}; " + _at(number, 4) + "st.global.u32 [at], t0;\n"
    outputs = tuple(("u4", 105 * 2) for _ in names)
    yield Case("special registers", kernel(len(names), body), (), outputs, grid=2, block=(7, 5, 3))


def _calls() -> Iterator[Case]:
    outside = (
        ".func (.param .f64 result) scale(.param .f64 x, .param .b32 n)\n{\n.reg .f64 a, b; .reg .b32 m;\n"
        "ld.param.f64 a, [x]; ld.param.b32 m, [n]; cvt.rn.f64.s32 b, m; mul.f64 a, a, b; st.param.f64 [result], a; ret;\n}\n"
    )
    body = _at(0, 8) + "ld.global.f64 v, [at];\n{\n.param .f64 x; .param .b32 n; .param .f64 back;\n"
    body += "st.param.f64 [x], v; st.param.b32 [n], i; call.uni (back), scale, (x, n); ld.param.f64 v, [back];\n}\n"
    body += _at(1, 8) + "st.global.f64 [at], v;\n"
    data = values("f64", BLOCK, generator("call"))
    yield Case("call.uni st.param.f64", kernel(2, body, ".reg .f64 v;\n", outside), (data,), (("f8", BLOCK),), grid=1)


# --- textures ----------------------------------------------------------------------------------------------------------------


def _textures() -> Iterator[Case]:
    shapes = {"1d": (37,), "2d": (19, 23), "3d": (5, 7, 9)}
    for space, linear, address, normalized in itertools.product(
        shapes, (False, True), ("clamp", "wrap", "border"), (False, True)
    ):
        if address == "wrap" and not normalized:
            continue  # hardware wraps only normalised coordinates
        texture = Texture(shapes[space], "f4", linear, address, normalized)
        yield _sample(f"tex.{space}.v4.f32.f32", space, texture)
    for kind in ("s32", "u32"):
        for space in ("1d", "2d"):
            yield _sample(f"tex.{space}.v4.{kind}.f32", space, Texture(shapes[space], DTYPES[kind]))
    for kind, width in itertools.product(("f32", "s32", "u32"), ((), (2,), (4,))):
        yield _fetch(f"tex.1d.v4.{kind}.s32", Texture((61, *width), DTYPES[kind], fetch=True))
    yield _sample("tex.2d.v4.f32.f32", "2d", Texture((11, 13, 4), "f4", True))


def _texels(texture: Texture, rng: np.random.Generator) -> np.ndarray:
    if texture.dtype == "f4":
        return rng.normal(0, 10, texture.shape).astype("f4")
    return rng.integers(0, 2**32, texture.shape).astype("u4").view(texture.dtype)


def _sample(spelling: str, space: str, texture: Texture) -> Case:
    dimensions = int(space[0])
    kind = spelling.split(".")[3]
    filtering = f"{'linear' if texture.linear else 'point'} {texture.address} {'normalized' if texture.normalized else 'texels'}"
    name = f"{spelling} {filtering} {'x'.join(map(str, texture.shape))}"
    rng = generator(name)
    sizes = texture.shape[:dimensions][::-1]
    arrays = []
    for size in sizes:
        coordinate = rng.uniform(-0.4, 1.4, THREADS) * (1 if texture.normalized else size)
        exact = rng.integers(-3, size + 3, THREADS) + rng.choice([0.0, 0.5, 0.25], THREADS)
        exact = exact / size if texture.normalized else exact
        arrays.append(np.where(rng.random(THREADS) < 0.5, coordinate, exact).astype("f4"))
    coordinates = [f"c{n}" for n in range(dimensions)]
    operand = {1: "{c0}", 2: "{c0, c1}", 3: "{c0, c1, c2, c2}"}[dimensions]
    register = "f32" if kind == "f32" else "b32"
    declaration = f".reg .f32 {', '.join(coordinates)}; .reg .{register} v0, v1, v2, v3;\n"
    body = "".join(_at(n, 4) + f"ld.global.f32 c{n}, [at];\n" for n in range(dimensions))
    body += f"{spelling} {{v0, v1, v2, v3}}, [handle, {operand}];\n"
    body += _at(dimensions, 16) + "st.global.v4.b32 [at], {v0, v1, v2, v3};\n"
    tolerance = "texture" if texture.linear else "texture.point"
    return Case(
        name,
        kernel(dimensions + 1, body, declaration, texture=True),
        tuple(arrays),
        ((texture.dtype, THREADS * 4),),
        tolerance,
        texture=texture,
        texels=_texels(texture, rng),
    )


def _fetch(spelling: str, texture: Texture) -> Case:
    kind = spelling.split(".")[3]
    name = f"{spelling} {'x'.join(map(str, texture.shape))}"
    rng = generator(name)
    index = rng.integers(0, texture.shape[0], BLOCK).astype("i4")
    register = "f32" if kind == "f32" else "b32"
    body = _at(0, 4) + f"ld.global.s32 x, [at]; {spelling} {{v0, v1, v2, v3}}, [handle, {{x}}];\n"
    body += _at(1, 16) + "st.global.v4.b32 [at], {v0, v1, v2, v3};\n"
    return Case(
        name,
        kernel(2, body, f".reg .b32 x; .reg .{register} v0, v1, v2, v3;\n", texture=True),
        (index,),
        ((texture.dtype, BLOCK * 4),),
        grid=1,
        texture=texture,
        texels=_texels(texture, rng),
    )


def digest(case: Case) -> str:
    """Tells whether a stored answer is an answer to this very kernel with these very inputs."""
    inputs = b"".join(array.tobytes() for array in case.inputs)
    texels = b"" if case.texels is None else case.texels.tobytes()
    return hashlib.sha256(case.ptx.encode() + inputs + texels).hexdigest()[:16]


def cases() -> list[Case]:
    """All cases, each name once."""
    groups = (
        _arithmetic,
        _carries,
        _logic,
        _comparisons,
        _floats,
        _conversions,
        _moves,
        _memory_cases,
        _atomics,
        _shuffles,
        _votes,
        _barriers,
        _registers,
        _calls,
        _textures,
    )
    found: dict[str, Case] = {}
    for group in groups:
        for case in group():
            found.setdefault(case.name, case)
    return list(found.values())
