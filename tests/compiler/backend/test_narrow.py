"""Narrowing: what becomes 32 bits wide, what stays, and that results do not change."""

from __future__ import annotations

import struct

from hypothesis import given, settings
from hypothesis import strategies as st

from support.integer_interpreter import Thread
from warploom.compiler.backend.lower import lower
from warploom.compiler.code.instruction import Address, Bank, Code, Param, Reg
from warploom.compiler.ptx import parse

HEAD = ".version 7.8\n.target sm_75\n.address_size 64\n"
HEAD += ".visible .entry k(.param .u64 a, .param .u64 b, .param .u32 n, .param .s32 m)\n{\n"
HEAD += ".reg .pred %p<20>; .reg .b32 %r<40>; .reg .b64 %d<40>;\n"
LOADS = "ld.param.u64 %d0, [a]; ld.param.u64 %d1, [b]; ld.param.u32 %r0, [n]; ld.param.s32 %r1, [m]; mov.u32 %r2, %tid.x;\n"


def compiled(body: str, narrow: bool = True) -> Code:
    return lower(parse(f"{HEAD}{LOADS}{body}\nret;\n}}\n"), "k", narrow=narrow)


def wide_registers(code: Code) -> set[Reg]:
    return {register for i in code.instructions() for register in (*i.reads, *i.dsts) if register.bank is Bank.D}


def test_array_access_is_all_32_bit() -> None:
    code = compiled("cvta.to.global.u64 %d2, %d0; mul.wide.s32 %d3, %r2, 4; add.s64 %d4, %d2, %d3; st.global.u32 [%d4+8], %r2;")
    assert code.narrow
    assert not wide_registers(code)
    names = [i.op.name for i in code.instructions()]
    assert names == ["mov", "shl", "add", "st", "exit"]
    add = code.blocks[0].instructions[2]
    assert Param(0, 4) in add.srcs


def test_without_narrowing_addresses_stay_64_bits_wide() -> None:
    code = compiled("mul.wide.s32 %d3, %r2, 4; add.s64 %d4, %d0, %d3; st.global.u32 [%d4+8], %r2;", narrow=False)
    assert not code.narrow
    assert len(wide_registers(code)) == 2


def test_pointer_stored_to_memory_stays_whole() -> None:
    code = compiled("mul.wide.s32 %d3, %r2, 8; add.s64 %d4, %d0, %d3; st.global.u64 [%d4], %d4;")
    store = next(i for i in code.instructions() if i.op.name == "st")
    assert store.op.type == "u64"
    assert isinstance(store.srcs[1], Reg)
    assert store.srcs[1].bank is Bank.D


def test_pointer_chase_loads_one_word() -> None:
    code = compiled("ld.global.u64 %d2, [%d0+16]; ld.global.u64 %d3, [%d2]; st.global.u32 [%d3], %r2;")
    assert not wide_registers(code)
    assert [i.op.type for i in code.instructions() if i.op.name == "ld"] == ["b32", "b32"]


def test_volatile_load_keeps_its_width() -> None:
    code = compiled("ld.volatile.global.u64 %d2, [%d0]; st.global.u32 [%d2], %r2;")
    assert next(i for i in code.instructions() if i.op.name == "ld").op.type == "u64"


def test_high_word_of_a_product() -> None:
    """Division by a constant: only the high word of the 64-bit product is wanted."""
    code = compiled("mul.wide.u32 %d2, %r0, -1431655765; shr.u64 %d3, %d2, 33; cvt.u32.u64 %r3, %d3; st.global.u32 [%d0], %r3;")
    assert not wide_registers(code)
    assert [i.op.modifiers for i in code.instructions() if i.op.name == "mul"] == [("hi",)]


def test_comparison_of_pointers_sees_both_words() -> None:
    code = compiled("ld.global.u64 %d2, [%d0]; setp.eq.s64 %p1, %d2, 0; @%p1 st.global.u32 [%d1], %r2;")
    assert len(wide_registers(code)) == 1


def test_displacements_are_folded_into_one_base() -> None:
    code = compiled(
        "mul.wide.s32 %d2, %r2, 4; add.s64 %d3, %d0, %d2; add.s64 %d4, %d3, 128; add.s64 %d5, %d4, 128;"
        "ld.global.u32 %r3, [%d4]; ld.global.u32 %r4, [%d5+-4]; add.s32 %r5, %r3, %r4; st.global.u32 [%d3], %r5;"
    )
    addresses = [src for i in code.instructions() for src in i.srcs if isinstance(src, Address)]
    assert len({address.base for address in addresses}) == 1
    assert [address.offset for address in addresses] == [128, 252, 0]


