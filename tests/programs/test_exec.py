"""Unchanged CUDA programs run without a GPU: each part of one program prints what hardware would let it print."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from warploom.base.errors import WarploomError
from warploom.cli.app import run_command
from warploom.designs.energy import PARTS as PARTS_OF_ENERGY
from warploom.programs.library import libraries
from warploom.programs.linkage import check_program
from warploom.programs.process import ProcessOrigin
from warploom.programs.recording import read_recording
from warploom.runs.live import ProgramRun
from warploom.runs.provenance import provenance_from_dict
from warploom.runs.result import Emulation, Result
from warploom.runs.values import plain

Execute = Callable[..., tuple[int, ProgramRun]]
PARTS = {
    "symbols": "5 301 140 32 0\n",
    "streams": "3 258 1 time passed\n",
    "graphs": "4 6 1\n",
    "pitched": "0 wrong, 119 2.5 -3\n",
    "managed": "19 101 1\n",
    "threads": "20 120\n",
    "textures": "0\n",
    "layers": "0\n",
    "cooperative": "1\n",
    "device": "1 Warploom gtx480 1 32 1536 1536 6 1\n",
}


@pytest.mark.parametrize("part", PARTS)
def test_a_program_prints_what_it_should(execute: Execute, features: Path, part: str, capfd: pytest.CaptureFixture[str]) -> None:
    status, run = execute([str(features), part])
    out, err = capfd.readouterr()
    assert (status, out, err) == (0, PARTS[part], "")
    assert part == "device" or sum(total.launches for total in run.result().kernels) > 0


def test_errors_have_cudas_codes(execute: Execute, features: Path, capfd: pytest.CaptureFixture[str]) -> None:
    status, _ = execute([str(features), "errors"])
    out, err = capfd.readouterr()
    assert status == 0
    assert out.splitlines() == [
        "cudaErrorMemoryAllocation",
        "out of memory",
        "cudaSuccess",
        "cudaErrorInvalidValue",
        "cudaErrorInvalidDevice",
        "cudaErrorInvalidConfiguration",
        "cudaErrorInvalidValue",
        "elsewhere: cudaSuccess",
        "cudaSuccess",  # a launch succeeds, and what comes after it does not
        "cudaErrorIllegalAddress",
        "cudaErrorIllegalAddress",
    ]
    assert "far_away" in err and "writes 4 bytes" in err


@pytest.mark.parametrize("code", ["ptx", "sm_75"])
def test_texels_beyond_the_edges_are_those_that_the_program_asks_for(
    execute: Execute, compiled: Callable[..., Path], code: str, capfd: pytest.CaptureFixture[str]
) -> None:
    """Wrapped, clamped and mirrored, with points and filtered; what is not there is refused by name."""
    if code != "ptx":
        pytest.importorskip("elftools")
    program = compiled("features.cu", "-cudart", "shared", "-gencode", "arch=compute_75,code=[sm_75,compute_75]")
    execute([str(program), "addressing"], code=code)
    out, err = capfd.readouterr()
    assert out.splitlines() == ["0 " * 12, "cudaErrorNotSupported " * 3]
    named = ("addressMode that differs between dimensions (1, 3)", "a borderColor other than zero", "sRGB")
    assert [line.removeprefix("warploom: cudaCreateTextureObject: ") for line in err.splitlines()] == [
        f"{name} is not supported." for name in named
    ]


def test_a_missing_call_says_its_name_once(execute: Execute, features: Path, capfd: pytest.CaptureFixture[str]) -> None:
    status, _ = execute([str(features), "missing"])
    out, err = capfd.readouterr()
    assert (status, out) == (0, "cudaErrorNotSupported\ncudaErrorNotSupported\n")
    assert err.count("cudaGraphMemFreeNodeGetParams") == 1


def test_a_crash_is_the_programs_own(execute: Execute, features: Path, capfd: pytest.CaptureFixture[str]) -> None:
    status, run = execute([str(features), "crash"])
    assert status == 128 + signal.SIGSEGV
    assert "SIGSEGV" in capfd.readouterr().err
    assert [total.launches for total in run.result().kernels] == [1]


@pytest.mark.parametrize("blow", [signal.SIGINT, signal.SIGKILL])
def test_nothing_is_left_running(features: Path, blow: signal.Signals, tmp_path: Path) -> None:
    path = tmp_path / "stopped.wlr"
    command = [sys.executable, "-m", "warploom", "exec", "--emulate-only", "--record", str(path), "--", str(features), "wait"]
    with subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # also where the tests run in the background
    ) as simulator:
        assert simulator.stdout is not None and simulator.stdout.readline() == "ready\n"
        children = Path(f"/proc/{simulator.pid}/task/{simulator.pid}/children").read_text().split()
        assert len(children) == 1
        simulator.send_signal(blow)
        simulator.wait(30)
        deadline = time.monotonic() + 30
        while _runs(children[0]):
            assert time.monotonic() < deadline, "the program is still running"
            time.sleep(0.05)
    # The recording is whole up to there; where nobody was left to say that it was interrupted, it says that it was cut off.
    interrupted = blow is signal.SIGINT
    recording = read_recording(path if interrupted else path.with_name("stopped.wlr.part"))
    assert recording.ending == ("was interrupted" if interrupted else "")
    assert sum(step.DO == "launch" for step in recording.steps) == 1


def _runs(process: str) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] not in ("Z", "X")
    except FileNotFoundError:
        return False


STATIC = ("-cudart", "static", "-gencode", "arch=compute_75,code=compute_75")


@pytest.mark.parametrize("place", ["-pie", "-no-pie"])
def test_a_program_with_the_runtime_inside_is_led_to_ours(
    execute: Execute, compiled: Callable[..., Path], place: str, capfd: pytest.CaptureFixture[str]
) -> None:
    program = compiled("features.cu", *STATIC, "-Xcompiler", "-fPIE" if place == "-pie" else "-fno-pie", "-Xlinker", place)
    for part in ("symbols", "threads", "cooperative"):
        assert execute([str(program), part])[0] == 0
        assert capfd.readouterr() == (PARTS[part], "")


def test_a_library_with_the_runtime_inside_is_led_to_ours(
    execute: Execute, compiled: Callable[..., Path], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    library = compiled("features.cu", *STATIC, "-shared", "-Xcompiler", "-fPIC", "-Dmain=entry")
    source, program = tmp_path / "main.c", tmp_path / "main"
    source.write_text("int entry(int, char **);\nint main(int count, char **words) { return entry(count, words); }\n")
    mangled = f"-Dentry=_Z5entryiPPc -Wl,-rpath,{library.parent}".split()
    subprocess.run(["cc", "-o", str(program), str(source), *mangled, str(library)], check=True)
    assert execute([str(program), "threads"])[0] == 0
    assert capfd.readouterr() == (PARTS["threads"], "")


def test_a_program_whose_runtime_cannot_be_found_is_told_how_to_link(
    compiled: Callable[..., Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    stripped = tmp_path / "stripped"
    subprocess.run(["strip", "-o", str(stripped), str(compiled("features.cu", *STATIC))], check=True)
    with pytest.raises(WarploomError, match="-cudart shared"):
        check_program(str(stripped))
    assert run_command(["exec", "--emulate-only", "--", str(stripped), "device"]) == 2
    assert "-cudart shared" in capsys.readouterr().err


def test_a_script_may_start_the_program(
    execute: Execute, features: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    script = tmp_path / "both.sh"
    script.write_text(f"#!/bin/sh\n{features} threads && {features} managed\n")
    script.chmod(0o755)
    status, _ = execute([str(script)])
    assert (status, capfd.readouterr().out) == (0, PARTS["threads"] + PARTS["managed"])


def test_times_and_energies_of_kernels_are_printed(features: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    summary = tmp_path / "summary.json"
    command = ["exec", "--sms", "1", "--technology", "common", "--summary", str(summary), "--", str(features), "symbols"]
    assert run_command(command) == 0
    err = capfd.readouterr().err
    assert "nJ: the register file's energy" in err and "scale" in err
    told = json.loads(summary.read_text())
    kernels, made_from = told["kernels"], provenance_from_dict(told["provenance"], "the summary")
    assert made_from.spec.program == ProcessOrigin((str(features), "symbols")) and made_from.technology == "common"
    assert [kernel["launches"] for kernel in kernels] == [1, 1]
    for kernel in kernels:
        assert kernel["cycles"] > 0 and kernel["seconds"] > 0
        assert kernel["energy_pj"]["total"] == pytest.approx(sum(kernel["energy_pj"][part] for part in PARTS_OF_ENERGY))
        assert kernel["energy_pj"]["dynamic"] > 0 and kernel["energy_pj"]["leakage"] > 0


def test_a_program_has_a_result_like_every_other_run(features: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """One value on standard output, the same in a file; it goes to a result and back without loss."""
    summary = tmp_path / "summary.json"
    words = ["exec", "--sms", "1", "--json", "--quiet", "--summary", str(summary), "--", str(features), "symbols"]
    assert run_command(words) == 0
    out, err = capfd.readouterr()
    assert err == PARTS["symbols"], "what the program prints goes to standard error"
    told = json.loads(out)
    assert told == json.loads(summary.read_text())
    result = Result.from_dict(told)
    assert plain(result.to_dict()) == told and result.spec.program == ProcessOrigin((str(features), "symbols"))
    assert (result.verdict, result.workload, result.machine) == ("no reference", "features", "gtx480[sms=1]")
    assert [launch.kernel for launch in result.launches] == [total.kernel for total in result.kernels]
    assert result.cycles == sum(total.cycles or 0 for total in result.kernels) > 0
    assert result.counters["warp_instructions"] == result.warp_instructions > 0


def test_a_program_that_is_only_executed_has_a_result_too(features: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert run_command(["exec", "--emulate-only", "--json", "--quiet", "--", str(features), "symbols"]) == 0
    told = json.loads(capfd.readouterr().out)
    executed = Emulation.from_dict(told)
    assert plain(executed.to_dict()) == told and executed.thread_instructions > executed.warp_instructions > 0
    assert [(total.launches, total.cycles, total.energy_pj) for total in executed.kernels] == [(1, None, None)] * 2


def test_processes_of_a_program_have_one_result(
    execute: Execute, features: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """Each has a chip of its own; the result is of all of them."""
    one, script = execute([str(features), "symbols"], timed=True)[1].result(), tmp_path / "twice.sh"
    script.write_text(f"#!/bin/sh\n{features} symbols && {features} symbols\n")
    script.chmod(0o755)
    both = execute([str(script)], timed=True)[1].result()
    assert isinstance(one, Result) and isinstance(both, Result)
    assert both.cycles == 2 * one.cycles and both.launches == 2 * one.launches
    assert [(k.kernel, k.launches, k.cycles) for k in both.kernels] == [(k.kernel, 2, 2 * (k.cycles or 0)) for k in one.kernels]
    assert both.counters["rf_reads"] == 2 * one.counters["rf_reads"] > 0
    assert both.counters["allocated_fraction"] == pytest.approx(one.counters["allocated_fraction"])
    assert both.energy_pj["total"] == pytest.approx(2 * one.energy_pj["total"])
    assert both.power[-1]["seconds"] == pytest.approx(2 * one.power[-1]["seconds"])


def test_with_warm_caches_copies_are_found_in_l2(features: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    cycles = {}
    for caches in ("cold", "warm"):
        summary = tmp_path / f"{caches}.json"
        words = ["exec", "--caches", caches, "--summary", str(summary), "--quiet", "--", str(features), "pitched"]
        assert run_command(words) == 0, capfd.readouterr().err
        cycles[caches] = [kernel["cycles"] for kernel in json.loads(summary.read_text())["kernels"]]
    assert sum(cycles["warm"]) < sum(cycles["cold"])


def test_a_program_without_a_kernel_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["exec", "--", "true"]) == 0
    assert "true: it launched no kernel" in capsys.readouterr().err
    assert run_command(["exec", "--quiet", "--", "true"]) == 0
    assert capsys.readouterr().err == ""


def test_a_program_that_is_not_there(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["exec", "--", "./no-such-program"]) == 2
    assert "there is no such program" in capsys.readouterr().err


def test_small_launches_cost_little(execute: Execute, features: Path) -> None:
    """Beside the emulator's own time: measured with an empty kernel, and generous for loaded machines."""
    launches = 500
    started = time.perf_counter()
    status, run = execute([str(features), "many", str(launches)])
    seconds = time.perf_counter() - started
    assert status == 0
    assert [total.launches for total in run.result().kernels] == [launches + 1]
    assert seconds / launches < 0.02


