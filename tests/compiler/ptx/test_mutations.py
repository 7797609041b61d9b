"""Whatever the input, the result is a module and code, or a WarploomError: never anything else."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import warploom
from support.tiny_kernels import tiny_kernel
from warploom.base.errors import WarploomError
from warploom.compiler.backend import Options, compile_kernel
from warploom.compiler.backend.lower import lower
from warploom.compiler.ptx import parse
from warploom.compiler.ptx.opcodes import TABLE

WORKLOADS = sorted(
    (Path(warploom.__file__).parent / "programs" / "workloads").glob("*/kernel.ptx"), key=lambda file: file.stat().st_size
)[:6]
CALLS = """.version 8.0
.target sm_80
.address_size 64
.global .align 4 .b8 data[8] = {1, 2};
.global .align 8 .u64 link = generic(data);
.global .align 8 .b8 bytes[10] = {1, 0, 0xFF(data), 0xFF00(data), 0xFF0000(data), 0xFF000000(data)};
.func (.param .align 8 .b8 r[16]) f (.param .b64 a, .reg .u32 %q)
{ .reg .b64 %d<4>; ld.param.b64 %d1, [a]; cvt.u64.u32 %d2, %q; st.param.v2.b64 [r], {%d1, %d2}; ret; }
.visible .entry k (.param .u64 .ptr .global .align 8 p, .param .align 8 .b8 s[24])
.reqntid 32, 1, 1
{ .reg .pred %p<3>; .reg .b32 %r<5>; .reg .b64 %d<9>; .local .align 8 .b8 frame[16]; ts: .branchtargets A, B;
  ld.param.u64 %d1, [p]; cvta.to.global.u64 %d2, %d1; mov.u32 %r1, %tid.x; setp.lt.s32 %p1, %r1, 4;
  { .param .b64 x; .param .align 8 .b8 y[16]; st.param.b64 [x], %d2; @!%p1 call.uni (y), f, (x, %r1); ld.param.b64 %d3, [y+8]; }
  mul.wide.s32 %d4, %r1, 8; add.s64 %d5, %d2, %d4; st.global.u64 [%d5+-8], %d3; mov.b64 {%r2, %r3}, %d3;
  ld.global.u64 %d6, [link]; st.u32 [%d6], %r3; brx.idx %r2, ts;
A: @%p1 bra B; st.local.v2.u32 [frame], {%r1, %r2};
B: bar.sync 0; ret; }
"""
SAMPLES = [CALLS, *(tiny_kernel(spelling) for spelling in ("tex.2d.v4.f32.f32", "mad.lo.cc.u32", "setp.lt.and.s32", "brx.idx"))]
SAMPLES += [file.read_text() for file in WORKLOADS]
TOKENS = re.compile(r"\s+|[%$_.\w]+|.", re.DOTALL)
ODD_WORDS = {"0x", "1e999", "0f0", '"', "/*", "<", ">>", "9" * 5000}
WORDS = sorted({word for text in SAMPLES for word in TOKENS.findall(text)} | set(TABLE) | ODD_WORDS)


def outcome(text: str) -> str:
    """Compile everything in the text; say how it ended."""
    try:
        module = parse(text, "m.ptx")
        for name in module.kernels:
            compile_kernel(module, name, Options())
            lower(module, name, literal=True)
    except WarploomError as error:
        assert str(error).startswith("m.ptx"), error
        return "refused"
    return "compiled"


@pytest.mark.parametrize("text", SAMPLES[:5])
def test_samples_compile(text: str) -> None:
    assert outcome(text) == "compiled"


@settings(max_examples=250, deadline=None)
@given(st.sampled_from(SAMPLES), st.data())
def test_truncated(text: str, data: st.DataObject) -> None:
    outcome(text[: data.draw(st.integers(0, len(text)))])


@settings(max_examples=500, deadline=None)
@given(st.sampled_from(SAMPLES), st.data())
def test_tokens_deleted_repeated_replaced(text: str, data: st.DataObject) -> None:
    tokens = TOKENS.findall(text)
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(0, len(tokens) - 1))
        kind = data.draw(st.sampled_from(["delete", "repeat", "replace", "swap"]))
        if kind == "delete":
            del tokens[place]
        elif kind == "repeat":
            tokens.insert(place, tokens[place])
        elif kind == "replace":
            tokens[place] = data.draw(st.sampled_from(WORDS))
        else:
            other = data.draw(st.integers(0, len(tokens) - 1))
            tokens[place], tokens[other] = tokens[other], tokens[place]
    outcome("".join(tokens))


@settings(max_examples=200, deadline=None)
@given(st.sampled_from(SAMPLES[:5]), st.binary(max_size=40), st.data())
def test_bytes_inserted(text: str, garbage: bytes, data: st.DataObject) -> None:
    place = data.draw(st.integers(0, len(text)))
    outcome(text[:place] + garbage.decode("latin-1") + text[place:])


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=200))
def test_any_text(text: str) -> None:
    outcome(text)
    outcome(".version 8.0 .target sm_80 .address_size 64 " + text)
