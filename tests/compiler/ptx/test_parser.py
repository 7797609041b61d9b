"""What the parser makes of declarations, scopes, labels and operands."""

import struct
from typing import Any

import pytest

from warploom.compiler.ptx import parse
from warploom.compiler.ptx.module import (
    Label,
    MemoryOperand,
    Negated,
    PtxConstant,
    PtxParameter,
    Register,
    Sink,
    SpecialRegister,
    SymbolAddress,
    Vector,
)

HEAD = ".version 7.8\n.target sm_75\n.address_size 64\n"


def kernel(body: str, parameters: str = "") -> str:
    return f"{HEAD}.visible .entry k({parameters})\n{{\n{body}\nret;\n}}\n"


def only(body: str, parameters: str = "") -> Any:
    """The operands of the first instruction of a kernel."""
    return parse(kernel(body, parameters)).kernels["k"].body[0]


def test_header_and_launch_directives() -> None:
    launch = ".maxntid 256, 1, 1\n.reqntid 32, 4\n.minnctapersm 2\n.maxnreg 64\n"
    module = parse(f'{HEAD}.visible .entry k(.param .u32 n)\n{launch}{{ .pragma "nounroll"; ret; }}')
    assert module.version == (7, 8)
    assert module.target == "sm_75"
    assert module.kernels["k"].required_block == (32, 4, 1)


def test_parameters_are_laid_out_by_alignment() -> None:
    module = parse(kernel("", ".param .u8 a, .param .u64 .ptr .global .align 16 b, .param .align 16 .b8 c[24], .param .f32 d"))
    parameters = module.kernels["k"].parameters
    assert [(p.name, p.type, p.offset, p.size, p.pointer) for p in parameters] == [
        ("a", "u8", 0, 1, False),
        ("b", "u64", 8, 8, True),
        ("c", "b8", 16, 24, False),
        ("d", "f32", 40, 4, False),
    ]


def test_initial_contents() -> None:
    module = parse(
        HEAD
        + """
        .global .align 4 .u32 counter = 5;
        .const .f32 half[4] = {0.5, 0f3F800000, -2.0};
        .global .b8 text[] = {104, 105, 0};
        .global .align 8 .u64 pointer = generic(counter)+8;
        .global .align 8 .b8 packed[16] = {1, 0, 0, 0, 0, 0, 0, 0, 0xFF(text), 0xFF00(text), 0xFF0000(text), 0xFF000000(text),
            0xFF00000000(text), 0xFF0000000000(text), 0xFF000000000000(text), 0xFF00000000000000(text)};
        .global .u32 nested[2][2] = {{1, 2}, {3, (1 << 4) + 2 * 3}};
        .const .v4 .f32 quad = {1.0, 2.0, 3.0, 4.0};
        .global .f64 big[2] = {0d3FF0000000000000, 1.5e10};
        """
    )
    variables = module.variables
    assert variables["counter"].data == b"\5"
    assert variables["half"].data == struct.pack("<3f", 0.5, 1, -2)
    assert variables["half"].size == 16
    assert variables["text"].size == 3
    assert variables["pointer"].pointers == ((0, variables["counter"], 8, 8),)
    assert variables["packed"].pointers == ((8, variables["text"], 0, 8),)
    assert variables["nested"].data.ljust(16, b"\0") == struct.pack("<4I", 1, 2, 3, 22)
    assert variables["quad"].alignment == 16
    assert variables["big"].data == struct.pack("<2d", 1, 1.5e10)


def test_constants_become_bits_of_their_type() -> None:
    assert only(".reg .b32 %r<3>; add.s32 %r1, %r2, -1;").operands[2] == PtxConstant(0xFFFFFFFF)
    assert only(".reg .f32 %f<3>; add.f32 %f1, %f2, 0f7FC00001;").operands[2] == PtxConstant(0x7FC00001)
    assert only(".reg .f32 %f<3>; add.f32 %f1, %f2, 1.5;").operands[2] == PtxConstant(0x3FC00000)
    assert only(".reg .b64 %d<3>; and.b64 %d1, %d2, 0xFFFFFFFF00000000;").operands[2] == PtxConstant(0xFFFFFFFF00000000)
    assert only(".reg .b16 %h<3>; add.s16 %h1, %h2, -2;").operands[2] == PtxConstant(0xFFFE)


