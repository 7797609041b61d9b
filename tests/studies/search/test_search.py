"""``warploom search``: the space is what policies declare, the front is what nothing beats, and its designs run."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import warploom as wl
from warploom.base.errors import WarploomError
from warploom.chip.sm import CHOICES, policies_of
from warploom.cli.app import run_command
from warploom.designs import design, load_design, named_designs, parse_design
from warploom.designs.energy import load_technology
from warploom.programs.workloads.registry import workload_names
from warploom.runs.simulate import simulate
from warploom.runs.workers import Here
from warploom.show.found import found_lines, found_rows
from warploom.studies.search.front import dominates, front, ranks
from warploom.studies.search.goal import goal_from_dict, make_goal
from warploom.studies.search.journal import open_journal
from warploom.studies.search.measures import measure
from warploom.studies.search.search import Found, Search, SearchOutcome
from warploom.studies.search.space import space_of

optuna = pytest.importorskip("optuna")
GOAL: dict[str, Any] = {
    "workloads": ["vectoradd", "scalarprod"],
    "test": ["nn"],
    "size": "tiny",
    "sms": 1,
    "trials": 6,
    "objectives": ["energy", "storage"],
    "constraints": ["file <= 0.75", "time <= 2"],
    "start": ["rfv(shrink=0.5)"],
}


def goal(**entries: Any) -> dict[str, Any]:
    """The goal above with a space of one combination of policies, so that nothing is compiled twice."""
    space = {"allocation.rfv.shrink": {"from": 0.4, "to": 1.0}, "allocation.rfv.spill": True, "power.subarray-gating.wakeup": 1}
    fixed = {"allocation.rfv.table_bytes": 1024, "allocation.rfv.flag_cache": 10, "allocation.rfv.resident": 1.0}
    words = {"allocation.rfv.divergence": "analysed", "allocation.rfv.throttle": "cta", "power.subarray-gating.subarrays": 0}
    only = {"scheduler": "gto", "hierarchy": "none", "encoding": "none", "gating": "none"}
    chosen = {**only, "allocation": "rfv", "power": "subarray-gating", **space, **fixed, **words}
    return {**GOAL, "space": chosen, **entries}


def test_the_space_is_what_the_policies_declare() -> None:
    space = space_of({}, "goal")
    policies = {dimension.name: dimension.values for dimension in space.choices}
    assert set(policies) == set(CHOICES)
    assert "oracle" not in policies["allocation"] and "unallocated-off" not in policies["power"]
    for choice, names in policies.items():
        for name in names:
            kind = policies_of(choice)[name]
            dimensions = {each.name: each for each in space.parameters[choice, name]}
            assert set(dimensions) == {
                f"{choice}.{name}.{field}" for field in kind._fields if field not in getattr(kind, "GIVEN", ())
            }
            for label, dimension in dimensions.items():
                assert dimension.holds(kind._field_defaults[label.rpartition(".")[2]])
    assert "power.trimodal.wakeup" not in {each.name for each in space.dimensions}


@settings(deadline=None)
@given(st.integers(0, 2**31))
def test_whatever_is_chosen_is_a_design_or_refused_in_a_sentence(seed: int) -> None:
    study = optuna.create_study(sampler=optuna.samplers.RandomSampler(seed=seed))
    space, trial = space_of({"register_file": {"from": 0.25, "to": 1.0}}, "goal"), study.ask()
    try:
        made = space.design(trial)
    except WarploomError as error:
        assert "cannot be combined" in str(error)
        return
    assert space.place_of(made) == trial.params


def test_published_designs_lie_in_the_space_unless_they_change_what_is_given() -> None:
    space = space_of({}, "goal")
    inside = {name for name in named_designs() if space.place_of(parse_design(name)) is not None}
    assert {"baseline", "rfc", "warped-rf", "compression", "regmutex"} <= inside
    assert not {"oracle", "rfv", "compiler-spill"} & inside  # rfv wakes in 1 cycle where the policy says 10


points = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6), st.integers(0, 6)), min_size=1, max_size=25)


@settings(deadline=None)
@given(points)
def test_the_front_is_what_nothing_beats(found: list[tuple[int, ...]]) -> None:
    kept = front(found)
    assert len({found[place] for place in kept}) == len(kept) > 0
    for place, point in enumerate(found):
        beaten = any(dominates(other, point) for other in found)
        assert beaten == (point not in {found[each] for each in kept}), place
    assert {place for place, rank in enumerate(ranks(found)) if rank == 0} >= set(kept)


def test_a_search_finds_designs_that_run_and_goes_on_where_it_was(tmp_path: Path) -> None:
    file = tmp_path / "goal.toml"
    file.write_text(_toml(goal()))

    def ask(*options: str) -> list[dict[str, Any]]:
        command = [sys.executable, "-m", "warploom", "search", str(file), "--out", str(tmp_path / "out"), "--jobs", "1", "--json"]
        ended = subprocess.run([*command, *options], capture_output=True, text=True, timeout=600)
        assert ended.returncode == 0, ended.stderr
        assert "designs tried" in ended.stderr
        return json.loads(ended.stdout)

    first = ask("--trials", "4")
    rows = ask()
    assert first and rows and (tmp_path / "out" / "front.png").read_bytes().startswith(b"\x89PNG")
    assert all(row["file"] <= 0.75 and row["time"] <= 2 for row in rows)
    best = load_design(tmp_path / "out" / "designs" / f"{rows[0]['name']}.toml")
    machine = wl.machine("gtx480").scaled(1)
    results = [
        [simulate(name, point, machine, size="tiny") for name in GOAL["workloads"]] for point in (best, design("baseline"))
    ]
    table = load_technology("common")
    again = measure(results[0], results[1], best, machine, table)
    assert {name: rows[0][name] for name in again} == again
    unseen = [[simulate("nn", point, machine, size="tiny")] for point in (best, design("baseline"))]
    assert rows[0]["unseen energy"] == measure(unseen[0], unseen[1], best, machine, table)["energy"]


def test_what_a_killed_process_had_begun_is_tried_again(tmp_path: Path) -> None:
    """Killed while its first design is measured: that design, of the start list, must not be taken for one that was tried."""
    file, folder = tmp_path / "goal.toml", tmp_path / "out"
    file.write_text(_toml(goal(trials=2, test=[])))
    command = [sys.executable, "-m", "warploom", "search", str(file), "--out", str(folder), "--jobs", "1"]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while process.poll() is None and not list((folder / "runs").glob("*.json")):
        time.sleep(0.01)
    process.kill()
    process.wait()
    assert [trial.state.name for trial in _trials(folder)] == ["RUNNING"]
    made = wl.search(file, folder, jobs=1)
    begun, again = _trials(folder)[:2]
    assert made.trials == 2 and (begun.state.name, again.state.name) == ("FAIL", "COMPLETE") and begun.params == again.params


def test_what_a_living_process_has_begun_is_left_to_it(tmp_path: Path) -> None:
    wanted = make_goal(goal(trials=1, test=[]))
    one, other = (Search(wanted, tmp_path, Here(), lambda what, finished: None) for _ in range(2))
    with one.searcher.present():
        with one.searcher.turn():
            begun = one._choose()
        assert begun is not None and begun[1] == design("rfv", shrink=0.5)
        with other.searcher.present(), other.searcher.turn():
            other._take_over()
            assert [trial.state.name for trial in _trials(tmp_path)] == ["RUNNING"]
    with other.searcher.present(), other.searcher.turn():  # the first is gone
        other._take_over()
        again = other._choose()
    assert again is not None and again[1] == begun[1]


def test_a_start_list_that_was_cut_off_is_completed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = make_goal(goal(start=["rfv(shrink=0.5)", "rfv(shrink=0.75)"]))
    whole = optuna.Study.enqueue_trial

    def once(study: Any, *words: Any, **entries: Any) -> None:
        if study.trials:
            raise KeyboardInterrupt
        whole(study, *words, **entries)

    with monkeypatch.context() as patched:
        patched.setattr(optuna.Study, "enqueue_trial", once)
        with pytest.raises(KeyboardInterrupt):
            Search(wanted, tmp_path, Here(), lambda what, finished: None)
    assert len(_trials(tmp_path)) == 1
    for _ in range(2):
        Search(wanted, tmp_path, Here(), lambda what, finished: None)
        assert len(_trials(tmp_path)) == 2


def test_the_usual_code_of_the_machine_is_searched_on(tmp_path: Path) -> None:
    entries = {"workloads": ["vectoradd"], "machine": "hopper", "size": "tiny", "sms": 1}
    assert Search(make_goal(entries), tmp_path, Here(), lambda what, finished: None).goal.code == "sm_90"


def test_few_workloads_come_before_many(tmp_path: Path) -> None:
    made = wl.search(goal(trials=8, keep=0.3, stages=[1], test=[], constraints=[]), tmp_path, jobs=1)
    assert made.trials == 8 and made.stopped > 0
    assert made.trials == made.stopped + sum(made.refused.values()) + _complete(tmp_path)


def test_a_bound_of_area_refuses_what_is_larger(tmp_path: Path) -> None:
    """The renaming table is small: a file of 0.4 to 1.0 lies on both sides of the bound, and nothing lies below the other."""
    entries = {"test": [], "stages": [2], "objectives": ["area", "time"], "start": ["rfv(shrink=0.5)"]}
    made = wl.search(goal(**entries, constraints=["area <= 0.7"]), tmp_path / "some", jobs=1)
    assert made.front and all(found.measures["area"] <= 0.7 for found in made.front)
    assert all(found.measures["file"] < found.measures["storage"] < found.measures["area"] for found in made.front)
    headings, lines = found_lines(made)
    assert headings[1:] == ["time", "area"] and f"{made.front[0].measures['area']:.3f}" in lines[0][0]
    assert not wl.search(goal(**entries, trials=2, constraints=["area <= 0.3"]), tmp_path / "none", jobs=1).front


def test_what_was_measured_before_there_was_area_is_still_shown() -> None:
    old = {"energy": 0.5, "time": 1.0, "slowest": 1.0, "file": 0.5, "storage": 0.6}
    made = SearchOutcome(goal_from_dict(goal()), (Found(parse_design("rfv"), old),), 1, 0, Counter())
    assert [row["storage"] for row in found_rows(made)] == [0.6] and found_lines(made)[1]


def _complete(folder: Path) -> int:
    return sum("stage 2" in trial.user_attrs for trial in _trials(folder))


def _trials(folder: Path) -> list[Any]:
    backend = optuna.storages.journal.JournalFileBackend(str(folder / "journal.log"))
    return optuna.load_study(study_name="search", storage=optuna.storages.JournalStorage(backend)).trials


@pytest.mark.parametrize(
    ("entries", "sentence"),
    [
        ({"workload": "bfs"}, "'workload' is not an entry of a goal; did you mean 'workloads'"),
        ({"workloads": []}, "it names no workloads"),
        ({"test": ["vectoradd"]}, "the search itself runs vectoradd"),
        ({"objectives": ["volume"]}, "'volume' is not measured"),
        ({"constraints": ["time < 1"]}, "is not a bound such as"),
        ({"constraints": ["speed <= 1"]}, "'speed' is not measured"),
        ({"stages": [3]}, "stages are growing numbers of workloads from 1 to 2"),
        ({"trials": 0}, "trials must be a whole number from 1"),
        ({"keep": 2}, "keep must be a number from 0.05 to 1"),
        ({"space": {"power": "trimodel"}}, "there is no power=trimodel; did you mean 'trimodal'"),
        ({"space": {"power.trimodal.wakeupp": 1}}, "nothing to choose here; did you mean 'power.trimodal.wakeup'"),
        ({"space": {"power.trimodal.wakeup": 1000}}, "wakeup must lie between 0 and 100"),
        ({"space": {"register_file": {"from": 1, "to": 0}}}, "a range goes from a number to a larger one"),
        ({"space": {"register_file": {"from": 0.5}}}, "space, register_file: {'from': 0.5} is not a range"),
        ({"space": {"register_file": [0.5, 3.0]}}, "space: register_file must be a share above 0 and up to 1, not 3.0"),
        ({"space": {"max_registers": ["none", 2]}}, "space: max_registers must be fit, least or a whole number"),
        ({"workloads": ["bsf"]}, "workload 'bsf' is not known; did you mean 'bfs'"),
        ({"size": "huge"}, "size 'huge' is not known"),
        ({"machine": "gtx48"}, "machine 'gtx48' is unknown; did you mean 'gtx480'"),
        ({"technology": "none"}, "technology 'none' is not known"),
        ({"designs": ["rfv"]}, "it is a plan, not a goal; give it to `warploom sweep`"),
    ],
)
def test_a_wrong_goal_is_one_sentence(entries: dict[str, Any], sentence: str) -> None:
    with pytest.raises(WarploomError) as error:
        made = goal_from_dict(goal(**entries))
        space_of(made.space, made.place)
    assert sentence in str(error.value) and "\n" not in str(error.value)
    assert str(error.value).startswith("goal")


def test_another_goal_needs_another_folder(tmp_path: Path) -> None:
    wl.search(goal(trials=1), tmp_path, jobs=1)
    with pytest.raises(WarploomError, match="it holds a search with another goal"):
        wl.search(goal(trials=1, seed=3), tmp_path, jobs=1)


def test_choices_that_cannot_be_combined_are_no_trials(tmp_path: Path) -> None:
    space = {**goal()["space"], "allocation.rfv.spill": [False, True], "hierarchy": ["none", "rfc"], "hierarchy.rfc.entries": 6}
    space |= {"hierarchy.rfc.allocate": "results", "hierarchy.rfc.replacement": "fifo", "hierarchy.rfc.evict_first": False}
    space |= {
        f"hierarchy.rfc.{name}": value for name, value in (("last_use", True), ("bypass_slow", True), ("bypass_unread", False))
    }
    made = wl.search(goal(trials=12, space=space, workloads=["vectoradd"], test=[], constraints=[], start=[]), tmp_path, jobs=1)
    assert made.trials == 12 and not made.refused  # spilling under a register cache was chosen too, and another design instead
    never = {**space, "allocation.rfv.spill": True, "hierarchy": "rfc"}
    with pytest.raises(WarploomError, match=r"50 choices in a row make no sense; narrow it \(the last: .*spill=false\)"):
        wl.search(goal(space=never, start=[]), tmp_path / "never", jobs=1)


def test_no_design_is_tried_twice(tmp_path: Path) -> None:
    """Six trials of three designs: the search ends when there is nothing new."""
    words = {"allocation.rfv.residency": "named", "allocation.rfv.flags": "instructions", "allocation.rfv.guarded": 1}
    space = {**goal()["space"], **words, "allocation.rfv.shrink": [0.5, 0.75, 1.0]}
    made = wl.search(
        goal(space=space, workloads=["vectoradd"], test=[], constraints=[], start=["rfv(shrink=0.5)"]), tmp_path, jobs=1
    )
    assert made.trials == 3 and not made.refused


def test_a_start_outside_of_the_space_is_refused_before_anything_is_kept(tmp_path: Path) -> None:
    space = {"allocation": ["static"]}
    with pytest.raises(WarploomError, match=r"goal, start: rfv\(shrink=0.5\) cannot be chosen from the space"):
        wl.search(goal(space=space, start=["rfv(shrink=0.5)", "baseline"]), tmp_path / "out", jobs=1)
    with pytest.raises(WarploomError, match=r"goal, start: .*'rvf' is not known"):
        wl.search(goal(start=["rvf"]), tmp_path / "out", jobs=1)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("file", sorted(Path("lab/plans").glob("energy-*.toml")), ids=lambda file: file.stem)
def test_the_goals_in_the_docs_begin_with_designs_of_their_space(file: Path) -> None:
    made = make_goal(file)
    space = space_of(made.space, made.place)
    assert [text for text in made.start if space.place_of(parse_design(text)) is None] == []
    assert not set(made.test) & set(made.workloads)
    assert set(made.test) | set(made.workloads) == set(workload_names())


def test_what_none_beats_goes_on(tmp_path: Path) -> None:
    """However many they are: with several objectives most are unbeaten, and the share would be full of the first of them."""
    wanted = make_goal(goal(keep=0.4, stages=[1]))
    looking = Search(wanted, tmp_path, Here(), lambda what, finished: None)
    for place in range(10):
        better, worse = (place, 10 - place) if place < 9 else (10, 10)  # the last is beaten
        trial = looking.study.ask()
        trial.set_user_attr("stage 1", {"energy": better, "storage": worse, "file": 0.5, "time": 1.0})
    assert looking._best(1) == set(range(9))


@pytest.mark.parametrize("objectives", [[], ["energy", "time", "energy"]])
def test_objectives_are_named_once(objectives: list[str]) -> None:
    with pytest.raises(WarploomError, match="goal, objectives: name at least one measure, and each once"):
        make_goal(goal(objectives=objectives))


def test_what_technology_decides_is_not_searched() -> None:
    """Else a search would find cells that wake in no time."""
    searched = [each.name for each in space_of({}, "goal").dimensions]
    assert [name for name in searched if name.endswith((".wakeup", ".rename_cycles", "compression"))] == []


def test_bounds_of_the_command_line_replace_those_of_the_goal(tmp_path: Path) -> None:
    file = tmp_path / "goal.toml"
    file.write_text(_toml(goal(trials=1)))
    words = ["search", str(file), "--out", str(tmp_path / "out"), "--jobs", "1", "--constraint"]
    assert run_command([*words, "time < 1"]) == 2 and not (tmp_path / "out").exists()
    assert run_command([*words, "time <= 0.001"]) == 0
    assert not list((tmp_path / "out" / "designs").iterdir())  # no design is that quick


def _toml(entries: dict[str, Any]) -> str:
    def value(item: Any) -> str:
        if isinstance(item, dict):
            return "{ " + ", ".join(f"{name} = {value(each)}" for name, each in item.items()) + " }"
        return json.dumps(item)

    lines = [f"{name} = {value(item)}" for name, item in entries.items() if name != "space"]
    return (
        "\n".join([*lines, "[space]", *(f"{json.dumps(name)} = {value(item)}" for name, item in entries["space"].items())]) + "\n"
    )


@pytest.mark.parametrize("torn", [b'{"op_code": 4, "work', b"\0\0\0\0", "é".encode()[:1]])
def test_a_torn_last_line_of_the_journal_is_cut_away(torn: bytes, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    journal = tmp_path / "journal.log"

    def study() -> Any:
        return optuna.create_study(storage=open_journal(optuna, journal), study_name="search", load_if_exists=True)

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    study().set_user_attr("a", 1)
    whole = journal.read_bytes()
    journal.write_bytes(whole + torn)
    going_on = study()
    assert journal.read_bytes().startswith(whole + b"{") and going_on.user_attrs == {"a": 1}
    assert f"{journal}: its last line was torn off ({len(torn)} bytes)" in capfd.readouterr().err
    going_on.set_user_attr("b", 2)
    assert study().user_attrs == {"a": 1, "b": 2} and capfd.readouterr().err == ""
    journal.write_bytes(b"nonsense\n" + whole)
    with pytest.raises(WarploomError, match=f"^{journal}: the journal is damaged"):
        study()
