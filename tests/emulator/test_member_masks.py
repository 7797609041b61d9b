"""Lanes that name members in a vote, a match or a reduction see only those, also where several groups come to it together."""

from __future__ import annotations

import numpy as np

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
