"""The register file: banks, ports, the reuse cache, write ports and the result queue.

All of it is machine code that no compiler writes: FFMA with registers, reuse flags and stall counts of our choice, results that
nobody reads. One warp, unless said otherwise; a number above 1 cycle is a conflict.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from warploom.validation.microbenchmarks.benchmark import Microbenchmark
from warploom.validation.microbenchmarks.encoding import RZ, Instruction
from warploom.validation.microbenchmarks.slopes import Slope
from warploom.validation.microbenchmarks.template import LEAST, placeholder

PAIRS = 2  # repetitions of a pattern are doubled, so that patterns of one instruction have two results


def _ffma(d: int, a: int, b: int, c: int, reuse: str = "", stall: int = 1, operation: str = "FFMA") -> Instruction:
    return Instruction(operation, d=d, a=a, b=b, c=c, reuse=reuse, stall=stall)


def benchmarks() -> Iterator[Microbenchmark]:
    """All of them."""
    registers = sorted(placeholder(LEAST)[2])
    # By the remainder of the register's number; the first eight are kept for results.
    results, sources = registers[:12], registers[12:]
    by4 = [[r for r in sources if r % 4 == remainder] for remainder in range(4)]
    even, odd = [r for r in sources if r % 2 == 0], [r for r in sources if r % 2 == 1]
    d_even, d_odd = [r for r in results if r % 2 == 0], [r for r in results if r % 2 == 1]

    for a, b, c in itertools.product(range(4), repeat=3):
        taken = {0: 0, 1: 0, 2: 0, 3: 0}
        chosen = []
        for remainder in (a, b, c):
            chosen.append(by4[remainder][taken[remainder]])
            taken[remainder] += 1
        first = _ffma(d_even[0], *chosen)
        second = _ffma(d_odd[0], *chosen)
        yield Slope(
            f"bank.{a}{b}{c}",
            f"an FFMA that reads registers of remainders {a}, {b}, {c} modulo 4, all different",
            [first, second],
            per=2,
        ).microbenchmark()

    e, o = even, odd
    cases = {
        "one_register": ("one even register as all three operands", [_ffma(d_even[0], e[0], e[0], e[0])]),
        "two_even_one_twice": ("two even registers, the first twice", [_ffma(d_even[0], e[0], e[0], e[1])]),
        "imm_two_even": ("two even registers and an immediate", [_ffma(d_even[0], e[0], RZ, e[1], operation="FFMA.IMM")]),
        "imm_even_odd": ("an even and an odd register and an immediate", [_ffma(d_even[0], e[0], RZ, o[1], operation="FFMA.IMM")]),
        "const_two_even": ("two even registers and a constant", [_ffma(d_even[0], e[0], RZ, e[1], operation="FFMA.CONST")]),
        "const_even_odd": ("an even and an odd register and a constant", [_ffma(d_even[0], e[0], RZ, o[1], operation="FFMA.CONST")]),
        "rz_two_even": ("two even registers and RZ", [_ffma(d_even[0], e[0], RZ, e[1])]),
        "rz_rz": ("one even register and RZ twice", [_ffma(d_even[0], e[0], RZ, RZ)]),
        "fadd_even_even": ("FADD of two even registers", [_ffma(d_even[0], e[0], e[1], RZ, operation="FADD")]),
        "fadd_even_odd": ("FADD of an even and an odd register", [_ffma(d_even[0], e[0], o[1], RZ, operation="FADD")]),
        "heavy_light": ("three even registers, then an FADD of one even register and RZ, as a pair",
                        [_ffma(d_even[0], e[0], e[1], e[2]), _ffma(d_odd[0], e[3], RZ, RZ, operation="FADD")]),
        "heavy_odd": ("three even registers, then an FADD of two odd ones, as a pair",
                      [_ffma(d_even[0], e[0], e[1], e[2]), _ffma(d_odd[0], o[0], o[1], RZ, operation="FADD")]),
        "heavy_three_light": ("three even registers, then three FADDs without registers, as four",
                              [_ffma(d_even[0], e[0], e[1], e[2]), *[_ffma(d, RZ, RZ, RZ, operation="FADD") for d in (d_odd[0], d_even[1], d_odd[1])]]),
        "heavy_two_light": ("three even registers, then two FADDs without registers, as three",
                            [_ffma(d_even[0], e[0], e[1], e[2]), *[_ffma(d, RZ, RZ, RZ, operation="FADD") for d in (d_odd[0], d_even[1])]]),
        "heavy_one_light": ("three even registers, then one FADD without registers, as two",
                            [_ffma(d_even[0], e[0], e[1], e[2]), _ffma(d_odd[0], RZ, RZ, RZ, operation="FADD")]),
        "even3_odd3": ("three even, then three odd registers, as a pair",
                       [_ffma(d_even[0], e[0], e[1], e[2]), _ffma(d_odd[0], o[0], o[1], o[2])]),
        "eeo_ooe": ("two even and an odd, then two odd and an even register, as a pair",
                    [_ffma(d_even[0], e[0], e[1], o[0]), _ffma(d_odd[0], o[1], o[2], e[2])]),
        "heavy_stall2": ("three even registers, stall count 2", [_ffma(d_even[0], e[0], e[1], e[2], stall=2)]),
        "heavy_stall3": ("three even registers, stall count 3", [_ffma(d_even[0], e[0], e[1], e[2], stall=3)]),
    }  # fmt: skip
    for name, (what, pattern) in cases.items():
        yield Slope(f"read.{name}", f"registers of the same bank: {what}", pattern * PAIRS, per=len(pattern) * PAIRS).microbenchmark()

    reuse = {
        "none": ("A and two others even, no flag", [_ffma(d_even[0], e[0], e[1], e[2]), _ffma(d_odd[0], e[0], e[3], e[4])]),
        "a": ("A the same in the next, flag set on the first", [_ffma(d_even[0], e[0], e[1], e[2], "a"), _ffma(d_odd[0], e[0], e[3], e[4])]),
        "a_both": ("A the same in all, flag set on all", [_ffma(d_even[0], e[0], e[1], e[2], "a"), _ffma(d_odd[0], e[0], e[3], e[4], "a")]),
        "ab_both": ("A and B the same in all, flags set on all", [_ffma(d_even[0], e[0], e[1], e[2], "ab"), _ffma(d_odd[0], e[0], e[1], e[4], "ab")]),
        "abc_both": ("A, B and C the same in all, flags set on all", [_ffma(d_even[0], e[0], e[1], e[2], "abc"), _ffma(d_odd[0], e[0], e[1], e[2], "abc")]),
        "wrong_slot": ("the register of A, flagged, is B in the next", [_ffma(d_even[0], e[0], e[1], e[2], "a"), _ffma(d_odd[0], e[3], e[0], e[4])]),
        "evicted": ("between flag and use, another even A without flag",
                    [_ffma(d_even[0], e[0], e[1], e[2], "a"), _ffma(d_odd[0], e[3], RZ, RZ), _ffma(d_even[1], e[0], e[4], e[5])]),
        "other_bank_between": ("between flag and use, an odd A without flag",
                               [_ffma(d_even[0], e[0], e[1], e[2], "a"), _ffma(d_odd[0], o[0], RZ, RZ), _ffma(d_even[1], e[0], e[4], e[5])]),
        "rz_between": ("between flag and use, an instruction without registers",
                       [_ffma(d_even[0], e[0], e[1], e[2], "a"), _ffma(d_odd[0], RZ, RZ, RZ), _ffma(d_even[1], e[0], e[4], e[5])]),
        "iadd_between": ("between flag and use, an IADD3 with another even A without flag",
                         [_ffma(d_even[0], e[0], e[1], e[2], "a"), _ffma(d_odd[0], e[3], RZ, RZ, operation="IADD3"), _ffma(d_even[1], e[0], e[4], e[5])]),
        "odd_flag_between": ("between flag and use, an odd A with a flag of its own",
                             [_ffma(d_even[0], e[0], e[1], e[2], "a"), _ffma(d_odd[0], o[0], RZ, RZ, "a"), _ffma(d_even[1], e[0], e[4], e[5])]),
        "overwritten": ("the flagged A is written by the instruction itself",
                        [_ffma(e[0], e[0], e[1], e[2], "a"), _ffma(d_odd[0], e[0], e[3], e[4])]),
        "twice": ("one flag, two uses after it",
                  [_ffma(d_even[0], e[0], e[1], e[2], "a"), _ffma(d_odd[0], e[0], e[3], e[4]), _ffma(d_even[1], e[0], e[5], e[6])]),
        "across_pipes": ("flag on an IADD3, use in an FFMA",
                         [_ffma(d_even[0], e[0], e[1], e[2], "a", operation="IADD3"), _ffma(d_odd[0], e[0], e[3], e[4])]),
    }  # fmt: skip
    for warps in (1, 8):
        for name, (what, pattern) in reuse.items():
            yield Slope(
                f"reuse.{name}.{warps}w",
                f"reuse cache: {what}; cycles for each instruction of a warp, {warps} warps on the SM",
                pattern * PAIRS,
                per=len(pattern) * PAIRS,
                warps=warps,
            ).microbenchmark()

    writes = {
        "ffma_imad_same": [_ffma(d_even[0], RZ, RZ, RZ), _ffma(d_even[1], RZ, RZ, RZ, operation="IMAD")],
        "ffma_imad_other": [_ffma(d_even[0], RZ, RZ, RZ), _ffma(d_odd[1], RZ, RZ, RZ, operation="IMAD")],
        "iadd_ffma_same": [_ffma(d_even[0], RZ, RZ, RZ, operation="IADD3"), _ffma(d_even[1], RZ, RZ, RZ)],
        "iadd_ffma_other": [_ffma(d_even[0], RZ, RZ, RZ, operation="IADD3"), _ffma(d_odd[1], RZ, RZ, RZ)],
        "hfma_ffma_same": [_ffma(d_even[0], RZ, RZ, RZ, operation="HFMA2.MMA"), _ffma(d_even[1], RZ, RZ, RZ)],
        "hfma_ffma_other": [_ffma(d_even[0], RZ, RZ, RZ, operation="HFMA2.MMA"), _ffma(d_odd[1], RZ, RZ, RZ)],
        "hfma_iadd_same": [_ffma(d_even[0], RZ, RZ, RZ, operation="HFMA2.MMA"), _ffma(d_even[1], RZ, RZ, RZ, operation="IADD3")],
        "hfma_iadd_other": [_ffma(d_even[0], RZ, RZ, RZ, operation="HFMA2.MMA"), _ffma(d_odd[1], RZ, RZ, RZ, operation="IADD3")],
        "popc_ffma_same": [_ffma(d_even[0], RZ, RZ, RZ, operation="POPC"), *[_ffma(d_even[1 + i], RZ, RZ, RZ) for i in range(4)]],
        "popc_ffma_other": [_ffma(d_even[0], RZ, RZ, RZ, operation="POPC"), *[_ffma(d_odd[1 + i], RZ, RZ, RZ) for i in range(4)]],
    }  # fmt: skip
    for name, pattern in writes.items():
        text = " then ".join(str(one) for one in pattern)
        yield Slope(
            f"write.{name}",
            f"write ports and result queue: {text}, each instruction",
            pattern * PAIRS,
            per=len(pattern) * PAIRS,
        ).microbenchmark()
