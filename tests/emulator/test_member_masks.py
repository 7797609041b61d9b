"""Lanes that name members in a vote, a match or a reduction see only those, also where several groups come to it together.

A lane that does not name itself is stopped, as an H200 stops it with an illegal instruction.
"""

from __future__ import annotations

import numpy as np
import pytest

from warploom.base.errors import SimulationError
from warploom.compiler.cuda.nvrtc import compile_to_ptx
from warploom.compiler.sass.module import from_cuda
from warploom.programs import Device

PTX = """.version 8.0
.target sm_80
.address_size 64
.visible .entry groups(.param .u64 keys, .param .u64 out)
{
    .reg .pred p, q;
    .reg .b32 i, key, members, odd, sum, most, ballot, matched, yes;
    .reg .b64 k, o, step;
    ld.param.u64 k, [keys];
    ld.param.u64 o, [out];
    mov.u32 i, %tid.x;
    mul.wide.u32 step, i, 4;
    add.s64 k, k, step;
    ld.global.u32 key, [k];
    match.any.sync.b32 members, key, 0xffffffff;
    redux.sync.add.s32 sum, i, members;
    redux.sync.max.s32 most, i, members;
    and.b32 odd, i, 1;
    setp.ne.u32 p, odd, 0;
    vote.sync.ballot.b32 ballot, p, members;
    vote.sync.any.pred q, p, members;
    selp.u32 yes, 1, 0, q;
    match.any.sync.b32 matched, odd, members;
    mul.wide.u32 step, i, 20;
    add.s64 o, o, step;
    st.global.u32 [o], sum;
    st.global.u32 [o+4], most;
    st.global.u32 [o+8], ballot;
    st.global.u32 [o+12], yes;
    st.global.u32 [o+16], matched;
    ret;
}
"""


def test_groups_are_apart() -> None:
    keys = np.array([lane % 3 if lane < 24 else 2 * lane for lane in range(32)], np.int32)
    out = np.zeros((32, 5), np.uint32)
    Device(PTX, record=None).launch("groups", (1,), (32,), keys, out)
    for lane in range(32):
        group = [other for other in range(32) if keys[other] == keys[lane]]
        odd = [other for other in group if other & 1]
        alike = [other for other in group if other & 1 == lane & 1]
        wanted = [sum(group), max(group), sum(1 << other for other in odd), int(bool(odd)), sum(1 << other for other in alike)]
        assert out[lane].tolist() == wanted


CALLS = {
    "ballot": "__ballot_sync(m, x > 9)",
    "any": "__any_sync(m, x > 9)",
    "all": "__all_sync(m, x > 9)",
    "index": "__shfl_sync(m, x, 3)",
    "down": "__shfl_down_sync(m, x, 3)",
    "up": "__shfl_up_sync(m, x, 3)",
    "xor": "__shfl_xor_sync(m, x, 3)",
    "match_any": "__match_any_sync(m, x)",
    "match_all": "__match_all_sync(m, x, &same)",
    "add": "__reduce_add_sync(m, x)",
    "most": "__reduce_max_sync(m, x)",
    "or": "__reduce_or_sync(m, x)",
    "meet": "(__syncwarp(m), x)",
}
SOURCE = "".join(
    f'extern "C" __global__ void call_{name}(unsigned* out, const unsigned* masks)'
    f"{{ unsigned x = threadIdx.x, m = masks[x]; int same = 0; out[x] = {call} + same; }}\n"
    for name, call in CALLS.items()
)
LANE = np.arange(32, dtype=np.uint64)
HALVES = np.where(LANE < 16, 0xFFFF, 0xFFFF0000).astype(np.uint32)
LEFT_OUT = {
    "lane 20": np.where(LANE == 20, 0xFFEF0000, HALVES).astype(np.uint32),
    "every lane": ((1 << LANE) - 1).astype(np.uint32),  # each names those below it
}


@pytest.fixture(scope="module", params=["ptx", "sm_90"])
def device(request: pytest.FixtureRequest) -> Device:
    if request.param == "ptx":
        return Device(compile_to_ptx(SOURCE, "calls.cu", arch="compute_80"), record=None)
    module = from_cuda(SOURCE, "calls.cu", request.param)
    return Device(lambda kernel, _shape: module.kernel(kernel), record=None)


@pytest.mark.parametrize("name", CALLS)
def test_a_lane_names_itself(name: str, device: Device) -> None:
    """Whatever the lanes do together; halves of a warp that each name themselves are fine.

    Code for sm_80 does not notice all of it: it asks whether the lanes that any lane names are all there.
    """
    out = device.array(np.zeros(32, np.uint32))
    device.launch(f"call_{name}", (1,), (32,), out, device.array(HALVES))
    for masks in LEFT_OUT.values():
        with pytest.raises(SimulationError, match="which the calling lane is not among"):
            device.launch(f"call_{name}", (1,), (32,), out, device.array(masks))
