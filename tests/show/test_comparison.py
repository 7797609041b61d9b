"""Tables and pictures of a comparison, from results made up for the purpose."""

import io
from pathlib import Path

import pytest
from rich.console import Console

from warploom.errors import WarploomError
from warploom.report.charts import check_picture_name
from warploom.report.comparison import comparison_table, draw_comparison, summary
from warploom.simulation.result import Result, to_table


def result(workload, design, cycles, dynamic, leakage, overhead=0.0):
    energy = {"dynamic": dynamic, "leakage": leakage, "overhead": overhead, "total": dynamic + leakage + overhead}
    return Result(
        workload=workload,
        design={"name": design},
        machine="gtx480",
        size="tiny",
        technology="common",
        verified=True,
        checked=False,
        cycles=cycles,
        warp_instructions=1000,
        ipc=1000 / cycles,
        occupancy=0.5,
        ctas_per_sm=4,
        registers_per_thread=16,
        register_file_bytes=131072,
        counters={"rf_reads": 7},
        energy_pj=energy,
        storage_bits=384 if overhead else 0,
        wall_seconds=0.1,
    )


RESULTS = [
    result("a", "baseline", 100, 60.0, 40.0),
    result("a", "mine", 200, 30.0, 10.0, 10.0),
    result("b", "baseline", 100, 50.0, 50.0),
    result("b", "mine", 50, 50.0, 40.0, 10.0),
]


def test_summary_is_relative_to_the_first_design():
    baseline, mine = summary(RESULTS)
    assert baseline["time"] == pytest.approx(1)
    assert baseline["energy"] == pytest.approx(1)
    assert mine["time"] == pytest.approx(1)  # twice as slow and twice as fast
    assert mine["dynamic"] == pytest.approx(0.4)
    assert mine["energy"] == pytest.approx((0.5 + 1.0) / 2)
    assert mine["storage_bits"] == 384


def test_tables_name_every_run_and_design():
    console = Console(width=160, record=True, file=io.StringIO())
    for table in comparison_table(RESULTS):
        console.print(table)
    text = console.export_text()
    assert text.count("mine") == 3
    assert "2.000" in text
    assert "0.500" in text
    assert "128 KB" in text


@pytest.mark.parametrize("suffix", [".png", ".svg", ".html"])
def test_a_picture_is_written_whole(tmp_path, suffix):
    path = tmp_path / f"picture{suffix}"
    draw_comparison(RESULTS, path)
    assert path.stat().st_size > 1000
    assert [each.name for each in tmp_path.iterdir()] == [path.name]


def test_a_failed_picture_leaves_nothing_behind(tmp_path, monkeypatch):
    def fail(self, draft, **options):
        Path(draft).write_text("half")
        raise KeyboardInterrupt

    monkeypatch.setattr("altair.FacetChart.save", fail)
    with pytest.raises(KeyboardInterrupt):
        draw_comparison(RESULTS, tmp_path / "picture.png")
    assert not list(tmp_path.iterdir())


def test_picture_names_are_checked_first(tmp_path):
    with pytest.raises(WarploomError, match="must end in"):
        check_picture_name(tmp_path / "picture.jpeg")


def test_results_become_a_table():
    table = to_table(RESULTS)
    assert list(table["workload"]) == ["a", "a", "b", "b"]
    assert table.loc[1, "energy_pj.total"] == 50
    assert table.loc[0, "counters.rf_reads"] == 7
