"""A run is a value: it is written down and read back, varied by paths, and all that tells runs apart follows from it."""

from __future__ import annotations

import json
import pickle
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from support.made_results import made_result
from warploom.base import sources
from warploom.base.errors import WarploomError
from warploom.base.sources import PACKAGE, syntax_digest
from warploom.chip.machines import load_machine
from warploom.designs import parse_design
from warploom.programs.named import origin_named
from warploom.programs.origin import Origin
from warploom.programs.origins import origin_from_dict
from warploom.programs.own import PythonOrigin
from warploom.programs.own_kernel import OwnKernel
from warploom.programs.process import ProcessOrigin
from warploom.programs.replay import RecordingOrigin
from warploom.runs.keys import _simulator_files, keys_of
from warploom.runs.remake import differences, make_again
from warploom.runs.result import Result
from warploom.runs.run import run
from warploom.runs.simulate import simulate
from warploom.runs.spec import RunSpec, spec_from_dict
from warploom.runs.values import plain

USUAL = RunSpec(origin_named("vectoradd"), parse_design("baseline"), load_machine("gtx480"), "tiny")
KERNEL = OwnKernel("/f/a.cu", (4, 1, 1), (64, 2, 1), "k", ("x=f32[8]", "n=8"), 16, ("-DN=4",), ("s=n",), ("x=y.npy",), True)
ORIGINS = [
    origin_named("hotspot"),
    RecordingOrigin("/f/a.wlr"),
    KERNEL,
    PythonOrigin("mine", "0" * 32),
    ProcessOrigin(("./p", "-n", "3")),
]
SPECS = some.builds(
    RunSpec,
    program=some.sampled_from(ORIGINS),
    design=some.sampled_from([parse_design(text) for text in ("baseline", "rfv(shrink=0.5)", "rfc + max_registers=fit")]),
    machine=some.sampled_from(
        [load_machine("gtx480"), load_machine("hopper").scaled(3), load_machine("gtx480", **{"l1.mshrs": 8})]
    ),
    size=some.sampled_from(["", "tiny", "chip"]),
    seed=some.none() | some.integers(0, 1 << 40),
    code=some.sampled_from(["", "ptx", "sm_90"]),
    technology=some.sampled_from(["", "common", "/f/mine.toml"]),
    caches=some.sampled_from(["cold", "warm"]),
    check=some.sampled_from([(), ("registers",)]),
    budget=some.integers(1, 1 << 30),
    launches=some.lists(some.tuples(some.text(max_size=5), some.integers(0, 9)), max_size=3).map(tuple),
    timed=some.booleans(),
)


@settings(max_examples=40, deadline=None)
@given(SPECS)
def test_a_run_comes_back_from_its_dictionary(spec: RunSpec) -> None:
    data = json.loads(json.dumps(spec.to_dict()))
    again = spec_from_dict(data)
    assert again == spec and hash(again) == hash(spec) and again.to_dict() == data
    assert pickle.loads(pickle.dumps(spec)) == spec


@pytest.mark.parametrize("origin", ORIGINS, ids=lambda origin: origin.KIND)
def test_an_origin_comes_back_from_its_dictionary(origin: Origin) -> None:
    assert origin_from_dict(json.loads(json.dumps(origin.to_dict())), "here") == origin
    with pytest.raises(WarploomError, match="here: `program` is damaged"):
        origin_from_dict(origin.to_dict() | {"more": 1}, "here")


@pytest.mark.parametrize(
    ("path", "value", "seen"),
    [
        ("size", "small", lambda spec: spec.size == "small"),
        ("program", "hotspot", lambda spec: spec.program == origin_named("hotspot")),
        ("design", "rfv", lambda spec: spec.design.name == "rfv"),
        ("design.scheduler", "two-level(active=8)", lambda spec: spec.design.policies.scheduler.active == 8),
        ("design.register_file", 0.5, lambda spec: spec.design.register_file == 0.5),
        ("machine", "hopper", lambda spec: spec.machine.name == "hopper"),
        ("machine.l1.mshrs", 8, lambda spec: spec.machine == load_machine("gtx480", **{"l1.mshrs": 8})),
        ("sms", 4, lambda spec: spec.machine == load_machine("gtx480").scaled(4)),
        ("launches", [("vectoradd", 0)], lambda spec: spec.launches == (("vectoradd", 0),)),
    ],
)
def test_a_run_is_varied_by_a_path(path: str, value: Any, seen: Any) -> None:
    varied = USUAL.vary(path, value)
    assert seen(varied) and varied != USUAL and varied.key != USUAL.key


@pytest.mark.parametrize("path", ["sizes", "design.allocatoin", "design.scheduler.active", "machine.l1.mshr", "machine.lx.mshrs"])
def test_a_path_that_leads_nowhere_is_refused(path: str) -> None:
    with pytest.raises(WarploomError):
        USUAL.vary(path, 3)


