"""Only the functions that are needed are read; the rest of a file is skimmed, in time that its size bounds."""

import pytest

from support.places import ROOT
from warploom.base.errors import WarploomError
from warploom.compiler.backend import Options, compile_kernel
from warploom.compiler.ptx import parse
from warploom.compiler.ptx.outline import outline
from warploom.compiler.ptx.tokens import tokenize

HEAD = ".version 8.0\n.target sm_75\n.address_size 64\n"
WORKLOADS = ROOT / "src" / "warploom" / "programs" / "workloads"


def test_an_outline_and_its_bodies_are_the_whole_file() -> None:
    for file in sorted(WORKLOADS.glob("*/kernel.ptx"))[:10]:
        text = file.read_text()
        whole = outline(text)
        tokens, lines = [], []
        skipped = -1
        for place, (token, line) in enumerate(zip(whole.tokens, whole.lines, strict=True)):
            if place in whole.bodies:
                span = whole.bodies[place]
                inside, inside_lines = tokenize(text[span.start : span.end], span.line)
                tokens += inside[:-1]
                lines += inside_lines[:-1]
                skipped = place + 1
            elif place != skipped:
                tokens.append(token)
                lines.append(line)
        assert (tokens, lines) == tokenize(text)
        assert len(whole.bodies) >= 1


def test_what_looks_like_a_body_but_is_none() -> None:
    text = HEAD + (
        ".global .b32 data[2] = {1, /* .entry { */ 2};\n"
        ".extern .func other ();\n.section .debug_str { .b8 1 }\n"
        '.visible .entry k() .pragma "} ="; { // }\n{ ret; } }\n.visible .entry q()\n{ ret; }\n'
    )
    module = parse(text, "odd.ptx")
    assert list(module.kernels) == ["k", "q"]
    assert module.variables["data"].data == b"\1\0\0\0\2"
    assert [i.line for i in module.kernels["k"].body] == [8]
    assert [i.line for i in module.kernels["q"].body] == [10]


def test_only_what_the_kernel_calls_is_read() -> None:
    text = HEAD + (
        ".func used () { ret; }\n.func broken () { nonsense; }\n"
        ".visible .entry good() { call used; ret; }\n.visible .entry bad() { call broken; ret; }\n"
        ".visible .entry worse() { 5; }\n"
    )
    module = parse(text, "some.ptx")
    compile_kernel(module, "good", Options())
    read = {name for table in (module.functions, module.kernels) for name, function in table.items() if function.was_read}
    assert read == {"good", "used"}
    for kernel, line in (("bad", 5), ("worse", 8)):
        for _ in range(2):  # also when it is asked for again
            with pytest.raises(WarploomError, match=rf"some.ptx:{line}: "):
                compile_kernel(module, kernel, Options())


def test_a_large_file_is_skimmed_and_one_kernel_of_it_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """Making tokens is what takes the time; of how many characters they are made does not depend on the machine."""
    read: list[int] = []

    def counted(text: str, line: int = 1) -> tuple[list[str], list[int]]:
        read.append(len(text))
        return tokenize(text, line)

    for name in ("outline", "parser"):
        monkeypatch.setattr(f"warploom.compiler.ptx.{name}.tokenize", counted)
    body = "".join(f"add.s32 %r{n % 9}, %r{n % 7}, {n}; // {{ a remark\n" for n in range(1500))
    large = HEAD + "".join(f".visible .entry k{n}()\n{{\n.reg .b32 %r<9>;\n{body}ret;\n}}\n" for n in range(40))
    assert len(large) > 2_000_000
    module = parse(large)
    assert sum(read) < len(large) / 1000  # what stands outside of the bodies
    compile_kernel(module, "k20", Options())
    assert len(body) < sum(read) < 1.1 * len(body)
    assert sum(kernel.was_read for kernel in module.kernels.values()) == 1


LINES = """.version 8.0
.target sm_75
.address_size 64
.visible .entry k(.param .u64 p)
{
.reg .b32 %r<4>; .reg .f16 %h<4>;
.loc 1 10 0
mov.u32 %r1, 1;
.loc 2 7 1, function_name $L1, inlined_at 1 12 3
mov.u32 %r2, 2;
.loc 3 99 1, function_name $L2, inlined_at 2 7 1
mov.u32 %r3, 3;
.loc 1 3 1, function_name $L2, inlined_at 1 12 3
mov.u32 %r3, 3;
.loc 2 500 1
mov.u32 %r3, 3;
BODY
}
.file 1 "dir/own.cu"
.file 2 "/usr/include/some.h"
.file 3 "/usr/include/other.h"
"""


def test_lines_are_those_of_the_source() -> None:
    text = LINES.replace("BODY", "ret;")
    assert [i.line for i in parse(text, "dir/own.cu").kernels["k"].body] == [10, 12, 12, 3, 0, 0]
    assert [i.line for i in parse(text, "own.ptx").kernels["k"].body] == [8, 10, 12, 14, 16, 17]


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (".loc 1 20 1\nadd.bf16 %h1, %h2, %h3;", r"^dir/own.cu:20: this form of half precision"),
        (".loc 1 20 1\nbra NOWHERE;\n.loc 1 30 1\nret;", r"^dir/own.cu:20: the branch goes nowhere"),
        (".loc 1 20 1\naddc.u32 %r1, %r2, %r3;\n.loc 1 21 1\nret;", r"^dir/own.cu:20: .*carry.* in 'addc.u32'"),
        ("add.bf16 %h1, %h2, %h3;", r"^dir/own.cu: this form of half precision"),
    ],
)
def test_errors_are_at_lines_of_the_source(body: str, message: str) -> None:
    with pytest.raises(WarploomError, match=message):
        compile_kernel(parse(LINES.replace("BODY", body), "dir/own.cu"), "k", Options())


@pytest.mark.parametrize(
    ("spelling", "usual"),
    [
        ("vote.ballot.sync.b32", "vote.sync.ballot.b32"),
        ("fma.f32.rn", "fma.rn.f32"),
        ("rcp.ftz.approx.f32", "rcp.approx.ftz.f32"),
        ("min.f32.NaN.ftz", "min.ftz.NaN.f32"),
        ("tex.v4.f32.2d.f32", "tex.2d.v4.f32.f32"),
        ("cvt.f32.rn.s32", "cvt.rn.f32.s32"),
        ("fence.gpu.acq_rel", "fence.acq_rel.gpu"),
        ("prmt.f4e.b32", "prmt.b32.f4e"),
    ],
)
def test_words_of_an_opcode_in_other_orders_that_ptxas_takes(spelling: str, usual: str) -> None:
    from warploom.compiler.ptx.opcodes import decode

    odd, plain = decode(spelling), decode(usual)
    assert odd is not None and plain is not None
    assert odd._replace(text="") == plain._replace(text="")
    assert decode("cvt.s32.rn.f32") is None  # the type of the result comes first
