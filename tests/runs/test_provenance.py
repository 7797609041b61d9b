"""Every result says what it was made from: it can be made again, and two that differ never look alike."""

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from support.places import TESTS
from support.scale_kernel import LAUNCH, SCALE_PTX
from warploom.chip.machines import load_machine, machine_names
from warploom.chip.machines.loader import FOLDER, machine_from_dict
from warploom.cli.app import run_command
from warploom.runs import provenance
from warploom.runs.provenance import described, machine_label, provenance_from_dict
from warploom.runs.result import Result, to_table
from warploom.show.comparison import draw_comparison
from warploom.show.embedding import KEYWORD, embedded

CENSUS = TESTS / "papers" / "invented" / "census"
TINY = ["run", "vectoradd", "--size", "tiny"]
Run = Callable[..., Any]
Keep = Callable[..., Path]
Told = tuple[Path, Callable[..., Any]]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs a command; gives back what it printed, as a value where that is JSON."""

    def run(*words: str, code: int = 0) -> Any:
        assert run_command(list(words)) == code, capsys.readouterr().err
        captured = capsys.readouterr()
        return json.loads(captured.out) if "--json" in words and code != 2 else captured.err if code else captured.out

    return run


@pytest.fixture
def kept(run: Run, tmp_path: Path) -> Keep:
    """Runs a command and keeps its JSON as a file."""

    def keep(*words: str) -> Path:
        path = tmp_path / "result.json"
        path.write_text(json.dumps(run(*words, "--json")))
        return path

    return keep


OWN_POLICY = '''
from typing import NamedTuple
from warploom.chip.sm import policy

@policy
class Mine(NamedTuple):
    """The plain policy under another name."""
    CHOICE = "gating"
    NAME = "mine-for-provenance"
    SOURCE = "a test"
'''


def test_an_override_shows_everywhere(run: Run) -> None:
    plain, changed, scaled = (
        run(*TINY, *options, "--json")
        for options in ((), ("--override", "l1.mshrs=8"), ("--sms", "4", "--override", "l1.mshrs=8"))
    )
    assert plain["machine"] == "gtx480"
    assert changed["machine"] == "gtx480[l1.mshrs=8]"
    assert scaled["machine"] == "gtx480[l1.mshrs=8, sms=4]"
    assert changed["provenance"]["spec"]["machine"]["l1"]["mshrs"] == 8
    assert len({result["provenance"]["key"] for result in (plain, changed, scaled)}) == 3
    table = run(*TINY, "--override", "l1.mshrs=8")
    assert "machine gtx480[l1.mshrs=8]" in table and f"key {changed['provenance']['key'][:8]}" in table


def test_a_result_carries_what_it_was_made_from(run: Run) -> None:
    made = run(*TINY, "--json")["provenance"]
    assert made["version"] and made["sources"] and made["environment"]["numba"]
    spec, digests = made["spec"], made["digests"]
    assert spec["program"] == {"kind": "workload", "workload": "vectoradd"} and spec["size"] == "tiny" and spec["seed"] == 5
    assert spec["technology"] == digests["technology"]["name"] == "common" and digests["technology"]["digest"]
    assert set(digests["policies"]) < set(spec["design"]) and spec["check"] == []
    assert run(*TINY, "--json")["provenance"]["key"] == made["key"]
    assert run(*TINY, "--emulate-only", "--json")["provenance"]["digests"]["technology"] == {}


@pytest.mark.parametrize(
    "words",
    [
        [*TINY],
        [*TINY, "--override", "l1.mshrs=8", "--sms", "3", "--design", "baseline + register_file=0.5 + max_registers=fit"],
        [*TINY, "--emulate-only"],
        [*TINY, "--design", "baseline", "--design", "baseline + register_file=0.5"],
    ],
    ids=["plain", "changed", "emulated", "several"],
)
def test_it_can_be_made_again(words: list[str], kept: Keep, run: Run) -> None:
    path = kept(*words)
    before, after = json.loads(path.read_text()), run("run", "--from", str(path), "--json")
    pairs = zip(before, after, strict=True) if isinstance(before, list) else [(before, after)]
    for old, new in pairs:
        assert new["warp_instructions"] == old["warp_instructions"] and new.get("counters") == old.get("counters")
        assert new["provenance"] == old["provenance"]


def test_a_kernel_of_ones_own_can_be_made_again(kept: Keep, run: Run, tmp_path: Path) -> None:
    file = tmp_path / "scale.ptx"
    file.write_text(SCALE_PTX)
    path = kept("run", str(file), *LAUNCH, "--shared", "64")
    made = json.loads(path.read_text())["provenance"]
    assert made["spec"]["program"]["grid"] == [4, 1, 1] and made["spec"]["program"]["arguments"][0] == "x=f32[256]:iota"
    line = run("run", "--from", str(path))
    assert "scale of scale.ptx#" in line and "grid 4,1,1, block 64,1,1, shared 64, x=f32[256]:iota" in line
    file.write_text(SCALE_PTX.replace("mul.f32", "add.f32"))
    assert f"{file} has changed since" in run("run", "--from", str(path), code=2)


def test_launches_of_one_kernel_do_not_look_alike(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "scale.ptx"
    file.write_text(SCALE_PTX)
    ways = ([*LAUNCH], [*LAUNCH[:-1], "n=255"], ["--grid", "3", *LAUNCH[2:]], [*LAUNCH, "--shared", "8"])
    made = [run("run", str(file), *way, "--emulate-only", "--json")["provenance"] for way in ways]
    lines = {described([provenance_from_dict(each, "test")]) for each in made}
    assert len(lines) == len({each["key"] for each in made}) == len(ways)


def test_files_of_the_user_are_named_by_contents(kept: Keep, run: Run, tmp_path: Path) -> None:
    policy = tmp_path / "mine.py"
    policy.write_text(OWN_POLICY)
    path = kept(*TINY, "--emulate-only", "--policy", str(policy), "--design", "gating=mine-for-provenance")
    made = json.loads(path.read_text())["provenance"]
    assert made["digests"]["policies"]["gating"]["file"] == str(policy) and "file" not in made["digests"]["policies"]["scheduler"]
    run("run", "--from", str(path), "--policy", str(policy))
    made["digests"]["policies"]["gating"]["digest"] = "0" * 20
    path.write_text(json.dumps({"provenance": made}))
    assert f"{policy} has changed since" in run("run", "--from", str(path), "--policy", str(policy), code=2)


@pytest.fixture
def told(kept: Keep, tmp_path: Path) -> Told:
    """A result of the user's policy, and another process's answer when it is told to make it again."""
    policy = tmp_path / "told.py"
    name = f"mine-{tmp_path.name}"  # two files of one process cannot bring the same
    policy.write_text(OWN_POLICY.replace("mine-for-provenance", name))
    path = kept(*TINY, "--emulate-only", "--policy", str(policy), "--design", f"gating={name}")

    def ask(*words: str) -> Any:
        command = [sys.executable, "-m", "warploom", "run", "--from", str(path), *words]
        return subprocess.run(command, capture_output=True, text=True)

    return policy, ask


def test_a_result_runs_no_code_that_nobody_named(told: Told, tmp_path: Path) -> None:
    policy, ask = told
    policy.write_text(policy.read_text() + f"\nopen({str(tmp_path / 'ran')!r}, 'w')\n")  # whatever its digest
    unnamed, changed = ask(), ask("--policy", str(policy))
    assert unnamed.returncode == changed.returncode == 2 and not (tmp_path / "ran").exists()
    assert f"name it if you trust it, with --policy {policy}" in unnamed.stderr and unnamed.stderr.count("\n") == 1
    assert f"{policy} has changed since" in changed.stderr


def test_a_result_runs_the_code_that_was_named(told: Told) -> None:
    policy, ask = told
    assert ask("--policy", str(policy)).returncode == 0


def test_a_policy_that_reads_data_can_be_made_again(kept: Keep, run: Run, tmp_path: Path) -> None:
    (tmp_path / "table.csv").write_text("1\n")
    policy = tmp_path / "reads.py"
    reads = f"\nopen({str(tmp_path / 'table.csv')!r}).close()\n"
    policy.write_text(OWN_POLICY.replace("mine-for-provenance", "mine-with-data") + reads)
    path = kept(*TINY, "--emulate-only", "--policy", str(policy), "--design", "gating=mine-with-data")
    run("run", "--from", str(path), "--policy", str(policy))
    (tmp_path / "table.csv").write_text("2\n")
    assert f"{policy} has changed since" in run("run", "--from", str(path), "--policy", str(policy), code=2)


def test_a_papers_folder_is_named_again(run: Run, tmp_path: Path) -> None:
    shutil.copytree(CENSUS, tmp_path / "census")
    words = ["--paper", str(tmp_path / "census"), "--emulate-only"]
    result, command = tmp_path / "result.json", [sys.executable, "-m", "warploom", "run"]
    made = subprocess.run([*command, *TINY[1:], "--design", "census", *words, "--json"], capture_output=True, text=True)
    result.write_text(made.stdout)
    assert subprocess.run([*command, "--from", str(result), *words[:2]], capture_output=True).returncode == 0
    (tmp_path / "census" / "policy.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')")
    for again in ([], words[:2]):
        refused = subprocess.run([*command, "--from", str(result), *again], capture_output=True, text=True)
        assert refused.returncode == 2 and "Traceback" not in refused.stderr and not (tmp_path / "ran").exists()


@pytest.mark.parametrize("option", ["--time={}", "--create-pch={}", "-I{}", "-include={}", "--fdevice-time-trace={}"])
def test_a_result_does_not_choose_the_files_of_a_compiler(option: str, kept: Keep, run: Run, tmp_path: Path) -> None:
    option = option.format(tmp_path / "chosen")
    file = tmp_path / "scale.ptx"
    file.write_text(SCALE_PTX)
    path = kept("run", str(file), *LAUNCH, "--emulate-only", "--define", "N=4", "--nvrtc-option", option)
    error = run("run", "--from", str(path), code=2)
    assert f"the compiler's option {option!r} may read or write files" in error
    run("run", "--from", str(path), "--nvrtc-option", option)


def test_a_file_is_compared_before_it_is_read(kept: Keep, run: Run, tmp_path: Path) -> None:
    file = tmp_path / "scale.ptx"
    file.write_text(SCALE_PTX)
    path = kept("run", str(file), *LAUNCH, "--emulate-only")
    file.write_text("no PTX")
    assert f"{file} has changed since" in run("run", "--from", str(path), code=2)
    record = json.loads(path.read_text())
    record["provenance"]["spec"]["program"]["file"] = "/dev/zero"
    path.write_text(json.dumps(record))
    assert "/dev/zero is not there any more" in run("run", "--from", str(path), code=2)


def test_an_energy_table_of_ones_own_has_its_digest_in_its_name(kept: Keep, run: Run, tmp_path: Path) -> None:
    from importlib import resources

    text = (resources.files("warploom.designs.energy") / "technologies" / "common.toml").read_text()
    table = tmp_path / "common.toml"
    table.write_text(text)
    path = kept(*TINY, "--technology", str(table))
    assert json.loads(path.read_text())["technology"] == "common"  # the same numbers
    table.write_text(text.replace("read = { value = 7e-12", "read = { value = 8e-12"))
    assert "has changed since" in run("run", "--from", str(path), code=2)
    other = json.loads(kept(*TINY, "--technology", str(table)).read_text())
    assert re.fullmatch(r"common#[0-9a-f]{8}", other["technology"])


def test_a_different_outcome_is_named(kept: Keep, run: Run) -> None:
    path = kept(*TINY)
    record = json.loads(path.read_text())
    record["cycles"] += 1
    record["counters"]["rf_reads"] -= 1
    path.write_text(json.dumps(record))
    assert run_command(["run", "--from", str(path)]) == 1
    path.write_text(json.dumps(record))
    error = run("run", "--from", str(path), code=1)
    assert "differs in cycles, counters.rf_reads" in error
    record["provenance"]["sources"] = "0" * 20
    path.write_text(json.dumps(record))
    assert "it was made by Warploom" in run("run", "--from", str(path), code=1)


@pytest.mark.parametrize(
    "text, complaint",
    [
        ("", "not JSON"),
        ("[]", "there is no result in it"),
        ("[1]", "there is no result in it"),
        ('{"cycles": 3}', "does not say how it was made"),
        ('{"provenance": {"version": "0.1.0"}}', "does not say how it was made"),
    ],
)
def test_what_is_no_result_is_refused(text: str, complaint: str, run: Run, tmp_path: Path) -> None:
    path = tmp_path / "bad.json"
    path.write_text(text)
    assert complaint in run("run", "--from", str(path), code=2)


@pytest.mark.parametrize("damage", [None, 3, "word", {"name": []}, {"label": {}}, {"numbers": {"chip": 3}}, {"workload": 7}])
@pytest.mark.parametrize("part", ["program", "design", "machine", "launches"])
def test_damaged_provenance_is_a_sentence(part: str, damage: object, kept: Keep, run: Run) -> None:
    path = kept(*TINY, "--emulate-only")
    record = json.loads(path.read_text())
    record["provenance"]["spec"][part] = damage
    path.write_text(json.dumps(record))
    error = run("run", "--from", str(path), code=2)
    assert error.startswith("error: ") and error.count("\n") == 1


def test_other_options_beside_from_are_refused(kept: Keep, run: Run) -> None:
    path = kept(*TINY, "--emulate-only")
    assert "omit the option" in run("run", "--from", str(path), "--size", "tiny", code=2)
    assert "omit the option" in run("run", "vectoradd", "--from", str(path), code=2)
    assert "name a workload, a set or a file, or a result with --from" in run("run", code=2)


@pytest.mark.parametrize("name", machine_names())
def test_a_machine_comes_back_from_its_numbers(name: str) -> None:
    machine = load_machine(name)
    assert machine_from_dict(json.loads(json.dumps(machine.to_dict())), "test") == machine
    assert machine_label(machine) == name


def test_machines_that_differ_have_different_labels(tmp_path: Path) -> None:
    shipped = load_machine("gtx480")
    own = tmp_path / "own" / "gtx480.toml"  # under a name of ours
    own.parent.mkdir()
    own.write_text(re.sub(r"(?<=^mshrs = )\d+", "7", (FOLDER / "gtx480.toml").read_text(), flags=re.MULTILINE))
    other = tmp_path / "mine.toml"
    other.write_text('base = "gtx480"\n[sources]\ndefault = "a test"\n[l1]\nmshrs = 7\n')
    machines = [
        shipped,
        shipped.scaled(4),
        load_machine("gtx480", **{"chip.sms": 4}),
        load_machine(own),
        load_machine(other),
        replace(load_machine(other), l1=replace(shipped.l1, mshrs=6)),
    ]
    labels = [machine_label(machine) for machine in machines]
    assert len(set(labels)) == len(labels)
    assert labels[1:3] == ["gtx480[sms=4]", "gtx480[chip.sms=4]"] and "l1.mshrs=7" in labels[3]


def test_pictures_carry_it(run: Run, tmp_path: Path) -> None:
    result = Result.from_dict(run(*TINY, "--json"))
    made = result.provenance
    for suffix in (".png", ".svg", ".html"):
        draw_comparison([result], tmp_path / f"bars{suffix}")
    (record,) = embedded(tmp_path / "bars.png")
    assert provenance_from_dict(record, "test") == made
    assert made.key in (tmp_path / "bars.svg").read_text() and KEYWORD in (tmp_path / "bars.svg").read_text()
    assert made.key in (tmp_path / "bars.html").read_text()
    assert f"key {made.key[:8]}" in (tmp_path / "bars.svg").read_text()  # the subtitle


def test_tables_carry_it(run: Run) -> None:
    result = Result.from_dict(run(*TINY, "--json"))
    row = to_table([result]).iloc[0]
    assert row["provenance.key"] == result.provenance.key and row["provenance.spec.seed"] == 5
    assert row["machine"] == "gtx480"


def test_the_commit_is_the_package_s_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A package that merely lies in some other checkout, as in its .venv, has no commit."""
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    (tmp_path / "__init__.py").touch()
    monkeypatch.setattr(provenance, "PACKAGE", tmp_path)
    assert provenance._checkout.__wrapped__() == ("", False)
    subprocess.run(["git", "-C", str(tmp_path), "add", "."], check=True)
    words = ["-c", "user.name=n", "-c", "user.email=e", "commit", "-qm", "m"]
    subprocess.run(["git", "-C", str(tmp_path), *words], check=True)
    commit, changed = provenance._checkout.__wrapped__()
    assert len(commit) == 40 and not changed
    (tmp_path / "__init__.py").write_text("pass\n")
    assert provenance._checkout.__wrapped__() == (commit, True)
