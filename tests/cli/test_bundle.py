"""A bundle is run again where nothing of what it was made from is left; one of a stranger's writes and runs nothing by itself."""

from __future__ import annotations

import hashlib
import json
import shutil
import stat
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest

from support.scale_kernel import SCALE_PTX
from warploom.cli.app import run_command

HEADER = "#define FACTOR 3\n"
SOURCE = '#include "deep/factor.h"\n__global__ void triple(float *x) { x[threadIdx.x] *= FACTOR; }\n'


def bundled(folder: Path, words: list[str], capsys: pytest.CaptureFixture[str]) -> Path:
    """The bundle of an untimed run of files in a folder, which is gone."""
    capsys.readouterr()
    assert run_command(["run", *words, "--emulate-only", "--json"]) == 0
    result, out = folder.parent / "result.json", folder.parent / "result.zip"
    result.write_text(capsys.readouterr().out)
    assert run_command(["bundle", str(result), str(out)]) == 0
    shutil.rmtree(folder)
    return out


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "mine"
    made.mkdir()
    return made


def test_a_kernel_is_run_again_with_its_headers_and_expected_arrays(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "headers" / "deep").mkdir(parents=True)
    (folder / "headers" / "deep" / "factor.h").write_text(HEADER)
    (folder / "triple.cu").write_text(SOURCE)
    np.save(folder / "in.npy", np.arange(32, dtype=np.float32))
    np.save(folder / "right.npy", 3 * np.arange(32, dtype=np.float32))
    launch = ["--grid", "1", "--block", "32", "--arg", f"x=f32[32]:{folder / 'in.npy'}", "--expect", f"x={folder / 'right.npy'}"]
    words = [str(folder / "triple.cu"), *launch, "-I", str(folder / "headers")]
    bundle = bundled(folder, words, capsys)
    assert run_command(["run", "--from", str(bundle), "--json"]) == 0
    shown = capsys.readouterr().out
    assert json.loads(shown[shown.index("{") :])["verified"] is True


def test_a_policy_in_it_runs_only_when_somebody_says_so(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "scale.ptx").write_text(SCALE_PTX)
    assert run_command(["new", "policy", "colleagues", "--out", str(folder / "policy")]) == 0
    file = next((folder / "policy").rglob("colleagues.py"))
    copy = Path(shutil.copy(file, folder.parent / "copy.py"))
    launch = ["--grid", "1", "--block", "64", "--arg", "x=f32[64]:iota", "--arg", "f=2", "--arg", "n=64"]
    words = [str(folder / "scale.ptx"), *launch, "--policy", str(file), "--design", "gating=colleagues"]
    bundle = bundled(folder, words, capsys)
    capsys.readouterr()
    assert run_command(["run", "--from", str(bundle)]) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1 and "colleagues.py" in said and "--trust-bundle" in said
    for said_so in (["--trust-bundle"], ["--policy", str(copy)]):
        again = [sys.executable, "-m", "warploom", "run", "--from", str(bundle), *said_so]
        ended = subprocess.run(again, capture_output=True, text=True)
        assert ended.returncode == 0, ended.stderr


def test_a_file_that_is_gone_is_not_bundled(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "scale.ptx").write_text(SCALE_PTX)
    launch = ["--grid", "1", "--block", "64", "--arg", "x=f32[64]:iota", "--arg", "f=2", "--arg", "n=64"]
    bundle = bundled(folder, [str(folder / "scale.ptx"), *launch], capsys)
    capsys.readouterr()
    assert run_command(["bundle", str(bundle.with_suffix(".json")), str(bundle.with_name("again.zip"))]) == 2
    assert "is not there any more" in capsys.readouterr().err and not bundle.with_name("again.zip").exists()


PLAN = """
designs = ["baseline", "rfv"]
workloads = ["scaled", "vectoradd"]
sizes = "tiny"
sms = 1

[kernels.scaled]
file = "scale.ptx"
grid = 1
block = 64
arguments = ["x=f32[64]:iota", "f=2", "n=64"]
"""