@pytest.mark.parametrize(
    ("field", "value"),
    [("size", "huge"), ("caches", "hot"), ("check", ("luck",)), ("budget", 0), ("launches", [("k", -1)]), ("code", "sm_1")],
)
def test_what_no_run_can_have_is_refused(field: str, value: Any) -> None:
    with pytest.raises(WarploomError):
        USUAL.vary(field, value)


def test_equal_runs_have_one_key_whatever_says_what_is_usual() -> None:
    said = USUAL.vary("code", "ptx").vary("seed", 5).vary("technology", "common")
    assert said != USUAL and said.key == USUAL.key and said.settled == USUAL.settled
    assert USUAL.vary("budget", 10**6).key == USUAL.key  # a run that ends is the same under any budget
    another = RunSpec(USUAL.program, parse_design("scheduler=lrr"), USUAL.machine, "tiny")
    assert len({*keys_of([USUAL, another, USUAL.vary("timed", False), USUAL.vary("caches", "warm")])}) == 4


def test_what_shares_executions_and_compiled_code_follows_from_the_run() -> None:
    usual, other = USUAL.settled, USUAL.vary("design", "rfv").settled
    assert usual.execution_key == other.execution_key and usual.combination != other.combination
    assert usual.combination == USUAL.vary("size", "small").combination != USUAL.vary("check", ["registers"]).combination
    assert usual.execution_key != USUAL.vary("seed", 6).settled.execution_key


@dataclass(frozen=True)
class Asking(RunSpec):
    """A run of which one more question is asked."""

    atomics: str = "native"


def test_a_new_question_is_one_field() -> None:
    """It is written down, varied by its path, and tells results and executions apart, without a word elsewhere."""
    asking = Asking(USUAL.program, USUAL.design, USUAL.machine, "tiny").settled
    varied = asking.vary("atomics", "cas")
    assert isinstance(varied, Asking) and varied.to_dict()["atomics"] == "cas"
    assert varied.key != asking.key and varied.execution_key != asking.execution_key
    assert varied.execution_key == varied.vary("design", "rfv").execution_key


def test_a_result_comes_back_from_its_dictionary() -> None:
    made = run(USUAL)
    again = Result.from_dict(json.loads(json.dumps(plain(made.to_dict(power=True)))))
    assert again == made and again.provenance.key == USUAL.key
    assert again.power and again.energy_terms == made.energy_terms


@settings(max_examples=30, deadline=None)
@given(some.floats(allow_nan=False, allow_infinity=False), some.dictionaries(some.text(max_size=6), some.integers()))
def test_numbers_of_a_result_come_back(number: float, counters: dict[str, int]) -> None:
    made = made_result(ipc=number, counters=counters, versus={"slowdown": number}, doubt="cut off", observed={"o": [counters]})
    assert Result.from_dict(json.loads(json.dumps(plain(made.to_dict(power=True))))) == made


def test_a_result_of_chosen_launches_is_made_again_of_these() -> None:
    """It says which launches it is of, and cannot be taken for a result of all."""
    whole = simulate("reduction", size="tiny")
    chosen = simulate("reduction", size="tiny", launches=[("reduction", 0)])
    assert len(whole.launches) > len(chosen.launches) == 1 and whole.provenance.key != chosen.provenance.key
    record = json.loads(json.dumps(plain(chosen.to_dict())))
    again = make_again(record, "here")
    assert differences(record, again) == [] and again.spec.launches == (("reduction", 0),)


def test_a_program_made_in_python_is_not_opened_elsewhere() -> None:
    elsewhere = spec_from_dict(USUAL.vary("program", PythonOrigin("mine", "0" * 32)).to_dict())
    with pytest.raises(WarploomError, match="the program mine was made in Python"):
        run(elsewhere)


def room(file: Path) -> str:
    return file.relative_to(PACKAGE).parts[0]


def test_keys_depend_on_what_a_run_can_execute() -> None:
    files = _simulator_files()
    assert not {room(file) for file in files} & {"cli", "show", "studies", "papers"}
    for folder in ("chip/pipeline", "chip/memory", "emulator", "emulator/sass", "compiler/ptx", "compiler/backend"):
        inside = {file for file in (PACKAGE / folder).glob("*.py") if file.read_text("utf-8").strip()}
        assert {file.name for file in inside - files if file.name != "__init__.py"} == set(), folder


@pytest.mark.parametrize(
    ("edit", "counts"),
    [
        (lambda text: text + b"\n# a comment\n", False),
        (lambda text: b'"""Another docstring."""' + text[text.index(b'"""', 3) + 3 :], False),
        (lambda text: text + b"\nMORE = 1\n", True),
    ],
    ids=["comment", "docstring", "code"],
)
def test_comments_and_docstrings_change_no_key(edit: Any, counts: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    file, text = PACKAGE / "chip" / "result.py", sources._text
    monkeypatch.setattr(sources, "_own_entry", sources._own_entry.__wrapped__)  # which reads each file once
    before = syntax_digest([file])
    monkeypatch.setattr(sources, "_text", lambda asked: edit(text(asked)) if asked == file else text(asked))
    assert (syntax_digest([file]) != before) is counts
