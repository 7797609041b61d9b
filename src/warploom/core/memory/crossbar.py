"""The crossbar: one queue at each input, one flit a cycle through each port.

The packet at the head of a queue waits for its output, and all behind it wait too, wherever they go: this is what keeps such a
crossbar well below the sum of its ports. There are two of them, for requests and for replies. Departures are found one by
one in order of time; among those that can go in the same cycle the inputs take turns.
"""

from __future__ import annotations

from warploom.core.memory.state import FOREVER, Crossbar, Memory
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
def enter_crossbar(memory: Memory, crossbar: Crossbar, port: int, request: int, destination: int) -> None:
    """Queue a packet at an input; its `cycle` says from when on it can go."""
    node = memory.pool[request - 1]
    node.destination = destination
    node.next = 0
    if crossbar.head[port] == 0:
        crossbar.head[port] = request
        crossbar.due[port] = max(node.cycle, crossbar.in_free[port])
    else:
        memory.pool[crossbar.tail[port] - 1].next = request
    crossbar.tail[port] = request


@callee
def next_departure(memory: Memory, crossbar: Crossbar, inputs: int) -> tuple[int, int]:
    """When the next packet can go, and from which input; FOREVER if there is none.

    `due` is no later than when a packet can go, and is put right where that matters: its output may have become busy since.
    """
    soonest, chosen = FOREVER, -1
    port = crossbar.last
    for _ in range(inputs):
        port += 1
        if port >= inputs:
            port = 0
        if crossbar.due[port] >= soonest:
            continue
        at = max(crossbar.due[port], crossbar.out_free[memory.pool[crossbar.head[port] - 1].destination])
        crossbar.due[port] = at
        if at < soonest:
            soonest, chosen = at, port
            if at <= crossbar.now:
                break
    return soonest, chosen


@callee
def depart(memory: Memory, crossbar: Crossbar, port: int, at: int) -> int:
    """Take the packet at the head of an input through; both its ports are busy for its flits, but one that joins another."""
    request = crossbar.head[port]
    node = memory.pool[request - 1]
    crossbar.head[port] = node.next
    crossbar.in_free[port] = at if node.joined else at + node.flits
    crossbar.due[port] = FOREVER
    if node.next != 0:
        crossbar.due[port] = max(memory.pool[node.next - 1].cycle, crossbar.in_free[port])
    crossbar.out_free[node.destination] = at + node.flits
    crossbar.now = at
    crossbar.last = port
    node.next = 0
    return request
