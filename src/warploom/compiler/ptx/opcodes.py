"""Every instruction that Warploom understands, as data.

A row of `TABLE` is ``"suffixes -> operands"``. The suffixes stand in PTX's order:

* a word is a modifier, ``a|b`` a choice of modifiers, the name of a group in `GROUPS` a choice of the group's members;
  a ``?`` after it makes it optional; members that a group maps to "" are accepted and mean nothing here (cache hints);
* ``T:`` marks the type operated on, ``S:`` the source type, ``M:`` the space, ``V:`` the vector width.

Operands: ``d`` a destination and ``s`` a source, of type T unless another is given after a colon (``2T``: twice as wide);
``~`` lets the register be wider than the type; ``!`` allows a negated predicate; ``d|p`` and ``p|q`` take a second
destination; ``vd``/``vs`` are the vectors of ld and st; ``[]`` a memory operand; ``?`` makes an operand optional.
"""

from __future__ import annotations

import functools
from typing import NamedTuple

from warploom.compiler.ptx.types import DOUBLED

GROUPS: dict[str, dict[str, str]] = {
    name: {word: word for word in words.split()}
    for name, words in {
        "i16": "u16 s16",
        "i32": "u32 s32",
        "i64": "u64 s64",
        "int": "u16 s16 u32 s32 u64 s64",
        "bits": "b16 b32 b64",
        "memory": "b8 u8 s8 b16 u16 s16 b32 u32 s32 b64 u64 s64 f32 f64",
        "plain": "b16 u16 s16 b32 u32 s32 b64 u64 s64 f32 f64",
        "narrow": "u8 s8 u16 s16 u32 s32 u64 s64",
        "half": "f16 f16x2",
        "round": "rn rz rm rp",
        "round_int": "rni rzi rmi rpi",
        "compare_int": "eq ne lt le gt ge lo ls hi hs",
        "compare_bits": "eq ne",
        "compare_float": "eq ne lt le gt ge equ neu ltu leu gtu geu num nan",
        "combine": "and or xor",
        "spaces": "global shared local const",
        "texture": "1d 2d 3d a1d a2d",
    }.items()
}
GROUPS |= {
    "order": {"volatile": "volatile", "weak": "", **dict.fromkeys(("relaxed", "acquire", "release", "mmio"), "volatile")},
    "semantics": dict.fromkeys(("relaxed", "acquire", "release", "acq_rel"), ""),
    "scope": dict.fromkeys(("cta", "cluster", "gpu", "sys"), ""),
    "cache": dict.fromkeys(("ca", "cg", "cs", "lu", "cv", "wb", "wt"), ""),
    "evict1": {f"L1::{what}": "" for what in ("evict_normal", "evict_unchanged", "evict_first", "evict_last", "no_allocate")},
    "evict2": {f"L2::{what}": "" for what in ("evict_normal", "evict_first", "evict_last")},
    "prefetch_size": dict.fromkeys(("L2::64B", "L2::128B", "L2::256B"), ""),
    "load_space": {
        **GROUPS["spaces"],
        **dict.fromkeys(("shared::cta", "shared"), "shared"),
        **dict.fromkeys(("param", "param::entry", "param::func"), "param"),
    },
    "atomic_space": {"global": "global", "shared": "shared", "shared::cta": "shared"},
    "store_space": {
        "global": "global",
        "local": "local",
        **dict.fromkeys(("shared::cta", "shared"), "shared"),
        **dict.fromkeys(("param", "param::func"), "param"),
    },
    "vec": {"v2": "2", "v4": "4", "v8": "8"},
    # words that change nothing here
    "aligned": {"aligned": ""},
    "of_cta": {"cta": ""},
}

