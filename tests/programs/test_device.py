"""The launch API: arguments, faults that name their place, barriers, CTAs that wait for each other."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from support.small_ptx import device, fault, kernel
from warploom.base.errors import WarploomError
from warploom.compiler.backend import Options, compile_kernel
from warploom.compiler.code.instruction import Code
from warploom.compiler.ptx import parse
from warploom.emulator.shape import LaunchShape
from warploom.programs.device import Device

INCREMENT = "ld.global.u32 w, [at]; add.u32 w, w, 1; st.global.u32 [at], w;"


def test_arrays_change_in_place() -> None:
    gpu = device(INCREMENT)
    host = np.arange(64, dtype=np.uint32)
    gpu.launch("k", (2,), (32,), host)
    assert (host == np.arange(1, 65)).all()
    buffer = gpu.array(np.arange(64, dtype=np.uint32))
    gpu.launch("k", (2,), (32,), buffer)
    gpu.launch("k", (2,), (32,), buffer)
    assert (buffer.get() == np.arange(2, 66)).all()
    assert [launch.stats.thread_instructions for launch in gpu.launches] == [gpu.launches[0].stats.thread_instructions] * 3
    assert gpu.launches[0].trace is None


def test_partial_warps_execute_only_their_threads() -> None:
    gpu = device(INCREMENT)
    buffer = gpu.array(np.zeros(40, np.uint32))
    gpu.launch("k", (1,), (5, 2, 2), buffer)
    assert buffer.get().tolist() == [1] * 5 + [0] * 35  # the kernel looks at x alone, and the lanes of a warp store the same
    assert gpu.launches[0].stats.thread_instructions == 20 * gpu.launches[0].stats.warp_instructions


@pytest.mark.parametrize(
    ("argument", "words"),
    [
        (np.float32(1), "give an integer"),
        (np.int64(1), "8 bytes"),
        (1 << 40, "does not fit"),
        (np.zeros(3, np.uint32), "an array"),
        ("x", "give an integer"),
    ],
)
def test_arguments_are_checked(argument: object, words: str) -> None:
    gpu = device(INCREMENT, parameters=".param .u64 a, .param .u32 n")
    with pytest.raises(WarploomError, match=words) as caught:
        gpu.launch("k", (1,), (32,), gpu.array(np.zeros(32, np.uint32)), argument)
    assert "argument 1" in str(caught.value)


def test_launches_are_checked() -> None:
    gpu = device(INCREMENT)
    buffer = gpu.array(np.zeros(32, np.uint32))
    for grid, block, words in (((0,), (32,), "grid"), ((1,), (2048,), "at most 1024 threads"), ((1, 1, 1, 1), (32,), "grid")):
        with pytest.raises(WarploomError, match=words):
            gpu.launch("k", grid, block, buffer)
    with pytest.raises(WarploomError, match="2 arguments were given for 1 parameters"):
        gpu.launch("k", (1,), (32,), buffer, 1)
    with pytest.raises(WarploomError, match="pointer"):
        gpu.launch("k", (1,), (32,), 5)
    with pytest.raises(WarploomError, match="there is no kernel 'nothing'"):
        gpu.launch("nothing", (1,), (32,), buffer)


def test_an_access_out_of_bounds_names_its_place() -> None:
    gpu = device(INCREMENT)
    message = fault(gpu, 2, (32,), gpu.array(np.zeros(40, np.uint32)))
    assert message.startswith("test.ptx:")
    for words in (
        "kernel k",
        "block (1, 0, 0)",
        "thread (8, 0, 0)",
        "ld.global.u32",
        "reads 4 bytes",
        "0 bytes after the end of array 0",
    ):
        assert words in message, message


def test_other_bad_accesses() -> None:
    array = np.zeros(64, np.uint32)
    gpu = device("add.s64 at, at, 2; st.global.u32 [at], i;")
    assert "not a multiple of 4" in fault(gpu, 1, (32,), gpu.array(array))
    gpu = device("mov.b64 at, 0; setp.eq.u32 q, t, 5; @q st.global.u32 [at], i;")
    assert "thread (5, 0, 0)" in fault(gpu, 1, (32,), gpu.array(array))
    gpu = device(
        "mov.u32 w, s; mad.lo.u32 t, t, 4, w; ld.shared.u32 v, [t]; st.global.u32 [at], v;",
        declarations=".shared .align 4 .b8 s[64];\n",
    )
    assert "64 bytes of shared memory" in fault(gpu, 1, (32,), gpu.array(array))
    gpu = device("mov.b64 at, 0x100000000; ld.global.u32 v, [at+4]; st.global.u32 [at], v;", options=Options(narrow=False))
    assert "4 GiB" in fault(gpu, 1, (32,), gpu.array(array))
    gpu = device("setp.eq.u32 q, t, 3; @q trap;")
    assert "thread (3, 0, 0)" in fault(gpu, 1, (32,), gpu.array(array))


def test_warps_that_never_come() -> None:
    body = "setp.lt.u32 q, t, 32; @q bra low; bar.sync 1; bra done;\nlow: bar.sync 2;\ndone:"
    message = fault(device(body), 1, (64,), np.zeros(64, np.uint32))
    assert message.startswith(
        "test.ptx:10: kernel k, block (0, 0, 0): deadlock: warp 0 waits at barrier 2 ('bar.sync 2' of line 10,"
    )
    assert "warp 1 waits at barrier 1 ('bar.sync 1' of line 9, instruction 3)" in message


def test_warps_that_have_ended_are_not_waited_for() -> None:
    gpu = device("setp.lt.u32 q, t, 32; @q exit; bar.sync 0; st.global.u32 [at], 7;")
    buffer = gpu.array(np.zeros(64, np.uint32))
    gpu.launch("k", (1,), (64,), buffer)
    assert buffer.get().tolist() == [0] * 32 + [7] * 32


def test_an_endless_loop_is_stopped() -> None:
    gpu = device("again: add.u32 w, t, 1; bra again;", budget=10_000)
    assert "has executed 10000 warp instructions, all that its budget allows" in fault(gpu, 1, (32,), np.zeros(32, np.uint32))


@pytest.mark.parametrize("blocks", [2, 40])
def test_ctas_that_wait_for_later_ones(blocks: int) -> None:
    """Every CTA announces itself and spins until all have: they must become resident together."""
    body = (
        "setp.eq.u32 q, t, 0; @!q bra joined; atom.global.add.u32 w, [p], 1; mov.u32 u, %nctaid.x;\n"
        "spin: ld.volatile.global.u32 w, [p]; setp.lt.u32 r, w, u; @r bra spin;\n"
        "joined: bar.sync 0; ld.volatile.global.u32 w, [p]; st.global.u32 [at+4], w;"
    )
    gpu = device(body, budget=5_000_000)
    buffer = gpu.array(np.zeros(64 * blocks + 1, np.uint32))
    gpu.launch("k", (blocks,), (64,), buffer)
    assert (buffer.get()[1:] == blocks).all()


def test_recording_does_not_change_a_race(tmp_path: Path) -> None:
    """Which thread of a race wins is the same every time, traced or not."""
    from warploom.emulator.trace.store import TraceStore

    body = "atom.global.add.u32 w, [p], 1; st.global.u32 [at+4], w;"
    results = []
    for record in (None, TraceStore(tmp_path)):
        gpu = Device(kernel(body), record=record)
        buffer = gpu.array(np.zeros(129, np.uint32))
        gpu.launch("k", (2,), (64,), buffer)
        results.append(buffer.get())
    assert (results[0] == results[1]).all()
    assert sorted(results[0][1:]) == list(range(128))


def test_dynamic_shared_memory() -> None:
    text = kernel(
        "mov.u32 w, s; shl.b32 v, t, 2; add.u32 w, w, v; st.shared.u32 [w], i; bar.sync 0; xor.b32 v, v, 4; mov.u32 w, s;\n"
        "add.u32 w, w, v; ld.shared.u32 v, [w]; st.global.u32 [at], v;"
    ).replace(".visible", ".extern .shared .align 4 .b8 s[];\n.visible")
    gpu = Device(text, record=None)
    buffer = gpu.array(np.zeros(32, np.uint32))
    gpu.launch("k", (1,), (32,), buffer, shared_bytes=128)
    assert buffer.get().tolist() == [index ^ 1 for index in range(32)]
    assert "124 bytes of shared memory" in fault(gpu, 1, (32,), buffer, shared_bytes=124)


def test_parameters_of_every_kind() -> None:
    """Sub-word, float and structure parameters, read by literal code and in place."""
    parameters = ".param .u64 a, .param .s8 b, .param .u16 c, .param .f32 d, .param .align 4 .b8 e[8]"
    body = (
        "ld.param.s8 v, [b]; st.global.u32 [p], v; .reg .b16 h; ld.param.u16 h, [c]; cvt.u32.u16 v, h; st.global.u32 [p+4], v;\n"
        "ld.param.f32 f, [d]; st.global.f32 [p+8], f; ld.param.b32 v, [e+4]; st.global.u32 [p+12], v;"
    )
    for options in (Options(), Options(literal=True), Options(narrow=False)):
        gpu = Device(kernel(body, parameters), options, record=None)
        buffer = gpu.array(np.zeros(4, np.uint32))
        structure = np.array([1, 99], np.uint32).tobytes()
        gpu.launch("k", (1,), (1,), buffer, np.int8(-3), np.uint16(65535), np.float32(1.5), structure)
        assert buffer.get().tolist() == [0xFFFFFFFD, 65535, 0x3FC00000, 99]


def test_variables_keep_their_contents_between_launches() -> None:
    text = kernel(
        "mov.u64 at, counter; atom.global.add.u32 w, [at], 1; ld.global.u32 v, [pointer]; ld.const.u32 u, [table+4];\n"
        "add.u32 w, w, u; st.global.u32 [p], w;"
    ).replace(
        ".visible",
        ".global .align 4 .u32 counter = 40;\n.global .align 8 .u64 pointer = counter;\n"
        ".const .align 4 .u32 table[2] = {1, 100};\n.visible",
    )
    gpu = Device(text, record=None)
    buffer = gpu.array(np.zeros(1, np.uint32))
    for expected in (140, 141):
        gpu.launch("k", (1,), (1,), buffer)
        assert buffer.get()[0] == expected


def test_a_launch_is_compiled_for_its_shape_and_once_for_each() -> None:
    module = parse(kernel(INCREMENT), "test.ptx")
    asked: list[LaunchShape] = []

    def compiled(name: str, shape: LaunchShape) -> Code:
        asked.append(shape)
        return compile_kernel(module, name, Options())

    gpu = Device(compiled, record=None)
    for grid, block, shared in ((1, 32, 0), (2, 32, 0), (1, 64, 0), (1, 64, 16)):
        gpu.launch("k", (grid,), (block,), np.zeros(block * grid, np.uint32), shared_bytes=shared)
    assert [(shape.threads, shape.dynamic_shared_bytes) for shape in asked] == [(32, 0), (64, 0), (64, 16)]
    assert gpu.launches[0].code is gpu.launches[1].code and gpu.launches[0].code is not gpu.launches[2].code


def test_what_cannot_be_compiled_is_tried_once() -> None:
    tried = []

    def compiler(name: str, _shape: LaunchShape) -> Code:
        tried.append(name)
        raise WarploomError(f"kernel {name} is too large.")

    gpu = Device(compiler, record=None)
    for _ in range(3):
        with pytest.raises(WarploomError, match="kernel k is too large"):
            gpu.launch("k", (1,), (32,))
    assert tried == ["k"]


def test_clocks_advance_and_threads_know_their_place() -> None:
    gpu = device("mov.u32 u, %clock; mov.u32 v, %clock; sub.u32 w, v, u; st.global.u32 [at], w;")
    buffer = gpu.array(np.zeros(32, np.uint32))
    gpu.launch("k", (1,), (32,), buffer)
    assert (buffer.get() >= 1).all()


def test_bar_red_and_arrive() -> None:
    body = "and.b32 v, t, 1; setp.eq.u32 q, v, 0; barrier.red.popc.u32 w, 1, q; st.global.u32 [at], w;"
    gpu = device(body)
    buffer = gpu.array(np.zeros(64, np.uint32))
    gpu.launch("k", (1,), (64,), buffer)
    assert (buffer.get() == 32).all()
