"""Somebody's own kernels beside what Nsight Compute printed of them."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from warploom.base.errors import WarploomError
from warploom.cli.app import run_command
from warploom.studies.validate.ncu import METRICS, read_profile
from warploom.studies.validate.programs import initial_value
from warploom.studies.validate.split import HELD_OUT

SOURCE = 'extern "C" __global__ void twice(float *x) { x[blockIdx.x * blockDim.x + threadIdx.x] *= 2; }\n'
LAUNCH = {"kernel": "twice", "grid": [4], "block": [64], "args": [{"name": "x", "type": "f32[256]", "init": "i * 0.5"}]}
ABOUT = ("ID", "Process Name", "Kernel Name", "Block Size", "Grid Size", "CC")
TWICE = ("twice(float *)", "(64, 1, 1)", "(4, 1, 1)", "9.0")


def quoted(*lines: tuple[object, ...]) -> str:
    return "==PROF== Connected\n" + "".join(",".join(f'"{word}"' for word in line) + "\n" for line in lines)


def raw_page(*launches: Mapping[str, object], unit: str = "") -> str:
    """Two words of every line are the launch's number and the process; a metric that no launch has is left away."""
    names = [name for name in METRICS if name in launches[0]]
    lines = [(number, "app", *TWICE, *(launch[name] for name in names)) for number, launch in enumerate(launches)]
    return quoted((*ABOUT, *names), (*[""] * len(ABOUT), *[unit] * len(names)), *lines)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "twice.json").write_text(json.dumps(LAUNCH))
    (tmp_path / "twice.cu").write_text(SOURCE)
    (tmp_path / "report.csv").write_text(raw_page({"sm__cycles_active.max": "2,000", "smsp__inst_executed.sum": 96}))
    return tmp_path


def test_the_median_of_launches_alike(folder: Path) -> None:
    (folder / "report.csv").write_text(raw_page(*({"sm__cycles_active.max": each} for each in ("1,000", 1300, 1100))))
    facts, (launch,) = read_profile(folder / "report.csv", folder)
    assert (launch.program, launch.kernel, launch.part, launch.grid) == ("twice", "twice", HELD_OUT, "4x1x1")
    assert launch.cycles == 1100 and launch.measurements == 3 and launch.spread == pytest.approx(300 / 1100)
    assert launch.instructions is None and launch.dram_read_bytes is None
    assert "9.0" in facts["name"]


def test_both_pages_say_the_same(folder: Path) -> None:
    of_lines = (*ABOUT, "Metric Name", "Metric Unit", "Metric Value")
    counters = {"sm__cycles_active.max": ("cycle", "2,000"), "dram__bytes_read.sum": ("Kbyte", "1.5"), "unknown": ("", "n/a")}
    lines = [(7, "app", *TWICE, name, *value) for name, value in counters.items()]
    (folder / "lines.csv").write_text(quoted(of_lines, *lines))
    columns = {"sm__cycles_active.max": 2, "dram__bytes_read.sum": 1.5}
    (folder / "columns.csv").write_text(raw_page(columns, unit="K"))
    (_, (first,)), (_, (second,)) = (read_profile(folder / f"{name}.csv", folder) for name in ("lines", "columns"))
    assert first == second
    assert first.cycles == 2000 and first.dram_read_bytes == 1500


def test_the_command(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["validate", "--measured", str(folder / "report.csv"), "--store", str(folder / "runs"), "--jobs", "1"]
    assert run_command([*words, "--json"]) == 0
    (launch,) = json.loads(capsys.readouterr().out)["launches"]
    assert launch["program"] == "twice" and launch["measured_cycles"] == 2000 and launch["cycles"] > 500
    assert launch["instructions"] == launch["measured_instructions"] == 96
    assert run_command(words) == 0
    printed = capsys.readouterr().out
    assert "exact" in printed and "DRAM" not in printed  # which was not measured
    assert "<svg" in (folder / "runs" / "hopper-beside-report.svg").read_text()


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (lambda here: (here / "report.csv").write_text("cycles\n5\n"), "not what ncu --csv prints"),
        (lambda here: (here / "report.csv").unlink(), "cannot be read"),
        (lambda here: (here / "report.csv").write_text(raw_page({"smsp__inst_executed.sum": 5})), "give ncu --metrics sm__cyc"),
        (lambda here: (here / "report.csv").write_text(raw_page({"sm__cycles_active.max": "many"})), "'many' is not a number"),
        (lambda here: (here / "twice.json").unlink(), "none of its kernels (twice)"),
        (lambda here: (here / "twice.json").write_text(json.dumps(LAUNCH | {"grid": [5]})), "none of its kernels (twice)"),
        (lambda here: (here / "twice.json").write_text("{}"), "does not describe a launch"),
        (lambda here: (here / "twice.cu").unlink(), "twice.cu: there is no such file"),
        (lambda here: (here / "twice.json").write_text(json.dumps({**LAUNCH, "args": [{"type": "f32[8]"}]})), "needs a 'type'"),
    ],
)
def test_bad_input_is_one_sentence(
    folder: Path, change: Callable[[Path], object], complaint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    change(folder)
    assert (
        run_command(["validate", "--measured", str(folder / "report.csv"), "--store", str(folder / "runs"), "--jobs", "1"]) == 2
    )
    said = capsys.readouterr().err
    assert complaint in said and "Traceback" not in said


@pytest.mark.parametrize("argument", [{"type": "f99", "init": "0"}, {"type": "f32[4]", "init": "1 / 0"}, {"init": "0"}])
def test_an_argument_that_cannot_be_made(argument: dict[str, str]) -> None:
    with pytest.raises(WarploomError, match=r"an argument .* needs a 'type'"):
        initial_value(argument)


@pytest.mark.parametrize(
    "text",
    [
        "np.__builtins__['__import__']('os').system('true')",
        "().__class__.__base__.__subclasses__()",
        "np.load('x.npy')",
        "np.where.__globals__",
        "__import__('os')",
        "[i for i in i]",
        "(lambda: i)()",
        "np.abs(i, out=i)",
        "9**9**9",
        "1 << 1000000",
        "'a' * 99",
        "i < i < i",
        "+".join("i" * 300),
        "(" * 300,
    ],
)
def test_an_expression_runs_nobodys_python(text: str) -> None:
    with pytest.raises(WarploomError, match=r"needs a 'type'"):
        initial_value({"type": "f32[4]", "init": text})


def test_an_array_larger_than_a_device_is_refused() -> None:
    with pytest.raises(WarploomError, match="at most 2 GiB"):
        initial_value({"type": "f32[1099511627776]", "init": "0"})


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("(i % 3) * 0.5 - 1", [-1, -0.5, 0, -1]),
        ("np.where(i == 2, -1, i // 2)", [0, 0, -1, 1]),
        ("i * 2654435761 >> 9 & 3", [0, 0, 1, 2]),
        ("np.cumsum(2 ** i) - (i < 1)", [0, 3, 7, 15]),
    ],
)
def test_an_expression_of_the_elements_number(text: str, values: list[float]) -> None:
    assert initial_value({"type": "f64[4]", "init": text}).tolist() == values