_ARITHMETIC = (
    "T:int -> d s s",
    "cc T:i32|i64 -> d s s",
    "sat T:s32 -> d s s",
    "round? ftz? sat? T:f32 -> d s s",
    "round? T:f64 -> d s s",
    "rn? ftz? sat? T:half -> d s s",
)
_CARRY = ("cc? T:i32|i64 -> d s s",)
_DIVISION = ("T:int -> d s s",)
_MINMAX = ("T:int -> d s s", "ftz? NaN? T:f32 -> d s s", "T:f64 -> d s s", "ftz? NaN? T:half -> d s s")
_LOGIC = ("T:pred -> d s s", "T:bits -> d s s")
_COUNT = ("T:b32|b64 -> d:u32 s",)
_BARRIER = (
    "of_cta? sync -> s:u32 s:u32?",
    "of_cta? arrive -> s:u32 s:u32",
    "of_cta? red popc T:u32 -> d s:u32 s:u32? s:!pred",
    "of_cta? red and|or T:pred -> d s:u32 s:u32? s:!pred",
)
_ROUNDED = ("round ftz? T:f32 -> d s", "round T:f64 -> d s")
_APPROXIMATE = ("approx ftz? T:f32 -> d s",)
_LOAD = "order? scope? M:load_space? cache? nc? evict1? evict2? prefetch_size? V:vec? T:memory -> vd []"
_ATOMIC = "semantics? scope? M:atomic_space?"
_ATOMIC_OPERATIONS = (
    f"{_ATOMIC} add T:u32|s32|u64|f32|f64 -> %s s",
    f"{_ATOMIC} and|or|xor T:b32|b64 -> %s s",
    f"{_ATOMIC} min|max T:i32|i64 -> %s s",
    f"{_ATOMIC} inc|dec T:u32 -> %s s",
)

