"""What is refused when a policy is registered or a design is put together, and with which words."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import pytest

from warploom.base.errors import WarploomError
from warploom.base.records import Record, i8
from warploom.chip.sm import CHOICES, baseline_policies, check_policies, load_policy_file, make_policy, policies_of
from warploom.chip.sm.combination import at_run_time
from warploom.chip.sm.policy import check_policy_class

pytestmark = pytest.mark.unit


class Misspelt(NamedTuple):
    CHOICE, NAME = "power", "misspelt"

    def on_alocate(policy, ctx, sm, cycle, entry) -> None:
        """Would never be called."""


class WrongChoice(NamedTuple):
    CHOICE, NAME = "powers", "wrong-choice"


class NoDefault(NamedTuple):
    CHOICE, NAME = "gating", "no-default"
    LIMITS = {"lanes": (1, 32)}  # noqa: RUF012
    lanes: int


class NoLimits(NamedTuple):
    CHOICE, NAME = "gating", "no-limits"
    lanes: int = 8


class Flags(Record):
    flags: i8


class HiddenField(NamedTuple):
    CHOICE, NAME = "gating", "hidden-field"
    STATE = Flags


class NoRecord(NamedTuple):
    CHOICE, NAME = "gating", "no-record"
    NOTES = (("seen", "i8"),)


class NotATuple:
    CHOICE, NAME = "gating", "not-a-tuple"


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        (Misspelt, "'on_alocate' is not a hook of the choice power; did you mean 'on_allocate'?"),
        (WrongChoice, "CHOICE must be one of scheduler, allocation,"),
        (NoDefault, "parameter 'lanes' needs a default"),
        (NoLimits, "LIMITS must say what"),
        (HiddenField, "'flags' is hidden"),
        (NoRecord, "policy class NoRecord: NOTES: what is kept must be a class of typed fields"),
        (NotATuple, "a policy is a NamedTuple class"),
    ],
)
def test_classes_that_are_refused(kind, words: str) -> None:
    with pytest.raises(WarploomError, match=words.replace("?", r"\?")):
        check_policy_class(kind)


@pytest.mark.parametrize(
    ("name", "parameters", "words"),
    [
        ("two-levle", {}, "did you mean 'two-level'?"),
        ("two-level", {"activ": 3}, "no parameter 'activ'; did you mean 'active'?"),
        ("two-level", {"active": 0}, "active must lie between 1 and 64, not 0"),
        ("two-level", {"active": 2.5}, "active must be a whole number, not 2.5"),
        ("two-level", {"inner": "lazy"}, "inner must be one of greedy, round-robin, not 'lazy'"),
        ("gto", {"x": 1}, "no parameter 'x'; it has none"),
    ],
)
def test_parameters_that_are_refused(name: str, parameters, words: str) -> None:
    with pytest.raises(WarploomError) as error:
        make_policy("scheduler", name, **parameters)
    assert words in str(error.value)


def test_a_policy_in_the_wrong_place() -> None:
    design = baseline_policies()
    with pytest.raises(WarploomError, match="gating=none was given as the scheduler policy"):
        check_policies(design._replace(scheduler=design.gating))


def test_words_become_numbers_for_compiled_code() -> None:
    design = baseline_policies()._replace(scheduler=make_policy("scheduler", "two-level", inner="round-robin"))
    assert at_run_time(check_policies(design)).scheduler.inner == 1


def test_whole_numbers_are_coerced() -> None:
    """A NumPy integer or a float with a whole value must not make another type, for which the core would be compiled again."""
    import numpy as np

    policy = make_policy("scheduler", "two-level", active=np.int32(4))
    assert type(policy.active) is int
    assert make_policy("scheduler", "two-level", active=6.0).active == 6


def test_every_policy_says_what_it_is() -> None:
    for choice in CHOICES:
        for name, kind in policies_of(choice).items():
            assert kind.__doc__ and not kind.__doc__.startswith(kind.__name__ + "("), f"{choice}={name} has no docstring"
            assert getattr(kind, "SOURCE", ""), f"{choice}={name} does not say where it is from"
            assert set(getattr(kind, "MEANING", {})) <= set(kind._fields)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("x = 1\n", "it registers no policy"),
        ("import nonsense_module\n", "cannot be loaded: ModuleNotFoundError"),
        (
            "from typing import NamedTuple\nfrom warploom.chip.sm import policy\n\n@policy\nclass Gto(NamedTuple):\n"
            "    CHOICE, NAME = 'scheduler', 'gto'\n",
            "scheduler=gto is already taken by",
        ),
    ],
)
def test_files_that_are_refused(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "mine.py"
    path.write_text(text)
    with pytest.raises(WarploomError) as error:
        load_policy_file(path)
    assert words in str(error.value)
    assert str(path) in str(error.value)


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(WarploomError, match="no such policy file"):
        load_policy_file(tmp_path / "absent.py")
