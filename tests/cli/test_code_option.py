"""``--code`` on the command line: machine code from workloads and from files, and errors in one sentence."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from support.places import DATA
from warploom.cli.app import run_command
from warploom.runs.keys import keys_of
from warploom.studies.reproduce.experiment import run_named
from warploom.studies.reproduce.reproduce import runs_of, select

CUBIN = DATA / "h200" / "cubin" / "vecadd.cubin"
KERNEL = """
extern "C" __global__ void scale(float* out, const float* in, float by, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i] * by;
}
"""
LAUNCH = ["--grid", "4", "--block", "256", "--emulate-only", "--json"]


def _run(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    code = run_command(list(words))
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def test_cuda_source_and_its_cubin_run(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    source = tmp_path / "scale.cu"
    source.write_text(KERNEL)
    arguments = ["--arg", "out=f32[1024]", "--arg", "in=f32[1024]:random", "--arg", "by=2.5", "--arg", "n=1000"]
    counts = []
    for code in ("sm_80", "sm_90"):
        status, out, _ = _run(capsys, "run", str(source), "--code", code, *LAUNCH, *arguments)
        assert status == 0
        counts.append(json.loads(out)["thread_instructions"])
    assert counts[0] != counts[1]  # other instructions for another architecture
    arrays = [word for name in "abc" for word in ("--arg", f"{name}=f32[1024]:ones")]
    status, out, _ = _run(capsys, "run", str(CUBIN), *LAUNCH, *arrays, "--arg", "n=1024")
    assert status == 0 and json.loads(out)["warp_instructions"] > 0


def test_inspect_shows_machine_code(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = _run(capsys, "inspect", "vectoradd", "--code", "sm_90")
    assert status == 0
    assert "LDG.E" in out and ":S0" in out  # with its control bits


def test_a_machine_s_usual_code_is_run(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["run", "vectoradd", "--size", "tiny", "--emulate-only", "--json", "--machine", "ampere"]
    codes = []
    for further in ([], ["--code", "ptx"]):
        status, out, _ = _run(capsys, *words, *further)
        assert status == 0
        about = json.loads(out)["provenance"]
        codes.append(about["spec"]["code"])
        assert ("ptxas" in about["digests"]["tools"]) == (about["spec"]["code"] != "ptx")
    assert codes == ["sm_86", "ptx"]


def test_a_result_in_machine_code_is_made_again(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    words = ["run", "vectoradd", "--size", "tiny", "--emulate-only", "--json", "--code", "sm_90"]
    _, out, _ = _run(capsys, *words)
    record = tmp_path / "result.json"
    record.write_text(out)
    status, again, err = _run(capsys, "run", "--from", str(record), "--json")
    assert status == 0, err
    assert json.loads(again)["provenance"]["key"] == json.loads(out)["provenance"]["key"]


def test_stored_runs_depend_on_the_code_and_its_tools(monkeypatch: pytest.MonkeyPatch) -> None:
    specs = [run_named("vectoradd", size="tiny", code=code) for code in ("", "ptx", "sm_80", "sm_90")]
    keys = keys_of(specs)
    assert keys[0] == keys[1] and len(set(keys)) == 3
    monkeypatch.setattr("warploom.runs.keys.tool_versions", lambda: "ptxas 99")
    other = keys_of(specs)
    assert other[:2] == keys[:2] and other[3] != keys[3]


def test_figures_can_be_made_of_machine_code() -> None:
    selected = select("rfv", "figure 1")
    usual, asked = runs_of(selected, "tiny"), runs_of(selected, "tiny", "sm_90")
    assert [replace(run, code="") for run in asked] == usual and {run.code for run in asked} == {"sm_90"}


def test_a_paper_can_name_the_code_of_its_figures() -> None:
    """Whoever asks for another code gets it; runs that are there to show what another code does keep theirs."""
    selected = select("rfc", "table 5")
    usual, asked = runs_of(selected, "tiny"), runs_of(selected, "tiny", "sm_90")
    assert {run.code for run in usual} == {"sm_75", "ptx"} and {run.code for run in asked} == {"sm_90", "ptx"}
    assert {run.code for run in runs_of(selected, "tiny", "ptx")} == {"ptx"}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["run", "vectoradd", "--code", "sm_20"], "code 'sm_20' is not known"),
        (["inspect", str(CUBIN), "--code", "sm_80"], "it holds neither PTX nor machine code for sm_80, but sm_90"),
        (["inspect", str(CUBIN), "--code", "ptx"], "it holds no PTX but machine code (sm_90); choose that with --code"),
        (["inspect", str(CUBIN), "--kernel", "vecsub"], "there is no kernel 'vecsub'"),
        (["compare", "--code", "sm_1"], "code 'sm_1' is not known"),
        (["reproduce", "rfv", "--code", "sm_1"], "code 'sm_1' is not known"),
        (["report", "--code", "sm_1"], "code 'sm_1' is not known"),
    ],
)
def test_bad_input_is_one_sentence(words: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    status, _, err = _run(capsys, *words)
    assert status == 2
    assert said in err and "Traceback" not in err
