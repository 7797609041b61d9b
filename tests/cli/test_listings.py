"""Commands that only look: inspect, machines, designs."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from warploom.cli.app import run_command

SUMMARY = {
    "name",
    "instructions",
    "blocks",
    "registers",
    "max_live",
    "predicates",
    "spill_loads",
    "spill_stores",
    "shared_bytes",
    "local_bytes",
}
YOUNGEST = '''
from typing import NamedTuple

from warploom.chip.sm import policy
from warploom.chip.sm.bits import lowest


@policy
class Lowest(NamedTuple):
    """The warp with the lowest number goes first."""

    CHOICE = "scheduler"
    NAME = "lowest-first"
    SOURCE = "a test"
    LIMITS = {"depth": (1, 8)}
    depth: int = 3

    def choose(policy, ctx, sm, cycle, scheduler, ready):
        return lowest(ready)
'''


@pytest.fixture
def warploom(capsys: pytest.CaptureFixture[str]) -> Callable[..., Any]:
    def run(*words: str) -> Any:
        assert run_command([*words, "--json"]) == 0, capsys.readouterr().err
        return json.loads(capsys.readouterr().out)

    return run


def test_inspect_summarises_every_kernel(warploom: Callable[..., Any]) -> None:
    kernels = warploom("inspect", "bfs")
    assert [kernel["name"] for kernel in kernels] == ["expand", "settle"]
    assert all(kernel.keys() >= SUMMARY for kernel in kernels)
    assert all(kernel["registers"] >= kernel["max_live"] > 0 for kernel in kernels)
    (only,) = warploom("inspect", "bfs", "--kernel", "settle")
    assert only == kernels[1]


def test_inspect_under_a_register_limit(warploom: Callable[..., Any]) -> None:
    (free,) = warploom("inspect", "matrixmul")
    (limited,) = warploom("inspect", "matrixmul", "--max-registers", "8")
    assert limited["registers"] <= 8 < free["registers"]
    assert limited["spill_loads"] > free["spill_loads"] == 0
    (by_design,) = warploom("inspect", "matrixmul", "--design", "max_registers=8")
    assert by_design == limited


def test_inspect_draws_the_code(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    assert run_command(["inspect", "vectoradd"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert any("ld.global.f32" in line and line.rstrip().endswith(("x:", ":x:", "::x", "^")) for line in lines)
    assert max(map(len, lines)) <= 100


@pytest.mark.parametrize(
    ("contents", "complaint"),
    [
        (b"", "broken.ptx"),
        (b"\xff\xfe\x00garbage", "broken.ptx: this is not text"),
        (b".version 7.0\n.target sm_75\n.address_size 64\n", "there is no kernel"),
        (b".version 7.0\n.target sm_75\n.address_size 64\n.visible .entry k() { frobnicate.u32 %r1; }", "broken.ptx:4"),
    ],
)
def test_a_broken_file_is_one_sentence(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, contents: bytes, complaint: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "broken.ptx").write_bytes(contents)
    assert run_command(["inspect", "broken.ptx"]) == 2
    captured = capsys.readouterr()
    assert complaint in captured.err
    assert captured.err.count("\n") == 1
    assert captured.out == ""


def test_machines_with_the_source_of_every_number(warploom: Callable[..., Any]) -> None:
    assert {"gtx480", "rfc", "rfv", "ampere"} <= {machine["name"] for machine in warploom("machines")}
    machine = warploom("machines", "gtx480")
    assert machine["sources"]["l1.sets"]
    assert machine["sm"]["warps_per_sm"] == 48


def test_machine_keys_say_what_they_mean(warploom: Callable[..., Any]) -> None:
    keys = warploom("machines", "--keys")
    assert keys["l2.latency"] == {
        "unit": "cycles",
        "allowed": "1 to 1,000",
        "meaning": "Time from the crossbar to the tags of a slice.",
    }
    assert keys["l2.far_cycles"]["unless_set"] == 0
    assert set(warploom("machines", "far", "--keys")) == {"l2.far_cycles"}
    of_machine = warploom("machines", "gtx480", "--keys")["keys"]
    assert of_machine["chip.sms"]["value"] == 15 and "GPGPU-Sim" in of_machine["chip.sms"]["source"]
    assert not any(key.startswith("sub_core.") for key in of_machine)


def test_counters_say_what_they_mean_and_who_counts_them(warploom: Callable[..., Any]) -> None:
    (held,) = warploom("counters", "acquire_wait")
    assert held["unit"] == "cycles" and "allocation=regmutex" in held["counted_by"]
    assert {"rf_reads", "l1_hits", "mean_lifetime"} <= {counter["name"] for counter in warploom("counters")}


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["machines", "l2.latncy", "--keys"], "no key contains 'l2.latncy'"),
        (["counters", "rf_raeds"], "no counter contains 'rf_raeds'; did you mean 'rf_reads'?"),
    ],
)
def test_a_misspelt_key_or_counter_is_one_sentence(capsys: pytest.CaptureFixture[str], words: list[str], complaint: str) -> None:
    assert run_command(words) == 2
    assert complaint in capsys.readouterr().err


def test_a_policy_of_ones_own_is_listed(tmp_path: Path) -> None:
    # In a process of its own: what is registered stays registered.
    import subprocess
    import sys

    path = tmp_path / "mine.py"
    path.write_text(YOUNGEST)
    command = [sys.executable, "-c", "from warploom.cli import main; main()", "designs", "--json", "--policy", str(path)]
    listing = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    (mine,) = [policy for policy in listing["policies"] if policy["policy"] == "lowest-first"]
    assert mine["title"] == "The warp with the lowest number goes first."
    assert mine["parameters"] == {"depth": {"default": 3, "allowed": [1, 8], "meaning": ""}}


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ("def choose", "def chose", "did you mean 'choose'"),
        ('CHOICE = "scheduler"', 'CHOICE = "schedule"', "CHOICE must be one of"),
        ("@policy", "", "registers no policy"),
        ("class Lowest", "class Lowest(", "cannot be loaded"),
    ],
)
def test_a_wrong_policy_file_is_refused(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, old: str, new: str, complaint: str
) -> None:
    path = tmp_path / "mine.py"
    path.write_text(YOUNGEST.replace(old, new))
    assert run_command(["designs", "--policy", str(path)]) == 2
    captured = capsys.readouterr()
    assert complaint in captured.err
    assert captured.err.count("\n") == 1


def test_a_mistake_in_a_hook_is_one_sentence_with_its_place(tmp_path: Path) -> None:
    import subprocess
    import sys

    path = tmp_path / "mine.py"
    path.write_text(YOUNGEST.replace("return lowest(ready)", "return sm.scheduler.turn"))
    words = ["run", "vectoradd", "--size", "tiny", "--policy", str(path), "--design", "scheduler=lowest-first"]
    command = [sys.executable, "-c", "from warploom.cli import main; main()", *words]
    ended = subprocess.run(command, capture_output=True, text=True)
    assert ended.returncode == 2
    *progress, complaint = ended.stderr.splitlines()
    assert all(line.startswith("compiling") or line.endswith("s so far") for line in progress)
    hook = YOUNGEST[: YOUNGEST.index("def choose")].count("\n") + 1
    assert complaint == f"error: {path}:{hook}: Lowest.choose cannot be compiled: the record has no field 'turn'"


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("machines", ["gpgpusim-gtx480", "16 x 128 B", "with the stages of hopper; not measured"]),
        ("machines gtx480", ["clock_energy_mhz", "the core clock: one cycle of this model"]),
        ("machines --keys", ["compatibility.unlisted_operations_take_one_cycle", "(128 to 4,096, a power of two)"]),
        ("machines hopper --keys", ["sub_core.large_double_product_cycles", "[NVIDIA H200 data sheet"]),
        ("designs", ["allocation=rfv(shrink=0.5) + power=subarray-gating(wakeup=1)", "hardware-renaming", "active-mask"]),
        ("counters", ["inter_access_distance_of_entries", "(observer hot-spots)"]),
    ],
)
def test_listings_fit_80_columns_without_breaking_words(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, words: str, expected: list[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert run_command(words.split()) == 0
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 80
    text = " ".join(line.strip() for line in lines)
    assert all(words in text for words in expected)
    assert len([line for line in lines if line.startswith("gtx480")]) <= 1