TABLE: dict[str, tuple[str, ...]] = {
    # integer and floating-point arithmetic
    "add": _ARITHMETIC,
    "sub": _ARITHMETIC,
    "addc": _CARRY,
    "subc": _CARRY,
    "mul": (
        "lo|hi T:int -> d s s",
        "wide T:i16|i32 -> d:2T s s",
        "round? ftz? sat? T:f32 -> d s s",
        "round? T:f64 -> d s s",
        "rn? ftz? sat? T:half -> d s s",
    ),
    "mad": (
        "lo|hi T:int -> d s s s",
        "lo|hi cc T:i32|i64 -> d s s s",
        "hi sat T:s32 -> d s s s",
        "wide T:i16|i32 -> d:2T s s s:2T",
        "round? ftz? sat? T:f32 -> d s s s",
        "round T:f64 -> d s s s",
    ),
    "madc": ("lo|hi cc? T:i32|i64 -> d s s s",),
    "mul24": ("lo|hi T:i32 -> d s s",),
    "mad24": ("lo|hi T:i32 -> d s s s", "hi sat T:s32 -> d s s s"),
    "fma": ("round ftz? sat? T:f32 -> d s s s", "round T:f64 -> d s s s", "rn ftz? sat? T:half -> d s s s"),
    "div": ("T:int -> d s s", "approx|full ftz? T:f32 -> d s s", "round ftz? T:f32 -> d s s", "round T:f64 -> d s s"),
    "rem": _DIVISION,
    "abs": ("T:s16|s32|s64 -> d s", "ftz? T:f32 -> d s", "T:f64 -> d s", "ftz? T:half -> d s"),
    "neg": ("T:s16|s32|s64 -> d s", "ftz? T:f32 -> d s", "T:f64 -> d s", "ftz? T:half -> d s"),
    "min": _MINMAX,
    "max": _MINMAX,
    "sad": ("T:int -> d s s s",),
    "dp4a": ("T:i32 S:i32 -> d:S s:b32 s:b32 s:S",),
    "dp2a": ("lo|hi T:i32 S:i32 -> d:S s:b32 s:b32 s:S",),
    "copysign": ("T:f32|f64 -> d s s",),
    "testp": ("finite|infinite|number|notanumber|normal|subnormal T:f32|f64 -> d:pred s",),
    "rcp": (*_APPROXIMATE, *_ROUNDED, "approx ftz T:f64 -> d s"),
    "sqrt": (*_APPROXIMATE, *_ROUNDED),
    "rsqrt": (*_APPROXIMATE, "approx ftz? T:f64 -> d s"),
    "sin": _APPROXIMATE,
    "cos": _APPROXIMATE,
    "lg2": _APPROXIMATE,
    "ex2": _APPROXIMATE,
    "tanh": ("approx T:f32 -> d s",),
    # bits
    "and": _LOGIC,
    "or": _LOGIC,
    "xor": _LOGIC,
    "not": ("T:pred -> d s", "T:bits -> d s"),
    "cnot": ("T:bits -> d s",),
    "lop3": ("T:b32 -> d s s s s:u32",),
    "shl": ("T:bits -> d s s:u32",),
    "shr": ("T:bits|int -> d s s:u32",),
    "shf": ("l|r clamp|wrap T:b32 -> d s s s:u32",),
    "bfe": ("T:i32|i64 -> d s s:u32 s:u32",),
    "bfi": ("T:b32|b64 -> d s s s:u32 s:u32",),
    "bfind": ("shiftamt? T:i32|i64 -> d:u32 s",),
    "fns": ("T:b32 -> d s s s:s32",),
    "bmsk": ("clamp|wrap T:b32 -> d s s",),
    "szext": ("clamp|wrap T:i32 -> d s s:u32",),
    "brev": ("T:b32|b64 -> d s",),
    "popc": _COUNT,
    "clz": _COUNT,
    "prmt": ("T:b32 -> d s s s", "T:b32 f4e|b4e|rc8|ecl|ecr|rc16 -> d s s s"),
    # comparison and selection
    "setp": (
        "compare_int T:int -> p|q s s",
        "compare_bits T:bits -> p|q s s",
        "compare_float ftz? T:f32 -> p|q s s",
        "compare_float T:f64 -> p|q s s",
        "compare_float ftz? T:f16 -> p|q s s",
        "compare_float combine ftz? T:f16 -> p|q s s s:!pred",
        "compare_int combine T:int -> p|q s s s:!pred",
        "compare_bits combine T:bits -> p|q s s s:!pred",
        "compare_float combine ftz? T:f32 -> p|q s s s:!pred",
        "compare_float combine T:f64 -> p|q s s s:!pred",
    ),
    "set": (
        "compare_int T:u32|s32|f32 S:int -> d s:S s:S",
        "compare_bits T:u32|s32|f32 S:bits -> d s:S s:S",
        "compare_float ftz? T:u32|s32|f32 S:f32 -> d s:S s:S",
        "compare_float T:u32|s32|f32 S:f64 -> d s:S s:S",
        "compare_int combine T:u32|s32|f32 S:int -> d s:S s:S s:!pred",
        "compare_bits combine T:u32|s32|f32 S:bits -> d s:S s:S s:!pred",
        "compare_float combine ftz? T:u32|s32|f32 S:f32 -> d s:S s:S s:!pred",
        "compare_float combine T:u32|s32|f32 S:f64 -> d s:S s:S s:!pred",
    ),
    "selp": ("T:plain -> d s s s:pred",),
    "slct": ("T:plain S:s32 -> d s s s:S", "ftz? T:plain S:f32 -> d s s s:S"),
    # moves and conversions
    "mov": ("T:pred -> d s", "T:plain -> dm sm"),
    "cvt": (
        "sat? T:narrow S:narrow -> d~ s~:S",
        "round ftz? sat? T:f32 S:narrow -> d~ s~:S",
        "round sat? T:f64 S:narrow -> d~ s~:S",
        "round_int ftz? sat? T:narrow S:f32 -> d~ s~:S",
        "round_int sat? T:narrow S:f64 -> d~ s~:S",
        "round_int ftz? sat? T:f32 S:f32 -> d s:S",
        "round_int sat? T:f64 S:f64 -> d s:S",
        "ftz? sat? T:f32|f64 S:f32 -> d s:S",
        "sat? T:f64 S:f64 -> d s:S",
        "round ftz? sat? T:f32 S:f64 -> d s:S",
        "round ftz? sat? T:f16 S:f32 -> d s:S",
        "round sat? T:f16 S:f64 -> d s:S",
        "round sat? T:f16 S:narrow -> d~ s~:S",
        "round_int ftz? sat? T:f16 S:f16 -> d s:S",
        "ftz? sat? T:f32 S:f16 -> d s:S",
        "sat? T:f64 S:f16 -> d s:S",
        "round_int ftz? sat? T:narrow S:f16 -> d~ s~:S",
    ),
    "cvta": (
        "M:global|shared|shared::cta|local|const|param|param::entry T:u32|u64 -> d sa",
        "to M:global|shared|shared::cta|local|const|param|param::entry T:u32|u64 -> d s",
    ),
    "isspacep": ("M:global|shared|shared::cta|local|const|param -> d:pred sp",),
    # memory
    "ld": (_LOAD,),
    "ldu": ("M:global? V:vec? T:memory -> vd []",),
    "st": ("order? scope? M:store_space? cache? evict1? evict2? V:vec? T:memory -> [] vs",),
    "atom": (
        *(row % "d []" for row in _ATOMIC_OPERATIONS),
        f"{_ATOMIC} exch T:b32|b64 -> d [] s",
        f"{_ATOMIC} cas T:b16|b32|b64 -> d [] s s",
    ),
    "red": tuple(row % "[]" for row in _ATOMIC_OPERATIONS),
    "tex": ("M:texture V:v4 T:f32|s32|u32 S:s32|f32 -> vd tex",),
    "prefetch": ("M:global|local? L1|L2|L2::evict_last|L2::evict_normal -> []",),
    "prefetchu": ("L1 -> []",),
    # control
    "bra": ("uni? -> label",),
    "brx": ("idx uni? -> s:u32 table",),
    "call": ("uni? -> call",),
    "ret": ("uni? ->",),
    "exit": ("->",),
    "trap": ("->",),
    "brkpt": ("->",),
    "pmevent": ("mask? -> s:u32",),
    "nanosleep": ("T:u32 -> s",),
    # synchronisation and communication
    "bar": (*_BARRIER, "warp sync -> s:u32"),
    "barrier": tuple(
        row.replace(" T:", " aligned? T:") if "red" in row else row.replace(" ->", " aligned? ->") for row in _BARRIER
    ),
    "membar": ("cta|gl|sys ->",),
    "fence": ("sc|acq_rel|acquire|release? cta|cluster|gpu|sys ->",),
    "activemask": ("T:b32 -> d",),
    "vote": (
        "all|any|uni T:pred -> d s:!pred",
        "ballot T:b32 -> d s:!pred",
        "sync all|any|uni T:pred -> d s:!pred s:b32",
        "sync ballot T:b32 -> d s:!pred s:b32",
    ),
    "match": ("any sync T:b32|b64 -> d:b32 s s:b32", "all sync T:b32|b64 -> d|p:b32 s s:b32"),
    "redux": ("sync add|min|max T:i32 -> d s s:b32", "sync and|or|xor T:b32 -> d s s:b32"),
    "shfl": ("up|down|bfly|idx T:b32 -> d|p s s:b32 s:b32", "sync up|down|bfly|idx T:b32 -> d|p s s:b32 s:b32 s:b32"),
}

