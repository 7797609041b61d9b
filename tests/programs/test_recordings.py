"""A recording does again what a program did: with the same results under every design, and cut off or damaged it says so."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from warploom import simulate
from warploom.base.errors import WarploomError
from warploom.cli.app import run_command
from warploom.programs.recording import RecordingWriter, read_recording
from warploom.programs.replay import recorded_program
from warploom.programs.steps import Failed, FindKernel, LaunchKernel, Write
from warploom.runs.live import ProgramRun
from warploom.runs.result import Result
from warploom.runs.simulate import emulate

Execute = Callable[..., tuple[int, ProgramRun]]
PARTS = ("symbols", "streams", "pitched", "managed", "threads", "textures", "cooperative")


@pytest.fixture(scope="module")
def recordings(execute: Execute, features: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """One recording of each part."""
    folder = tmp_path_factory.mktemp("recordings")
    made = {part: folder / f"{part}.wlr" for part in (*PARTS, "errors", "crash")}
    for part, path in made.items():
        execute([str(features), part], record=path)
    return made


@pytest.mark.parametrize("part", PARTS)
def test_a_replay_reads_back_the_same(recordings: dict[str, Path], part: str) -> None:
    assert emulate(recorded_program(str(recordings[part]))).verified is True


@pytest.mark.parametrize("part", ["symbols", "managed", "pitched"])
def test_a_replay_in_machine_code_reads_back_the_same(recordings: dict[str, Path], part: str) -> None:
    pytest.importorskip("elftools")
    assert emulate(recorded_program(str(recordings[part]), "sm_75")).verified is True


def test_a_replay_under_designs_takes_as_long_as_the_program(execute: Execute, features: Path, tmp_path: Path) -> None:
    path = tmp_path / "timed.wlr"
    _, run = execute([str(features), "symbols"], record=path, timed=True)
    result = simulate(str(path), "baseline", run.spec.machine)
    live = run.result()
    assert isinstance(live, Result) and result.verified is True and live.verified is None
    asked = ("provenance", "verified", "wall_seconds", "compile_seconds")
    assert {name: value for name, value in vars(live).items() if name not in asked} == {
        name: value for name, value in vars(result).items() if name not in asked
    }
    assert result.cycles == sum(total.cycles or 0 for total in live.kernels) == sum(launch.cycles for launch in live.launches)
    for part, energy in result.energy_pj.items():
        assert sum(total.energy_pj[part] for total in live.kernels if total.energy_pj) == pytest.approx(energy)
    assert sum(total.seconds or 0 for total in live.kernels) == pytest.approx(
        result.cycles * 1e-6 / run.spec.machine.chip.clock_core_mhz
    )
    for other in ("rfv", "ltrf"):
        assert simulate(str(path), other, run.spec.machine).verified is True


def test_a_wrong_result_is_noticed(recordings: dict[str, Path], tmp_path: Path) -> None:
    """Change the number that the program added: what it read back does not follow from it any more."""
    good, path = read_recording(recordings["threads"]), tmp_path / "changed.wlr"
    writer = RecordingWriter(path)
    for number, step in enumerate(good.steps[:-1]):
        data = good.data(number) if good.size(number) else b""
        writer.write(step, bytes([data[0] ^ 1, *data[1:]]) if isinstance(step, Write) else data)
    writer.finish("ended with exit code 0")
    assert emulate(recorded_program(str(path))).verified is False


def test_padding_of_structures_is_not_kept(recordings: dict[str, Path]) -> None:
    recording = read_recording(recordings["pitched"])
    kernel = next(step.number for step in recording.of_kind(FindKernel) if step.name.startswith("_Z6unpack"))
    launch = next(n for n, step in enumerate(recording.steps) if isinstance(step, LaunchKernel) and step.kernel == kernel)
    given = np.frombuffer(recording.data(launch), np.uint8)
    assert given[0] == ord("w")
    assert not given[1:8].any() and not given[18:24].any()  # between the letter and the number, and behind the half


@pytest.mark.parametrize("part", ["symbols", "managed"])
def test_recording_beside_a_runtime_that_does_the_work(features: Path, tmp_path: Path, execute: Execute, part: str) -> None:
    """Here the runtime beside which it records is Warploom's own; on a machine with a GPU it is CUDA's."""
    path, script = tmp_path / "beside.wlr", tmp_path / "beside.sh"
    command = f"{sys.executable} -m warploom exec --real-gpu --record {path} -- {features} {part}"
    script.write_text(f"#!/bin/sh\nexec {command}\n")
    script.chmod(0o755)
    assert execute([str(script)])[0] == 0
    assert {step.DO for step in read_recording(path).steps} >= {"module", "variables", "allocate", "write", "launch", "read"}
    assert emulate(recorded_program(str(path))).verified is True


def test_a_launch_that_failed_ends_the_replay(recordings: dict[str, Path]) -> None:
    assert any(read_recording(recordings["errors"]).of_kind(Failed))
    with pytest.raises(WarploomError, match="launches no kernel"):
        emulate(recorded_program(str(recordings["errors"])))


def test_a_crash_leaves_a_whole_recording(recordings: dict[str, Path]) -> None:
    recording = read_recording(recordings["crash"])
    assert recording.ending == "ended with exit code 139"
    assert len(list(recording.of_kind(LaunchKernel))) == 1


def test_inspect_lists_kernels_and_bytes(recordings: dict[str, Path], capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["inspect", str(recordings["symbols"]), "--json"]) == 0
    about = json.loads(capsys.readouterr().out)
    assert [(row["kernel"], row["launches"], row["blocks"]) for row in about["kernels"]] == [
        ("_Z5scalePfi", 1, 4),
        ("_Z5counti", 1, 2),
    ]
    assert (about["allocations"], about["written_bytes"], about["read_bytes"]) == (
        1,
        420,
        408,
    )  # with a managed variable of 4 bytes


def test_a_recording_is_a_workload_to_run_and_compare(recordings: dict[str, Path], capsys: pytest.CaptureFixture[str]) -> None:
    path = str(recordings["threads"])
    assert run_command(["run", path, "--emulate-only", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["verified"] is True
    assert run_command(["compare", "--workloads", path, "--designs", "baseline", "--sms", "1", "--json", "--jobs", "1"]) == 0
    assert [result["workload"] for result in json.loads(capsys.readouterr().out)] == ["threads"]
    assert run_command(["compare", "--workloads", "gone.wlr"]) == 2


@given(cut=st.integers(0, 10_000), flip=st.integers(0, 10_000))
def test_cut_off_or_damaged_files_say_so(recordings: dict[str, Path], cut: int, flip: int) -> None:
    whole = recordings["threads"].read_bytes()
    path = recordings["threads"].with_name("spoilt.wlr")
    path.write_bytes(whole[: cut % len(whole)])
    try:
        assert read_recording(path).ending == ""
    except WarploomError as problem:
        assert str(problem).startswith(str(path))
    spoilt = bytearray(whole)
    spoilt[flip % len(whole)] ^= 0x10
    path.write_bytes(spoilt)
    with pytest.raises(WarploomError, match=str(path)):
        read_recording(path)


def test_a_full_disk_under_a_recording_does_not_take_the_programs_result(
    features: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "app.wlr"
    (tmp_path / "app.wlr.part").symlink_to("/dev/full")
    status = run_command(["exec", "--emulate-only", "--quiet", "--record", str(path), "--", str(features), "symbols"])
    out, err = capfd.readouterr()
    without = run_command(["exec", "--emulate-only", "--quiet", "--", str(features), "symbols"])
    assert (status, out) == (without, capfd.readouterr().out) and status == 0
    assert err == f"{path}: it cannot be written (No space left on device); the program goes on, and is not recorded\n"
    assert list(tmp_path.iterdir()) == []
