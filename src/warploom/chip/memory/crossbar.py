"""The crossbar: one queue at each input, one flit a cycle through each port.

The packet at the head of a queue waits for its output, and all behind it wait too, wherever they go: this is what keeps such a
crossbar well below the sum of its ports. A buffered one has queues at its outputs too: a packet waits there for its port, and
those behind it go on. There are two crossbars, for requests and for replies. Departures are found one by one in order of time;
among those that can go in the same cycle the inputs take turns.
"""

from __future__ import annotations

from warploom.chip.memory.state import FOREVER, Crossbar, Memory
from warploom.jit import callee


@callee
def new_request(memory: Memory) -> int:
    """A free request from the pool, as index + 1."""
    if memory.spare > 0:
        request = memory.spare
        memory.spare = memory.pool[request - 1].next
        return request
    memory.fresh += 1
    return memory.fresh


@callee
def free_request(memory: Memory, request: int) -> None:
    """Give a request back to the pool."""
    memory.pool[request - 1].next = memory.spare
    memory.spare = request


@callee
def _to_head(memory: Memory, crossbar: Crossbar, port: int, request: int) -> None:
    """Put a request, or 0 for none, at the head of an input."""
    crossbar.head[port] = request
    crossbar.due[port] = FOREVER
    if request != 0:
        crossbar.due[port] = max(memory.pool[request - 1].cycle, crossbar.in_free[port])
        crossbar.toward[port] = memory.pool[request - 1].destination


@callee
def enter_crossbar(memory: Memory, crossbar: Crossbar, port: int, request: int, destination: int) -> None:
    """Queue a packet at an input; its `cycle` says from when on it can go."""
    node = memory.pool[request - 1]
    node.destination = destination
    node.next = 0
    if crossbar.head[port] == 0:
        _to_head(memory, crossbar, port, request)
    else:
        memory.pool[crossbar.tail[port] - 1].next = request
    crossbar.tail[port] = request


@callee
def next_departure(crossbar: Crossbar, inputs: int, alternate: bool, buffered: bool) -> tuple[int, int]:
    """When the next packet can go, and from which input; FOREVER if there is none.

    Of several that can go, the first in turn; with `alternate` the one whose input has sent nothing for longest. `due` is no
    later than when a packet can go, and is put right where that matters: its output may have become busy since.
    """
    soonest, chosen = FOREVER, -1
    port = crossbar.last
    for _ in range(inputs):
        port += 1
        if port >= inputs:
            port = 0
        due = crossbar.due[port]
        if due >= soonest and not (alternate and due == soonest and due < FOREVER):
            continue
        at = due if buffered else max(due, crossbar.out_free[crossbar.toward[port]])
        crossbar.due[port] = at
        if at < soonest or (alternate and at == soonest and crossbar.in_free[port] < crossbar.in_free[chosen]):
            soonest, chosen = at, port
            if at <= crossbar.now and not alternate:
                break
    return soonest, chosen


@callee
def depart(memory: Memory, crossbar: Crossbar, port: int, at: int, to_l2: bool, taken: int) -> int:
    """Take a packet from the head of an input through; its request if it was the last one, else 0.

    Both its ports are busy for its flits, its output for `taken` cycles instead if that is not 0, and that towards L2 not at
    all if it joins another. Its `cycle` becomes that in which it leaves at its output: later than `at` where it waits there.
    """
    request = crossbar.head[port]
    node = memory.pool[request - 1]
    joined = node.joined != 0
    crossbar.in_free[port] = at if joined and not to_l2 else at + node.flits
    node.cycle = max(at, crossbar.out_free[node.destination])
    if not (joined and to_l2):
        crossbar.out_free[node.destination] = node.cycle + (taken if taken > 0 else node.flits)
    crossbar.now = at
    crossbar.last = port
    node.packets -= 1
    if node.packets > 0:
        crossbar.due[port] = crossbar.in_free[port]
        return 0
    _to_head(memory, crossbar, port, node.next)
    node.next = 0
    return request