UNSUPPORTED: dict[str, str] = {
    **dict.fromkeys(("vadd", "vsub", "vabsdiff", "vmin", "vmax", "vshl", "vshr", "vmad", "vset"), "video instructions"),
    **dict.fromkeys(
        ("wmma", "mma", "ldmatrix", "stmatrix", "movmatrix", "wgmma", "tcgen05"), "matrix (tensor core) instructions"
    ),
    **dict.fromkeys(("cp", "mbarrier", "st.async", "red.async", "multimem"), "asynchronous copies and barriers"),
    **dict.fromkeys(("suld", "sust", "sured", "suq"), "surfaces"),
    **dict.fromkeys(("tld4", "txq", "istypep"), "texture gathers and queries"),
    **dict.fromkeys(("alloca", "stacksave", "stackrestore"), "variable-size stack frames"),
    **dict.fromkeys(("mapa", "getctarank", "clusterlaunchcontrol"), "thread block clusters"),
    **dict.fromkeys(("createpolicy", "applypriority", "discard"), "cache policies"),
    **dict.fromkeys(("elect", "setmaxnreg", "griddepcontrol"), "instructions of Hopper and later machines"),
}
"""Families of real PTX opcodes that are refused, with the words for the message."""


class OperandRule(NamedTuple):
    """What may stand at one place of an instruction."""

    kind: str  # d, d|p, p|q, s, dm, sm, sa, sp, vd, vs, [], label, table, tex, call
    type: str = ""
    optional: bool = False
    wider: bool = False  # the register may be wider than the type
    negatable: bool = False


class Opcode(NamedTuple):
    """A spelling, understood."""

    text: str
    name: str
    type: str
    source_type: str
    space: str
    modifiers: tuple[str, ...]
    vector: int
    rules: tuple[OperandRule, ...]
    least: int  # operands without the optional ones
    most: int


class _Suffix(NamedTuple):
    role: str  # T, S, M, V, or "" for a modifier
    members: dict[str, str]
    optional: bool


