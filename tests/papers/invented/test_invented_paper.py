"""A paper's folder outside of the package counts like ours: with ``--paper``, or as an entry point of an installed package."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from warploom.base.errors import WarploomError
from warploom.base.library import load_paper, outside_folders, paper_names

CENSUS = Path(__file__).parent / "census"


def warploom(*arguments: str, **environment: str) -> Any:
    """What a command prints as JSON, in a process of its own: a paper that is loaded stays loaded."""
    command = [sys.executable, "-m", "warploom", *arguments, "--json"]
    ended = subprocess.run(command, env={**os.environ, **environment}, capture_output=True, text=True, timeout=600)
    assert ended.returncode == 0, ended.stderr[-2000:]
    return json.loads(ended.stdout)


def names(rows: list[dict[str, Any]], key: str = "name") -> list[str]:
    return [row[key] for row in rows]


def test_reproduce_shows_its_numbers_and_draws_its_figure(tmp_path: Path) -> None:
    """Two runs on two processes, which must know the paper too: its policy, its instruction, its machine and its energy table."""
    scores = warploom("reproduce", "census", "--paper", str(CENSUS), "--size", "tiny", "--jobs", "2", "--out", str(tmp_path))
    assert names(scores, "id") == ["census.live", "census.overhead"]
    assert 1 < scores[0]["ours"] < 8 and 0 < scores[1]["ours"] < 1
    assert scores[1]["verdict"] == "reproduced"
    assert (tmp_path / "census" / "figure-1.png").stat().st_size > 1000
    runs = [json.loads(file.read_text("utf-8"))["content"] for file in (tmp_path / "runs").glob("*.json")]
    assert sorted(names(runs, "workload")) == ["reduction", "vectoradd"]
    for run in runs:
        counters = run["counters"]
        assert (run["machine"], run["technology"], run["verified"]) == ("census", "census", True)
        assert counters["census_blocks"] > 0 and counters["static_blocks_peak"] > 1
        # Each instruction of its own was fetched and decoded, and none was issued.
        assert "metadata" not in counters["instructions_by_class"]


def test_its_design_policy_machine_and_set_are_listed() -> None:
    listed = warploom("designs", "--paper", str(CENSUS))
    assert names(listed["designs"])[-1] == "census"  # the youngest of the papers
    assert {"choice": "allocation", "policy": "census"}.items() <= next(
        row for row in listed["policies"] if row["policy"] == "census"
    ).items()
    assert "census" in names(warploom("machines", "--paper", str(CENSUS)))
    assert warploom("machines", "census", "--paper", str(CENSUS))["chip"]["sms"] == 1
    summary = warploom("inspect", "vectoradd", "--design", "census", "--paper", str(CENSUS))
    plain = warploom("inspect", "vectoradd")
    assert summary[0]["instructions"] == plain[0]["instructions"] + plain[0]["blocks"]


def test_an_installed_package_can_bring_it(tmp_path: Path) -> None:
    shutil.copytree(CENSUS, tmp_path / "census_of_registers", ignore=shutil.ignore_patterns("__pycache__"))
    about = tmp_path / "census_of_registers-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: census-of-registers\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text("[warploom.papers]\ncensus = census_of_registers\n")
    path = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
    assert "census" in names(warploom("designs", PYTHONPATH=path)["designs"])


def test_without_the_folder_nobody_knows_it() -> None:
    assert "census" not in paper_names()


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"__init__.py": None}, "there is no paper here"),
        ({"__init__.py": "x = 1\n"}, "define PAPER"),
        ({"__init__.py": "import nothing_of_this_name\n"}, "cannot be loaded"),
        ({"__init__.py": lambda text: text.replace('"census"', '"rfv"')}, "another paper called 'rfv'"),
        ({"__init__.py": lambda text: text.replace('"census"', '"A Census"')}, "small letters"),
        ({"__init__.py": lambda text: text.replace('"policy"', '"polices"')}, "polices.py, which is not there"),
        ({"design.toml": ""}, "did you mean 'designs.toml'"),
        ({"machine/census.toml": ""}, "did you mean 'machines'"),
    ],
)
def test_a_folder_that_makes_no_sense_is_refused(tmp_path: Path, changes: dict[str, Any], complaint: str) -> None:
    folder = tmp_path / "census"
    shutil.copytree(CENSUS, folder, ignore=shutil.ignore_patterns("__pycache__"))
    for name, change in changes.items():
        file = folder / name
        file.parent.mkdir(exist_ok=True)
        if change is None:
            file.unlink()
        else:
            file.write_text(change(file.read_text("utf-8")) if callable(change) else change)
    with pytest.raises(WarploomError, match=complaint) as raised:
        load_paper(folder)
    assert str(raised.value).startswith(str(tmp_path))
    assert folder not in outside_folders()


@pytest.mark.parametrize(
    ("file", "old", "new", "arguments", "complaint"),
    [
        ("designs.toml", "[census]", "[rfv]", ["designs"], "paper 'census': its design 'rfv' has a name that another design has"),
        ("designs.toml", "allocation", "alocation", ["designs"], "named design 'census': 'alocation' is not one of a design's"),
        ("designs.toml", "[census]", "[census", ["designs"], "designs.toml: not valid TOML"),
        ("policy.py", "on_metadata", "on_metdata", ["designs"], "policy.py: policy class Census: 'on_metdata' is not a hook"),
        ("workloads.toml", "[vectoradd]", "vectoradd = 1", ["workloads"], "workloads.toml: 'vectoradd' must be a table"),
        ("published.toml", "place", "plaec", ["reproduce", "census"], "published.toml: fact 'live': 'plaec' says nothing about"),
        (
            "published.toml",
            '"at-most"',
            '"most"',
            ["reproduce", "census"],
            "fact 'overhead': 'meaning' must be one of value, at-most",
        ),
        ("published.toml", "value = 3", 'value = "3"', ["reproduce", "census"], "fact 'live': 'value' must be a number, not '3'"),
        ("figures.py", "FIGURES =", "FIGURE =", ["reproduce", "census"], "figures.py: it must define FIGURES"),
        ("counting.py", '"census"', '"add"', ["designs"], "there is an operation 'add' already"),
        (
            "workloads.toml",
            "vectoradd",
            "vectorad",
            ["workloads", "--set", "census"],
            "'vectorad' is not a workload; did you mean",
        ),
    ],
)
def test_a_mistake_in_one_of_its_files_is_said_with_its_place(
    tmp_path: Path, file: str, old: str, new: str, arguments: list[str], complaint: str
) -> None:
    folder = tmp_path / "census"
    shutil.copytree(CENSUS, folder, ignore=shutil.ignore_patterns("__pycache__"))
    text = (folder / file).read_text("utf-8")
    assert old in text
    (folder / file).write_text(text.replace(old, new, 1))
    command = [sys.executable, "-m", "warploom", *arguments, "--paper", str(folder)]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert ended.returncode == 2
    assert complaint in ended.stderr and len(ended.stderr.splitlines()) == 1
