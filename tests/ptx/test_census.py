"""Every instruction spelling that a current compiler was seen to emit parses and compiles."""

from pathlib import Path

import pytest
from tiny_kernels import tiny_kernel

from warploom.backend import Options, compile_kernel
from warploom.backend.lower import lower
from warploom.code.table import static_table
from warploom.ptx import parse

CENSUS = (Path(__file__).parents[1] / "data" / "ptx-census.tsv").read_text().split()[1:]

NEIGHBOURS = """
add.sat.s32 sub.ftz.sat.f32 add.rp.f64 mul.lo.u64 mul.hi.s64 mad.hi.u32 mad.wide.s32 mul24.lo.u32 mad24.hi.s32 sad.u32 sad.s16 dp4a.u32.s32
dp2a.lo.s32.u32 fma.rp.ftz.sat.f32 div.full.f32 div.rz.ftz.f32 rem.u64 abs.s64 neg.ftz.f32 min.NaN.f32 max.u64 popc.b32 popc.b64 clz.b64 brev.b32
brev.b64 bfe.u32 bfe.s64 bfi.b64 bfind.u32 bfind.shiftamt.s64 fns.b32 bmsk.clamp.b32 szext.wrap.s32 lop3.b32 shf.r.clamp.b32 prmt.f4e.b32 cnot.b32
setp.lt.and.s32 setp.nan.ftz.f32 setp.hs.u32 set.lt.u32.f32 set.ge.or.f32.s32 slct.f32.s32 selp.s64 testp.subnormal.f64 copysign.f64
cvt.sat.u8.s32 cvt.rzi.u64.f64 cvt.rn.ftz.sat.f32.f64 cvt.rmi.sat.f32.f32 cvt.s8.s32 cvt.u64.u16 cvta.shared.u64 cvta.to.local.u64 cvta.const.u64
isspacep.shared isspacep.global mov.u16 mov.s64 ld.b8 ld.global.ca.L1::no_allocate.L2::128B.v2.b64 ld.acquire.gpu.global.u32 ld.relaxed.sys.f64
ld.shared::cta.v4.b32 ld.local.v2.u16 ldu.global.f32 st.release.cta.shared.u32 st.wt.global.v2.b16 st.b64 st.local.s8 atom.add.f64
atom.relaxed.gpu.global.cas.b64 atom.shared.inc.u32 atom.cas.b16 atom.add.acq_rel.gpu.global.u32 red.global.add.u32 red.shared.max.s32 red.xor.b64
tex.1d.v4.u32.f32 tex.3d.v4.f32.s32 tex.a2d.v4.s32.f32 tex.a1d.v4.f32.f32 prefetch.global.L2 brx.idx exit trap brkpt pmevent
nanosleep.u32 bar.arrive bar.red.popc.u32 bar.red.and.pred barrier.cta.sync.aligned barrier.arrive membar.gl membar.sys fence.acq_rel.gpu fence.sc.sys
activemask.b32 vote.all.pred vote.ballot.b32 vote.sync.uni.pred match.any.sync.b64 match.all.sync.b32 redux.sync.add.s32 redux.sync.xor.b32
shfl.idx.b32 shfl.sync.bfly.b32 shfl.sync.up.b32 rcp.rz.f32 sqrt.approx.ftz.f32 rsqrt.approx.ftz.f64 tanh.approx.f32 call not.b16 rcp.rm.f64
""".split()


@pytest.mark.parametrize("spelling", CENSUS + NEIGHBOURS)
def test_spelling_compiles(spelling: str) -> None:
    module = parse(tiny_kernel(spelling), "tiny.ptx")
    code = compile_kernel(module, "tiny", Options())
    assert code.allocated
    assert len(static_table(code)) == len(code)
    literal = lower(module, "tiny", literal=True)
    name = spelling.split(".")[0]
    if name not in ("call", "brx", "st") and not spelling.startswith("ld.param"):
        renamed = {"barrier": "bar", "ldu": "ld", "ret": "exit", "prefetch": "nop", "pmevent": "nop"}.get(name, name)
        assert any(instruction.op.name == renamed for instruction in literal.instructions())


def test_census_is_whole() -> None:
    assert len(CENSUS) == 303
    assert len(set(CENSUS)) == 303
