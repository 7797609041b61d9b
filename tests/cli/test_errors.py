"""Bad input on the command line: exit code 2, one sentence on standard error, nothing on standard output."""

import json
import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from support.scale_kernel import SCALE_PTX
from warploom.cli.app import run_command


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["run", "vectorad"], "did you mean 'vectoradd'"),
        (["run", "vectoradd", "--size", "huge"], "choose tiny, small, paper or chip"),
        (["run", "vectoradd", "--caches", "hot"], "choose cold or warm"),
        (["run", "vectoradd", "--design", "basline"], "did you mean 'baseline'"),
        (["run", "vectoradd", "--design", "gto + lrr"], "two policies for scheduler"),
        (["run", "vectoradd", "--machine", "gtx48"], "did you mean 'gtx480'"),
        (["run", "vectoradd", "--override", "l1.latency"], "write table.key=value"),
        (
            ["run", "vectoradd", "--override", "l1.mshr=8"],
            "machine gtx480: there is no key 'l1.mshr'; did you mean 'l1.mshrs'?",
        ),
        (["run", "vectoradd", "--override", "sm.warps_per_sm=many"], "must be a whole number"),
        (["run", "vectoradd", "--sms", "99"], "scaled to 1 to 15 SMs"),
        (["run", "vectoradd", "--policy", "gone.py"], "there is no such policy file"),
        (["run", "vectoradd", "--technology", "comon"], "did you mean 'common'"),
        (["run", "vectoradd", "--grid", "4"], "--grid"),
        (["run", "gone.cu", "--grid", "4", "--block", "32"], "gone.cu: there is no such file"),
        (["run", "gone.cu"], "gone.cu: there is no such file"),
        (["run", "vectoradd", "--colour"], "No such option"),
        (["run", "vectoradd", "tiny"], "extra argument(s) (tiny). See"),
        (["run", "--from", "plan.toml"], "plan.toml: this is not a result: `warploom sweep` takes plans"),
        (["cite", "result.zip"], "`warploom run --from` takes bundles"),
        (["bundle", "app.wlr", "out.zip"], "`warploom run` takes recordings"),
        (["run", "vectoradd", "--max-instructions", str(1 << 70)], "--max-instructions"),
        (["exec", "--record", "app.txt", "--", "true"], "the name of a recording ends in .wlr"),
        (["exec", "--record", "none/app.wlr", "--", "true"], "none/app.wlr: a recording cannot be written there"),
        (["run"], "name a workload, a set or a file"),
        (["compare", "--out", "picture.bmp"], "must end in .png"),
        (["compare", "--out", "no-such-folder/picture.png"], "there is no folder"),
        (["compare", "--designs", "baseline,baseline"], "asked for twice"),
        (["compare", "--workloads", "vectoradd,,bfs"], "a workload name is empty"),
        (["compare", "--jobs", "-1"], "--jobs"),
        (["compare", "--caches", "lukewarm"], "choose cold or warm"),
        (["inspect", "no-such-thing"], "workload 'no-such-thing' is not known"),
        (["inspect", "gone.ptx"], "gone.ptx: there is no such file"),
        (["machines", "gtx999"], "gtx480"),
        (["workloads", "--set", "rvf"], "did you mean 'rfv'"),
        (["bench", "--only", "speed"], "choose emulator, timing or compile"),
        (["fly"], "No such command 'fly'"),
    ],
)
def test_bad_input_is_one_sentence_and_exit_code_2(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: list[str], complaint: str
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run_command(words) == 2
    captured = capsys.readouterr()
    assert complaint in captured.err
    assert captured.err.startswith("error: ")
    assert captured.err.count("\n") == 1
    assert captured.out == ""


def test_importing_the_package_is_quick() -> None:
    script = "import sys, warploom; assert not {'numba', 'pandas', 'numpy'} & set(sys.modules), sys.modules.keys()"
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr


def test_version_and_help(capsys: pytest.CaptureFixture[str]) -> None:
    from warploom import __version__

    assert run_command(["--version"]) == 0
    assert capsys.readouterr().out.strip() == __version__
    assert run_command(["run", "--help"]) == 0
    assert "--design" in capsys.readouterr().out


WARPLOOM = [sys.executable, "-m", "warploom"]


def test_closed_output_is_one_sentence() -> None:
    ended = subprocess.run(["sh", "-c", 'exec "$@" >&-', "sh", *WARPLOOM, "machines"], stderr=subprocess.PIPE, text=True)
    assert (ended.returncode, ended.stderr) == (2, "error: standard output is closed; lead it to a file or to /dev/null\n")


def test_closed_standard_error_is_not_needed() -> None:
    ended = subprocess.run(["sh", "-c", 'exec "$@" 2>&-', "sh", *WARPLOOM, "machines", "gtx9"], stdout=subprocess.PIPE)
    assert (ended.returncode, ended.stdout) == (2, b"")


@pytest.mark.parametrize("words", [["machines", "--json"], ["machines"], ["run", "--help"]])
def test_a_reader_that_goes_early_is_no_error(words: list[str]) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    ended = subprocess.run([*WARPLOOM, *words], stdout=writer, stderr=subprocess.PIPE, text=True)
    os.close(writer)
    assert (ended.returncode, ended.stderr) == (0, "")


@pytest.mark.parametrize("kilobytes", [300_000, 550_000, 600_000])
def test_too_little_address_space_to_begin_with_is_one_sentence(kilobytes: int) -> None:
    """With 300,000 a library is said to be missing; with 600,000 OpenBLAS asks for memory for ever."""
    most = kilobytes << 10
    ended = subprocess.run(
        [*WARPLOOM, "run", "vectoradd", "--size", "tiny", "--emulate-only"],
        capture_output=True,
        text=True,
        timeout=60,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (most, most)),
    )
    limit = f"the limit of address space (ulimit -v) is {most >> 20} MiB; allow 1024 MiB at least, and more for larger runs"
    assert (ended.returncode, ended.stdout, ended.stderr) == (2, "", f"error: {limit}\n")