def test_operands() -> None:
    instruction = only(".reg .b64 %d<4>; .reg .b32 %r<6>; ld.global.v4.b32 {%r1, _, %r3, %r4}, [%d1+-16];")
    target, memory = instruction.operands
    assert isinstance(target, Vector)
    assert target.elements[1] == Sink()
    assert isinstance(memory, MemoryOperand)
    assert memory.offset == -16
    assert only(".reg .b32 %r<6>; mov.u32 %r1, %ctaid.z;").operands[1] == SpecialRegister("ctaid.z")
    shared = only(".shared .align 8 .b8 s[64]; .reg .b64 %d<6>; mov.u64 %d1, s+24;").operands[1]
    assert isinstance(shared, SymbolAddress)
    assert (shared.variable.space, shared.offset) == ("shared", 24)
    negated = only(".reg .pred %p<4>; .reg .b32 %r<3>; setp.eq.and.s32 %p1|%p2, %r1, %r2, !%p3;").operands[4]
    assert isinstance(negated, Negated)
    parameter = only(".reg .b32 %r<3>; ld.param.u32 %r1, [n+4];", ".param .align 4 .b8 n[8]").operands[1]
    assert isinstance(parameter, MemoryOperand)
    assert isinstance(parameter.base, PtxParameter)


def test_guards() -> None:
    body = parse(kernel(".reg .pred %p<3>; .reg .b32 %r<3>; @!%p1 mov.u32 %r1, 1; @%p2 mov.u32 %r1, 2;")).kernels["k"].body
    assert [(i.guard[0].name, i.guard[1]) for i in body[:2] if i.guard] == [("%p1", True), ("%p2", False)]


def test_scopes_hide_names_and_labels() -> None:
    body = (
        parse(
            kernel(
                """
            .reg .b32 %r<4>; .reg .pred %p<2>;
            mov.u32 %r1, 1;
            { .reg .b32 %r1; .reg .u32 t; mov.u32 %r1, 2; AGAIN: add.u32 t, %r1, 5; @%p1 bra AGAIN; }
            { AGAIN: mov.u32 %r2, %r1; bra AGAIN; }
            """
            )
        )
        .kernels["k"]
        .body
    )
    outer, inner = body[0].operands[0], body[1].operands[0]
    assert isinstance(outer, Register)
    assert isinstance(inner, Register)
    assert outer.number != inner.number
    assert body[3].operands == (Label("AGAIN", 2),)
    assert body[5].operands == (Label("AGAIN", 4),)
    assert body[4].operands[1] == outer


def test_branch_table() -> None:
    body = parse(kernel(".reg .b32 %r<2>; ts: .branchtargets A, B, A; brx.idx %r1, ts; A: nanosleep.u32 1; B:")).kernels["k"].body
    assert [label.position for label in body[0].targets] == [1, 2, 1]


def test_debug_information_is_read_over() -> None:
    text = (
        HEAD
        + """
    .visible .entry k() { .loc 1 2 3
      .loc 1 9 31, function_name $L__info_string0, inlined_at 1 10 0
      ret; $L__func_end0: }
    .file 1 "a b.cu", 100, 200
    .section .debug_str { $L__info_string0: .b8 95,90,0 }
    .section .debug_abbrev { .b8 1 .b8 17 }
    /* a comment
       of two lines */
    """
    )
    module = parse(text)
    assert len(module.kernels["k"].body) == 1


def test_functions_and_calls() -> None:
    module = parse(
        HEAD
        + """
    .func (.param .b32 r) f (.param .b32 a);
    .extern .func (.param .b32 r) vprintf (.param .b64 a, .param .b64 b);
    .func (.param .b32 r) f (.param .b32 a) { .reg .b32 %r<2>; ld.param.b32 %r1, [a]; st.param.b32 [r], %r1; ret; }
    .visible .entry k() { .reg .b32 %r<2>; { .param .b32 x; .param .b32 y; st.param.b32 [x], 5; call.uni (y), f, (x);
      ld.param.b32 %r1, [y]; } ret; }
    """
    )
    call = module.kernels["k"].body[1].call
    assert call is not None
    assert call.function == "f"
    assert module.functions["f"].defined
    assert not module.functions["vprintf"].defined


@pytest.mark.parametrize("version", ["6.0", "7.5", "8.5", "9.0", "9.4"])
def test_versions(version: str) -> None:
    assert parse(f".version {version}\n.target sm_90a, debug\n.address_size 64\n").version == tuple(map(int, version.split(".")))
