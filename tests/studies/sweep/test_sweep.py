"""``warploom sweep``: what is killed goes on, several share the work, and every result is the one that a single run gives."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from random import Random
from typing import Any

import pandas
import pytest

import warploom as wl
from support.sweeping import begin, complete, outcome
from warploom.base.locks import Lock
from warploom.runs.engine import CLAIMS
from warploom.runs.keys import keys_of
from warploom.runs.run import run
from warploom.runs.store import FOLD_AT, Store
from warploom.studies.sweep.sweep import prepare

TINY = 'workloads = "vectoradd"\nsizes = "tiny"\nsms = 1\n'  # runs of a fraction of a second
TINY_PLAN = {"workloads": "vectoradd", "sizes": "tiny", "sms": 1}


@pytest.fixture
def plan(tmp_path: Path) -> Path:
    """Thirty runs of one workload, with other seeds."""
    path = tmp_path / "plan.toml"
    path.write_text(TINY + "replicates = 30\n")
    return path


def stored(folder: Path) -> dict[Path, int]:
    return {file: file.stat().st_mtime_ns for file in _run_files(folder)}


def _run_files(folder: Path) -> list[Path]:
    return [file for file in (folder / "runs").glob("*.json") if not file.name.startswith(".")]  # not one half-written


def test_killed_twice_at_a_random_moment_it_ends_with_the_same_table(plan: Path, tmp_path: Path) -> None:
    _kill_twice_and_compare(plan, tmp_path, 30)


@pytest.mark.slow
def test_a_thousand_runs_killed_twice_end_with_the_same_table(tmp_path: Path) -> None:
    path = tmp_path / "thousand.toml"
    path.write_text(TINY + "replicates = 1000\n")
    _kill_twice_and_compare(path, tmp_path, 1000)


def made_in(folder: Path) -> dict[str, float]:
    """What is stored, each run with the time that it took: another time if it is made again."""
    store = Store(folder / "runs")
    keys = store.keys()
    return {key: (store.load(key) or {})["wall_seconds"] for key in keys}


def _kill_twice_and_compare(plan: Path, tmp_path: Path, number: int) -> None:
    undisturbed, disturbed = tmp_path / "undisturbed", tmp_path / "disturbed"
    complete(plan, "--out", undisturbed, "--jobs", 1)
    random = Random(22)
    before: dict[str, Any] = {}
    for least in (random.randrange(1, 2 * number // 5), random.randrange(2 * number // 5 + 1, 4 * number // 5)):
        process = begin(plan, "--out", disturbed, "--jobs", 1)
        while process.poll() is None and _number_made(disturbed) < least:
            time.sleep(0.002)
        process.kill()
        process.communicate()
        now = made_in(disturbed)
        assert before.items() <= now.items() and 0 < len(now) < number
        before = now
    said = complete(plan, "--out", disturbed, "--jobs", 1)
    assert f"{number:,} runs, {len(before):,} of them stored" in said
    assert before.items() <= made_in(disturbed).items()
    pandas.testing.assert_frame_equal(outcome(disturbed), outcome(undisturbed))


def _number_made(folder: Path) -> int:
    """How many runs are stored: in files of their own, and in tables that hundreds of them were folded into.

    Names alone are counted: a file may be folded, and be gone, between its being listed and looked at.
    """
    tables = len(list((folder / "runs").glob("runs-*.parquet")))
    return FOLD_AT * tables + len(_run_files(folder))


def test_two_processes_share_a_folder_and_make_each_run_once(plan: Path, tmp_path: Path) -> None:
    folder = tmp_path / "shared"
    both = [begin(plan, "--out", folder, "--jobs", 1, "--json") for _ in range(2)]
    printed = [process.communicate(timeout=600) for process in both]
    assert [process.returncode for process in both] == [0, 0], printed
    assert printed[0][0] == printed[1][0]  # each waits for what the other makes
    assert len(stored(folder)) == 30
    table = outcome(folder)
    assert table["key"].is_unique and len(table) == 30 and set(table["plan.seed"]) == set(range(5, 35))


def test_a_run_that_another_process_is_making_is_left_to_it_until_it_dies(tmp_path: Path) -> None:
    planned = prepare(TINY_PLAN, tmp_path)
    (key,) = keys_of(planned.specs)
    claims = planned.store.folder / CLAIMS
    claims.mkdir(parents=True)
    (claims / key).touch()  # left by a process that is dead: it is not locked
    assert len(wl.sweep(TINY_PLAN, tmp_path, jobs=1).table()) == 1
    lock = Lock(claims / key)
    assert lock.acquire() and not Lock(claims / key).acquire()
    lock.release()
    assert Lock(claims / key).acquire()


def test_in_python_with_provenance_and_another_seed(tmp_path: Path) -> None:
    plan = wl.Plan(workloads="vectoradd", designs=["baseline", "scheduler=gto"], sizes="tiny", sms=1, seeds=[5, 7])
    made = wl.sweep(plan, tmp_path, jobs=1)
    table = made.table()
    assert len(table) == 4 and table["key"].nunique() == 2  # two names of the same design
    assert list(table["design.name"]) == ["baseline", "baseline", "scheduler=gto", "scheduler=gto"]
    made_from = [json.loads(text) for text in table["made_from"]]
    assert [each["spec"]["seed"] for each in made_from] == [5, 7, 5, 7]
    assert all({"version", "sources", "environment", "spec", "digests"} <= each.keys() for each in made_from)
    alone = run(made.points[1].spec)
    assert (alone.cycles, alone.energy_pj["total"]) == (table["cycles"][1], table["energy_pj.total"][1])
    summary = made.summary()
    assert list(summary["runs"]) == [2, 2] and list(summary["design"]) == ["baseline", "scheduler=gto"]


def test_a_run_that_cannot_be_made_is_counted_and_the_others_go_on(tmp_path: Path) -> None:
    entries = TINY_PLAN | {"workloads": ["vectoradd", "scalarprod"], "overrides": {"sm.shared_bytes": [1024, 49152]}}
    made = wl.sweep(entries, tmp_path, jobs=1)
    (reason,) = made.refused
    assert "shared memory" in reason and made.refused[reason] == 1
    assert sorted(made.table()["workload"]) == ["scalarprod", "vectoradd", "vectoradd"]


def test_where_every_run_is_refused_no_table_is_said_to_be_written(tmp_path: Path) -> None:
    wl.sweep(TINY_PLAN, tmp_path / "out", jobs=1)  # another plan has made runs there
    (tmp_path / "out" / "results.parquet").unlink()
    plan = tmp_path / "plan.toml"
    plan.write_text('workloads = "matrixmul"\nsizes = "tiny"\nsms = 1\nparameters.register_file = [0.01, 0.02]\n')
    process = begin(plan, "--out", tmp_path / "out", "--jobs", 1)
    printed, said = process.communicate(timeout=120)
    assert process.returncode == 2 and printed == ""
    assert "refused, 2: kernel matrixmul" in said and "wrote" not in said
    assert said.endswith(f"error: {plan}: all of its runs were refused; there is no table of them\n")
    assert not (tmp_path / "out" / "results.parquet").exists()


def test_whole_numbers_of_an_axis_are_printed_as_whole_though_some_designs_are_without_it(tmp_path: Path) -> None:
    plan = tmp_path / "plan.toml"
    plan.write_text(TINY + 'designs = ["baseline", "bow"]\n[parameters]\nhierarchy.window = [2, 3]\n')
    printed = complete(plan, "--out", tmp_path / "out", "--jobs", 1)
    assert [line.split()[:2] for line in printed.splitlines() if line.startswith((" bow", " baseline"))] == [
        ["baseline", "-"],
        ["bow", "2"],
        ["bow", "3"],
    ]


def test_a_dry_run_says_how_much_and_makes_nothing(plan: Path, tmp_path: Path) -> None:
    printed = complete(plan, "--out", tmp_path / "dry", "--dry-run")
    assert "30 runs, 0 of them stored, 30 to make" in printed and "combinations of policies: 1" in printed
    assert not (tmp_path / "dry").exists()
    wl.sweep(TINY_PLAN, tmp_path / "made", jobs=1)
    known = json.loads(complete(plan, "--out", tmp_path / "made", "--dry-run", "--json"))
    assert (known["stored"], known["to_run"], known["untimed"]) == (1, 29, 0)
    assert known["seconds_of_one_process"] > 0 and known["bytes"] > 1000


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="only Linux says which processes have started")
def test_an_interrupt_does_not_make_workers_speak_that_are_still_starting(plan: Path, tmp_path: Path) -> None:
    """A terminal interrupts all processes of a command."""
    plan.write_text(TINY + "replicates = 3000\n")
    process = subprocess.Popen(
        [sys.executable, "-m", "warploom", "sweep", plan, "--out", tmp_path / "out", "--jobs", "2"],
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # also where the tests run in the background
    )
    assert process.stderr is not None and "3,000 runs, 0 of them stored" in process.stderr.readline()
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    while len(children.read_text().split()) < 2:  # one of them keeps books of semaphores
        time.sleep(0.01)
    for worker in map(int, children.read_text().split()):
        time.sleep(0.2)  # Python itself has started, and is importing
        os.kill(worker, signal.SIGINT)
    time.sleep(1)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Traceback" not in said and said.strip().endswith("interrupted")


def test_errors_are_one_sentence(tmp_path: Path) -> None:
    plan = tmp_path / "plan.toml"
    plan.write_text(TINY + "where = \"size == 'small'\"\n")
    process = begin(plan, "--out", tmp_path / "out")
    _, said = process.communicate(timeout=120)
    assert process.returncode == 2
    assert said == f"error: {plan}: no combination is left (left out, 1: it does not fulfil `size == 'small'`)\n"
    assert not (tmp_path / "out").exists()