def _suffix(text: str) -> _Suffix:
    role, optional = "", text.endswith("?")
    text = text.removesuffix("?")
    if text[1:2] == ":":
        role, text = text[0], text[2:]
    members: dict[str, str] = {}
    for word in text.split("|"):
        members |= GROUPS.get(word, {word: {"shared::cta": "shared", "param::entry": "param", "v4": "4"}.get(word, word)})
    return _Suffix(role, members, optional)


@functools.cache
def _rows(name: str) -> tuple[tuple[tuple[_Suffix, ...], tuple[str, ...]], ...]:
    rows = []
    for row in TABLE[name]:
        suffixes, _, operands = row.partition("->")
        rows.append((tuple(map(_suffix, suffixes.split())), tuple(operands.split())))
    return tuple(rows)


def _rule(text: str, type_: str, source_type: str) -> OperandRule:
    optional = text.endswith("?")
    kind, _, own_type = text.removesuffix("?").partition(":")
    negatable = own_type.startswith("!")
    own_type = own_type.removeprefix("!")
    wider = kind.endswith("~") or kind in ("vd", "vs")
    wanted = {"": type_, "2T": DOUBLED.get(type_, ""), "S": source_type}.get(own_type, own_type)
    return OperandRule(kind.removesuffix("~"), wanted, optional, wider, negatable)


def _match(suffixes: tuple[_Suffix, ...], words: list[str], ordered: bool) -> dict[str, list[str]] | None:
    """The words sorted by their role, or None where they do not fit. A choice takes the first word that it can."""
    found: dict[str, list[str]] = {"T": [], "S": [], "M": [], "V": [], "": []}
    left = list(range(len(words)))
    result_type = -1
    for role, members, optional in suffixes:
        open_to = left[:1] if ordered else [place for place in left if role != "S" or place > result_type]
        place = next((place for place in open_to if words[place] in members), None)
        if place is not None:
            left.remove(place)
            if role == "T":
                result_type = place
            if members[words[place]]:
                found[role].append(members[words[place]])
        elif not optional:
            return None
    return None if left else found


def _fitting(name: str, words: list[str]) -> tuple[dict[str, list[str]], tuple[str, ...]] | None:
    """The first row that allows the words, with the words by their role.

    As assemblers do, and as inline assembly relies on, the words are taken in any order, as long as the type of the result
    comes before that of the source; but a row that has them in this order goes first.
    """
    for ordered in (True, False):
        for suffixes, operands in _rows(name):
            found = _match(suffixes, words, ordered)
            if found is not None:
                return found, operands
    return None


@functools.cache
def decode(text: str) -> Opcode | None:
    """The meaning of a spelling such as ``ld.global.nc.v2.f64``; None if no row of the table allows it."""
    name, *words = text.split(".")
    if name not in TABLE:
        return None
    fitting = _fitting(name, words)
    if fitting is None:
        return None
    found, operands = fitting
    type_, source_type = "".join(found["T"]), "".join(found["S"])
    rules = tuple(_rule(operand, type_, source_type) for operand in operands)
    vector = int(found["V"][0]) if found["V"] else 1
    least = sum(not rule.optional for rule in rules)
    space = "".join(found["M"])
    return Opcode(text, name, type_, source_type, space, tuple(found[""]), vector, rules, least, len(rules))


def is_known_family(name: str) -> bool:
    """Whether an opcode is one of PTX's that are refused."""
    return name in UNSUPPORTED or name.rstrip("24") in UNSUPPORTED


def why_unknown(text: str) -> str:
    """One clause that says what is wrong with a spelling that `decode` does not know."""
    name, *words = text.split(".")
    if is_known_family(name):
        return f"{UNSUPPORTED.get(name) or UNSUPPORTED[name.rstrip('24')]} are not supported"
    if any(word.startswith(("f16", "bf16", "e4m3", "e5m2", "tf32")) for word in words):
        return "this form of half precision, or this smaller floating-point type, is not supported"
    if any(word in ("f32x2", "u16x2", "s16x2", "u8x4", "s8x4", "b128") for word in words):
        return "packed and 128-bit types are not supported"
    if name in TABLE:
        return f"{name} has no form with these modifiers and types"
    return f"unknown opcode {name}"
