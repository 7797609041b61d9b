"""``warploom reproduce``: a figure from start to end, after an interruption, and with stored runs."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pandas
import pytest

from warploom.base.errors import WarploomError
from warploom.programs.replay import RecordingOrigin
from warploom.runs.engine import Asked
from warploom.runs.keys import keys_of
from warploom.runs.result import encode
from warploom.runs.spec import RunSpec
from warploom.runs.store import Store
from warploom.runs.workers import Here
from warploom.show.embedding import embedded
from warploom.show.reproduction import write_results
from warploom.studies.reproduce.experiment import run_named
from warploom.studies.reproduce.reproduce import recordings_in, reproduce, runs_of, scorecard, select, unrecorded

FIGURE = ("rfv", "figure 1")  # six runs of one combination of policies


def ask(out: Path, *options: str) -> subprocess.CompletedProcess[str]:
    command = [
        sys.executable,
        "-m",
        "warploom",
        "reproduce",
        "rfv",
        "--figure",
        "1",
        "--size",
        "tiny",
        "--out",
        str(out),
        *options,
    ]
    return subprocess.run(command, capture_output=True, text=True, timeout=600)


def stored(folder: Path) -> list[Path]:
    return list((folder / "runs").glob("*.json"))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Half of the runs, as an interruption leaves them."""
    folder = tmp_path_factory.mktemp("results")
    specs = runs_of(select(*FIGURE), "tiny")
    done: list[RunSpec] = []

    def interrupted(spec: RunSpec) -> None:
        done.append(spec)
        if len(done) == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Asked(specs, Store(folder / "runs")).make(Here(), interrupted)
    assert sorted(file.stem for file in stored(folder)) == sorted(spec.key for spec in done)
    return folder


def test_it_goes_on_where_it_was(folder: Path) -> None:
    before = {file: file.stat().st_mtime_ns for file in stored(folder)}
    ended = ask(folder, "--json", "--jobs", "2")
    assert ended.returncode == 0, ended.stderr
    assert "6 runs, 3 of them stored" in ended.stderr
    assert {file: file.stat().st_mtime_ns for file in before} == before
    scores = json.loads(ended.stdout)
    assert {score["id"] for score in scores} == {"rfv.live-share-half", "rfv.live-share-vectoradd"}
    assert all({"id", "what", "paper", "ours", "unit", "verdict", "headline", "experiment"} <= set(score) for score in scores)
    assert (folder / "rfv" / "figure-1.png").read_bytes().startswith(b"\x89PNG")
    assert {made["spec"]["program"]["workload"] for made in embedded(folder / "rfv" / "figure-1.png")} == {
        run.program.name for run in runs_of(select(*FIGURE), "tiny")
    }
    assert all("machine rfv" in score["provenance"] and "key " in score["provenance"] for score in scores)
    rows = pandas.read_csv(folder / "rfv" / "figure-1.csv")
    assert rows["workload"].nunique() == 6
    again = ask(folder)
    assert again.returncode == 0
    assert "of them stored" not in again.stderr  # nothing is missing


