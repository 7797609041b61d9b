"""Tables and pictures of a comparison, from results made up for the purpose."""

import io
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from support.made_results import made_result
from warploom.base.errors import WarploomError
from warploom.runs.result import to_table
from warploom.show.charts import check_picture_name
from warploom.show.comparison import comparison_table, draw_comparison, summary

pytestmark = pytest.mark.unit


def result(workload: str, design: str, cycles: int, dynamic: float, leakage: float, overhead: float = 0.0) -> Any:
    energy = {"dynamic": dynamic, "leakage": leakage, "overhead": overhead, "total": dynamic + leakage + overhead}
    numbers = {"cycles": cycles, "ipc": 1000 / cycles, "storage_bits": 384 if overhead else 0}
    return made_result(workload, design, **numbers, counters={"rf_reads": 7}, energy_pj=energy)


RESULTS = [
    result("a", "baseline", 100, 60.0, 40.0),
    result("a", "mine", 200, 30.0, 10.0, 10.0),
    result("b", "baseline", 100, 50.0, 50.0),
    result("b", "mine", 50, 50.0, 40.0, 10.0),
]


def test_summary_is_relative_to_the_first_design() -> None:
    baseline, mine = summary(RESULTS)
    assert baseline["time"] == pytest.approx(1)
    assert baseline["energy"] == pytest.approx(1)
    assert mine["time"] == pytest.approx(1)  # twice as slow and twice as fast
    assert mine["dynamic"] == pytest.approx(0.4)
    assert mine["energy"] == pytest.approx((0.5 + 1.0) / 2)
    assert mine["storage_bits"] == 384


def test_tables_name_every_run_and_design() -> None:
    console = Console(width=160, record=True, file=io.StringIO())
    for table in comparison_table(RESULTS):
        console.print(table)
    text = console.export_text()
    assert text.count("mine") == 3
    assert "2.000" in text
    assert "0.500" in text
    assert "128 KB" in text


@pytest.mark.parametrize("suffix", [".png", ".svg", ".html"])
def test_a_picture_is_written_whole(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"picture{suffix}"
    draw_comparison(RESULTS, path)
    assert path.stat().st_size > 1000
    assert [each.name for each in tmp_path.iterdir()] == [path.name]


def test_a_failed_picture_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(self: object, draft: str, **options: object) -> None:
        Path(draft).write_text("half")
        raise KeyboardInterrupt

    monkeypatch.setattr("altair.FacetChart.save", fail)
    with pytest.raises(KeyboardInterrupt):
        draw_comparison(RESULTS, tmp_path / "picture.png")
    assert not list(tmp_path.iterdir())


def test_picture_names_are_checked_first(tmp_path: Path) -> None:
    with pytest.raises(WarploomError, match="must end in"):
        check_picture_name(tmp_path / "picture.jpeg")


def test_results_become_a_table() -> None:
    table = to_table(RESULTS)
    assert list(table["workload"]) == ["a", "a", "b", "b"]
    assert table.loc[1, "energy_pj.total"] == 50
    assert table.loc[0, "counters.rf_reads"] == 7
