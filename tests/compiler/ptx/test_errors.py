"""Bad input gives one sentence with file, line and the instruction."""

import pytest

from warploom.base.errors import WarploomError
from warploom.compiler.backend import Options, compile_kernel
from warploom.compiler.ptx import parse

HEAD = ".version 7.8\n.target sm_75\n.address_size 64\n.visible .entry k(.param .u64 out)\n{\n.reg .pred %p<3>; .reg .b16 %h<3>; "
HEAD += ".reg .b32 %r<5>; .reg .f32 %f<5>; .reg .b64 %d<5>; .shared .b32 s[4];\n"

BAD = [
    ("add.s32 %r1, %r2, %r9;", "%r9 is not declared"),
    ("add.s32 %r1, %x, %r2;", "%x is not declared"),
    ("add.s32 %r1, %r2;", "needs 3 operands, not 2"),
    ("add.s32 %r1, %r2, %r3, %r4;", "too many operands"),
    ("add.s32 %r1, %d2, %r3;", "register %d2 has type .b64"),
    ("add.s32 %f1, %r2, %r3;", "register %f1 has type .f32"),
    ("add.f32 %f1, %f2, 1;", "floating-point constant"),
    ("add.s32 %r1, %r2, 1.5;", "integer constant"),
    ("add.s32 5, %r2, %r3;", "a register should stand where '5' does"),
    ("add.s31 %r1, %r2, %r3;", "add has no form"),
    ("fma.f32 %f1, %f2, %f3, %f4;", "fma has no form"),
    ("frobnicate.u32 %r1;", "unknown opcode frobnicate"),
    ("add.bf16 %h1, %h2, %h1;", "this form of half precision"),
    ("vadd.s32.s32.s32 %r1, %r2, %r3;", "video instructions"),
    ("mma.sync.aligned.m8n8k4 %r1;", "tensor core"),
    ("bra NOWHERE;", "there is no label NOWHERE"),
    ("brx.idx %r1, NOTHING;", "no .branchtargets list NOTHING"),
    ("@%r1 bra L; L:", "cannot guard"),
    ("@%q1 bra L; L:", "%q1 is not declared"),
    ("L: L: nanosleep.u32 1;", "stands twice"),
    ("ld.global.f32 %f1, %d1;", "'[' should stand"),
    ("ld.global.f32 %f1, [%h1];", "does not fit an address"),
    ("ld.global.f32 %f1, [s];", "s is in shared memory"),
    ("ld.global.v4.f32 {%f1, %f2}, [%d1];", "2 elements stand where 4"),
    ("ld.param.u64 %d1, [out+4];", "outside the parameter out"),
    ("ld.param.u64 %d1, [s];", "s is in shared memory"),
    ("st.global.u32 [%d1], %tid.w;", "%tid.w"),
    ("mov.u32 %r1, %envreg3;", "%envreg3 is not supported"),
    ("mov.f32 %f1, %tid.x;", "%tid.x has 32 bits"),
    ("setp.lt.s32 %r1, %r2, %r3;", "register %r1 has type .b32"),
    ("selp.b32 %r1, %r2, %r3, !%p1;", "negated operand is not allowed"),
    ("tex.2d.v4.f32.f32 {%f1,%f2,%f3,%f4}, [%d1, {%f1}];", "needs 2 coordinates"),
    ("call.uni nothing, ();", "nothing cannot be called"),
    ("call.uni (%r1), %d1, (%r2);", "function pointer"),
    ("addc.u32 %r1, %r2, %r3;", "carry flag"),
    ("st.param.u64 [out], %d1;", "cannot be written"),
    (".reg .b32 %r<4;", "'>' should stand"),
    (".reg .q32 %z;", "a type should stand"),
    (".reg .b32 t; .reg .b32 t;", "declared twice"),
    (".local .b32 x[];", "needs a size"),
    (".strange 5;", "the directive .strange"),
    ("mov.b64 %d1, {%r1, %r2, %r3};", "cannot move 3 elements"),
    ("mov.u32 %r1, (1/0);", "divides by zero"),
]


@pytest.mark.parametrize(("body", "message"), BAD, ids=[body for body, _ in BAD])
def test_message_names_place_and_problem(body: str, message: str) -> None:
    text = f"{HEAD}\n{body}\nret;\n}}\n"
    with pytest.raises(WarploomError) as caught:
        compile_kernel(parse(text, "bad.ptx"), "k", Options())
    sentence = str(caught.value)
    assert sentence.startswith("bad.ptx:8:"), sentence
    assert message in sentence
    assert "\n" not in sentence


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "empty"),
        (" \n\t", "empty"),
        ("// nothing\n", "nothing but comments"),
        ("\x7fELF\x02\x01\x01\x00\x00binary\xff\xfe", "not PTX"),
        ("int main() { return 0; }", "not PTX"),
        (".version 99.0\n.target sm_75\n", "version 99.0"),
        (".version 7.8\n", "truncated"),
        (".version 7.8\n.target sm_75\n.address_size 16\n", "32 or 64 bits"),
        (HEAD + "add.s32 %r1, %r2,", "truncated"),
        (HEAD + "add.s32 %r1, %r2, %r3;\n", "truncated"),
        (HEAD + "ret; } .visible .entry k() { ret; }", "defined twice"),
        (HEAD + "ret; } garbage", "a directive should stand"),
        (HEAD.replace("entry", "enter"), "the directive .enter is not known"),
    ],
)
def test_whole_files(text: str, message: str) -> None:
    with pytest.raises(WarploomError) as caught:
        parse(text, "bad.ptx")
    assert str(caught.value).startswith("bad.ptx:")
    assert message in str(caught.value)


def test_unknown_kernel_names_those_there_are() -> None:
    module = parse(HEAD + "ret; }", "some.ptx")
    with pytest.raises(WarploomError, match=r"some.ptx: there is no kernel q; the file has: k"):
        compile_kernel(module, "q", Options())


def test_what_is_not_supported_concerns_only_those_who_need_it() -> None:
    text = HEAD.split(".visible")[0]
    text += """.func f () { .reg .b16 %h<3>; { add.bf16 %h1, %h2, %h1; } ret; }
    .func g () { ret; }
    .global .u64 table[2] = {g, f};
    .visible .entry calls() {
      call f; ret; }
    .visible .entry points() { .reg .b64 %d<2>; mov.u64 %d1, f; ret; }
    .visible .entry reads() { .reg .b64 %d<2>; ld.global.u64 %d1, [table]; st.global.u64 [%d1], %d1; ret; }
    .visible .entry fine() { call g; ret; }
    """
    module = parse(text, "some.ptx")
    assert compile_kernel(module, "fine", Options()).registers == 1
    for kernel, message in (
        ("calls", "some.ptx:4: this form of half precision"),
        ("points", "function pointers"),
        ("reads", "address of the function g"),
    ):
        with pytest.raises(WarploomError, match=message):
            compile_kernel(module, kernel, Options())


def test_recursion_and_calls_that_do_not_fit_are_refused() -> None:
    head = HEAD.split(".visible")[0]
    recursive = head + ".func f () { call f; ret; } .visible .entry k() { call f; ret; }"
    with pytest.raises(WarploomError, match="recursion"):
        compile_kernel(parse(recursive), "k", Options())
    runtime = head + ".extern .func vprintf (); .visible .entry k() {\ncall vprintf;\nret; }"
    with pytest.raises(WarploomError, match="does not fit vprintf"):
        compile_kernel(parse(runtime), "k", Options())
