"""Recordings from strangers: right checksums, and steps that no program took. Each is one sentence with its file and step."""

from __future__ import annotations

import json
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from warploom.base import kept
from warploom.base.errors import WarploomError
from warploom.cli.app import run_command
from warploom.compiler.sass.fatbin import Room, read_fatbin
from warploom.emulator.device_memory import DeviceMemory
from warploom.programs.recording import framed, read_recording
from warploom.programs.replay import recorded_program
from warploom.programs.steps import KINDS
from warploom.runs.simulate import emulate
from warploom_lab.fuzz.recorded_steps import (
    FIRST,
    HEAD,
    LAST,
    PARAMETERS,
    Steps,
    beginning,
    compiled,
    fat_binary,
    launch,
    line,
    step,
    write,
)

KERNELS = tuple(PARAMETERS)
ADD, REACH, SAY, LOOK, PUT = (KERNELS.index(name) for name in ("add", "reach", "say", "look", "put"))
BYTES = 4096
END = step("end", how="ended with exit code 0")
SUM = np.r_[np.full(32, 5, np.int32), np.zeros(32, np.int32)].tobytes()


@pytest.fixture(scope="module")
def code() -> bytes:
    """Kernels as PTX and as machine code."""
    return compiled()


@pytest.fixture(scope="module")
def begun(code: bytes) -> Steps:
    """Kernels, an allocation and the module's variables."""
    places = {"counter": [FIRST + 2 * BYTES, 64], "table": [FIRST + 3 * BYTES, 64]}
    allocated = step("allocate", address=FIRST, bytes=BYTES, kind=0)
    return [*beginning(code), allocated, step("variables", module=0, places=places)]


def _good(begun: Steps) -> Steps:
    return [*begun, launch(ADD, "add", [FIRST, 5]), step("read", SUM, block=line(FIRST, 256)), END]


def _sentence(path: str, capsys: pytest.CaptureFixture[str], *options: str) -> str:
    assert run_command(["run", path, "--emulate-only", *options]) == 2
    said = capsys.readouterr().err
    assert said.startswith("error: ") and said.count("\n") == 1 and "Traceback" not in said
    return said.removeprefix("error: ").strip()


def test_a_recording_made_by_hand_runs(begun: Steps, tmp_path: Path) -> None:
    assert emulate(recorded_program(write(tmp_path / "good.wlr", _good(begun)))).verdict == "yes"


