"""The scorecard counts what stands, says which values are old, and takes in new ones without losing others."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("warploom_lab")

from warploom.base.errors import WarploomError
from warploom_lab.generated import write_scorecard
from warploom_lab.generated.scorecard_values import BEFORE, NOW, Row, Values, merged, read_values, write_values

OLD = "110859b0"


def _score(value: float, **more: Any) -> dict[str, Any]:
    provenance = "Warploom 1 (0123456789ab); machine rfv; key 1"
    plain = {"id": "rfv.shrink-time", "ours": value, "experiment": None, "helps": [], "reason": "", "derived": False}
    return {**plain, "provenance": provenance, **more}


def test_the_page_is_what_the_kept_values_give() -> None:
    assert write_scorecard.TARGET.read_text() == write_scorecard.page(read_values(NOW), read_values(BEFORE))


def test_a_value_made_again_replaces_the_old_one_of_its_code_alone(tmp_path: Path) -> None:
    fact = "rfv.shrink-time"
    old = [Row(fact, code, "value", "", "7.17", OLD) for code in ("ptx", "sm_75")] + [Row(fact, "ptx", "cause", "x", "1", OLD)]
    new = merged(Values(tuple(old)), [_score(0.4)], "ptx", "file")
    write_values(tmp_path / "values.tsv", new.rows)
    again = read_values(tmp_path / "values.tsv")
    values = [(row.code, row.kind, row.value, row.made_by) for row in again.rows]
    assert values == [("ptx", "value", "0.4", "01234567"), ("sm_75", "value", "7.17", OLD)]


def test_a_value_says_which_commit_made_it() -> None:
    with pytest.raises(WarploomError, match="does not say from which commit"):
        merged(Values(()), [_score(1, provenance="Warploom 1; machine rfv")], "ptx", "file")


def test_what_leans_on_a_later_choice_is_shown_and_does_not_stand() -> None:
    fact = "rfv.shrink-time"

    def line(kind: str, without: str) -> str:
        rows = Values((Row(fact, "ptx", "value", "", "0.5", "new"), Row(fact, "ptx", kind, "lone warps", without, "new")))
        return next(row for row in write_scorecard.page(rows, rows).splitlines() if row.startswith("| rfv | time added"))

    assert line("help", "9").endswith("| reproduced | lone warps (without: 9, does not hold) | yes | new |")
    assert line("chosen", "9").endswith("| lone warps (chosen after, without: 9, does not hold) | no | new |")
    assert line("chosen", "0.6").endswith("| lone warps (chosen after, without: 0.6, holds) | yes | new |")


def test_a_headline_number_that_does_not_stand_says_why_or_that_no_cause_is_known() -> None:
    fact, value = "rfv.shrink-time", Row("rfv.shrink-time", "ptx", "value", "", "7", "new")
    unknown = Values((value,))
    explained = Values((value, Row(fact, "ptx", "cause", "renaming", "0.2", "new")))
    pages = (write_scorecard.page(each, each).splitlines() for each in (unknown, explained))
    said = [next(line for line in lines if line.startswith("- rfv, time")) for lines in pages]
    assert said[0].endswith(": no cause has been shown.")
    assert said[1].endswith(": 0.2 without renaming.")


def test_an_argument_without_a_code_is_refused() -> None:
    with pytest.raises(WarploomError, match="name a code and a file"):
        write_scorecard.main(["rfv.json"])
