"""What the report says of designs and their combinations follows from the numbers."""

from __future__ import annotations

import pytest

from warploom.show.assemble import best_design, combination_rows, findings, thriftiest_at_speed

pytestmark = pytest.mark.unit


def row(design: str, time: float, energy: float) -> dict[str, object]:
    return {"design": design, "time": time, "energy": energy}


ROWS = [
    row("baseline", 1.0, 1.0),
    row("quick", 1.01, 0.8),
    row("slow", 1.3, 0.5),
    row("both", 1.3, 0.39),
    row("oracle", 1.0, 0.1),
]


def test_the_best_has_the_least_product_and_is_never_the_oracle() -> None:
    assert best_design(ROWS) == "both"
    assert best_design(ROWS[:2]) == "quick"
    assert best_design(ROWS[:1]) == "baseline"


def test_most_saved_at_speed_must_save_something() -> None:
    assert thriftiest_at_speed(ROWS) == "quick"
    assert thriftiest_at_speed([row("baseline", 1.0, 1.0), row("idle", 1.0, 0.995)]) == ""


def test_combinations_add_up_cancel_or_reinforce() -> None:
    def verdict(energy: float) -> str:
        rows = [*ROWS[:3], row("both", 1.0, energy)]
        return combination_rows(rows, {"both": ("quick", "slow"), "absent": ("quick", "nothing")})[0]["verdict"]

    assert [verdict(energy) for energy in (0.3, 0.39, 0.41, 0.5)] == [
        "reinforce each other",
        "add up",
        "add up",
        "cancel in part",
    ]


def test_findings_name_all_of_them() -> None:
    sentences = findings(ROWS, {"both": ("quick", "slow")})
    assert [sentence.split(":")[0] for sentence in sentences] == [
        "Least product of register file energy and time",
        "Most energy saved at 2% more time or less",
        "The limit of allocation alone, oracle, which frees each register after its true last read at no cost, stands at 10.0%.",
        "both",
    ]
