"""Spoilt inputs of every kind that Warploom reads: none may end in a traceback, a hang, a crash or a silent difference.

    warploom-lab fuzz --inputs 100000 --seconds 1800            # exit code 1 when something was found
    warploom-lab fuzz --only ptx --first 4711 --inputs 1        # one input again

Inputs follow from the seed, their kind and their number alone. What was found is kept in a folder, with what happened beside it.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from warploom_lab.fuzz.kinds import KINDS, Finding
from warploom_lab.fuzz.workers import Batch, Tally, run

BATCH = 100


def batches(inputs: int, only: list[str], first: int) -> Iterator[Batch]:
    """All inputs by their shares, the kinds in turn, so that a run which ends early has tried some of each."""
    whole = sum(KINDS[name][1] for name in only)
    wanted = {name: max(1, round(inputs * KINDS[name][1] / whole)) for name in only}
    steps = max(1, inputs // (BATCH * len(only)))
    for step in range(steps):
        for name, count in wanted.items():
            start, end = count * step // steps, count * (step + 1) // steps
            if end > start:
                yield Batch(name, KINDS[name][0], first + start, end - start)


def print_table(tally: Tally, only: list[str]) -> None:
    """How many inputs of each kind were tried, and how they ended."""
    print(f"{'kind':<16}{'tried':>9}{'accepted':>10}{'refused':>9}{'found':>7}{'per second':>12}")
    for name in only:
        found = sum(finding.kind == name for finding in tally.findings)
        speed = tally.tried[name] / tally.seconds[name] if tally.seconds[name] else 0.0
        accepted, refused = tally.ended[name, "accepted"], tally.ended[name, "refused"]
        print(f"{name:<16}{tally.tried[name]:>9,}{accepted:>10,}{refused:>9,}{found:>7,}{speed:>12.1f}")
    print(f"{'all':<16}{sum(tally.tried.values()):>9,}{'':>19}{len(tally.findings):>7,}")


def print_findings(findings: list[Finding], keep: Path) -> None:
    """Each cause once, with an example, and all details in the folder."""
    causes: dict[tuple[str, str, str], list[Finding]] = {}
    for finding in sorted(findings, key=lambda finding: (finding.kind, finding.number)):
        causes.setdefault((finding.kind, finding.what, finding.signature), []).append(finding)
        (keep / f"{finding.kind}-{finding.number}.txt").write_text(f"{finding.what}: {finding.signature}\n\n{finding.details}\n")
    for (kind, what, signature), equal in causes.items():
        print(f"{kind}: {what}: {signature} ({len(equal)} inputs, such as {keep / f'{kind}-{equal[0].number}'})")


def main() -> int:
    """Try inputs and say what was found."""
    parser = argparse.ArgumentParser(prog="fuzz", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--inputs", type=int, default=100_000, help="how many, of all kinds together")
    parser.add_argument("--seconds", type=float, default=1800, help="no new inputs after so long")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes")
    parser.add_argument("--only", default=",".join(KINDS), help=f"kinds, with commas: {', '.join(KINDS)}")
    parser.add_argument("--first", type=int, default=0, help="the number of the first input of each kind")
    parser.add_argument("--patience", type=float, default=60, help="seconds after which an input hangs")
    parser.add_argument("--keep", type=Path, default=Path("build/fuzz"), help="where what was found is kept")
    options = parser.parse_args()
    only = options.only.split(",")
    for name in only:
        if name not in KINDS:
            parser.error(f"there is no kind {name!r}; there are {', '.join(KINDS)}")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that workers are ended and their folders removed
    started = time.monotonic()
    tally = run(
        batches(options.inputs, only, options.first),
        seed=options.seed,
        jobs=options.jobs,
        keep=options.keep.resolve(),
        patience=options.patience,
        until=started + options.seconds,
    )
    print_table(tally, only)
    print(f"seed {options.seed}, {time.monotonic() - started:.0f} s")
    print_findings(tally.findings, options.keep)
    return 1 if tally.findings else 0


if __name__ == "__main__":
    sys.exit(main())