def test_machine_code_runs_as_well(execute: Execute, compiled: Callable[..., Path], capfd: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("elftools")
    program = compiled("features.cu", "-cudart", "shared", "-gencode", "arch=compute_75,code=[sm_75,compute_75]")
    for part, printed in (("symbols", PARTS["symbols"]), ("managed", PARTS["managed"]), ("surfaces", "0\n")):
        status, run = execute([str(program), part], code="sm_75")
        assert (status, capfd.readouterr().out) == (0, printed)
        assert all(total.registers > 0 for total in run.result().kernels)


def test_a_machine_that_times_machine_code_is_given_some(
    features: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """What the machine usually executes is the default; PTX, which it cannot time, is refused by name."""
    pytest.importorskip("elftools")
    summary = tmp_path / "summary.json"
    words = ["exec", "--machine", "hopper", "--sms", "1", "--summary", str(summary), "--", str(features), "managed"]
    assert run_command(words) == 0
    out, err = capfd.readouterr()
    assert out == PARTS["managed"] and "code sm_90" in err
    told = json.loads(summary.read_text())
    assert told["provenance"]["spec"]["code"] == "sm_90" and all(kernel["cycles"] > 0 for kernel in told["kernels"])
    run_command(["exec", "--code", "ptx", *words[1:]])
    assert "run it with `--code sm_90`" in capfd.readouterr().err
    assert json.loads(summary.read_text())["kernels"] == []


def test_no_driver_but_ours_is_opened(execute: Execute, features: Path, tmp_path: Path) -> None:
    log = tmp_path / "opened"
    environment = {"LD_DEBUG": "files", "LD_DEBUG_OUTPUT": str(log)}
    os.environ.update(environment)
    try:
        execute([str(features), "threads"])
    finally:
        for name in environment:
            del os.environ[name]
    text = "".join(file.read_text() for file in tmp_path.iterdir())
    assert "libcudart.so.13" in text
    assert all(str(libraries()) in line for line in text.splitlines() if "libcuda.so" in line)