def test_too_little_memory_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "scale.ptx").write_text(SCALE_PTX)
    launch = ["--grid", "4", "--block", "64", "--arg", "x=f32[500000000]:iota", "--arg", "n=256"]
    command = [*WARPLOOM, "run", str(tmp_path / "scale.ptx"), *launch]
    most = 3 << 30
    ended = subprocess.run(
        command, capture_output=True, text=True, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (most, most))
    )
    assert ended.returncode == 2 and ended.stderr.count("\n") == 1, ended.stderr
    assert ended.stderr.startswith("error: there is not enough memory (Unable to allocate 3.73 GiB")


def test_a_result_of_brackets_is_one_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "deep.json").write_text("[" * 100_000 + "]" * 100_000)
    assert run_command(["run", "--from", str(tmp_path / "deep.json")]) == 2
    assert "brackets stand too deep" in capsys.readouterr().err


def test_a_result_of_an_endless_budget_is_one_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["run", "vectoradd", "--size", "tiny", "--emulate-only", "--json"]) == 0
    record = json.loads(capsys.readouterr().out)
    record["provenance"]["spec"]["budget"] = 1 << 70
    (tmp_path / "result.json").write_text(json.dumps(record))
    assert run_command(["run", "--from", str(tmp_path / "result.json")]) == 2
    assert "max_instructions must be from 1 to" in capsys.readouterr().err


def test_a_recording_in_a_folders_place_is_refused_before_the_program_runs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "app.wlr").mkdir()
    assert run_command(["exec", "--record", str(tmp_path / "app.wlr"), "--", "touch", str(tmp_path / "ran")]) == 2
    assert "app.wlr: a recording cannot be written there (it is a folder)" in capsys.readouterr().err
    assert not (tmp_path / "ran").exists()


def test_a_program_that_leaves_nothing_to_record_is_told_of(tmp_path, capfd):
    """A file of an earlier run would be taken for its recording."""
    path = tmp_path / "app.wlr"
    path.write_bytes(b"an earlier one")
    assert run_command(["exec", "--record", str(path), "--", "true"]) == 0
    told = f"{path}: nothing was recorded, for the program asked nothing of the device"
    assert told in capfd.readouterr().err.splitlines()
    assert path.read_bytes() == b"an earlier one"