def _programs() -> st.SearchStrategy[str]:
    """Random straight-line PTX on 32- and 64-bit integers that ends in stores through computed addresses."""
    wide, word = st.integers(0, 9).map("%d{}".format), st.integers(0, 9).map("%r{}".format)
    number = st.sampled_from([0, 1, 3, 4, 8, 16, 31, 32, 33, 40, 63, 64, 255, -1, -4, 0x7FFFFFFF, 0xFFFFFFFF, 0x1_0000_0004])
    wide_or_number = st.one_of(wide, wide, number.map(str))
    predicate = st.integers(0, 2).map("%p{}".format)

    def line(text: str, *parts: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
        return st.tuples(*parts).map(lambda values: text.format(*values))

    plain = [
        line("add.s64 {}, {}, {};", wide, wide, wide_or_number),
        line("sub.s64 {}, {}, {};", wide, wide, wide_or_number),
        line("mul.lo.s64 {}, {}, {};", wide, wide, wide_or_number),
        line("and.b64 {}, {}, {};", wide, wide, wide_or_number),
        line("or.b64 {}, {}, {};", wide, wide, wide),
        line("xor.b64 {}, {}, {};", wide, wide, wide_or_number),
        line("not.b64 {}, {};", wide, wide),
        line("neg.s64 {}, {};", wide, wide),
        line("shl.b64 {}, {}, {};", wide, wide, st.one_of(word, st.sampled_from(["1", "2", "31", "32", "33", "63", "64"]))),
        line("shr.u64 {}, {}, {};", wide, wide, st.one_of(word, st.sampled_from(["1", "2", "31", "32", "33", "63", "64"]))),
        line("shr.s64 {}, {}, {};", wide, wide, st.sampled_from(["1", "31", "32", "33", "63"])),
        line("min.u64 {}, {}, {};", wide, wide, wide),
        line("selp.b64 {}, {}, {}, {};", wide, wide, wide_or_number, predicate),
        line("mul.wide.s32 {}, {}, {};", wide, word, word),
        line("mul.wide.u32 {}, {}, -1431655765;", wide, word),
        line("mad.wide.s32 {}, {}, {}, {};", wide, word, word, wide),
        line("mad.lo.s64 {}, {}, {}, {};", wide, wide, wide, wide),
        line("cvt.s64.s32 {}, {};", wide, word),
        line("cvt.u64.u32 {}, {};", wide, word),
        line("cvt.s64.s16 {}, {};", wide, word),
        line("cvt.u32.u64 {}, {};", word, wide),
        line("cvt.s16.s64 {}, {};", word, wide),
        line("mov.b64 {}, {{{}, {}}};", wide, word, word),
        line("mov.b64 {{{}, {}}}, {};", st.just("%r3"), st.just("%r4"), wide),
        line("mov.u64 {}, {};", wide, wide_or_number),
        line("cvta.to.global.u64 {}, {};", wide, wide),
        line("ld.global.u64 {}, [{}+{}];", wide, wide, st.sampled_from(["0", "8", "-16"])),
        line("ld.global.u32 {}, [{}+{}];", word, wide, st.sampled_from(["0", "8", "-16"])),
        line("ld.global.s16 {}, [{}];", wide, wide),
        line("st.global.u64 [{}], {};", wide, wide),
        line("st.global.u32 [{}+4], {};", wide, wide),
        line("setp.lt.s64 {}, {}, {};", predicate, wide, wide_or_number),
        line("setp.eq.u32 {}, {}, {};", predicate, word, word),
        line("add.s32 {}, {}, {};", word, word, st.one_of(word, number.map(str))),
        line("mad.lo.s32 {}, {}, {}, {};", word, word, st.one_of(word, number.map(str)), word),
        line("mul.lo.s32 {}, {}, 8;", word, word),
    ]
    guarded = st.tuples(predicate, st.sampled_from(plain).flatmap(lambda each: each)).map(lambda pair: f"@{pair[0]} {pair[1]}")
    statement = st.one_of(
        st.sampled_from(plain).flatmap(lambda each: each), st.sampled_from(plain).flatmap(lambda each: each), guarded
    )
    ends = "st.global.u32 [%d2], %r3; st.global.u64 [%d3+8], %d4; ld.global.u64 %d5, [%d6]; st.global.u32 [%d5], %r4;"
    return st.lists(statement, min_size=1, max_size=25).map(lambda lines: "\n".join([*lines, ends]))


@settings(max_examples=400, deadline=None)
@given(_programs(), st.integers(0, 2**64 - 1), st.integers(0, 2**64 - 1), st.integers(0, 2**32 - 1), st.integers(0, 2**32 - 1))
def test_results_do_not_change(body: str, a: int, b: int, n: int, m: int) -> None:
    """Memory after the literal, the lowered and the narrowed code is the same; only the low words of addresses count."""
    loads = "ld.param.u64 %d0, [a]; ld.param.u64 %d1, [b]; ld.param.u32 %r0, [n]; ld.param.s32 %r1, [m];\n"
    # initialised, since the value of a register that was never written is anybody's guess
    starts = "".join(f"add.s64 %d{i}, %d{i - 2}, {7 * i};\n" for i in range(2, 10))
    starts += "".join(f"xor.b32 %r{i}, %r{i - 2}, {i << 7};\n" for i in range(2, 10))
    starts += "setp.lt.s32 %p0, %r0, %r1; setp.lt.s32 %p1, %r1, 5; setp.eq.s32 %p2, %r0, %r0;\n"
    module = parse(f"{HEAD}{loads}{starts}{body}\nret;\n}}\n")
    parameters = struct.pack("<QQII", a, b, n, m)
    memories = [
        Thread(parameters).run(lower(module, "k", literal=literal, narrow=narrow)).memory
        for literal, narrow in ((True, False), (False, False), (False, True))
    ]
    assert memories[0] == memories[1]
    assert memories[0] == memories[2]
