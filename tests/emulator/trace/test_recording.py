"""What the emulator writes into a trace: streams, masks, sectors, bank conflicts, barriers, value classes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from warploom.compiler.code.table import Flag, Space, static_table
from warploom.emulator.emulator import ExecutedLaunch
from warploom.emulator.trace.format import (
    ACTIVE_HALF_SHIFT,
    BIN_SHIFT,
    MOST_EMPTY,
    PARALLEL_SHIFT,
    SPACE_MASK,
    SPACE_SHIFT,
    Trace,
)
from warploom.emulator.trace.store import TraceStore
from warploom.programs.device import Device

HEADER = ".version 9.0\n.target sm_75\n.address_size 64\n.visible .entry k(.param .u64 a)\n{\n"
PREAMBLE = (
    ".reg .b32 i, t, u, v, w; .reg .b64 p, at; .reg .pred q; .reg .f64 d, e;\nld.param.u64 p, [a]; mov.u32 t, %tid.x; "
    "mov.u32 u, %ctaid.x; mov.u32 v, %ntid.x; mad.lo.s32 i, u, v, t;\n"
)


def record(
    body: str, folder: Path, blocks: int = 1, block: int = 32, words: int = 4096, declarations: str = ""
) -> ExecutedLaunch:
    text = f"{HEADER}{declarations}{PREAMBLE}{body}\nret;\n}}\n"
    gpu = Device(text, record=TraceStore(folder), check=True)
    gpu.launch("k", (blocks,), (block,), gpu.array(np.zeros(words, np.uint32)))
    return gpu.launches[0]


def accesses(launch: ExecutedLaunch) -> list[tuple[Space, int]]:
    """The entries of the memory column that are not barriers."""
    table, trace = static_table(launch.code), launch.trace
    assert trace is not None
    flags = table["flags"][trace.pc]
    noted = flags[(flags & (Flag.LOAD | Flag.STORE | Flag.ATOMIC | Flag.BARRIER)) != 0]
    assert len(noted) == len(trace.memory)
    return [(Space(int(e) >> 8 & 7), int(e) & 255) for e, f in zip(trace.memory, noted, strict=True) if not f & Flag.BARRIER]


def trace_of(launch: ExecutedLaunch) -> Trace:
    assert launch.trace is not None
    return launch.trace


def test_streams_are_contiguous_and_in_order(tmp_path: Path) -> None:
    body = "setp.lt.u32 q, t, 32; @q add.u32 i, i, 1; bar.sync 0; shl.b32 v, i, 2; bar.sync 0;\n"
    body += "cvt.u64.u32 at, v; add.s64 at, at, p; st.global.u32 [at], i;"
    launch = record(body, tmp_path, blocks=3, block=96)
    trace = trace_of(launch)
    assert trace.ctas == 3 and trace.warps_per_cta == 3 and len(trace.start) == 10
    for warp in range(9):
        first, last = trace.start["instruction"][warp], trace.start["instruction"][warp + 1]
        assert trace.pc[first:last].tolist() == list(range(len(launch.code)))  # a straight line, each warp from its beginning
    assert trace.start[-1].tolist() == (len(trace.pc), len(trace.value), len(trace.memory), len(trace.sector))
    assert len(trace.value) == int(static_table(launch.code)["n_writes"][trace.pc].sum())
    assert launch.stats.warp_instructions == len(trace.pc) == 9 * len(launch.code)


@pytest.mark.parametrize(
    ("address", "sectors"),
    [
        ("shl.b32 v, t, 2;", {0: 0xFF, 1: 0xFF00, 2: 0xFF0000, 3: 0xFF000000}),
        ("shl.b32 v, t, 2; add.u32 v, v, 16;", {0: 0xF, 1: 0xFF0, 2: 0xFF000, 3: 0xFF00000, 4: 0xF0000000}),
        ("mov.b32 v, 64;", {2: 0xFFFFFFFF}),
        ("and.b32 v, t, 1; shl.b32 v, v, 6;", {0: 0x55555555, 2: 0xAAAAAAAA}),
        ("sub.u32 v, 31, t; shl.b32 v, v, 5;", {31 - lane: 1 << lane for lane in range(32)}),
    ],
)
def test_sectors(address: str, sectors: dict[int, int], tmp_path: Path) -> None:
    launch = record(f"{address} cvt.u64.u32 at, v; add.s64 at, at, p; ld.global.u32 w, [at]; st.global.u32 [p], w;", tmp_path)
    trace = trace_of(launch)
    (space, count), store = accesses(launch)
    assert (space, count) == (Space.GLOBAL, len(sectors)) and store == (Space.GLOBAL, 1)
    start = int(trace.sector[-1])  # the store goes to the array's first sector
    got = dict(zip((trace.sector[:count] - start).tolist(), trace.lanes[:count].tolist(), strict=True))
    assert got == sectors
    assert (np.diff(trace.sector[:count].astype(np.int64)) > 0).all()


@pytest.mark.parametrize(
    ("address", "records"),
    [
        ("shl.b32 v, t, 2;", [(0, 0xFF), (1, 0xFF00), (2, 0xFF0000), (3, 0xFF000000)]),
        ("and.b32 v, t, 15; shl.b32 v, v, 2;", [(0, 0xFF), (0, 0xFF0000), (1, 0xFF00), (1, 0xFF000000)]),
        ("mov.b32 v, 64;", [(2, 1 << lane) for lane in range(32)]),
        ("max.u32 v, t, 29; sub.u32 v, 31, v; shl.b32 v, v, 5;", [(0, 1 << 31), (1, 1 << 30)] + [(2, 1 << n) for n in range(30)]),
    ],
)
def test_atomics_at_one_address_take_turns(address: str, records: list[tuple[int, int]], tmp_path: Path) -> None:
    body = f"{address} cvt.u64.u32 at, v; add.s64 at, at, p; atom.global.add.u32 w, [at], 1; st.global.u32 [p], w;"
    launch = record(body, tmp_path)
    trace = trace_of(launch)
    assert accesses(launch)[0] == (Space.GLOBAL, len(records))
    sectors = (trace.sector - trace.sector[-1]).tolist()  # the store goes to the array's first sector
    assert list(zip(sectors, trace.lanes.tolist(), strict=True))[:-1] == records


def test_lanes_without_the_guard_touch_nothing(tmp_path: Path) -> None:
    body = "setp.lt.u32 q, t, 4; shl.b32 v, t, 7; cvt.u64.u32 at, v; add.s64 at, at, p; @q st.global.u32 [at], t;"
    launch = record(f"{body} setp.gt.u32 q, t, 99; @q st.global.u32 [at], t;", tmp_path)
    assert accesses(launch) == [(Space.GLOBAL, 4), (Space.GLOBAL, 0)]
    assert trace_of(launch).lanes.tolist() == [1, 2, 4, 8]


@pytest.mark.parametrize(
    ("access", "passes"),
    [
        ("shl.b32 v, t, 2; st.shared.u32 [v], t;", 1),
        ("shl.b32 v, t, 3; st.shared.u32 [v], t;", 2),
        ("shl.b32 v, t, 7; st.shared.u32 [v], t;", 32),
        ("and.b32 v, t, 3; shl.b32 v, v, 2; ld.shared.u32 w, [v]; st.global.u32 [p], w;", 1),
        ("shl.b32 v, t, 3; st.shared.v2.u32 [v], {t, t};", 2),
        ("shl.b32 v, t, 4; st.shared.v4.u32 [v], {t, t, t, t};", 4),
        ("mov.b32 v, 0; atom.shared.add.u32 w, [v], t; st.global.u32 [p], w;", 32),
        ("shl.b32 v, t, 2; atom.shared.add.u32 w, [v], t; st.global.u32 [p], w;", 1),
        ("mov.b32 v, t; st.shared.u8 [v], t;", 1),
    ],
)
def test_bank_conflicts(access: str, passes: int, tmp_path: Path) -> None:
    launch = record(access, tmp_path, declarations=".shared .align 16 .b8 s[4096];\n.reg .b32 dummy; mov.u32 dummy, s;\n")
    assert accesses(launch)[0] == (Space.SHARED, passes)


@pytest.mark.parametrize(("shift", "load", "store"), [(2, 1, 0), (3, 2, 1), (5, 8, 1), (7, 32, 1)])
def test_loads_note_their_passes_in_banks_and_stores_whether_they_write_parts_of_sectors(
    shift: int, load: int, store: int, tmp_path: Path
) -> None:
    body = f"shl.b32 v, t, {shift}; cvt.u64.u32 at, v; add.s64 at, at, p; ld.global.u32 w, [at]; st.global.u32 [at], w;"
    entries = trace_of(record(body, tmp_path)).memory
    assert (entries >> PARALLEL_SHIFT).tolist() == [load - 1, store]


@pytest.mark.parametrize(("mask", "addresses"), [(0, 1), (3, 4), (31, 32)])
def test_constants_note_how_many_addresses_their_lanes_have(mask: int, addresses: int, tmp_path: Path) -> None:
    body = f"and.b32 v, t, {mask}; shl.b32 v, v, 2; mov.u32 u, c; add.u32 v, v, u; ld.const.u32 w, [v]; st.global.u32 [p], w;"
    text = f"{HEADER.replace('.visible', '.const .align 4 .b8 c[128];' + chr(10) + '.visible')}{PREAMBLE}{body}\nret;\n}}\n"
    gpu = Device(text, record=TraceStore(tmp_path), check=True)
    gpu.launch("k", (1,), (32,), gpu.array(np.zeros(32, np.uint32)))
    entries = [int(entry) for entry in trace_of(gpu.launches[0]).memory]
    found = [entry >> PARALLEL_SHIFT for entry in entries if Space(entry >> SPACE_SHIFT & SPACE_MASK) == Space.CONST]
    assert found == [addresses - 1]


VECTORS = {  # addresses of 16 bytes: passes in quarters of a warp, and how many fewer an H200 makes (pattern.lds.128bit.*)
    "own": ("shl.b32 v, t, 4;", 4, 0),
    "all": ("mov.b32 v, 0;", 4, 2),
    "halves": ("shr.b32 v, t, 4; shl.b32 v, v, 4;", 4, 2),
    "pairs": ("shr.b32 v, t, 1; shl.b32 v, v, 4;", 4, 2),
    "of_two": ("and.b32 v, t, 1; shl.b32 v, v, 4;", 4, 2),
    "of_eight": ("and.b32 v, t, 7; shl.b32 v, v, 4;", 4, 0),
    "sixteenth": ("and.b32 v, t, 15; shl.b32 v, v, 4;", 4, 0),
    "one_pair": ("max.u32 v, t, 1; shl.b32 v, v, 4;", 4, 0),
}


@pytest.mark.parametrize("pattern", VECTORS)
def test_lanes_that_share_in_pairs_are_served_two_groups_at_a_time(pattern: str, tmp_path: Path) -> None:
    address, quarters, fewer = VECTORS[pattern]
    declarations = ".shared .align 16 .b8 s[4096];\n.reg .b32 dummy; mov.u32 dummy, s;\n"
    launch = record(f"{address} ld.shared.v4.u32 {{w, i, u, t}}, [v]; st.global.u32 [p], w;", tmp_path, declarations=declarations)
    entry = int(trace_of(launch).memory[0])
    assert (Space(entry >> SPACE_SHIFT & SPACE_MASK), entry & 0xFF) == (Space.SHARED, quarters)
    assert (entry >> PARALLEL_SHIFT) - MOST_EMPTY == fewer


def test_local_memory_is_interleaved(tmp_path: Path) -> None:
    body = "mov.u64 at, l; st.local.u32 [at+4], t; ld.local.u32 w, [at+4]; st.global.u32 [p], w;"
    launch = record(body, tmp_path, declarations=".local .align 8 .b8 l[16];\n")
    assert accesses(launch)[0] == (Space.LOCAL, 4)
    trace = trace_of(launch)
    assert trace.sector[:4].tolist() == [4, 5, 6, 7]  # the second word of 32 lanes lies behind 128 bytes of first words
    assert trace.lanes[:4].tolist() == [0xFF, 0xFF00, 0xFF0000, 0xFF000000]


def test_barriers_are_noted(tmp_path: Path) -> None:
    launch = record("bar.sync 3; bar.sync 5, 64;", tmp_path, block=64)
    trace = trace_of(launch)
    assert trace.memory.tolist() == [3, 5 | 2 << 8] * 2


def test_value_classes_of_whole_registers_and_of_executing_lanes(tmp_path: Path) -> None:
    """The guarded move gives the even lanes one value: they are all equal, the register as a whole is not."""
    body = "and.b32 v, t, 1; setp.eq.u32 q, v, 0; mul.lo.u32 w, t, 1000; @q mov.u32 w, 5; shl.b32 v, t, 2; cvt.u64.u32 at, v; "
    launch = record(body + "add.s64 at, at, p; st.global.u32 [at], w;", tmp_path)
    trace, table = trace_of(launch), static_table(launch.code)
    guarded = next(pc for pc, i in enumerate(launch.code.instructions()) if i.guard is not None and i.dsts)
    assert trace.mask[guarded] == 0x55555555
    entry = int(trace.value[int(table["n_writes"][:guarded].sum())])
    assert (entry >> BIN_SHIFT) & 3 == 2  # neighbours are 5 and 1000 n apart
    assert (entry >> ACTIVE_HALF_SHIFT >> BIN_SHIFT) & 3 == 0


def test_the_class_of_a_register_is_of_the_lanes_that_were_launched(tmp_path: Path) -> None:
    """Sixteen threads hold one value, and the lanes beyond them nothing that counts."""
    body = "mov.u32 w, 70000; add.u32 w, w, u; shl.b32 v, t, 2; cvt.u64.u32 at, v; add.s64 at, at, p; st.global.u32 [at], w;"
    launch = record(body, tmp_path, block=16)
    trace = trace_of(launch)
    table = static_table(launch.code)
    store = next(pc for pc, i in enumerate(launch.code.instructions()) if i.op.name == "st")
    value = next(
        pc for pc in range(store - 1, -1, -1) if table["writes"][pc, 0] == table["reads"][store, table["n_reads"][store] - 1]
    )
    entry = int(trace.value[int(table["n_writes"][:value].sum())])
    assert (entry >> BIN_SHIFT) & 3 == 0 and entry & 3 == 0  # all equal: <4,0> fits
    assert entry & 0xFFFF == entry >> ACTIVE_HALF_SHIFT


def test_the_same_launch_is_found_again(tmp_path: Path) -> None:
    body = "shl.b32 v, i, 2; cvt.u64.u32 at, v; add.s64 at, at, p; ld.global.u32 w, [at]; add.u32 w, w, 1; st.global.u32 [at], w;"
    text = f"{HEADER}{PREAMBLE}{body}\nret;\n}}\n"
    store = TraceStore(tmp_path)
    keys = []
    for values in (0, 0, 1):
        gpu = Device(text, record=store)
        buffer = gpu.array(np.full(64, values, np.uint32))
        gpu.launch("k", (2,), (32,), buffer)
        gpu.launch("k", (2,), (32,), buffer)
        assert (buffer.get() == values + 2).all()
        keys.append([trace_of(launch).key for launch in gpu.launches])
    assert keys[0] == keys[1] and keys[0][1] == keys[2][0]  # the second launch sees what the first one wrote
    assert len({*keys[0], *keys[2]}) == 3 == sum(entry.is_dir() for entry in tmp_path.iterdir())


def test_a_failed_launch_leaves_no_trace(tmp_path: Path) -> None:
    with pytest.raises(Exception, match="bytes"):
        record("ld.global.u32 w, [p+65536]; st.global.u32 [p], w;", tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_log_that_overflows_its_buffers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Many CTAs and long warps: the log is written out in between and grows; nothing is lost."""
    from warploom.emulator import launch as launching

    body = (
        "mov.b32 w, 0;\nagain: add.u32 w, w, 1; bar.sync 0; setp.lt.u32 q, w, 20; @q bra again;\n"
        "shl.b32 v, t, 7; cvt.u64.u32 at, v; add.s64 at, at, p; st.global.u32 [at], w;"
    )
    plain = record(body, tmp_path / "a", blocks=9, block=96)
    monkeypatch.setattr(launching, "FLUSH_AT", 300)
    monkeypatch.setattr(launching.Log, "__init__", _small_log)
    small = record(body, tmp_path / "b", blocks=9, block=96)
    for column in ("pc", "mask", "value", "memory", "sector", "lanes", "start"):
        assert np.array_equal(getattr(trace_of(plain), column), getattr(trace_of(small), column)), column


def _small_log(self: Any, instructions: int = 40, segments: int = 70) -> None:
    self.instructions, self.segments, self.columns = 64, 70, {}
    self.__post_init__()
