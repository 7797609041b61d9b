"""Watches one launch: makes the tables, has the events judged when their list is full, and tells what was found."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from warploom.base.checks import MEMORY, RACES
from warploom.compiler.code.table import Space
from warploom.emulator.watch.events import ALL_BARRIERS, EVENT_BYTES, EVENT_DTYPE
from warploom.emulator.watch.findings import Finding, Place, finding
from warploom.emulator.watch.meanings import meanings_of, piece_shift
from warploom.emulator.watch.order import SPARE, judge
from warploom.emulator.watch.state import CELL_DTYPE, CLOCKS_DTYPE, RACE_DTYPE, TOUCH_DTYPE, WATCH_DTYPE, Knowledge

if TYPE_CHECKING:
    from warploom.emulator.launch import RunningLaunch

EVENTS = 1 << 14  # in the list
MOST_FINDINGS = 256  # pairs of instructions of one launch that are told apart
PAGE_PIECES = 1 << 10
MOST_BYTES = 1 << 30  # of what is remembered of device memory, and of what blocks know of each other
_FIRST_PAGES = 256
_FIRST_ROWS = 128


class Watcher:
    """The watcher of one launch. Its tables grow with what is accessed."""

    CHECKS = frozenset((MEMORY, RACES))
    """The checks that need one."""

    def __init__(self, launch: RunningLaunch) -> None:
        self._launch = launch
        self._events: Any = np.zeros(EVENTS, EVENT_DTYPE)
        self._meanings: Any = meanings_of(launch.kernel.code)
        self._slots = 0

    def attach(self) -> None:
        """Tell the machine where events go, and make room for as many CTAs as it has."""
        slots = int(self._launch.machine[0]["slots"])
        if not self._slots:
            self._make_tables(slots)
            self._begin_list()
        elif slots > self._slots:
            self._more_slots(slots)
        self._slots = slots

    def judge(self) -> None:
        """Judge what was noted, and begin the list anew."""
        count = (int(self._launch.machine[0]["events"]) - self._events.ctypes.data) // EVENT_BYTES
        first = 0
        while True:
            first = int(judge(self._watch, self._clocks, self._tables, self._meanings, self._events, first, count))
            if first == count:
                break
            self._grow()
        self._begin_list()

    def findings(self) -> tuple[Finding, ...]:
        """What was found."""
        launch = self._launch
        warps = int(launch.machine[0]["warps_per_cta"])
        place = Place(launch.kernel.code, launch.grid, launch.block, warps, launch.memory)
        watch = self._watch[0]
        found = [finding(place, each) for each in self._tables.findings[: int(watch["found"])]]
        if watch["missed"]:
            what = f"kernel {place.code.name}: {int(watch['missed']):,} more findings of further instructions are not told."
            found.append(Finding(RACES, place.code.name, what))
        if watch["blind"]:
            what = (
                f"kernel {place.code.name}: races in device memory were looked for until {MOST_BYTES >> 30} GiB of accesses were "
            )
            found.append(Finding(RACES, place.code.name, f"{what}remembered; take a smaller input to have all of it watched."))
        return tuple(found)

    def _begin_list(self) -> None:
        machine = self._launch.machine
        machine["events"] = self._events.ctypes.data
        machine["events_end"] = self._events.ctypes.data + self._events.nbytes

    def _make_tables(self, slots: int) -> None:
        launch, state = self._launch, self._launch.machine[0]
        instructions = launch.kernel.instructions
        self._watch: Any = np.zeros(1, WATCH_DTYPE)
        watch = self._watch[0]
        watch["warps_per_cta"], watch["cluster"] = state["warps_per_cta"], state["cluster_size"]
        watch["near"] = near = int(state["warps_per_cta"]) * int(state["cluster_size"])
        watch["warps"] = int(state["ctas"]) * int(state["warps_per_cta"])
        watch["shared_shift"] = piece_shift(instructions, (Space.SHARED,))
        watch["global_shift"] = piece_shift(instructions, (Space.GLOBAL,))
        watch["shared_pieces"] = -(-int(state["shared_stride"]) >> int(watch["shared_shift"]))
        watch["arena_start"], watch["page_pieces"] = state["arena_start"], PAGE_PIECES
        watch["pages"] = watch["rows"] = 1
        watch["races"], watch["memory"] = RACES in launch.checks, MEMORY in launch.checks
        watch["local_words"] = int(state["local_stride"]) // 4 * int(state["warps_per_cta"])
        watch["most_pages"], watch["most_rows"] = _FIRST_PAGES, _FIRST_ROWS
        pages = (len(launch.memory.arena) >> int(watch["global_shift"])) // PAGE_PIECES + 2
        places = slots * int(state["warps_per_cta"])
        self._clocks: Any = np.zeros(places, CLOCKS_DTYPE)
        self._tables = Knowledge(
            near=np.zeros((places, near), np.uint32),
            fenced=np.zeros((places, near), np.uint32),
            wide=np.zeros((places, near), np.uint32),
            waiting=np.zeros(slots * ALL_BARRIERS, np.int64),
            barrier_near=np.zeros((slots * ALL_BARRIERS, near), np.uint32),
            barrier_fenced=np.zeros((slots * ALL_BARRIERS, near), np.uint32),
            barrier_wide=np.zeros((slots * ALL_BARRIERS, near), np.uint32),
            barrier_far=np.zeros(slots * ALL_BARRIERS, np.int64),
            published=np.zeros(int(watch["warps"]), np.int64),
            far=np.zeros((_FIRST_ROWS, int(watch["warps"])), np.uint32),
            shared=np.zeros(slots * int(watch["shared_pieces"]) + 1, CELL_DTYPE),
            page_of=np.zeros(pages, np.int32),
            pages=np.zeros(_FIRST_PAGES * PAGE_PIECES, CELL_DTYPE),
            written=launch.memory.written if launch.memory.written is not None else np.zeros(1, np.uint8),
            local=np.zeros(slots * int(watch["local_words"]) + 1, np.uint8),
            findings=np.zeros(MOST_FINDINGS, RACE_DTYPE),
            now=np.zeros(2, TOUCH_DTYPE),
        )

    def _more_slots(self, slots: int) -> None:
        """Keep what is known of CTAs that are resident."""
        factor_names = ("near", "fenced", "wide", "waiting", "barrier_near", "barrier_fenced", "barrier_wide", "barrier_far")
        changed: dict[str, Any] = {}
        for name in (*factor_names, "shared", "local"):
            old, spare = getattr(self._tables, name), name in ("shared", "local")
            changed[name] = _longer(old, (len(old) - spare) // self._slots * slots + spare)
        self._tables = self._tables._replace(**changed)
        self._clocks = _longer(self._clocks, len(self._clocks) // self._slots * slots)

    def _grow(self) -> None:
        """Make room for more to be remembered, or give device memory up if that would be too much."""
        watch = self._watch[0]
        tables = self._tables
        pages = 2 * int(watch["most_pages"]) if watch["pages"] + SPARE > watch["most_pages"] else int(watch["most_pages"])
        rows = 2 * int(watch["most_rows"]) if watch["rows"] + SPARE > watch["most_rows"] else int(watch["most_rows"])
        if pages * PAGE_PIECES * CELL_DTYPE.itemsize + rows * tables.far.itemsize * tables.far.shape[1] > MOST_BYTES:
            watch["blind"] = True
            return
        watch["most_pages"], watch["most_rows"] = pages, rows
        self._tables = tables._replace(pages=_longer(tables.pages, pages * PAGE_PIECES), far=_longer(tables.far, rows))


def _longer(array: np.ndarray, length: int) -> np.ndarray:
    grown = np.zeros((length, *array.shape[1:]), array.dtype)
    grown[: len(array)] = array
    return grown