NOWHERE = LAST - BYTES
MALFORMED: dict[str, tuple[Any, bytes]] = {
    "no step": ([], b""),
    "a number": (7, b""),
    "null": (None, b""),
    "no do": ({"address": FIRST}, b""),
    "do is a list": ({"do": []}, b""),
    "do is unknown": ({"do": "fly"}, b""),
    "nothing but do": ({"do": "allocate"}, b""),
    "a field too many": step("free", address=FIRST, colour=1),
    "a text for a number": step("free", address="here"),
    "true for a number": step("free", address=True),
    "a fraction": step("free", address=1.5),
    "null for a number": step("free", address=None),
    "negative size": step("allocate", address=FIRST + BYTES, bytes=-16, kind=0),
    "no size": step("allocate", address=FIRST + BYTES, bytes=0, kind=0),
    "2^40 bytes": step("allocate", address=0xEFF0_0000, bytes=1 << 40, kind=0),
    "an address below memory": step("allocate", address=16, bytes=16, kind=0),
    "an address of 2^70": step("allocate", address=1 << 70, bytes=16, kind=0),
    "an unknown kind of memory": step("allocate", address=FIRST + BYTES, bytes=16, kind=9),
    "a size that wraps": step("allocate", address=LAST - 16, bytes=32, kind=0),
    "an allocation over another": step("allocate", address=FIRST + BYTES - 1, bytes=16, kind=0),
    "freed twice": step("free", address=FIRST + 64),
    "a block of five": step("fill", block=[FIRST, 1, 1, 1, 1], byte=0),
    "a block that is an object": step("fill", block={"address": FIRST}, byte=0),
    "a byte of 256": step("fill", block=line(FIRST, 16), byte=256),
    "a fill outside": step("fill", block=line(FIRST + BYTES - 8, 16), byte=0),
    "a fill far away": step("fill", block=line(NOWHERE, 16), byte=0),
    "a fill with a pitch that leaves": step("fill", block=[FIRST, 512, 0, 16, 10, 1], byte=0),
    "a fill with a slice that leaves": step("fill", block=[FIRST, 16, BYTES, 16, 1, 2], byte=0),
    "2^40 rows": step("fill", block=[FIRST, 0, 0, 1, 1 << 40, 1], byte=0),
    "2^40 rows, a pitch apart": step("fill", block=[FIRST, 1, 0, 1, 1 << 40, 1], byte=0),
    "2^40 slices": step("fill", block=[FIRST, 1, 0, 1, 1, 1 << 40], byte=0),
    "a width of 2^40": step("fill", block=line(FIRST, 1 << 40), byte=0),
    "a negative width": step("fill", block=[FIRST, 16, 16, -1, 1, 1], byte=0),
    "a copy from outside": step("copy", to=line(FIRST, 64), origin=line(FIRST + 4090, 64)),
    "a copy to outside": step("copy", to=line(FIRST + 4090, 64), origin=line(FIRST, 64)),
    "a copy of another shape": step("copy", to=line(FIRST, 64), origin=line(FIRST, 32)),
    "a read of outside": step("read", b"1", block=line(FIRST + 2 * BYTES - 1, 1)),
    "a read of 2^40 rows": step("read", b"1", block=[FIRST, 1, 0, 1, 1 << 40, 1]),
    "a read of more than was recorded": step("read", b"1", block=line(FIRST, 16)),
    "a write of less than the block": step("write", b"1", block=line(FIRST, 16)),
    "a write with no data": ({"do": "write", "block": line(FIRST, 16)}, b""),
    "a size that is not there": ({"do": "write", "block": line(FIRST, 16), "size": 16}, b"1"),
    "data without a size": ({"do": "free", "address": FIRST}, b"abc"),
    "the same as itself": ({"do": "write", "block": line(FIRST, 16), "size": 16, "same": len(KERNELS) + 4}, b""),
    "the same as later": ({"do": "write", "block": line(FIRST, 16), "size": 16, "same": 99}, b""),
    "the same as what has none": ({"do": "write", "block": line(FIRST, 16), "size": 16, "same": 0}, b""),
    "packed, but not": ({"do": "write", "block": line(FIRST, 16), "size": 16, "packed": True}, b"x" * 16),
    "packed is a number": ({"do": "write", "block": line(FIRST, 16), "size": 16, "packed": 1}, b"x" * 16),
    "a module with another number": step("module", b"x", number=5),
    "a module that is none": step("module", b"x" * 100, number=1),
    "a kernel of no module": step("kernel", number=len(KERNELS), module=3, name="add"),
    "a kernel that is not there": step("kernel", number=len(KERNELS), module=0, name="subtract"),
    "a kernel with another number": step("kernel", number=0, module=0, name="add"),
    "variables of no module": step("variables", module=-1, places={}),
    "places that are none": step("variables", module=0, places=[1]),
    "a place of three": step("variables", module=0, places={"counter": [FIRST, 1, 2]}),
    "a place that leaves memory": step("variables", module=0, places={"counter": [LAST - 4, 64]}),
    "a launch of no kernel": launch(99, "add", [FIRST, 5]),
    "a launch of a kernel counted from the end": launch(-1, "add", [FIRST, 5]),
    "a launch with few parameters": step("launch", b"abcd", kernel=0, grid=[1, 1, 1], block=[1, 1, 1], dynamic=0, cooperative=0),
    "a grid of two": step("launch", bytes(12), kernel=0, grid=[1, 1], block=[1, 1, 1], dynamic=0, cooperative=0),
    "a grid of none": step("launch", bytes(12), kernel=0, grid=[0, 1, 1], block=[1, 1, 1], dynamic=0, cooperative=0),
    "a grid of 2^63": step("launch", bytes(12), kernel=0, grid=[1 << 63, 1, 1], block=[1, 1, 1], dynamic=0, cooperative=0),
    "a block of 2048": step("launch", bytes(12), kernel=0, grid=[1, 1, 1], block=[2048, 1, 1], dynamic=0, cooperative=0),
    "shared memory of 2^40": step("launch", bytes(12), kernel=0, grid=[1, 1, 1], block=[1, 1, 1], dynamic=1 << 40, cooperative=0),
    "a failure of no launch": step("failed", why="so"),
    "a second beginning": step("begin", program="x", lenient=False),
    "a texture of three words": step("texture", handle=1, words=[FIRST, 1, 1]),
    "a texture where nothing is": step("texture", handle=1, words=[NOWHERE, 16, 4, 0, 64, 32, 2, 1]),
    "a texture that leaves its allocation": step("texture", handle=1, words=[FIRST, 1024, 2, 0, 4096, 32, 2, 1]),
    "a texture of 2^40": step("texture", handle=1, words=[FIRST, 1 << 40, 0, 0, 1 << 42, 32, 2, 1]),
    "a texture with another handle": step("texture", handle=7, words=[FIRST, 16, 4, 0, 64, 32, 2, 1]),
    "a texture of an unknown kind": step("texture", handle=1, words=[FIRST, 16, 4, 0, 64, 32, 5, 1]),
    "layers without a height": step("texture", handle=1, words=[FIRST, 16, 0, 0, 64, 32, 2, 1 | 1 << 7]),
}


