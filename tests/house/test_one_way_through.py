"""The way that one run takes through the rooms is the one that docs/house.md tells, function by function."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from pathlib import Path
from types import CodeType, FrameType

import pytest

from support.places import ROOT
from warploom.cli.app import run_command

pytestmark = pytest.mark.compiled

PACKAGE = ROOT / "src" / "warploom"
BACK_AT_THE_START = -1  # the last row is where the first one goes on


def hops(page: str) -> list[str]:
    """The functions of the page's table in its order, each with its room: ``designs.reading.parse_design``."""
    table = page.split("## One run, function by function")[1].split("\n## ")[0]
    rows = re.findall(r"^\| `([\w.]+)` \| `(\w+)/` \|", table, re.MULTILINE)
    return [f"{room}.{function}" for function, room in rows]


def calls_during(work: Callable[[], object]) -> list[str]:
    """The functions of the package that are called, in order, each with its module: ``designs.reading.parse_design``."""
    names: dict[CodeType, str] = {}
    called: list[str] = []

    def watch(frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        if event == "call":
            if code not in names:
                file = Path(code.co_filename)
                inside = file.is_relative_to(PACKAGE)
                names[code] = ".".join([*file.relative_to(PACKAGE).with_suffix("").parts, code.co_qualname]) if inside else ""
            if names[code]:
                called.append(names[code])

    before = sys.getprofile()
    sys.setprofile(watch)
    try:
        work()
    finally:
        sys.setprofile(before)
    return called


def is_hop(name: str, hop: str) -> bool:
    """Whether a called function is the one that a row names: its room, and the end of its name."""
    room, function = hop.split(".", 1)
    return name.startswith(f"{room}.") and name.endswith(f".{function}")


def test_a_run_goes_the_way_of_the_page() -> None:
    told = hops((ROOT / "docs" / "house.md").read_text("utf-8"))
    assert len(told) > 10 and told[0] == told[BACK_AT_THE_START] == "cli.run.command"
    called = calls_during(lambda: run_command(["run", "hotspot", "--size", "tiny", "--design", "rfv"]))
    first = {hop: next((at for at, name in enumerate(called) if is_hop(name, hop)), None) for hop in told}
    assert [hop for hop, at in first.items() if at is None] == [], "functions of the page that were not called"
    way = told[:BACK_AT_THE_START]
    assert sorted(way, key=lambda hop: first[hop] or 0) == way
    assert called.count("runs.run.run") == 1, "one run, once through the rooms"


def test_a_hop_is_known_by_its_room_and_name() -> None:
    assert is_hop("runs.simulate.simulate", "runs.simulate.simulate")
    assert is_hop("programs.device.Device.launch", "programs.Device.launch")
    assert not is_hop("emulator.device.Device.launch", "programs.Device.launch")
    assert not is_hop("programs.device.Device.relaunch", "programs.Device.launch")
