from hypothesis import given, settings
from hypothesis import strategies as st

from support.assembler import assemble, offset_of
from support.random_kernels import options, random_kernel
from warploom.compiler.backend.allocate import allocate
from warploom.compiler.backend.schedule import schedule
from warploom.compiler.backend.webs import split_webs
from warploom.compiler.code.graph import flow_graph, without_unreachable
from warploom.compiler.code.liveness import thread_liveness


def scheduled(text: str, limit: int = 255) -> list[str]:
    code = split_webs(assemble(text))
    return [str(i.op) for i in schedule(code, flow_graph(code), limit).instructions()]


def test_loads_start_before_anything_waits() -> None:
    order = scheduled(
        """
        ld.global.u32 R0 = [0]
        add.u32 R1 = R0, 1
        ld.global.u32 R2 = [4]
        add.u32 R3 = R2, R1
        ld.global.u32 R4 = [8]
        add.u32 R5 = R4, R3
        st.global.u32 [12], R5
        exit
        """
    )
    assert order[:3] == ["ld.global.u32"] * 3 and order[-2:] == ["st.global.u32", "exit"]


def test_a_tight_limit_keeps_loads_where_they_were() -> None:
    pairs = "\n".join(f"ld.global.u32 R{2 * n} = [R90+{4 * n}]\nadd.u32 R99 = R99, R{2 * n}" for n in range(30))
    text = f"mov.u32 R90 = %tid.x\nmov.u32 R99 = 0\n{pairs}\nst.global.u32 [64], R99\nexit"
    assert allocate(assemble(text), options(max_registers=4)).spill_loads == 0
    assert allocate(assemble(text), options()).registers <= 16


def test_memory_keeps_its_order() -> None:
    barrier = ["st.shared.u32", "bar.sync", "ld.shared.u32", "st.global.u32", "exit"]
    assert scheduled("st.shared.u32 [0], 1\nbar.sync 0\nld.shared.u32 R1 = [4]\nst.global.u32 [64], R1\nexit") == barrier
    aliased = "st.global.u32 [R9], 1\nld.global.u32 R1 = [R8]\nst.global.u32 [64], R1\nexit"
    assert scheduled(aliased)[:2] == ["st.global.u32", "ld.global.u32"]
    apart = "st.global.u32 [R9], 1\nld.global.u32 R1 = [R9+4]\nadd.u32 R2 = R1, 1\nst.shared.u32 [0], R2\nexit"
    assert scheduled(apart)[0] == "ld.global.u32"
    spaces = "st.global.u32 [R9], 1\nld.shared.u32 R1 = [R8]\nadd.u32 R2 = R1, 1\nst.shared.u32 [0], R2\nexit"
    assert scheduled(spaces)[0] == "ld.shared.u32"
    volatile = (
        "ld.global.volatile.u32 R0 = [0]\nld.global.volatile.u32 R1 = [4]\nadd.u32 R2 = R1, R1\nst.global.u32 [64], R2\nexit"
    )
    code = split_webs(assemble(volatile))
    offsets = [offset_of(i) for i in schedule(code, flow_graph(code), 255).instructions() if i.op.name == "ld"]
    assert offsets == [0, 4]


def test_the_clock_is_a_wall() -> None:
    text = "mov.u32 R0 = %clock\nld.global.u32 R1 = [0]\nmov.u32 R2 = %clock\nst.global.u32 [4], R2\nst.global.u32 [8], R0\nexit"
    assert scheduled(text)[:3] == ["mov.u32", "ld.global.u32", "mov.u32"]


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 100_000))
def test_scheduling_does_not_raise_a_high_pressure(seed: int) -> None:
    code = split_webs(without_unreachable(random_kernel(seed, 80, 18)))
    before = thread_liveness(code).max_live
    after = thread_liveness(schedule(code, flow_graph(code), 255)).max_live
    assert after <= max(before, 16)
    assert thread_liveness(schedule(code, flow_graph(code), 1)).max_live <= before
