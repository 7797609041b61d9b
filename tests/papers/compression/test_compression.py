"""Register compression: images against the published table, the mechanism on hand-made kernels, programs under the checker."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.plain_python import run_checks
from warploom.base.errors import WarploomError
from warploom.chip.machines import load_machine
from warploom.chip.sm import make_policy
from warploom.designs import parse_design
from warploom.designs.energy import load_technology
from warploom.emulator.trace.encoding import compress, decompress
from warploom.emulator.trace.values import classify
from warploom.jit import njit
from warploom.papers.compression.bdi import FORM_BYTES, FORM_SLICES, NAMES, PAIRS, Bdi, _allowed, _fitting, _smallest
from warploom.programs.program import workload_program
from warploom.programs.workloads.registry import select_workloads, workload_names
from warploom.runs.execution import Executions
from warploom.runs.simulate import simulate

TABLE_1 = {  # <base,delta>: bytes, banks
    (1, 0): (1, 1),
    (2, 1): (65, 5),
    (4, 0): (4, 1),
    (4, 1): (35, 3),
    (4, 2): (66, 5),
    (8, 0): (8, 1),
    (8, 1): (23, 2),
    (8, 2): (38, 3),
    (8, 4): (68, 5),
}


def test_plain_python() -> None:
    run_checks(Path(__file__).parent / "compression_checks.py")


# --- images -----------------------------------------------------------------------------------------------------------------


@njit
def class_of(register):
    return classify(register.ctypes.data)


def plainly_fits(raw: bytes, base: int, delta: int) -> bool:
    """Whether all chunks differ from the first by a signed number of so many bytes, counting round."""
    half = 1 << (8 * delta) >> 1 if delta else 0
    first, *others = (int.from_bytes(raw[at : at + base], "little") for at in range(0, 128, base))
    return all((chunk - first + half) % (1 << 8 * base) < max(1, 2 * half) for chunk in others)


@st.composite
def warp_registers(draw: st.DrawFn) -> np.ndarray:
    """Registers near each border: equal lanes, small and large steps, deltas of every width, pairs of lanes, repeated bytes."""
    base = draw(st.integers(0, 2**32 - 1))
    kind = draw(st.sampled_from(["equal", "deltas", "steps", "pairs", "pair deltas", "bytes", "halves", "random"]))
    width = draw(st.sampled_from([1, 127, 128, 129, 2**15 - 1, 2**15, 2**15 + 1, 2**31]))
    near = st.integers(-width, width)
    if kind == "equal":
        lanes = [base] * 32
    elif kind == "deltas":
        lanes = [base, *(base + draw(near) for _ in range(31))]
    elif kind == "steps":
        step = draw(st.integers(-2000, 2000))
        lanes = [base + step * lane for lane in range(32)]
    elif kind in ("pairs", "pair deltas"):
        whole = base | draw(st.integers(0, 2**32 - 1)) << 32
        wide = [whole, *(whole + (draw(near) if kind == "pair deltas" else 0) for _ in range(15))]
        lanes = [part for chunk in wide for part in (chunk & 0xFFFFFFFF, chunk >> 32)]
    elif kind == "bytes":
        lanes = [base % 256 * 0x01010101] * 32
    elif kind == "halves":
        half = base % 65536
        close = st.integers(-130, 130)
        halves = [half, *((half + draw(close)) % 65536 for _ in range(63))]
        lanes = [low | high << 16 for low, high in zip(halves[::2], halves[1::2], strict=True)]
    else:
        lanes = draw(st.lists(st.integers(0, 2**32 - 1), min_size=32, max_size=32))
    return np.array([lane % 2**32 for lane in lanes], np.uint32)


@settings(max_examples=300, deadline=None)
@given(warp_registers(), st.sets(st.sampled_from(PAIRS), min_size=1))
def test_the_smallest_allowed_image_is_taken_and_comes_back(register: np.ndarray, allowed: set[tuple[int, int]]) -> None:
    policy = Bdi(**{f"b{base}d{delta}": (base, delta) in allowed for base, delta in PAIRS})
    form = _form_of(policy, int(class_of(register)))
    raw = register.view(np.uint8)
    fitting = {pair for pair in allowed if plainly_fits(raw.tobytes(), *pair)}
    if form == 0:
        assert not fitting
        return
    pair = PAIRS[form - 1]
    assert pair in fitting
    assert TABLE_1[pair][0] == min(TABLE_1[other][0] for other in fitting)
    image, back = np.full(128, 0xAA, np.uint8), np.zeros(128, np.uint8)
    assert compress(raw, *pair, image) == TABLE_1[pair][0]
    assert (image[TABLE_1[pair][0] :] == 0xAA).all()  # nothing is kept outside the image
    decompress(image, *pair, back)
    assert (back == raw).all()


@njit
def _chosen(policy, value):
    return _smallest(_fitting(value) & _allowed(policy))


def _form_of(policy: Bdi, value: int) -> int:
    return int(_chosen(policy._replace(divergence=0), np.uint32(value)))  # words are numbers in compiled code


def test_sizes_and_banks_are_the_published_ones() -> None:
    assert {pair: (FORM_BYTES[form], FORM_SLICES[form]) for form, pair in enumerate(PAIRS, 1)} == TABLE_1
    assert list(FORM_BYTES[1:]) == sorted(FORM_BYTES[1:])
    assert (FORM_BYTES[0], FORM_SLICES[0]) == (128, 8)
    assert NAMES[PAIRS.index((4, 1))] == "<4,1>"


# --- the design -------------------------------------------------------------------------------------------------------------


def test_the_named_design_is_the_published_one() -> None:
    point = parse_design("compression").policies
    assert point.encoding == Bdi()
    allowed = {pair for pair in PAIRS if getattr(point.encoding, f"b{pair[0]}d{pair[1]}")}
    assert allowed == {(4, 0), (4, 1), (4, 2)}
    bdi, power = point.encoding, point.power
    assert (bdi.compressors, bdi.compression, bdi.decompressors, bdi.decompression, power.wakeup) == (2, 2, 4, 1, 10)
    machine = load_machine("compression")
    assert bdi.storage_bits(machine) == 2 * 1024  # the range indicator
    assert power.storage_bits(machine) == 32 * 256  # a valid bit per bank entry


def test_a_compression_without_pairs_is_refused() -> None:
    with pytest.raises(WarploomError, match="no <base,delta> pair is allowed"):
        parse_design("encoding=bdi(b4d0=false, b4d1=false, b4d2=false)")
    with pytest.raises(WarploomError, match="divergence must be one of mov, merge"):
        make_policy("encoding", "bdi", divergence="none")


def checked(name: str, design: str, executions: Executions, **options: Any) -> Any:
    """A checked run, with what must hold of every one."""
    result = simulate(workload_program(name), design, "compression", size="tiny", check=True, executions=executions, **options)
    assert result.verified
    c = result.counters
    classified = sum(c["compressed_writes"].values()) + c["uncompressed_writes"]
    assert classified == sum(c["writes"].values()) == sum(c["best_of_seven"].values()) == sum(c["best_of_nine"].values())
    assert classified + c["unclassified_writes"] == c["mrf_writes"]
    assert c["unclassified_writes"] == c["moves"] + c["refills"]
    assert sum(c["instructions"].values()) == result.warp_instructions
    assert c["instructions"]["non_divergent"] >= c["active_lanes"][32]  # more where warps were launched with fewer lanes
    assert c["bank_writes"] <= 8 * c["mrf_writes"] and 4 * c["bank_writes"] == c["rf_write_lanes"]
    for phase in ("divergent", "non_divergent"):
        assert c["ideal_slices"][phase] <= 8 * c["writes"][phase]
        assert sum(c["distance_bins"][phase].values()) == c["writes"][phase]
    return result


def test_programs_keep_their_values_and_the_accounts_add_up() -> None:
    table = load_technology("compression")
    for name in ("pathfinder", "bfs", "hotspot", "lib"):
        executions = Executions()
        result = checked(name, "compression", executions)
        c = result.counters
        assert c["expansions"] == 0
        assert c["on_cycles"] + c["off_cycles"] == c["entry_cycles"]
        assert sum(c["bank_gated_cycles"]) * 32 == c["off_cycles"]
        terms = {term.what: term.joules for term in result.energy_terms}
        assert terms["compression"] == pytest.approx(c["compressor_activations"] * 23e-12)
        assert terms["decompression"] == pytest.approx(c["decompressor_activations"] * 21e-12)
        lanes = c["rf_read_lanes"] + c["rf_write_lanes"]
        assert terms["register file wires"] == pytest.approx(lanes / 4 * 9.6e-12)
        assert terms["register file reads"] + terms["register file writes"] == pytest.approx(lanes / 4 * 7e-12)
        seconds = result.cycles / 1.4e9
        on = c["on_cycles"] / c["entry_cycles"]
        assert terms["register file on"] == pytest.approx(on * 32 * table.register_file.leakage * 15 * seconds)
        merged = checked(name, "compression + encoding=bdi(divergence=merge)", executions).counters
        assert merged["moves"] == 0
        assert merged["mrf_reads"] >= merged["rf_reads"]
        assert merged["ideal_slices"] == c["ideal_slices"]  # the values do not depend on how they are stored
        alone = checked(name, "compression + encoding=bdi(b4d1=false, b4d2=false)", executions).counters
        assert alone["compressed_writes"]["<4,1>"] == 0
        assert alone["compressed_writes"]["<4,0>"] == c["compressed_writes"]["<4,0>"]
        every = ", ".join(f"b{base}d{delta}=true" for base, delta in PAIRS)
        nine = checked(name, f"compression + encoding=bdi({every}, compression=8, decompression=8)", executions)
        assert nine.counters["bank_writes"] <= c["bank_writes"]
        assert nine.cycles > result.cycles


INSTANT = "encoding=bdi(compressors=16, compression=0, decompressors=16, decompression=0) + power=bank-gating(wakeup=0)"


@pytest.mark.parametrize("machine", ["gtx480", "compression"])
@pytest.mark.parametrize("name", ["aes", "matrixmul"])
def test_compression_that_takes_no_time_costs_no_cycle(name: str, machine: str) -> None:
    """Both are without divergence, and issue a memory instruction every few cycles."""
    executions = Executions()
    encoded, plain = (
        simulate(workload_program(name), design, machine, size="tiny", executions=executions) for design in (INSTANT, "baseline")
    )
    assert encoded.counters["decompressor_activations"] > 0
    assert encoded.counters["moves"] == 0
    assert encoded.cycles == plain.cycles


def test_lib_compresses_best() -> None:
    """Its inputs are constants: every lane of a warp computes the same, as the paper says."""
    result = checked("lib", "compression", Executions())
    assert result.counters["compression_ratio"]["non_divergent"] > 6
    gated = np.array(result.counters["bank_gated_cycles"]).reshape(4, 8)
    assert (np.diff(gated) >= 0).all()  # the higher a bank in its cluster, the longer it is gated


@pytest.mark.slow
@pytest.mark.parametrize("name", workload_names())
def test_all_programs(name: str) -> None:
    executions = Executions()
    for parameters in (
        "",
        "divergence=merge",
        "b4d1=false, b4d2=false",
        "b1d0=true, b2d1=true, b8d0=true, b8d1=true, b8d2=true, b8d4=true",
        "compressors=1, compression=8, decompressors=1, decompression=8, pipelined=false",
    ):
        checked(name, f"compression + encoding=bdi({parameters}) + power=bank-gating(wakeup=10)", executions)


@pytest.mark.slow
@pytest.mark.parametrize(
    "others",
    [
        "rfc(entries=4, active=6)",
        "allocation=rfv",
        "allocation=rfv(shrink=0.5)",
        "allocation=hardware-renaming",
        "allocation=regmutex",
        "gating=active-mask",
        "power=trimodal + gating=active-mask",
        "scheduler=lrr",
    ],
)
def test_combinations(others: str) -> None:
    for name in select_workloads(["compression"]):
        executions = Executions()
        for divergence in ("mov", "merge"):
            result = simulate(
                workload_program(name),
                f"compression + {others} + encoding=bdi(divergence={divergence})",
                "compression",
                size="tiny",
                check=True,
                executions=executions,
            )
            assert result.verified
