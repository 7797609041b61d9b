"""Write everything that `measure.py` runs on a machine with a GPU: machine code and launches, as plain files.

    PYTHONPATH=src python validation/build.py --out FOLDER [--only PREFIX ...]

FOLDER then holds ``workloads/NAME.cubin`` (the 49 workloads in the very code that ``warploom run NAME --code sm_90`` simulates),
``code/*.cubin`` and ``launches.json`` (the microbenchmarks). Needs Warploom with its tools for machine code, and no GPU.
"""

from __future__ import annotations

import argparse
import hashlib
import json
from pathlib import Path

from warploom.sass.module import from_ptx
from warploom.validation.microbenchmarks import all_microbenchmarks
from warploom.validation.microbenchmarks.benchmark import Launch
from warploom.validation.microbenchmarks.energy import SLOTS, loops
from warploom.workloads.registry import workload_names, workload_ptx

CODE = "sm_90"


def _written(launch: Launch, folder: Path, words: dict[str, list[int]]) -> dict[str, object]:
    """A launch as plain data; its code goes into a file of its own, long arguments into `words`."""
    code = hashlib.sha256(launch.cubin).hexdigest()[:16]
    (folder / "code" / f"{code}.cubin").write_bytes(launch.cubin)
    arguments = []
    for kind, value in launch.arguments:
        key = value
        if kind == "words":
            key = hashlib.sha256(repr(value).encode()).hexdigest()[:8]
            words[key] = value
        arguments.append((kind, key))
    about = {"name": launch.name, "code": code, "kernel": launch.kernel, "grid": launch.grid, "block": launch.block}
    return about | {"shared_bytes": launch.shared_bytes, "repeats": launch.repeats, "arguments": arguments}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--only", nargs="*", default=[], help="microbenchmarks whose names begin so, and nothing else")
    asked = parser.parse_args()
    (asked.out / "workloads").mkdir(parents=True, exist_ok=True)
    (asked.out / "code").mkdir(exist_ok=True)
    words: dict[str, list[int]] = {}
    launches = []
    for benchmark in all_microbenchmarks():
        if not asked.only or benchmark.name.startswith(tuple(asked.only)):
            launches += [_written(launch, asked.out, words) for launch in benchmark.launches()]
    (asked.out / "launches.json").write_text(json.dumps({"words": words, "launches": launches}))
    print(f"{len(launches)} launches of microbenchmarks")
    if asked.only:
        return
    for name in workload_names():
        (asked.out / "workloads" / f"{name}.cubin").write_bytes(
            from_ptx(workload_ptx(name), f"{name}/kernel.ptx", CODE).make(None)
        )
    words = {}
    energy = [_written(launch, asked.out, words) | {"name": name, "what": what, "slots": SLOTS} for name, what, launch in loops()]
    (asked.out / "energy.json").write_text(json.dumps({"words": words, "loops": energy}))


if __name__ == "__main__":
    main()
