"""Designs as text, TOML and Python: round trips, overrides, and refusals in one sentence."""

import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.drawn_designs import any_policy
from warploom.base.errors import WarploomError
from warploom.chip.sm import CHOICES, baseline_policies, policies_of
from warploom.designs import Design, design, from_dict, load_design, named_designs, parse_design


@st.composite
def any_design(draw: st.DrawFn) -> Design:
    policies = baseline_policies()
    policies = policies._replace(**{choice: draw(any_policy(choice)) for choice in CHOICES})
    share = draw(st.sampled_from([1.0, 0.5, 0.7]))
    limit = draw(st.sampled_from([None, "fit", "least", 4, 24, 255]))
    try:
        return Design("drawn", policies, share, limit)
    except WarploomError as error:
        if "cannot be combined" in str(error):
            return Design("drawn", baseline_policies(), share, limit)
        raise


@given(any_design())
def test_text_toml_and_data_read_back_as_the_same_design(tmp_path_factory: pytest.TempPathFactory, drawn: Design) -> None:
    assert parse_design(str(drawn)) == drawn
    assert from_dict(drawn.to_dict()) == drawn
    path = tmp_path_factory.mktemp("designs") / "drawn.toml"
    path.write_text(drawn.to_toml())
    again = load_design(path)
    assert again == drawn
    assert again.to_dict() == drawn.to_dict()


def test_every_named_design_is_a_design() -> None:
    assert next(iter(named_designs())) == "baseline"
    for name in named_designs():
        assert parse_design(name).name == name
    assert parse_design("baseline").policies == baseline_policies()


def test_what_the_text_says_beats_what_a_name_brings() -> None:
    assert parse_design("baseline + scheduler=lrr") == parse_design("scheduler=lrr") == parse_design("lrr")
    assert parse_design("oracle + allocation=static") == parse_design("power=unallocated-off")
    assert parse_design("allocation=static + always-on + oracle") == parse_design("baseline")


def test_python_takes_choices_options_and_parameters() -> None:
    assert design("baseline", scheduler="lrr") == parse_design("lrr")
    assert design("baseline", register_file=0.5, max_registers="fit") == parse_design("register_file=0.5 + max_registers=fit")
    assert design("scheduler=two-level", active=4) == parse_design("scheduler=two-level(active=4)")
    assert design(parse_design("lrr"), max_registers=20) == parse_design("lrr + max_registers=20")


def test_all_parameters_are_resolved_in_the_data() -> None:
    data = parse_design("two-level").to_dict()
    assert data["scheduler"].keys() == {"policy", *policies_of("scheduler")["two-level"]._fields}
    assert set(data) == {"name", *CHOICES}


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("basline", "did you mean 'baseline'"),
        ("scheduler=gtoo", "did you mean 'gto'"),
        ("schedular=gto", "did you mean 'scheduler'"),
        ("scheduler=gto + scheduler=lrr", "two policies for scheduler, gto and lrr"),
        ("gto + lrr", "two policies for scheduler, gto and lrr"),
        ("none", "a policy of hierarchy and of"),
        ("scheduler=4", "wants the name of a policy"),
        ("two-level(active=0)", "active must lie between"),
        ("two-level(active=2.5)", "active must be a whole number"),
        ("two-level(active=many)", "active must be a whole number"),
        ("two-level(actve=4)", "did you mean 'active'"),
        ("baseline(shrink=1)", "none of its policies has a parameter 'shrink'"),
        ("register_file=2", "register_file must be a share"),
        ("register_file=half", "register_file wants a number"),
        ("max_registers=3", "max_registers must be fit, least or a whole number"),
        ("max_registers=20 + max_registers=24", "max_registers is given twice"),
        ("gone.toml", "gone.toml: the design cannot be read"),
    ],
)
def test_nonsense_is_refused_in_one_sentence(text: str, complaint: str) -> None:
    with pytest.raises(WarploomError, match=complaint) as caught:
        parse_design(text)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("scheduler = 3", "scheduler must be a policy's name"),
        ("[scheduler]\nactive = 3", "scheduler must be a policy's name"),
        ("[schedule]\npolicy = 'gto'", "did you mean 'scheduler'"),
        ("name = 3", "the name must be text"),
        ("x = = 1", "not valid TOML"),
        ("register_file = true", "register_file must be a share"),
        ("[scheduler]\npolicy = 'two-level'\nactive = 'x'", "active must be a whole number"),
    ],
)
def test_a_wrong_file_is_refused_with_its_name(tmp_path: Path, text: str, complaint: str) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(text)
    with pytest.raises(WarploomError, match=complaint) as caught:
        load_design(path)
    assert "mine" in str(caught.value)


def test_shares_survive_the_text() -> None:
    assert math.isclose(parse_design(str(parse_design("register_file=0.35"))).register_file, 0.35)


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        (f"hierarchy = {{ policy = 'rfc', entries = {'9' * 5000} }}", "not valid TOML"),
        (f"hierarchy = {{ policy = 'rfc', entries = {'9' * 400} }}", "entries must lie between"),
        ("hierarchy = { policy = 'rfc', entries = inf }", "entries must be a whole number, not inf"),
        ("hierarchy = { policy = 'rfc', entries = [6] }", "entries must be a whole number"),
        ("hierarchy = { policy = 'rfc', name = 'mine' }", "it has no parameter 'name'"),
        ("hierarchy = { policy = 'rfc', choice = 'mine' }", "it has no parameter 'choice'"),
    ],
)
def test_odd_values_in_a_file_are_refused_in_one_sentence(tmp_path: Path, line: str, complaint: str) -> None:
    path = tmp_path / "odd.toml"
    path.write_text(line)
    with pytest.raises(WarploomError, match=complaint):
        load_design(path)


@pytest.mark.parametrize("number", ["9" * 5000, "1e999", "-inf", "nan", "\u0663"])
def test_odd_numbers_in_a_text_are_refused_in_one_sentence(number: str) -> None:
    with pytest.raises(WarploomError, match=r"^design 'rfc\(entries="):
        parse_design(f"rfc(entries={number})")


def test_any_name_can_be_written_as_toml(tmp_path: Path) -> None:
    named = from_dict({"name": 'a "name"\nof two lines, a bell \a, \x7f, a back\\slash and \U0001d7d9'})
    path = tmp_path / "named.toml"
    path.write_text(named.to_toml(), encoding="utf-8")
    assert load_design(path).name == named.name