@pytest.mark.parametrize("name", MALFORMED)
def test_a_malformed_step_is_one_sentence(name: str, begun: Steps, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    good = _good(begun)
    path = write(tmp_path / "bad.wlr", [*good[: len(begun)], MALFORMED[name], *good[len(begun) :]])
    said = _sentence(path, capsys)
    assert said.startswith(f"{path}: step {len(begun)}"), said


TEXTS = {
    "no JSON": b"{",
    "not even text": b"\xff\xfe",
    "10,000 brackets": b"[" * 10_000,
    "a number of 10,000 digits": b'{"do":"free","address":' + b"9" * 10_000 + b"}",
    "a number that is none": b'{"do":"free","address":NaN}',
}


@pytest.mark.parametrize("name", TEXTS)
def test_a_text_that_is_no_step(name: str, begun: Steps, tmp_path: Path) -> None:
    path = write(tmp_path / "bad.wlr", [*begun, (TEXTS[name], b""), END])
    with pytest.raises(WarploomError, match=f"^{path}: step {len(begun)} "):
        read_recording(path)


def test_every_field_of_every_step_is_checked(begun: Steps, tmp_path: Path) -> None:
    """Whatever stands in a field instead of what it may hold is refused when the recording is read."""
    copied = step("copy", to=line(FIRST, 64), origin=line(FIRST, 64))
    texture = step("texture", handle=1, words=[FIRST, 16, 4, 0, 64, 32, 2, 1])
    more = [copied, texture, step("fill", block=line(FIRST, 4), byte=1), step("write", b"abcd", block=line(FIRST, 4))]
    good = [*_good(begun)[:-1], *more, launch(ADD, "add", [FIRST, 1]), step("failed", why=""), step("free", address=FIRST), END]
    assert {about["do"] for about, _ in good} == set(KINDS)
    read_recording(write(tmp_path / "good.wlr", good))
    spoilt: tuple[Any, ...] = (None, [], {}, -1, 1 << 70, 0.5, {"a": {"b": []}})
    for number, (about, data) in enumerate(good):
        for field in about:
            for value in spoilt:
                path = write(tmp_path / "bad.wlr", [*good[:number], ({**about, field: value}, data), *good[number + 1 :]])
                if value == {} and field == "places":
                    read_recording(path)
                    continue
                with pytest.raises(WarploomError, match=f"^{path}: step {number} "):
                    read_recording(path)


def test_sizes_before_a_step_are_no_promise(tmp_path: Path) -> None:
    """A head may say that 2^63 bytes follow: no room is made for them."""
    head = framed(b"{}", b"")[:16]
    for sizes in ((1 << 31, 0), (2, 1 << 62), (2, 2**64 - 1)):
        packed = sizes[0].to_bytes(4, "little") + sizes[1].to_bytes(8, "little") + head[12:16]
        path = tmp_path / "sizes.wlr"
        path.write_bytes(HEAD + packed + zlib.crc32(packed).to_bytes(4, "little") + b"{}")
        try:
            assert read_recording(path).steps == []
        except WarploomError as problem:
            assert "damaged in step 0" in str(problem)


@pytest.mark.parametrize("packed", [10, 16, 17, 1 << 24])
def test_data_unpacks_to_what_it_says_and_no_more(packed: int, begun: Steps, tmp_path: Path) -> None:
    about = {"do": "write", "block": line(FIRST, 16), "size": 16, "packed": True}
    path = write(tmp_path / "bomb.wlr", [*begun, (about, zlib.compress(bytes(packed))), END])
    recording = read_recording(path)
    if packed == 16:
        assert recording.data(len(begun)) == bytes(16)
        return
    with pytest.raises(WarploomError, match=f"step {len(begun)} .*does not unpack to the 16 bytes"):
        recording.data(len(begun))


@pytest.mark.parametrize(("unpacked", "why"), [(100, "does not unpack to the 100 bytes"), (1 << 31, "that is the most")])
def test_code_that_unpacks_to_more_than_it_says(unpacked: int, why: str, tmp_path: Path) -> None:
    zstandard = pytest.importorskip("zstandard")
    packed = fat_binary((zstandard.ZstdCompressor().compress(bytes(64 << 20)), 75), flags=0x8000, unpacked=unpacked)
    path = write(tmp_path / "bomb.wlr", [*beginning(packed, kernels=("add",)), launch(0, "add", [FIRST, 1])])
    with pytest.raises(WarploomError, match=f"step 1 .*{why}"):
        recorded_program(path).module()


def test_all_code_of_a_program_has_one_limit() -> None:
    """Each entry may be small enough: together they are not."""
    entry = fat_binary((zlib.compress(b""), 75), flags=0x2000, unpacked=600)
    with pytest.raises(WarploomError, match="damaged"):  # there is room for it, and then it is found to be none
        _ = read_fatbin(entry, "once", Room(600))[0].data
    with pytest.raises(WarploomError, match="that is the most"):
        read_fatbin(entry, "once more", Room(599))


def test_what_was_cut_off_is_not_verified(
    begun: Steps, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(tmp_path / "cut.wlr", [about for about in _good(begun)[:-1] if about[0].get("number", 0) == 0])  # one kernel
    for words in (
        ["run", path, "--emulate-only"],
        ["run", path],
        ["inspect", path],
        ["compare", "--workloads", path, "--jobs", "1"],
    ):
        monkeypatch.setattr(kept, "_said", set())  # what one process has said, the next one says again
        assert run_command([*words, *(["--designs", "baseline"] if words[0] == "compare" else [])]) == 0
        out, err = capsys.readouterr()
        assert "the recording was cut off after step" in err
        assert words[0] == "inspect" or ("cut off" in out and "yes" not in out)
    assert run_command(["run", path, "--emulate-only", "--json"]) == 0
    about = json.loads(capsys.readouterr().out)
    assert about["verified"] is None and about["doubt"] == "cut off"


def test_a_wrong_result_is_wrong_though_it_was_cut_off(begun: Steps, tmp_path: Path) -> None:
    wrong = step("read", SUM[:-1] + b"x", block=line(FIRST, 256))
    steps = [*begun, launch(ADD, "add", [FIRST, 5]), wrong]
    assert emulate(recorded_program(write(tmp_path / "cut.wlr", steps))).verdict == "NO"


def test_nothing_compared_is_not_verified(begun: Steps, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    nothing = step("read", block=line(FIRST, 0))
    path = write(tmp_path / "none.wlr", [*begun, launch(ADD, "add", [FIRST, 5]), nothing, END])
    assert run_command(["run", path, "--emulate-only"]) == 0
    assert "nothing compared" in capsys.readouterr().out


def test_reads_behind_a_launch_that_failed_are_not_compared(begun: Steps, tmp_path: Path) -> None:
    stopped = [launch(ADD, "add", [FIRST, 5]), step("failed", why="so"), step("read", SUM, block=line(FIRST, 256)), END]
    path = write(tmp_path / "failed.wlr", [*begun, launch(ADD, "add", [FIRST, 5]), *stopped])
    assert emulate(recorded_program(path)).verdict == "nothing compared"


@pytest.mark.parametrize("far", [FIRST + (1 << 63), (1 << 64) - 4, (1 << 63) - 4])
def test_one_lane_that_reaches_far_out_is_found_among_others(far: int, begun: Steps, tmp_path: Path) -> None:
    """The greatest address of the lanes may be negative as a signed number."""
    path = write(tmp_path / "far.wlr", [*begun, launch(REACH, "reach", [FIRST, far, FIRST]), END])
    with pytest.raises(WarploomError, match="bytes at 0x"):
        emulate(recorded_program(path, "sm_90"))


def test_a_surface_with_rows_shorter_than_what_is_written(begun: Steps, tmp_path: Path) -> None:
    """Clamped into such a row, 16 bytes would begin before the surface."""
    narrow = step("texture", handle=1, words=[FIRST, 1, 4, 0, 4, 32, 1, 1])
    path = write(tmp_path / "narrow.wlr", [*begun, narrow, launch(PUT, "put", [1, 0, 1, FIRST + 1024]), END])
    with pytest.raises(WarploomError, match="not the handle of a surface that has the place"):
        emulate(recorded_program(path, "sm_90"))


def test_memory_refuses_what_is_not_in_it() -> None:
    memory = DeviceMemory()
    memory.begin_at(FIRST)
    memory.allocate_at(FIRST, 64, "one")
    for address, size in ((LAST - 16, 32), (FIRST + 128, -1), (FIRST - 64, 16), (FIRST + 63, 1), (FIRST + 128, 1 << 40)):
        with pytest.raises(WarploomError):
            memory.allocate_at(address, size, "another")
    memory.allocate_at(FIRST + 72, 8, "a part of the same section")
    memory.check(FIRST, 80)
    for address, size in ((FIRST, 81), (FIRST - 1, 2), (FIRST + 64, 1), (FIRST + 4096, 1)):
        with pytest.raises(WarploomError, match="not all in an allocation"):
            memory.check(address, size)
    with pytest.raises(WarploomError, match="not in device memory"):
        memory.view(FIRST, 1 << 30)
    assert [row[:2] for row in memory.contents()] == [(FIRST, 64), (FIRST + 72, 8)]


def test_lenient_memory_ends_where_its_bytes_end() -> None:
    """Before anything is allocated there are fewer bytes than hardware would let pass."""
    memory = DeviceMemory(lenient=True)
    assert memory.bounds()[0, 1] - memory.bounds()[0, 0] <= len(memory.arena)


def test_rows_are_moved_at_once(begun: Steps, tmp_path: Path) -> None:
    """Two million rows of one byte take no two million steps."""
    wide = step("allocate", address=FIRST + (1 << 20), bytes=4 << 20, kind=0)
    rows = step("fill", block=[FIRST + (1 << 20), 2, 0, 1, 2 << 20, 1], byte=7)
    seen = step("read", bytes([7, 0] * 8), block=line(FIRST + (1 << 20), 16))
    path = write(tmp_path / "rows.wlr", [*begun, wide, *[rows] * 20, launch(ADD, "add", [FIRST, 5]), seen, END])
    result = emulate(recorded_program(path))
    assert result.verdict == "yes" and result.wall_seconds < 20
