"""Threads that share the turns of one compiled loop, and wait for each other in microseconds.

A team has a leader, who runs the loop, and members, who help. In each turn the leader opens a number of items, everybody takes
items until there are none, and the leader goes on when all that were taken have been done. What is done for an item must not
depend on who does it, nor on what is done for another in the same turn; then nothing depends on how many threads there are.

All of them stay inside one compiled function that does not hold Python's lock. `Team` is what they have in common: each word that
one of them changes while others look has a line of the cache to itself. A member is part of a turn only if it came while the turn
was open, so the leader waits for nobody who has not begun, is asleep, or has lost its core to another process. Who waits looks
again and again for about as long as a turn may take, and then sleeps in between: the leader may be in Python.

Where other processes want the same cores, a member may lose its core in the middle of an item, and the leader has to wait until
the system gives it back. Then the leader goes on alone for some turns, for more of them each time.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Annotated, Any

import numpy as np

from warploom.base.records import Array, Record, dtype_of, i8
from warploom.jit.atomics import add_to_word, load_word, pause, sleep
from warploom.jit.callees import separate

MAX_THREADS = 64
LEADER = 0
OVER = -1
_LINE = 8  # words of a line of the cache
_INSIDE, _CLOSED, _NEXT = 0xFF, 0x100, 0x200  # in `Team.turn`: members that are part of it; nobody may come; one turn more
_LOOKS = 30_000  # about a millisecond
_SLEEP, _LONGEST_SLEEP = 50, 1000  # microseconds
_ALONE, _LONGEST_ALONE = 64, 16384  # turns


class Team(Record):
    """What the threads of a team have in common."""

    turn: Annotated[Array[i8], _LINE]  # the number of the turn, whether it is closed, and the members inside
    over: Annotated[Array[i8], _LINE]  # 1: there are no more turns
    joined: Annotated[Array[i8], _LINE]  # members that have joined
    following: Annotated[Array[i8], MAX_THREADS, _LINE]  # of each thread, the next item of its own share
    # the leader's, which others read in a turn
    items: i8
    shares: i8
    alone: i8  # turns that the leader is still to make alone
    penalty: i8  # how many it made alone last time, less one for each that it has shared since


TEAM_DTYPE = dtype_of(Team)


@separate
def open_turn(team: Team, items: int) -> None:
    """Let members take items, as the leader."""
    team.shares = 1 + load_word(team.joined, 0) if team.alone == 0 else 1
    team.alone = max(0, team.alone - 1)
    team.items = items
    for thread in range(team.shares):
        team.following[thread, 0] = thread
    if team.shares > 1:
        add_to_word(team.turn, 0, _NEXT - _CLOSED)


@separate
def take(team: Team, number: int) -> int:
    """The next item: of this thread's own share, which its core's caches know, then of what others have left; -1: none."""
    shares = team.shares
    for step in range(shares):
        whose = (number + step) % shares
        following: Any = team.following[whose]
        if load_word(following, 0) < team.items:
            item = add_to_word(following, 0, shares)
            if item < team.items:
                return item
    return -1


@separate
def close_turn(team: Team) -> None:
    """Wait, as the leader, until everything that was taken is done."""
    if team.shares == 1:
        return
    looks = 0
    inside = add_to_word(team.turn, 0, _CLOSED) & _INSIDE
    while inside != 0:
        looks = _wait(looks)
        inside = load_word(team.turn, 0) & _INSIDE
    if looks > _LOOKS:
        team.alone = team.penalty = min(max(4 * team.penalty, _ALONE), _LONGEST_ALONE)
    elif team.penalty > 0:
        team.penalty -= 1


@separate
def join(team: Team) -> int:
    """Become a member; the number under which to take items."""
    return 1 + add_to_word(team.joined, 0, 1)


@separate
def enter_turn(team: Team, before: int) -> int:
    """Wait, as a member, for a turn after one that this answered before; OVER if there are no more."""
    looks = 0
    while load_word(team.over, 0) == 0:
        turn = load_word(team.turn, 0)
        if turn & _CLOSED == 0 and turn // _NEXT != before:
            turn = add_to_word(team.turn, 0, 1)
            if turn & _CLOSED == 0:
                return turn // _NEXT
            leave_turn(team)  # it was closed in between
        looks = _wait(looks)
    return OVER


@separate
def leave_turn(team: Team) -> None:
    """Tell the leader, as a member, that all items that this member took are done."""
    add_to_word(team.turn, 0, -1)


@separate
def _wait(looks: int) -> int:
    """Wait before the next look; how often has been looked."""
    if looks < _LOOKS:
        pause()
    else:
        sleep(min(_SLEEP * (1 + looks - _LOOKS), _LONGEST_SLEEP))
    return looks + 1


class Crew:
    """The Python threads that host the members of a team, and the team's record: for one loop after the other.

    ``record`` is an array of one: that is passed to compiled functions more quickly than a record.
    """

    def __init__(self) -> None:
        self.record: Any = np.zeros(1, TEAM_DTYPE).view(np.recarray)
        self._threads: list[threading.Thread] = []

    def call(self, members: int, work: Callable[[], object]) -> None:
        """Let so many members do their work: a call of the compiled function, which joins the team and stays until it is over."""
        for _ in range(members):
            thread = threading.Thread(target=work, daemon=True)
            thread.start()
            self._threads.append(thread)

    def __enter__(self) -> Crew:
        team = self.record[0]
        team.turn[0], team.over[0], team.joined[0] = _CLOSED, 0, 0
        return self

    def __exit__(self, *raised: object) -> None:
        """End the team, also where the leader was interrupted; the members have left when this returns."""
        self.record[0].over[0] = 1
        for thread in self._threads:
            thread.join()
        self._threads.clear()
