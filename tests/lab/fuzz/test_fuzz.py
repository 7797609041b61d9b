"""The fuzzer itself: it sees every way in which an input can end, keeps what it found, and finds nothing in a few real inputs."""

from __future__ import annotations

import ctypes
import faulthandler
import multiprocessing
import subprocess
import sys
import time
from pathlib import Path

import pytest

from support.faulty_inputs import Faulty
from warploom_lab.fuzz.guarded import GuardedMemory
from warploom_lab.fuzz.kinds import Wrong, generator, outcome
from warploom_lab.fuzz.recorded_steps import FIRST, encoded, line, step
from warploom_lab.fuzz.recordings import READERS, SpoiltData, SpoiltFields, SpoiltMemory, SpoiltOrder, check_verified
from warploom_lab.fuzz.results import SpoiltResult
from warploom_lab.fuzz.workers import Batch, run


def test_every_end_is_seen_and_every_input_kept(tmp_path: Path) -> None:
    count = 24
    made = {number: Faulty(tmp_path).make(generator(5, "faulty", number)) for number in range(count)}
    ends = [text.split()[0] for text in made.values()]
    assert len(set(ends)) == 6
    batches = iter(
        [Batch("faulty", "support.faulty_inputs:Faulty", 0, 10), Batch("faulty", "support.faulty_inputs:Faulty", 10, count - 10)]
    )
    tally = run(batches, seed=5, jobs=2, keep=tmp_path / "kept", patience=1.5, until=time.monotonic() + 300)
    assert tally.tried["faulty"] == count
    found = {finding.number: finding.what for finding in tally.findings}
    assert found == {number: end for number, end in enumerate(ends) if end not in ("accepted", "refused")}
    assert {file.name: file.read_text() for file in (tmp_path / "kept").iterdir()} == {
        f"faulty-{number}": made[number] for number in found
    }


def test_a_few_inputs_of_the_quick_kinds(tmp_path: Path) -> None:
    kinds = "design-text,design-toml,machine-toml,technology-toml,plan-toml,goal-toml"
    words = ["--inputs", "400", "--only", kinds, "--keep", str(tmp_path), "--jobs", "1"]
    ended = subprocess.run([sys.executable, "-m", "warploom_lab", "fuzz", *words], capture_output=True, text=True, timeout=300)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert not list(tmp_path.iterdir())
    tried = {line.split()[0]: int(line.split()[1].replace(",", "")) for line in ended.stdout.splitlines()[1:8]}
    assert set(tried) == {*kinds.split(","), "all"} and tried["all"] >= 398 and min(tried.values()) > 15


@pytest.mark.parametrize("kind", [SpoiltFields, SpoiltOrder, SpoiltMemory, SpoiltData])
def test_a_few_recordings(kind: type[SpoiltFields], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for module, name in READERS:  # which the kind makes remember what they have read
        monkeypatch.setattr(module, name, getattr(module, name))
    tried = kind(tmp_path)
    ends = [outcome(tried, "recording", number, tried.make(generator(3, kind.__name__, number))) for number in range(60)]
    assert set(ends) == {"accepted", "refused"}


def test_a_few_results(tmp_path: Path) -> None:
    tried = SpoiltResult(tmp_path)
    ends = [outcome(tried, "result", number, tried.make(generator(3, "result", number))) for number in range(60)]
    assert set(ends) == {"accepted", "refused"}


def _touch(offset: int, *, from_end: bool) -> None:
    faulthandler.disable()
    memory = GuardedMemory(lenient=False)
    memory.allocate_at(memory.first, 64, "a little")
    ctypes.memset(memory.arena.ctypes.data + (len(memory.arena) if from_end else 0) + offset, 1, 1)


@pytest.mark.parametrize(("offset", "from_end", "code"), [(0, False, 0), (-4097, False, -11), (-1, True, 0), (0, True, -11)])
def test_memory_around_device_memory_ends_the_process(offset: int, from_end: bool, code: int) -> None:
    process = multiprocessing.get_context("fork").Process(target=_touch, args=(offset,), kwargs={"from_end": from_end})
    process.start()
    process.join(30)
    assert process.exitcode == code


def test_a_byte_between_allocations_is_noticed() -> None:
    memory = GuardedMemory(lenient=False)
    memory.allocate_at(memory.first, 64, "one")
    memory.allocate_at(memory.first + 128, 64, "another")
    memory.arena[[0, 63, 128]] = 1
    memory.check_the_rest()
    memory.arena[64] = 1
    with pytest.raises(Wrong, match="nothing was allocated"):
        memory.check_the_rest()
    memory.close()


def test_what_cannot_be_verified_is_known_from_the_file() -> None:
    seen, end = step("read", b"abcd", block=line(FIRST, 4)), step("end", how="well")
    check_verified(encoded([seen, end]))
    for steps in ([seen], [end], [step("read", block=line(FIRST, 0)), end]):
        with pytest.raises(Wrong, match="counts as verified"):
            check_verified(encoded(steps))
