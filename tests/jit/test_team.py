"""Threads that share turns: every item of every turn is done once, whoever does it, and nobody is left behind."""

from __future__ import annotations

import threading
import time
from typing import Any

import numpy as np
import pytest

from warploom.base.records import Array
from warploom.jit import whole
from warploom.jit.atomics import pause
from warploom.jit.team import LEADER, OVER, Crew, Team, close_turn, enter_turn, join, leave_turn, open_turn, take

pytestmark = pytest.mark.compiled
TURNS, ITEMS = 3_000, 7
LENGTH = 500  # pauses that an item takes: some microseconds, so that others come


@whole
def _count(teams: Array[Team], leads: bool, turns: int, done: Array[int]) -> int:
    """Count each item once a turn; answers how many turns were wrong (the leader), or how many items this thread took."""
    team = teams[0]
    number = LEADER if leads else join(team)
    turn, wrong, taken = 0, 0, 0
    while True:
        if leads:
            if turn == turns:
                return wrong
            turn += 1
            open_turn(team, len(done))
        else:
            turn = enter_turn(team, turn)
            if turn == OVER:
                return taken
        item = take(team, number)
        while item >= 0:
            for _ in range(LENGTH):
                pause()
            done[item] += 1
            taken += 1
            item = take(team, number)
        if leads:
            close_turn(team)
            for item in range(len(done)):
                if done[item] != turn:
                    wrong += 1
        else:
            leave_turn(team)


@pytest.mark.parametrize("members", [0, 1, 3])
def test_every_item_is_done_once_in_every_turn(members: int) -> None:
    done: Any = np.zeros(ITEMS, np.int64)
    crew = Crew()
    _count(crew.record, True, 0, done)  # compiled before several threads call it
    taken: list[Any] = []
    with crew:
        crew.call(members, lambda: taken.append(_count(crew.record, False, 0, done)))
        while crew.record[0].joined[0] < members:
            time.sleep(0.001)
        assert _count(crew.record, True, TURNS, done) == 0
    assert done.tolist() == [TURNS] * ITEMS
    assert len(taken) == members
    assert not members or sum(taken) > 0, "nobody helped"


def test_members_leave_when_the_leader_is_interrupted() -> None:
    done: Any = np.zeros(ITEMS, np.int64)
    crew = Crew()
    _count(crew.record, True, 0, done)
    before = threading.active_count()
    with pytest.raises(KeyboardInterrupt), crew:
        crew.call(2, lambda: _count(crew.record, False, 0, done))
        raise KeyboardInterrupt
    assert threading.active_count() == before


def test_a_crew_serves_one_loop_after_the_other() -> None:
    crew = Crew()
    for _ in range(3):
        done: Any = np.zeros(ITEMS, np.int64)
        with crew:
            crew.call(1, lambda done=done: _count(crew.record, False, 0, done))  # type: ignore[misc]
            assert _count(crew.record, True, 100, done) == 0
        assert done.tolist() == [100] * ITEMS
