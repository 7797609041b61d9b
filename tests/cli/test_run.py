"""The commands at work: real programs, real results, and what `--json` promises."""

import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from support.scale_kernel import LAUNCH, SCALE_PTX
from warploom.cli.app import run_command

KEYS = {
    "workload",
    "design",
    "machine",
    "size",
    "verified",
    "cycles",
    "warp_instructions",
    "ipc",
    "occupancy",
    "ctas_per_sm",
    "registers_per_thread",
    "register_file_bytes",
    "counters",
    "energy_pj",
    "storage_bits",
    "wall_seconds",
    "compile_seconds",
}
NO_TIME = {"wall_seconds": 0, "compile_seconds": 0}
COUNTERS = {
    "rf_reads",
    "rf_writes",
    "bank_accesses",
    "bank_conflicts",
    "stall_cycles",
    "inter_access_distance",
    "active_lanes",
    "allocated_fraction",
    "live_fraction",
}


@pytest.fixture
def warploom(capsys: pytest.CaptureFixture[str]) -> Callable[..., Any]:
    """Runs a command and gives back what it printed as JSON."""

    def run(*words: str, code: int = 0) -> Any:
        assert run_command([*words, "--json"]) == code, capsys.readouterr().err
        return json.loads(capsys.readouterr().out)

    return run


@pytest.fixture
def scale(tmp_path: Path) -> str:
    path = tmp_path / "scale.ptx"
    path.write_text(SCALE_PTX)
    return str(path)


def same(first: dict[str, Any], second: dict[str, Any]) -> bool:
    """Whether two results agree in all but the time they took."""
    return first | NO_TIME == second | NO_TIME


def test_a_run_gives_every_promised_number(warploom: Callable[..., Any]) -> None:
    result = warploom("run", "vectoradd", "--size", "tiny", "--check")
    assert result.keys() >= KEYS
    assert result["counters"].keys() >= COUNTERS
    assert result["verified"] is True
    assert result["checked"] is True
    assert result["energy_pj"].keys() == {"dynamic", "leakage", "overhead", "total"}
    parts = result["energy_pj"]
    assert parts["total"] == pytest.approx(parts["dynamic"] + parts["leakage"] + parts["overhead"], rel=1e-12)
    assert result["ipc"] == pytest.approx(result["warp_instructions"] / result["cycles"])
    assert result["register_file_bytes"] == 131072


def test_a_design_fed_back_gives_the_same_counters(warploom: Callable[..., Any], tmp_path: Path) -> None:
    from warploom.designs import from_dict

    first = warploom("run", "vectoradd", "--size", "tiny", "--check")
    path = tmp_path / "again.toml"
    path.write_text(from_dict(first["design"]).to_toml())
    assert same(warploom("run", "vectoradd", "--size", "tiny", "--check", "--design", str(path)), first)


