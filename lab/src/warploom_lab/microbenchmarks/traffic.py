"""Traffic between L2 and DRAM, counted under Nsight Compute: how much of what is stored is written; kernels are in traffic.cu.

Caches are empty before every launch. DRAM's counters fit one pass of Nsight Compute, so that nothing of a launch is restored
before another and is found among what it wrote.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from warploom.studies.validate.benchmark import Launch, Microbenchmark, ModelRun, Outputs, Reading
from warploom_lab.microbenchmarks.steps import MB, SMS, launch

FILLS = (1, 4, 8, 16, 20, 24, 28, 32, 40, 48, 64, 96)
AGAIN = ((8, 8), (16, 8), (24, 4), (32, 4), (48, 2))  # megabytes, how often over them
WAITS = ((8, 100_000), (8, 1_000_000), (24, 100_000), (24, 1_000_000))  # megabytes, cycles
PARTS = {  # name: kernel, bytes from one to the next, megabytes, what
    "sectors.64": ("fill_sectors", 64, (16, 32, 48), "every second sector of"),
    "sectors.128": ("fill_sectors", 128, (16, 32, 48, 96), "a sector of every line of"),
    "words.4": ("fill_words", 4, (16, 32, 48), "word by word"),
    "words.32": ("fill_words", 32, (4, 16, 32, 48), "a word of every sector of"),
    "words.128": ("fill_words", 128, (16, 48), "a word of every line of"),
}
COPIES = (8, 16, 24, 32, 48, 64, 96)
CHANGES = (16, 28, 32, 48)
READS = (
    (0, 16),
    (0, 48),
    (0, 96),
    (4, 16),
    (4, 24),
    (4, 28),
    (4, 32),
    (4, 40),
    (4, 48),
    (4, 64),
    (4, 96),
    (16, 16),
    (16, 32),
    (16, 48),
)
MODELLED = 48  # megabytes: more takes the model too long
READ, WRITTEN = "dram__bytes_read.sum", "dram__bytes_write.sum"


def benchmarks() -> Iterator[Microbenchmark]:
    """All of them."""
    for size in FILLS:
        yield _counted(f"fill.{size}MB", "fill", size, f"{size} MB stored in whole lines by all SMs", _fill(size))
    for size in (4, 16, 32):
        yield _counted(f"fill.{size}MB.1sm", "fill", size, f"{size} MB stored in whole lines by one SM", _fill(size), sms=1)
    for size, rounds in AGAIN:
        what = f"{size} MB stored in whole lines, {rounds} times over"
        yield _counted(f"fill.{size}MB.{rounds}x", "fill", size, what, _fill(size, rounds=rounds))
    for size, wait in WAITS:
        what = f"{size} MB stored in whole lines, and {wait} cycles of waiting"
        yield _counted(f"fill.{size}MB.wait{wait}", "fill", size, what, _fill(size, wait=wait), modelled=False)
    for name, (kernel, apart, sizes, how) in PARTS.items():
        for size in sizes:
            given = ("u64", size * MB // apart), ("u32", apart)
            yield _counted(f"{name}.{size}MB", kernel, size, f"{how} {size} MB stored by all SMs", given)
    for kernel, sizes, what in (
        ("copy", COPIES, "one half of them copied to the other"),
        ("change", CHANGES, "read and written in place"),
        ("add", (16, 32), "changed by a red.global for each word"),
    ):
        for size in sizes:
            yield _counted(f"{kernel}.{size}MB", kernel, size, f"{size} MB, {what}", (("u64", size * MB),))
    for filled, size in READS:
        name, what = f"read.{size}MB.after.{filled}MB", f"{filled} MB stored in whole lines, and {size} MB of others read"
        yield _counted(name, "read_after", filled + size, what, (("u64", filled * MB), ("u64", size * MB)))


def _fill(size: int, rounds: int = 1, wait: int = 0) -> tuple[tuple[str, Any], ...]:
    return ("u64", size * MB), ("u32", rounds), ("u32", wait)


def _counted(
    name: str, kernel: str, size: int, what: str, arguments: tuple[tuple[str, Any], ...], sms: int = SMS, modelled: bool = True
) -> Microbenchmark:
    """Megabytes that a launch over so many megabytes reads from DRAM and writes to it."""
    full = f"traffic.{name}"
    grid, block = (SMS * 8, 256) if sms == SMS else (sms, 1024)

    def launches() -> list[Launch]:
        given = ("memory", size * MB), *arguments
        return [launch("traffic.cu", full, kernel, 4, *given, grid=grid, block=block, repeats=1, counted="dram")]

    def read(outputs: Outputs) -> list[Reading]:
        both = ("read", READ, "read from DRAM"), ("written", WRITTEN, "written to DRAM before the end")
        return [
            Reading(f"{full}.{short}", float(outputs[f"{full}/{counter}"].min()) / MB, "MB", f"{what}: {meaning}")
            for short, counter, meaning in both
        ]

    run = ModelRun(f"{full}.written", ((1, full, None),), MB / 32, counter="dram_writes")
    return Microbenchmark(full, launches, read, run if modelled and size <= MODELLED else None)
