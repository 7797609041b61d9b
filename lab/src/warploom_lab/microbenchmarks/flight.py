"""How much an SM has under way: bursts of loads, stores and atomics, and stores without end; the kernels are in flight.cu.

What a burst takes grows with its length: little by little as long as all of it is under way together, and by the memory's whole
latency again and again from there on.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from warploom.studies.validate.benchmark import Launch, Microbenchmark, Outputs, Reading
from warploom_lab.microbenchmarks.steps import MB, SMS, STEPS, launch, per_step, sectors_per_step

WARPS = (1, 2, 4, 8, 16, 32)
PLACES = {  # bytes from one access to the next, bytes between lanes, what
    "lines": (128, 4, "a line each"),
    "sectors": (1024, 32, "32 sectors of eight lines each"),
    "apart": (4096, 128, "a sector of 32 lines each"),
    "same": (0, 4, "all of one line"),
}
BURSTS = {  # kernel: accesses of a warp, what they are, whether L2 may have their lines before
    "load_1": (1, "loads", (False, True)),
    "load_8": (8, "loads", (False, True)),
    "load_32": (32, "loads", (False, True)),
    "atom_8": (8, "atomics with a result", (True,)),
    "red_8": (8, "atomics without a result", (True,)),
    "red_32": (32, "atomics without a result", (True,)),
    "store_8": (8, "stores", (False,)),
    "store_32": (32, "stores", (False,)),
}
LONG = ("lines", "same")  # where more accesses of a warp are needed to fill anything
AREA = 2048  # megabytes, of which every burst from DRAM has two that nobody touched before
STORES = {  # name: kernel, bytes between lanes, lanes, what
    "row.32bit": ("stores_1", 4, 32, "a store of 32 bits, lanes in a row"),
    "row.64bit": ("stores_2", 8, 32, "a store of 64 bits, lanes in a row"),
    "row.128bit": ("stores_4", 16, 32, "a store of 128 bits, lanes in a row"),
    "volatile": ("stores_volatile", 4, 32, "a volatile store of 32 bits, lanes in a row"),
    "by2": ("stores_1", 8, 32, "a store of 32 bits, every second word"),
    "sectors": ("stores_1", 32, 32, "a store of 32 bits, a word of a sector for each lane"),
    "lines": ("stores_1", 128, 32, "a store of 32 bits, a word of a line for each lane"),
    "one_lane": ("stores_1", 4, 1, "a store of one lane"),
    "members": ("stores_members", 16, 32, "a store of 32 bits, one of the four words of a structure of each lane"),
    "again": ("stores_again", 4, 32, "a volatile store of 32 bits, lanes in a row, four times to the same place"),
    "half": ("stores_1", 4, 16, "a store of 32 bits, 16 lanes in a row"),
}


@dataclass(frozen=True)
class Burst:
    """A burst and where its lines are before."""

    kernel: str
    place: str
    warps: int
    warm: bool
    offset: int  # megabytes

    @property
    def name(self) -> str:
        """For example ``flight.load_8.lines.4w.dram``."""
        return f"flight.{self.kernel}.{self.place}.{self.warps}w.{'l2' if self.warm else 'dram'}"

    def launches(self) -> list[Launch]:
        """One; a second of those from DRAM would find its lines in L2."""
        each, apart, _ = PLACES[self.place]
        given = ("memory", AREA * MB), ("u32", self.offset), ("u32", each), ("u32", apart), ("u32", int(self.warm))
        repeats = 3 if self.warm else 1
        return [launch("flight.cu", self.name, self.kernel, 4 * self.warps, *given, block=32 * self.warps, repeats=repeats)]

    def read(self, outputs: Outputs) -> list[Reading]:
        """From the first warp's begin until the last has issued, and until all has come."""
        rows = outputs[self.name].reshape(-1, self.warps, 4)
        begins = rows[:, :, :1]
        since = (rows[:, :, 1:3] - begins.min(axis=1, keepdims=True)).astype(np.uint32).max(axis=1).min(axis=0)
        count, what, _ = BURSTS[self.kernel]
        about = f"{count} {what} of each of {self.warps} warps, {PLACES[self.place][2]}, lines in {'L2' if self.warm else 'DRAM'}"
        return [
            Reading(f"{self.name}.issued", float(since[0]), "cycles", f"until the last is issued of {about}"),
            Reading(f"{self.name}.done", float(since[1]), "cycles", f"until the last is done of {about}"),
        ]


def benchmarks() -> Iterator[Microbenchmark]:
    """All of them."""
    for number, burst in enumerate(bursts()):
        one = Burst(*burst, offset=2 * (number % (AREA // 2 - 1)))
        yield Microbenchmark(one.name, one.launches, one.read)
    for name, (kernel, apart, lanes, what) in STORES.items():
        given = ("memory", 16 * MB), ("u32", 16 * MB - 1), ("u32", apart), ("u32", lanes), STEPS
        for grid, warps in ((1, 1), (1, 8), (1, 32), (SMS, 8), (SMS, 32)):
            text = f"cycles of an SM for {what}, {warps} warps on {grid} SMs"
            full = f"stores.{name}.{warps}w.{grid}sm"
            yield per_step(
                "flight.cu", full, kernel, text, *given, block=32 * warps, grid=grid, shared_out=warps, lengths=(64, 320)
            )
        for grid in (1, SMS):
            full = f"traffic.stores.{name}.{grid}sm"
            yield sectors_per_step("flight.cu", full, kernel, what, *given, counter="l2_write_accesses", grid=grid)


def bursts() -> Iterator[tuple[str, str, int, bool]]:
    """Kernel, places, warps and whether L2 has the lines."""
    for kernel, (count, _, warm) in BURSTS.items():
        for place in PLACES:
            if count == 32 and place not in LONG:
                continue
            for warps in WARPS if count == 8 else WARPS[-2:]:
                for known in warm:
                    yield kernel, place, warps, known
