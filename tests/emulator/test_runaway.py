"""Programs that would never end: each is stopped with a sentence that says where, or can be interrupted at once."""

from __future__ import annotations

import signal
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from support.small_ptx import device, fault, kernel
from warploom.base.errors import WarploomError
from warploom.chip.machines import load_machine
from warploom.cli.app import run_command
from warploom.cli.heartbeat import heartbeat
from warploom.designs import parse_design
from warploom.emulator.trace.store import TraceStore
from warploom.programs.device import Device
from warploom.programs.named import origin_named
from warploom.runs.run import run
from warploom.runs.spec import RunSpec

ENDLESS = "again: add.u32 w, t, 1; bra again;"
SPIN = "spin: ld.volatile.global.u32 w, [p]; setp.eq.u32 r, w, 0; @r bra spin;"
ZEROS = np.zeros(256, np.uint32)


def test_a_barrier_that_counts_more_warps_than_there_are() -> None:
    message = fault(device("bar.sync 1, 96;"), 1, (64,), ZEROS)
    assert "deadlock: warps 0-1 wait at barrier 1 ('bar.sync 1, 0x60' of line 9" in message
    assert "where 2 of 3 warps have come" in message


def test_a_barrier_that_counts_a_warp_which_has_ended() -> None:
    message = fault(device("setp.lt.u32 q, t, 32; @q exit; bar.sync 3, 64;"), 1, (64,), ZEROS)
    assert "warp 1 waits at barrier 3" in message and "where 1 of 2 warps have come, warp 0 has ended" in message


def test_a_deadlock_beside_blocks_that_go_on() -> None:
    """The first block polls memory for ever, so the second becomes resident; that one is dead at its barrier."""
    body = f"setp.ne.u32 q, u, 0; @q bra second;\n{SPIN}\nexit;\nsecond: bar.sync 1, 96;"
    message = fault(device(body, budget=10_000_000), 2, (64,), ZEROS)
    assert "block (1, 0, 0): deadlock: warps 0-1 wait at barrier 1" in message


@pytest.mark.parametrize("body", [ENDLESS, SPIN], ids=["loop", "spin"])
def test_the_budget_names_place_and_remedy(body: str) -> None:
    message = fault(device(body, budget=50_000), 1, (32,), ZEROS)
    assert message.startswith("test.ptx:9: kernel k, block (0, 0, 0)")
    assert "has executed 50000 warp instructions" in message and "--max-instructions" in message


def test_a_launch_of_just_its_budget_ends_well() -> None:
    gpu = device("st.global.u32 [at], 7;")
    gpu.launch("k", (2,), (64,), ZEROS.copy())
    needed = gpu.launches[0].stats.warp_instructions
    device("st.global.u32 [at], 7;", budget=needed).launch("k", (2,), (64,), ZEROS.copy())
    with pytest.raises(WarploomError):
        device("st.global.u32 [at], 7;", budget=needed - 1).launch("k", (2,), (64,), ZEROS.copy())


@pytest.mark.parametrize("grid", [(1_000_000_000,), (50_000, 40_000), (2**31 - 1,)])
def test_a_grid_beyond_the_budget_is_refused_at_once(grid: tuple[int, ...], tmp_path: Path) -> None:
    gpu = Device(kernel("ld.volatile.global.u32 w, [p];"), record=TraceStore(tmp_path))
    started = time.monotonic()
    with pytest.raises(
        WarploomError, match=r"k: \d+ blocks of 2 warps execute at least \d+ warp instructions, but the budget is"
    ):
        gpu.launch("k", grid, (64,), ZEROS)
    assert time.monotonic() - started < 5
    assert not any(tmp_path.rglob("*.npy"))


class Alarm(Exception):
    """Stands for Ctrl-C, which comes as a signal too."""


@pytest.mark.parametrize("body, grid", [(ENDLESS, 1), ("", 500_000_000)], ids=["loop", "grid"])
def test_a_running_launch_is_interrupted_at_once(body: str, grid: int) -> None:
    def ring(_number: int, _frame: object) -> None:
        raise Alarm

    gpu = device(body, budget=10**12)
    gpu.launch("k", (1,), (32,), ZEROS.copy()) if grid > 1 else None  # compiled code is loaded before the clock runs
    previous = signal.signal(signal.SIGALRM, ring)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.5)
        started = time.monotonic()
        with pytest.raises(Alarm):
            gpu.launch("k", (grid,), (32,), ZEROS.copy())
        assert time.monotonic() - started < 5
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)


def test_what_an_endless_block_records_does_not_fill_the_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("warploom.emulator.launch.MOST_LOG_BYTES", 200 << 20)
    gpu = Device(kernel(ENDLESS), record=TraceStore(tmp_path), file="test.ptx")
    message = fault(gpu, 1, (32,), ZEROS)
    assert (
        message.startswith("test.ptx:9: kernel k, block (0, 0, 0)") and "the trace of blocks that run at the same time" in message
    )
    assert not any(tmp_path.rglob("*.npy"))


def test_a_long_launch_shows_signs_of_life(capsys: pytest.CaptureFixture[str]) -> None:
    with heartbeat(first=0.02, every=0.02):
        fault(device(ENDLESS, budget=40_000_000), 1, (32,), ZEROS)
    lines = capsys.readouterr().err.splitlines()
    assert lines and all(line.startswith("executing kernel k") for line in lines)
    assert "(block 1 of 1, " in lines[-1] and lines[-1].endswith("s so far")
    progress = [int(line.split("1 of 1, ")[1].split(" warp")[0].replace(",", "")) for line in lines if "1 of 1" in line]
    assert progress == sorted(progress) and progress[-1] > 0


@pytest.mark.parametrize("options", [["--emulate-only"], []], ids=["emulate", "time"])
def test_the_command_has_the_budget_as_an_option(options: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "endless.ptx"
    file.write_text(kernel(ENDLESS))
    launch = ["--grid", "1", "--block", "32", "--arg", "a=u32[64]:zeros"]
    assert run_command(["run", str(file), *launch, "--max-instructions", "70000", *options]) == 2
    error = capsys.readouterr().err
    assert f"{file}:9: kernel k" in error and "has executed 70000 warp instructions" in error


def test_compare_has_the_option_too(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["compare", "--workloads", "vectoradd", "--designs", "baseline", "--size", "tiny", "--max-instructions", "1"]
    assert run_command(words) == 2
    assert "but the budget is 1" in capsys.readouterr().err


def test_a_run_that_was_made_before_does_not_lift_a_smaller_budget() -> None:
    """A process keeps what it has executed last, for further runs of the same program."""
    spec = RunSpec(origin_named("vectoradd"), parse_design("baseline"), load_machine("gtx480"), "tiny")
    run(spec)
    with pytest.raises(WarploomError, match="but the budget is 1"):
        run(replace(spec, budget=1))
