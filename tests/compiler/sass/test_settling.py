"""Designs on machine code: registers are renumbered and released, values stay right, the shadow checker is content."""

from __future__ import annotations

import pytest

from support.executed import executed
from warploom.chip.machines import load_machine
from warploom.compiler.code.barriers import find_barriers
from warploom.compiler.code.classes import is_added
from warploom.compiler.code.convergence import meetings
from warploom.compiler.code.divergence import analyse_divergence
from warploom.compiler.code.graph import flow_graph
from warploom.compiler.code.instruction import CONTROL_COUNTERS, INSERTED, Bank, Code
from warploom.compiler.code.liveness import thread_liveness
from warploom.compiler.code.warp import warp_liveness
from warploom.compiler.sass.settling import settle
from warploom.designs import design
from warploom.papers.regmutex.base_set import base_registers
from warploom.papers.regmutex.extended_set import is_compaction
from warploom.programs.program import workload_program
from warploom.runs.compilation import compile_for
from warploom.runs.simulate import simulate

DESIGNS = ("rfc", "warped-rf", "compression", "rfv", "regmutex", "bow", "ltrf")
WORKLOADS = ["hotspot", "matrixmul", "bfs", "lib", "sad", "dct8x8", "nw", "reduction", "mum", "aes", "lps", "scalarprod"]
QUICK = {("bfs", "rfv"), ("bfs", "regmutex"), ("hotspot", "regmutex"), ("reduction", "ltrf")}


def _marked(name: str, point: str) -> object:
    return pytest.param(name, point, marks=[] if (name, point) in QUICK else pytest.mark.slow)


@pytest.mark.parametrize(("name", "point"), [_marked(name, point) for name in WORKLOADS for point in DESIGNS])
def test_the_checker_agrees(name: str, point: str) -> None:
    machine = load_machine("gtx480").scaled(1)
    result = simulate(workload_program(name, "sm_90"), point, machine, size="tiny", check=True)
    assert result.verified and result.checked
    if (name, point) == ("hotspot", "regmutex"):
        assert result.counters["acquires"] > 0 and result.counters["extended_registers"] > 0


@pytest.mark.parametrize("architecture", ["sm_75", "sm_90"])
@pytest.mark.parametrize(
    ("name", "extended"),
    [
        ("bfs", 4),
        ("bfs", 12),
        ("lib", 6),  # 38 registers with those of uniform values, 37 of them live: no more than 6 can be shared
        ("sad", 12),
        ("nw", 12),
        ("mum", 12),
        ("reduction", 12),
        ("lps", 8),
        ("particlefilter", 8),
    ],
)
def test_split_registers_keep_values(name: str, extended: int, architecture: str) -> None:
    """Whatever the size of the extended set, outputs are right, and vectors stay where instructions can take them."""
    point = design("baseline", allocation={"policy": "regmutex", "extended": extended})
    machine = load_machine("gtx480").scaled(1)
    done = executed(workload_program(name, architecture), point, machine, "tiny", check=True)
    assert done.verified
    for launch in done.launches:
        _check_shape(launch.code)
    if architecture == "sm_90":
        acquiring = [launch for launch in done.launches if any(i.op.name == "acquire" for i in launch.code.instructions())]
        assert acquiring


def _check_shape(code: Code) -> None:
    for instruction in code.instructions():
        assert instruction.control is not None
        for register in (*instruction.reads, *instruction.dsts):
            if register.bank in (Bank.D, Bank.Q):
                assert register.number % len(register.words) == 0
            assert all(word < code.registers for word in register.words)
        if is_added(instruction.op) or is_compaction(instruction):
            assert instruction.address == INSERTED


def test_compaction_moves_wait_for_loads() -> None:
    """A move that brings a loaded value down waits for the counter that its load holds."""
    point = design("baseline", allocation={"policy": "regmutex", "extended": 8})
    machine = load_machine("gtx480", **{"sm.uniform_registers": 63})  # else too many values live to be moved
    module = workload_program("lib", "sm_90").module()
    code = compile_for(module, "libor", point, machine)
    assert base_registers(code)
    moves = [i for i in code.instructions() if is_compaction(i)]
    assert moves and all(i.control is not None and i.control.stall >= 5 for i in moves)
    for block in code.blocks:
        loaded: dict[int, int] = {}
        for i in block.instructions:
            assert i.control is not None
            for counter in range(CONTROL_COUNTERS):
                if i.control.wait >> counter & 1:
                    loaded = {word: held for word, held in loaded.items() if held != counter}
            touched = {word for register in (*i.reads, *i.dsts) for word in register.words}
            assert not touched & loaded.keys(), f"{i} does not wait for what it uses"
            if i.control.write_barrier is not None:
                loaded |= {word: i.control.write_barrier for register in i.dsts for word in register.words}


def test_settled_code_of_the_compiler_keeps_its_waits() -> None:
    """What the compiler made needs little: waits are added, none is taken away."""
    code = workload_program("hotspot", "sm_90").module().kernel("hotspot")  # type: ignore[union-attr]
    settled = settle(code)
    for before, after in zip(code.instructions(), settled.instructions(), strict=True):
        assert before.control is not None and after.control is not None
        assert before.control.wait & ~after.control.wait == 0
        assert before.control.stall == after.control.stall


@pytest.mark.parametrize("architecture", ["sm_75", "sm_90"])
def test_lanes_meet_at_barriers_alone(architecture: str) -> None:
    """A branch on the thread's own data divides the warp up to the BSYNC of the barrier that was set before it.

    Code for sm_75 empties every barrier's register before it is set, which takes no lanes out of it.
    """
    code = workload_program("bfs", architecture).module().kernel("expand")  # type: ignore[union-attr]
    graph = flow_graph(code)
    barriers = find_barriers(code, [list(blocks) for blocks in graph.predecessors], graph.order)
    assert barriers is not None and barriers.waiting
    divergent = analyse_divergence(code, graph).branches
    assert divergent  # with the names of PTX's branches alone there would be none
    met = [meetings(graph, number) for number in divergent]
    assert any(met)
    for block in (block for blocks in met for block in blocks):
        assert code.blocks[block - 1].instructions[-1].op.name == "BSYNC"
    for number in divergent:
        assert code.blocks[number].instructions[-1].op.name in ("BRA", "BRX", "RET", "CALL")


@pytest.mark.parametrize(("name", "kernel"), [("bfs-queue", "bfs_queue"), ("tpacf", "tpacf"), ("heartwall", "heartwall")])
def test_the_warp_is_together_at_a_barrier_of_the_cta(name: str, kernel: str) -> None:
    """NVIDIA's compiler has all lanes wait for each other before it, by BSYNC or WARPSYNC: nothing is kept for others there."""
    code = workload_program(name, "sm_75").module().kernel(kernel)  # type: ignore[union-attr]
    graph = flow_graph(code)
    at_barriers = [pc for pc, instruction in enumerate(code.instructions()) if instruction.op.name == "BAR"]
    warp, thread = warp_liveness(code, graph), thread_liveness(code, graph)
    assert at_barriers and [warp.pressure[pc] for pc in at_barriers] == [thread.pressure[pc] for pc in at_barriers]


def test_the_compilers_own_limit_spills() -> None:
    """A limit of registers is the compiler's: fewer registers, spills of its own, the same output."""
    point = design("baseline").with_options(max_registers=24)
    machine = load_machine("hopper").scaled(4)
    done = executed(workload_program("lib", "sm_90"), point, machine, "tiny")
    assert done.verified
    assert {launch.code.registers for launch in done.launches} == {24}