def test_all_runs_of_a_plan_are_made_again_elsewhere(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    Path("scale.ptx").write_text(SCALE_PTX)
    Path("plan.toml").write_text(PLAN)
    bundle = folder.parent / "plan.zip"
    assert run_command(["bundle", "plan.toml", str(bundle)]) == 2
    assert "run `warploom sweep plan.toml --out results/sweep` first" in capsys.readouterr().err
    assert run_command(["sweep", "plan.toml", "--jobs", "1", "--json"]) == 0
    swept = json.loads(capsys.readouterr().out)
    assert run_command(["bundle", "plan.toml", str(bundle), "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == [str(folder / "plan.toml"), str(folder / "scale.ptx")]
    monkeypatch.chdir(folder.parent)
    shutil.rmtree(folder)
    assert run_command(["run", "--from", str(bundle), "--json"]) == 0
    again = capsys.readouterr()
    assert "all 4 results are the same to the digit" in again.err
    assert [made["cycles"] for made in json.loads(again.out)] == [row["cycles"] for row in swept]


def test_a_plan_of_which_runs_are_missing_says_how_many(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    Path("plan.toml").write_text('workloads = "vectoradd"\nsizes = "tiny"\nsms = 1\n')
    assert run_command(["sweep", "plan.toml", "--out", "some", "--jobs", "1"]) == 0
    Path("plan.toml").write_text('workloads = ["vectoradd", "hotspot"]\nsizes = "tiny"\nsms = 1\n')
    capsys.readouterr()
    assert run_command(["bundle", "plan.toml", "some.zip", "--results", "some"]) == 0
    assert "does not hold them: 1 of 2 runs" in capsys.readouterr().err


def archive(path: Path, entries: dict[str, bytes], link: str = "") -> Path:
    """A stranger's archive."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as made:
        for name, data in entries.items():
            about = zipfile.ZipInfo(name)
            about.compress_type = zipfile.ZIP_DEFLATED
            about.external_attr = ((stat.S_IFLNK if name == link else stat.S_IFREG) | 0o644) << 16
            made.writestr(about, data)
    return path


def listed(*names: str) -> dict[str, bytes]:
    """Entries of empty files, with the list that belongs to them."""
    files = {name: hashlib.sha256(b"").hexdigest() for name in names}
    made = {"bundle.json": json.dumps({"format": 1, "version": "0", "files": files}).encode(), "result.json": b"{}"}
    return made | dict.fromkeys(names, b"")


LIST = json.dumps({"format": 1, "version": "0", "files": {"tree/a": "0" * 64}}).encode()


@pytest.mark.parametrize(
    ("entries", "link", "said"),
    [
        ({"../evil": b""}, "", "leads out of its folder"),
        ({"/evil": b""}, "", "leads out of its folder"),
        ({"tree/a": b"/etc/passwd"}, "tree/a", "is a link"),
        ({"tree/a": bytes(80 << 20)}, "", "far larger"),
        ({"tree/a": b""}, "", "not a bundle"),
        ({"bundle.json": LIST, "result.json": b"{}", "tree/a": b"changed"}, "", "is not what its list says"),
        ({"bundle.json": LIST, "result.json": b"{}"}, "", "not those of its list"),
        ({"bundle.json": b"[]", "result.json": b"{}"}, "", "list of files is damaged"),
        (listed("tree/" + 300 * "a"), "", "in it cannot be unpacked (File name too long)"),
        (listed("tree/a", "tree/a/b"), "", "tree/a/b in it cannot be unpacked (File exists)"),
    ],
)  # fmt: skip
def test_a_strangers_archive_is_refused_in_a_sentence(
    entries: dict[str, bytes], link: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_command(["run", "--from", str(archive(tmp_path / "evil.zip", entries, link))]) == 2
    error = capsys.readouterr().err
    assert said in error and error.count("\n") == 1 and error.startswith("error: ")
    assert [file.name for file in tmp_path.iterdir()] == ["evil.zip"] and not (tmp_path.parent / "evil").exists()


@pytest.mark.parametrize("field", ["arguments", "symbols", "expect", "options"])
@pytest.mark.parametrize("value", [5, "text", [1], {"a": "b"}])
def test_lists_that_are_none_are_refused(
    field: str, value: object, folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "scale.ptx").write_text(SCALE_PTX)
    launch = ["--grid", "1", "--block", "64", "--arg", "x=f32[64]:iota", "--arg", "f=2", "--arg", "n=64"]
    with zipfile.ZipFile(bundled(folder, [str(folder / "scale.ptx"), *launch], capsys)) as whole:
        files = {name: whole.read(name) for name in whole.namelist()}
    record = json.loads(files["result.json"])
    record["provenance"]["spec"]["program"][field] = value
    evil = archive(tmp_path / "evil.zip", files | {"result.json": json.dumps(record).encode()})
    assert run_command(["run", "--from", str(evil)]) == 2
    assert f"`program.{field}` is damaged" in capsys.readouterr().err


def test_what_is_no_archive_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.zip").write_text("no archive")
    assert run_command(["run", "--from", str(tmp_path / "a.zip")]) == 2
    assert "not a bundle" in capsys.readouterr().err


def test_a_damaged_archive_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    whole = archive(tmp_path / "a.zip", {"bundle.json": LIST, "result.json": b"{}", "tree/a": b"text"})
    data = bytearray(whole.read_bytes())
    data[45:55] = b"\xff" * 10  # within the list's compressed text
    whole.write_bytes(data)
    assert run_command(["run", "--from", str(whole)]) == 2
    error = capsys.readouterr().err
    assert "not a bundle" in error and error.count("\n") == 1