def test_several_designs_give_a_list_and_share_one_execution(
    warploom: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    from warploom.programs import device

    made = []
    original = device.Device.__init__

    def counted(self: device.Device, *args: Any, **kwargs: Any) -> None:
        made.append(1)
        original(self, *args, **kwargs)

    monkeypatch.setattr(device.Device, "__init__", counted)
    half = "register_file=0.5"
    results = warploom("run", "vectoradd", "--size", "tiny", "--check", "--design", "baseline", "--design", half)
    assert [result["design"]["name"] for result in results] == ["baseline", half]
    assert [result["register_file_bytes"] for result in results] == [131072, 65536]
    assert results[1]["energy_pj"]["leakage"] < results[0]["energy_pj"]["leakage"]
    assert len(made) == 1


def test_a_register_limit_makes_the_compiler_spill(warploom: Callable[..., Any]) -> None:
    plain = warploom("run", "matrixmul", "--size", "tiny", "--check")
    limited = warploom("run", "matrixmul", "--size", "tiny", "--check", "--design", "max_registers=8")
    assert limited["verified"] is True
    assert limited["registers_per_thread"] <= 8 < plain["registers_per_thread"]
    assert limited["counters"]["local_loads"] > plain["counters"]["local_loads"]


def test_fit_keeps_the_residency_of_the_whole_file(warploom: Callable[..., Any]) -> None:
    whole = warploom("run", "matrixmul", "--size", "tiny", "--check")
    fitted = warploom("run", "matrixmul", "--size", "tiny", "--check", "--design", "register_file=0.5 + max_registers=fit")
    assert fitted["verified"] is True
    assert fitted["register_file_bytes"] * 2 == whole["register_file_bytes"]
    assert fitted["ctas_per_sm"] == whole["ctas_per_sm"]
    assert fitted["registers_per_thread"] < whole["registers_per_thread"]


def test_emulation_alone(warploom: Callable[..., Any]) -> None:
    result = warploom("run", "vectoradd", "--size", "tiny", "--emulate-only")
    assert result.keys() >= {"verified", "warp_instructions", "thread_instructions", "wall_seconds"}
    assert result["verified"] is True
    assert result["thread_instructions"] > 31 * result["warp_instructions"]


def test_a_kernel_of_ones_own(warploom: Callable[..., Any], scale: str) -> None:
    result = warploom("run", scale, *LAUNCH, "--check")
    assert result["verified"] is None
    assert result["workload"] == "scale:scale"
    assert result["counters"]["active_lanes"][32] == result["warp_instructions"]


def test_a_kernel_of_ones_own_in_cuda(warploom: Callable[..., Any], tmp_path: Path) -> None:
    pytest.importorskip("nvidia.cu13", reason="needs the extra 'cuda'")
    path = tmp_path / "scale.cu"
    path.write_text(
        "__global__ void scale(float* x, float factor, int n)\n{ x[blockIdx.x * blockDim.x + threadIdx.x] *= factor; }"
    )
    result = warploom("run", str(path), *LAUNCH, "--emulate-only")
    assert result["warp_instructions"] > 0
    assert run_command(["run", str(path), "--grid", "4", "--block", "64", "--arg", "x=s32[256]"]) == 2


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["--arg", "x=f32[256]", "--arg", "factor=2.5"], "parameter 3 (param_2, u32) has no argument"),
        ([*LAUNCH[4:], "--arg", "more=1"], "'more' is one too many"),
        (["--arg", "x=f32[256]", "--arg", "factor=f32[4]", "--arg", "n=1"], "'factor' is an array but parameter 2 is a scalar"),
        (["--arg", "x=f32[256]", "--arg", "factor=a", "--arg", "n=1"], "'a' is not a number of type f32"),
        ([*LAUNCH[4:], "--kernel", "scales"], "did you mean 'scale'"),
        (["--arg", "x=f32[2]", "--arg", "factor=1", "--arg", "n=256"], "scale"),
    ],
)
def test_wrong_arguments_of_ones_own_kernel(
    capsys: pytest.CaptureFixture[str], scale: str, words: list[str], complaint: str
) -> None:
    assert run_command(["run", scale, "--grid", "4", "--block", "64", *words, "--emulate-only"]) == 2
    lines = capsys.readouterr().err.splitlines()  # lines about compilation may come first
    assert complaint in lines[-1]
    assert all("compiling" in line or line.endswith("s so far") for line in lines[:-1])


def test_comparison_is_the_same_whatever_the_number_of_processes(warploom: Callable[..., Any], tmp_path: Path) -> None:
    words = ("compare", "--workloads", "vectoradd,reduction", "--size", "tiny", "--check", "--designs", "baseline")
    alone, together = warploom(*words, "--jobs", "1"), warploom(*words, "--jobs", "2", "--out", str(tmp_path / "bars.svg"))
    assert [result["workload"] for result in alone] == ["vectoradd", "reduction"]
    assert all(same(a, b) for a, b in zip(alone, together, strict=True))
    assert (tmp_path / "bars.svg").stat().st_size > 1000


def test_workloads_are_described(warploom: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("warploom.programs.workloads.registry.workload_set", lambda name: ("vectoradd", "reduction"))
    rows = warploom("workloads")
    assert [row["name"] for row in rows] == ["vectoradd", "reduction"]
    assert rows[0]["sets"] == ["rfv"]
    assert rows[0]["threads_per_cta"] == 256
    assert rows[0]["registers"] >= 3
    assert rows[0]["divergent_share"] < 0.01 < rows[1]["divergent_share"]
    assert all(row["verified"] for row in rows)


def test_designs_list_choices_parameters_and_sources(warploom: Callable[..., Any]) -> None:
    listing = warploom("designs")
    names = [design["name"] for design in listing["designs"]]
    assert names[:2] == ["baseline", "oracle"]
    assert all(design["source"] and "storage_bits" in design for design in listing["designs"])
    two_level = next(policy for policy in listing["policies"] if policy["policy"] == "two-level")
    assert two_level["parameters"]["active"]["allowed"]


def test_an_interrupt_ends_the_run_without_a_traceback(tmp_path: Path) -> None:
    command = [sys.executable, "-c", "from warploom.cli import main; main()", "compare", "--workloads", "rfv"]
    process = subprocess.Popen(
        [*command, "--designs", "baseline", "--out", "bars.png"],
        cwd=tmp_path,
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # also where the tests run in the background
    )
    assert process.stderr is not None
    assert "designs: 1, on workloads: 16" in process.stderr.readline()
    time.sleep(1)
    process.send_signal(signal.SIGINT)
    output, error = process.communicate(timeout=60)
    assert process.returncode == 130
    assert output == ""
    assert "Traceback" not in error
    assert error.strip().endswith("interrupted")
    assert list(tmp_path.iterdir()) == []