def test_a_damaged_run_is_made_again(folder: Path) -> None:
    ask(folder)
    file = sorted(stored(folder))[0]
    content = file.read_bytes()
    file.write_bytes(content[: len(content) // 2])
    ended = ask(folder, "--json")
    assert ended.returncode == 0, ended.stderr
    assert sum("damaged" in line for line in ended.stderr.splitlines()) == 1
    assert str(file) in ended.stderr
    assert json.loads(file.read_text())["content"]["cycles"] == json.loads(content)["content"]["cycles"]


def test_the_table_of_runs_says_where_each_number_is_from(folder: Path) -> None:
    ask(folder)
    table = pandas.read_parquet(folder / "results.parquet")
    assert len(table) == 6
    assert {"key", "workload", "machine", "size", "design_text", "cycles", "energy_pj.total"} <= set(table.columns)
    assert {"version", "commit", "key", "spec.seed", "digests.technology.digest"} <= {
        name.removeprefix("provenance.") for name in table.columns if name.startswith("provenance.")
    }
    assert table["key"].is_unique and set(table["key"]) == {file.stem for file in stored(folder)}
    assert set(pandas.read_csv(folder / "scorecard.csv")["id"]) == {"rfv.live-share-half", "rfv.live-share-vectoradd"}


def test_our_numbers_follow_from_the_runs(folder: Path) -> None:
    """What the scorecard says changes with what the simulator measured; nothing is filled in."""
    selected, store = select(*FIGURE), Store(folder / "runs")
    kept = scorecard(list(reproduce(selected, "tiny", Asked(runs_of(selected, "tiny"), store), 1, lambda run: None)))
    for key in keys_of(runs_of(selected, "tiny")):
        result = store.load(key)
        assert result is not None
        for state in result["states"]:
            state["live"] = state["allocated"]
        store.save(key, encode(result))
    changed = scorecard(list(reproduce(selected, "tiny", Asked(runs_of(selected, "tiny"), store), 1, lambda run: None)))
    assert {score.ours for score in kept} != {score.ours for score in changed}
    vectoradd = next(score for score in changed if score.fact.id == "live-share-vectoradd")
    assert vectoradd.ours == pytest.approx(100 * 4 / 3)  # of the three registers that it names; it is given four


def test_a_run_with_a_wrong_output_is_named(folder: Path) -> None:
    said = "the output differs from the reference"
    right = ask(folder, "--json")
    assert said not in right.stderr
    assert all(score["unverified"] == [] for score in json.loads(right.stdout))
    store, spec = Store(folder / "runs"), runs_of(select(*FIGURE), "tiny")[0]
    result = store.load(spec.key)
    assert result is not None
    store.save(spec.key, encode({**result, "verified": False}))
    wrong = ask(folder, "--json")
    store.save(spec.key, encode(result))
    assert wrong.returncode == 0
    name = f"{spec.program.name} with {spec.design.name} as ptx"
    assert sum(f"{name}: {said}" in line for line in wrong.stderr.splitlines()) == wrong.stderr.count(said) == 1
    assert all(score["unverified"] == [name] for score in json.loads(wrong.stdout))


def test_a_parameter_of_a_design_makes_another_run() -> None:
    runs = [run_named("bfs", design, "rfv", "tiny") for design in ("rfv", "rfv(flag_cache=5)", "rfv", "rfv(flag_cache=2)")]
    keys = keys_of(runs)
    assert keys[0] == keys[2]
    assert len(set(keys)) == 3


def test_recordings_take_the_places_of_the_workloads_that_they_are_named_after(tmp_path: Path) -> None:
    (tmp_path / "hotspot.wlr").touch()
    recorded = recordings_in(tmp_path)
    plain, own = runs_of(select(*FIGURE), "tiny"), runs_of(select(*FIGURE), "tiny", programs=recorded)
    assert [run.program.name for run in own] == [run.program.name for run in plain]
    assert {run.program for run in own} - {run.program for run in plain} == {RecordingOrigin(recorded["hotspot"])}
    assert "hotspot" in unrecorded(plain)
    assert unrecorded(own) == sorted({run.program.name for run in plain} - {"hotspot"})


@pytest.mark.parametrize(("name", "complaint"), [("notes.txt", "there is no recording here"), ("hotpot.wlr", "mean 'hotspot'")])
def test_a_folder_without_fitting_recordings_is_refused(name: str, complaint: str, tmp_path: Path) -> None:
    (tmp_path / name).touch()
    with pytest.raises(WarploomError, match=complaint):
        recordings_in(tmp_path)


def test_papers_that_ask_for_registers_in_numbers_and_in_words_share_a_table(tmp_path: Path) -> None:
    """One compiles for 32 registers, another for the fewest; `reproduce all` writes the runs of both."""
    runs = [run_named("vectoradd", f"max_registers={registers}", "gtx480", "tiny") for registers in ("32", "least")]
    store = Store(tmp_path / "runs")
    made = Asked(runs, store)
    made.make(Here())
    write_results(made, [], tmp_path)
    table = pandas.read_parquet(tmp_path / "results.parquet")
    assert list(table["design.max_registers"]) == ["32", "least"] and table["cycles"].gt(0).all()
