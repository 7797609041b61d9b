"""The fuzzer itself: it sees every way in which an input can end, keeps what it found, and finds nothing in a few real inputs."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

SCRIPT = Path(__file__).parents[2] / "scripts" / "fuzz"
sys.path[:0] = [str(SCRIPT), str(Path(__file__).parent)]

from faulty_inputs import Faulty  # noqa: E402
from kinds import generator  # noqa: E402
from workers import Batch, run  # noqa: E402


def test_every_end_is_seen_and_every_input_kept(tmp_path: Path) -> None:
    count = 24
    made = {number: Faulty(tmp_path).make(generator(5, "faulty", number)) for number in range(count)}
    ends = [text.split()[0] for text in made.values()]
    assert len(set(ends)) == 6
    batches = iter([Batch("faulty", "faulty_inputs:Faulty", 0, 10), Batch("faulty", "faulty_inputs:Faulty", 10, count - 10)])
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
    ended = subprocess.run([sys.executable, str(SCRIPT), *words], capture_output=True, text=True, timeout=300)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert not list(tmp_path.iterdir())
    tried = {line.split()[0]: int(line.split()[1].replace(",", "")) for line in ended.stdout.splitlines()[1:8]}
    assert set(tried) == {*kinds.split(","), "all"} and tried["all"] >= 398 and min(tried.values()) > 15
