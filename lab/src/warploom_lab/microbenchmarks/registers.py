"""The register file: banks, ports, the reuse cache, write ports and the result queue.

All of it is machine code that no compiler writes: registers, reuse flags and stall counts of our choice, results that nobody
reads. One warp, unless said otherwise; a number above 1 cycle is a conflict. Patterns are written with e0, e1, ... for even and
o0, o1, ... for odd registers that are read, w0, w1, ... for even and x0, x1, ... for odd ones that are written, p0, p1, ... for
pairs that are read and q0, q1, ... for pairs that are written, z for RZ; ``*`` marks a reuse flag, ``:4`` a stall count.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from warploom.studies.validate.benchmark import Microbenchmark
from warploom_lab.microbenchmarks.encoding import OPERATIONS, RZ, WrittenInstruction
from warploom_lab.microbenchmarks.slopes import Slope
from warploom_lab.microbenchmarks.template import usable_registers

RESULTS = 12  # of the registers are written, the others read
TWICE = 2  # each pattern comes twice, so that patterns of one instruction have company of their own kind

READS = {
    "one_register": ("one even register as all three operands", "FFMA w0 e0 e0 e0"),
    "two_even_one_twice": ("two even registers, the first twice", "FFMA w0 e0 e0 e1"),
    "imm_two_even": ("two even registers and an immediate", "FFMA.IMM w0 e0 e1"),
    "imm_even_odd": ("an even and an odd register and an immediate", "FFMA.IMM w0 e0 o1"),
    "const_two_even": ("two even registers and a constant", "FFMA.CONST w0 e0 e1"),
    "const_even_odd": ("an even and an odd register and a constant", "FFMA.CONST w0 e0 o1"),
    "rz_two_even": ("two even registers and RZ", "FFMA w0 e0 z e1"),
    "rz_rz": ("one even register and RZ twice", "FFMA w0 e0 z z"),
    "fadd_even_even": ("FADD of two even registers", "FADD w0 e0 e1"),
    "fadd_even_odd": ("FADD of an even and an odd register", "FADD w0 e0 o1"),
    "heavy_light": ("three even registers, then an FADD of one even register", "FFMA w0 e0 e1 e2; FADD x0 e3 z"),
    "heavy_odd": ("three even registers, then an FADD of two odd ones", "FFMA w0 e0 e1 e2; FADD x0 o0 o1"),
    "heavy_one_light": ("three even registers, then an FADD without registers", "FFMA w0 e0 e1 e2; FADD x0 z z"),
    "heavy_two_light": ("three even registers, then two FADDs without", "FFMA w0 e0 e1 e2; FADD x0 z z; FADD w1 z z"),
    "heavy_three_light": (
        "three even registers, then three FADDs without",
        "FFMA w0 e0 e1 e2; FADD x0 z z; FADD w1 z z; FADD x1 z z",
    ),
    "even3_odd3": ("three even, then three odd registers", "FFMA w0 e0 e1 e2; FFMA x0 o0 o1 o2"),
    "eeo_ooe": ("two even and an odd, then two odd and an even register", "FFMA w0 e0 e1 o0; FFMA x0 o1 o2 e2"),
    "heavy_stall2": ("three even registers, stall count 2", "FFMA:2 w0 e0 e1 e2"),
    "heavy_stall3": ("three even registers, stall count 3", "FFMA:3 w0 e0 e1 e2"),
    "dfma_one_pair": ("a DFMA of one pair", "DFMA q0 p0 z z"),
    "dfma_two_pairs": ("a DFMA of two pairs", "DFMA q0 p0 p1 z"),
    "dfma_three_pairs": ("a DFMA of three pairs", "DFMA q0 p0 p1 p2"),
    "dfma_light": ("a DFMA of three pairs, then an FFMA without registers", "DFMA q0 p0 p1 p2; FFMA w0 z z z"),
    "wide_addend": ("an IMAD.WIDE of two even registers and a pair", "IMAD.WIDE q0 e0 e1 p2"),
    "wide_pair": ("an IMAD.WIDE of a pair alone", "IMAD.WIDE q0 z z p2"),
    "wide_even_pair": ("an IMAD.WIDE of an even register and a pair", "IMAD.WIDE q0 e0 z p2"),
    "wide_odd_pair": ("an IMAD.WIDE of an odd register and a pair", "IMAD.WIDE q0 o0 z p2"),
    "wide_even_odd_pair": ("an IMAD.WIDE of an even and an odd register and a pair", "IMAD.WIDE q0 e0 o1 p2"),
    "wide_odd_odd_pair": ("an IMAD.WIDE of two odd registers and a pair", "IMAD.WIDE q0 o0 o1 p2"),
    "wide_even_even": ("an IMAD.WIDE of two even registers", "IMAD.WIDE q0 e0 e1 z"),
    "wide_addend_stall5": ("the IMAD.WIDE of two even registers and a pair, stall count 5", "IMAD.WIDE:5 q0 e0 e1 p2"),
    "wide_addend_stall6": ("the IMAD.WIDE of two even registers and a pair, stall count 6", "IMAD.WIDE:6 q0 e0 e1 p2"),
    "wide_addend_light": ("that IMAD.WIDE, then an FADD without registers", "IMAD.WIDE q0 e0 e1 p2; FADD x2 z z"),
    "wide_addend_even": ("that IMAD.WIDE, then an FADD of an even register", "IMAD.WIDE q0 e0 e1 p2; FADD x2 e3 z"),
    "wide_addend_odd": ("that IMAD.WIDE, then an FADD of an odd register", "IMAD.WIDE q0 e0 e1 p2; FADD x2 o3 z"),
    "wide_addend_3even": (
        "that IMAD.WIDE, then three FADDs of an even register",
        "IMAD.WIDE q0 e0 e1 p2; " + "; ".join(["FADD x2 e3 z"] * 3),
    ),
    "wide_addend_3odd": (
        "that IMAD.WIDE, then three FADDs of an odd register",
        "IMAD.WIDE q0 e0 e1 p2; " + "; ".join(["FADD x2 o3 z"] * 3),
    ),
    "mufu_one_bank": (
        "a MUFU of an even register, then four FADDs of two",
        "MUFU.EX2 w0 e0; " + "; ".join(["FADD x0 e1 e2"] * 4),
    ),
    "mufu_crowded": ("a MUFU of an even register, then eight FADDs of one", "MUFU.EX2 w0 e0; " + "; ".join(["FADD x0 e1 z"] * 8)),
    "iadd_one_bank": ("an IADD3 of three even registers", "IADD3 w0 e0 e1 e2"),
    "iadd_ffma_one_bank": ("an IADD3, then an FFMA of three even registers", "IADD3 w0 e0 e1 e2; FFMA x0 e3 e4 e5"),
}
SHARED = {  # by several warps of a sub-core
    "eeo": ("two even registers and an odd one, stall count 1", "FFMA w0 e0 e1 o0"),
    "eeo.stall2": ("two even registers and an odd one, stall count 2", "FFMA:2 w0 e0 e1 o0"),
    "eeo.stall4": ("two even registers and an odd one, stall count 4", "FFMA:4 w0 e0 e1 o0"),
    "eeo.chain": ("two even registers and an odd one, a chain", "FFMA:4 w0 w0 e1 o0"),
    "eez.stall4": ("two even registers, stall count 4", "FFMA:4 w0 e0 e1 z"),
    "ezo.stall4": ("an even and an odd register, stall count 4", "FFMA:4 w0 e0 z o0"),
    "ezo.chain": ("an even and an odd register, a chain", "FFMA:4 w0 w0 z o0"),
    "eee": ("three even registers, stall count 1", "FFMA w0 e0 e1 e2"),
    "eee.stall4": ("three even registers, stall count 4", "FFMA:4 w0 e0 e1 e2"),
    "eee.stall6": ("three even registers, stall count 6", "FFMA:6 w0 e0 e1 e2"),
    "zzz.stall4": ("no registers, stall count 4", "FFMA:4 w0 z z z"),
    "zzz.result_odd": ("no registers, stall count 4, an odd result", "FFMA:4 x0 z z z"),
    "imad.chain": ("IMAD of two even registers and an odd one, a chain", "IMAD:4 w0 w0 e1 o0"),
}
# Warps that stall for 5 cycles and more and read a bank twice interleave unpredictably: see steady.py.
ONE_WARP = {"eee.stall6"}  # of a sub-core
CROWDED = {
    "eee": ("FFMA:{} w0 e0 e1 e2", (3, 4)),
    "eeo": ("FFMA:{} w0 e0 e1 o0", (3, 4)),
    "eez": ("FFMA:{} w0 e0 e1 z", (3, 4)),
    "ezz": ("FFMA:{} w0 e0 z z", (3, 4, 5, 6, 7, 8)),
}
REUSE = {
    "none": ("the first operand the same in two, no flag", "FFMA w0 e0 e1 e2; FFMA x0 e0 e3 e4"),
    "a": ("A the same in the next, flag on the first", "FFMA w0 e0* e1 e2; FFMA x0 e0 e3 e4"),
    "a_both": ("A the same in all, flag on all", "FFMA w0 e0* e1 e2; FFMA x0 e0* e3 e4"),
    "ab_both": ("A and B the same in all, flags on all", "FFMA w0 e0* e1* e2; FFMA x0 e0* e1* e4"),
    "abc_both": ("A, B and C the same in all, flags on all", "FFMA w0 e0* e1* e2*; FFMA x0 e0* e1* e2*"),
    "wrong_slot": ("the register of A, flagged, is B in the next", "FFMA w0 e0* e1 e2; FFMA x0 e3 e0 e4"),
    "evicted": ("between flag and use, another even A without flag", "FFMA w0 e0* e1 e2; FFMA x0 e3 z z; FFMA w1 e0 e4 e5"),
    "other_bank_between": ("between flag and use, an odd A without flag", "FFMA w0 e0* e1 e2; FFMA x0 o0 z z; FFMA w1 e0 e4 e5"),
    "rz_between": ("between flag and use, no registers", "FFMA w0 e0* e1 e2; FFMA x0 z z z; FFMA w1 e0 e4 e5"),
    "iadd_between": ("between, an IADD3 with another even A", "FFMA w0 e0* e1 e2; IADD3 x0 e3 z z; FFMA w1 e0 e4 e5"),
    "odd_flag_between": ("between, an odd A with a flag of its own", "FFMA w0 e0* e1 e2; FFMA x0 o0* z z; FFMA w1 e0 e4 e5"),
    "overwritten": ("the flagged A is written by the instruction itself", "FFMA e0 e0* e1 e2; FFMA x0 e0 e3 e4"),
    "twice": ("one flag, two uses after it", "FFMA w0 e0* e1 e2; FFMA x0 e0 e3 e4; FFMA w1 e0 e5 e6"),
    "across_pipes": ("flag on an IADD3, use in an FFMA", "IADD3 w0 e0* e1 e2; FFMA x0 e0 e3 e4"),
    "mufu_between": ("between, a MUFU with another even B", "FFMA w0 e1 e0* e2; MUFU.EX2 x0 e3; FFMA w1 e4 e0 e5"),
    "mufu_uses": ("flag on the B of an FFMA, use in a MUFU", "FFMA w0 e1 e0* e2; MUFU.EX2 x0 e0; FFMA w1 e4 e3 e5"),
    "pair": ("a DFMA whose first pair is the same in the next", "DFMA q0 p0* p1 p2; DFMA q1 p0 p3 p4"),
    "pair_all": ("DFMAs with three flagged pairs", "DFMA q0 p0* p1* p2*; DFMA q1 p0* p1* p2*"),
    "written_before": (
        "a flagged A that another instruction writes before the use",
        "FFMA w0 e0* e1 e2; FFMA e0 z z z; FFMA w1 e0 e4 e5",
    ),
    "both_slots": ("A flagged, then the same register as A and as B", "FFMA w0 e0* e1 e2; FFMA x0 e0 e0 e3"),
}
# Every instruction beside the one that is watched reads one even register, so that a pattern takes a cycle for each of its
# instructions, and one more if the flagged register was lost.
BETWEEN, BEHIND = "FADD x0 z e5", "; ".join(["FADD x1 z e5"] * 12)
LATER = {  # what writes a flagged register
    "itself": "FFMA e0 e0* z z",
    "FFMA": "FFMA w0 e0* z z; FFMA e0 z z z",
    "IADD3": "FFMA w0 e0* z z; IADD3 e0 z z z",
    "IMAD": "FFMA w0 e0* z z; IMAD e0 z z z",
    "HFMA2.MMA": "FFMA w0 e0* z z; HFMA2.MMA e0 z z z",
    "MUFU": "FFMA w0 e0* z z; MUFU.EX2 e0 z",
}
DISTANCES = range(11)  # instructions between that and the use
WRITES = {
    "ffma_imad_same": "FFMA w0 z z z; IMAD w1 z z z",
    "ffma_imad_other": "FFMA w0 z z z; IMAD x1 z z z",
    "iadd_ffma_same": "IADD3 w0 z z z; FFMA w1 z z z",
    "iadd_ffma_other": "IADD3 w0 z z z; FFMA x1 z z z",
    "hfma_ffma_same": "HFMA2.MMA w0 z z z; FFMA w1 z z z",
    "hfma_ffma_other": "HFMA2.MMA w0 z z z; FFMA x1 z z z",
    "hfma_iadd_same": "HFMA2.MMA w0 z z z; IADD3 w1 z z z",
    "hfma_iadd_other": "HFMA2.MMA w0 z z z; IADD3 x1 z z z",
    "popc_ffma_same": "POPC w0 z; FFMA w1 z z z; FFMA w2 z z z; FFMA w3 z z z; FFMA w4 z z z",
    "popc_ffma_other": "POPC w0 z; FFMA x1 z z z; FFMA x2 z z z; FFMA x3 z z z; FFMA x4 z z z",
    "popc_7ffma_same": "POPC w0 z; " + "; ".join(["FFMA w1 z z z"] * 7),
    "popc_7ffma_other": "POPC w0 z; " + "; ".join(["FFMA x1 z z z"] * 7),
    "popc_11ffma_same": "POPC w0 z; " + "; ".join(["FFMA w1 z z z"] * 11),
    "s2r_7ffma_same": "S2R w0; " + "; ".join(["FFMA w1 z z z"] * 7),
    "dfma_ffma_same": "DFMA q0 z z z; FFMA w1 z z z",
    "wide_3ffma": "IMAD.WIDE q0 z z z; FFMA w1 z z z; FFMA x1 z z z; FFMA w2 z z z",
}


def pattern(text: str) -> list[WrittenInstruction]:
    """The instructions of a pattern."""
    registers = list(usable_registers())
    written, read = registers[:RESULTS], registers[RESULTS:]
    pairs = {"p": [r for r in read if r % 2 == 0 and r + 1 in read], "q": [r for r in written if r % 2 == 0 and r + 1 in written]}
    pools = {
        "e": [r for r in read if r % 2 == 0],
        "o": [r for r in read if r % 2 == 1],
        "w": [r for r in written if r % 2 == 0],
        "x": [r for r in written if r % 2 == 1],
        **pairs,
    }

    def number(word: str) -> int:
        return RZ if word == "z" else pools[word[0]][int(word[1:].rstrip("*"))]

    made = []
    for line in text.split(";"):
        name, result, *operands = line.split()
        operation, _, stall = name.partition(":")
        letters = OPERATIONS[operation][2]
        sources = {letter: number(word) for letter, word in zip(letters, operands, strict=True)}
        reuse = "".join(letter for letter, word in zip(letters, operands, strict=True) if word.endswith("*"))
        made.append(WrittenInstruction(operation, d=number(result), stall=int(stall or 1), reuse=reuse).with_(**sources))
    return made


def _each(name: str, what: str, code: list[WrittenInstruction], warps: int = 1) -> Slope:
    """Cycles for each instruction of a pattern."""
    text = f"{what}; cycles for each instruction" + (f" of a warp, {warps} warps on the SM" if warps > 1 else "")
    return Slope(name, text, code * TWICE, per=len(code) * TWICE, warps=warps)


def benchmarks() -> Iterator[Microbenchmark]:
    """All of them."""
    for slope in slopes():
        yield slope.microbenchmark()


def slopes() -> Iterator[Slope]:
    """All of them, as the patterns that they repeat."""
    read = list(usable_registers())[RESULTS:]
    by_remainder = [[r for r in read if r % 4 == remainder] for remainder in range(4)]
    first, second = pattern("FFMA w0 z z z; FFMA x0 z z z")
    for remainders in itertools.product(range(4), repeat=3):
        chosen = {}
        for place, remainder in enumerate(remainders):
            chosen["abc"[place]] = by_remainder[remainder][remainders[:place].count(remainder)]
        a, b, c = remainders
        what = f"an FFMA that reads registers of remainders {a}, {b}, {c} modulo 4, all different"
        both = [first.with_(**chosen), second.with_(**chosen)]
        yield Slope(f"bank.{a}{b}{c}", what, both, per=2)
    for name, (what, text) in READS.items():
        yield _each(f"read.{name}", f"reads of the register file: {what}", pattern(text))
    for warps in (1, 8):
        for name, (what, text) in REUSE.items():
            yield _each(f"reuse.{name}.{warps}w", f"reuse cache: {what}", pattern(text), warps)
    for name, (what, text) in SHARED.items():
        for warps in (4,) if name in ONE_WARP else (4, 8, 16):
            yield _each(f"shared_bank.{name}.{warps}w", f"reads of several warps: {what}", pattern(text), warps)
    for name, (text, stalls) in CROWDED.items():
        for stall, warps in itertools.product(stalls, (8, 12, 16)):
            if f"{name}.stall{stall}" not in SHARED or warps == 12:
                what = f"reads of several warps: {name} (even, odd, none), stall count {stall}"
                yield _each(f"shared_bank.{name}.stall{stall}.{warps}w", what, pattern(text.format(stall)), warps)
    for name, text in LATER.items():
        for distance in DISTANCES:
            code = pattern("; ".join([text, *[BETWEEN] * distance, "FFMA w1 e0 e3 e4", BEHIND]))
            what = f"reuse cache: {text}, used {distance} instructions later; cycles beyond one for each instruction"
            yield Slope(f"reuse.written.{name}.{distance}", what, code)
    for name, text in WRITES.items():
        yield _each(f"write.{name}", f"write ports and result queue: {text}", pattern(text))
