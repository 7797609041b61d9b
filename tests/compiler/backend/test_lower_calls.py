"""Calls are inlined, their parameters staged in registers or in local memory."""

from __future__ import annotations

import struct

from support.integer_interpreter import Thread
from warploom.compiler.backend.lower import lower
from warploom.compiler.code.instruction import Code
from warploom.compiler.cuda import compile_to_ptx
from warploom.compiler.ptx import parse

HEAD = ".version 7.8\n.target sm_75\n.address_size 64\n"


def names(code: Code) -> list[str]:
    return [instruction.op.name for instruction in code.instructions()]


def test_scalar_call_becomes_straight_code() -> None:
    text = (
        HEAD
        + """
    .func (.param .b32 r) triple (.param .b32 a)
    { .reg .b32 %r<3>; ld.param.b32 %r1, [a]; mul.lo.s32 %r2, %r1, 3; st.param.b32 [r+0], %r2; ret; }
    .visible .entry k(.param .u64 out, .param .u32 n)
    { .reg .b32 %r<9>; .reg .b64 %d<3>;
      ld.param.u32 %r1, [n]; ld.param.u64 %d1, [out];
      { .param .b32 x; st.param.b32 [x+0], %r1; .param .b32 y; call.uni (y), triple, (x); ld.param.b32 %r2, [y+0]; }
      { .param .b32 x; st.param.b32 [x+0], %r2; .param .b32 y; call.uni (y), triple, (x); ld.param.b32 %r3, [y+0]; }
      st.global.u32 [%d1], %r3; ret; }
    """
    )
    for narrow in (False, True):
        code = lower(parse(text), "k", narrow=narrow)
        assert names(code)[-2:] == ["st", "exit"]
        assert names(code).count("mul") == 2
        assert len(code.blocks) == 1
        memory = Thread(struct.pack("<QI", 64, 5)).run(code).memory
        assert memory[64] == 45


def test_nested_calls_returns_in_the_middle_and_guards() -> None:
    text = (
        HEAD
        + """
    .func (.param .b32 r) clamp (.param .b32 a)
    { .reg .b32 %r<3>; .reg .pred %p<2>; ld.param.b32 %r1, [a]; setp.lt.s32 %p1, %r1, 10; st.param.b32 [r], %r1; @%p1 ret;
      mov.u32 %r2, 10; st.param.b32 [r], %r2; ret; }
    .func (.param .b32 r) twice (.param .b32 a)
    { .reg .b32 %r<4>; ld.param.b32 %r1, [a];
      { .param .b32 x; .param .b32 y; st.param.b32 [x], %r1; call (y), clamp, (x); ld.param.b32 %r2, [y]; }
      add.s32 %r3, %r2, %r2; st.param.b32 [r], %r3; ret; }
    .visible .entry k(.param .u64 out, .param .u32 n)
    { .reg .b32 %r<9>; .reg .b64 %d<3>; .reg .pred %p<2>; ld.param.u32 %r1, [n]; ld.param.u64 %d1, [out]; setp.gt.s32 %p1, %r1, 3;
      { .param .b32 x; .param .b32 y; st.param.b32 [x], %r1; mov.u32 %r3, 0; st.param.b32 [y], %r3;
        @%p1 call (y), twice, (x); ld.param.b32 %r2, [y]; }
      st.global.u32 [%d1], %r2; ret; }
    """
    )
    code = lower(parse(text), "k")
    branches = [i for i in code.instructions() if i.op.name == "bra"]
    assert len(branches) == 2
    assert all(branch.guard is not None for branch in branches)
    assert names(code).count("exit") == 1
    assert names(code)[-1] == "exit"


def test_struct_read_in_other_pieces_goes_to_local_memory() -> None:
    text = (
        HEAD
        + """
    .func (.param .b64 r) join (.param .align 8 .b8 a[8])
    { .reg .b64 %d<3>; ld.param.b64 %d1, [a]; st.param.b64 [r], %d1; ret; }
    .visible .entry k(.param .u64 out, .param .u32 n)
    { .reg .b32 %r<9>; .reg .b64 %d<3>; ld.param.u32 %r1, [n]; ld.param.u64 %d1, [out];
      .param .align 8 .b8 x[8]; .param .b64 y; st.param.b32 [x], %r1; st.param.b32 [x+4], 7; call (y), join, (x);
        ld.param.b64 %d2, [y];
      st.global.u64 [%d1], %d2; ret; }
    """
    )
    code = lower(parse(text), "k")
    assert code.local_bytes == 8
    assert [i.op.space for i in code.instructions() if i.op.name in ("ld", "st")] == ["local", "local", "local", "global"]


def test_register_parameters() -> None:
    text = (
        HEAD
        + """
    .func (.reg .u32 %o) plus (.reg .u32 %a, .reg .u32 %b) { add.u32 %o, %a, %b; ret; }
    .visible .entry k(.param .u64 out, .param .u32 n)
    { .reg .b32 %r<9>; .reg .b64 %d<3>; ld.param.u32 %r1, [n]; ld.param.u64 %d1, [out]; call (%r2), plus, (%r1, 40);
      st.global.u32 [%d1], %r2; ret; }
    """
    )
    code = lower(parse(text), "k")
    assert Thread(struct.pack("<QI", 64, 2)).run(code).memory[64] == 42


def test_functions_of_a_compiler() -> None:
    source = """
    struct Pair { int key; float values[3]; };
    __noinline__ __device__ float pick(Pair p, int i) { return p.values[i] * p.key; }
    __noinline__ __device__ Pair make(int k, float *from) { Pair p; p.key = k; for (int i = 0; i < 3;
      i++) p.values[i] = from[i]; return p; }
    extern "C" __global__ void k(float *out, int n) { Pair p = make(n, out); out[threadIdx.x] = pick(p, threadIdx.x % 3); }
    extern "C" __global__ void wave(double *out, int n) { out[n] = sin(out[0]) + pow(out[1], out[2]); }
    """
    module = parse(compile_to_ptx(source, "calls.cu"), "calls.cu")
    assert len(module.functions) >= 3
    for name in module.kernels:
        for literal in (False, True):
            code = lower(module, name, literal=literal)
            assert "call" not in names(code)
            assert not any(i.op.space == "param" and i.op.name == "st" for i in code.instructions())
