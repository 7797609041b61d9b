"""Prints the cycles of the 27 kernels that ran on an H200 beside those of a machine of ours, caches cold and warm.

    .venv/bin/python scripts/hopper_beside_h200.py [--machine hopper] [--design modern] [--part adjust|held-out] [KERNEL…]

Measured is `sm__cycles_active.max`; ours are the cycles of the SM that had CTAs for longest. A warm kernel has run once before.
The parts are those of `warploom validate`, which compares the same kernels with caches cold.
"""

from __future__ import annotations

import argparse
import csv
import json
import time
from pathlib import Path

import numpy as np

from warploom.code.instruction import Code
from warploom.core.simulate import Simulation
from warploom.designs import parse_design
from warploom.machines import load_machine
from warploom.programs.device import Device
from warploom.sass.module import from_cubin
from warploom.trace.format import Trace
from warploom.validation.programs import initial_value
from warploom.validation.split import PARTS, part_of

DATA = Path(__file__).parents[1] / "tests" / "data"
CACHES = ("cold", "warm")
NAMES = sorted(file.stem for file in (DATA / "h200" / "cubin").glob("*.cubin"))


def traced(name: str) -> tuple[Code, Trace]:
    """A kernel's code and the trace of its launch."""
    about = json.loads((DATA / "timing-reference" / f"{name}.json").read_text())
    module = from_cubin((DATA / "h200" / "cubin" / f"{name}.cubin").read_bytes(), f"{name}.cubin")
    device = Device(lambda kernel, _threads: module.kernel(kernel))
    values = [initial_value(argument) for argument in about["args"]]
    passed = [device.array(value) if isinstance(value, np.ndarray) and value.ndim else value for value in values]
    device.launch(about["kernel"], tuple(about["grid"]), tuple(about["block"]), *passed)
    record = device.launches[0]
    assert record.trace is not None
    return record.code, record.trace


def measured() -> dict[tuple[str, str], dict[str, str]]:
    """The rows of the reference by kernel and state of the caches."""
    with (DATA / "h200" / "reference.tsv").open() as file:
        return {(row["kernel"], row["caches"]): row for row in csv.DictReader(file, delimiter="\t")}


def main() -> None:
    """Time the kernels and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kernels", nargs="*", metavar="KERNEL")
    parser.add_argument("--machine", default="hopper")
    parser.add_argument("--design", default="modern")
    parser.add_argument("--part", choices=PARTS)
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="a number of the machine, changed")
    given = parser.parse_args()
    changes = {key: int(value) for key, _, value in (text.partition("=") for text in given.set)}
    machine = load_machine(given.machine, **changes)
    design = parse_design(given.design)
    reference = measured()
    pairs: dict[tuple[str, str], list[tuple[float, float]]] = {(part, caches): [] for part in PARTS for caches in CACHES}
    spent, instructions = 0.0, 0
    for name in given.kernels or NAMES:
        part = part_of(name)
        if given.part not in (None, part):
            continue
        code, trace = traced(name)
        simulation = Simulation(design.policies, machine)
        line = f"{name:<26}{part:<9}"
        for caches in CACHES:
            started = time.process_time()
            simulation.launch(code, trace)
            if caches == "warm":  # the first launch also compiles
                spent += time.process_time() - started
                instructions += trace.warp_instructions
            ours, there = simulation.launches[-1]["active_cycles"], int(reference[name, caches]["sm__cycles_active.max"])
            pairs[part, caches].append((ours, there))
            line += f"  {caches} {ours:>8} / {there:>8} {ours / there - 1:+7.1%}"
        print(line, flush=True)
    for (part, caches), both in pairs.items():
        if len(both) > 1:
            ours, there = np.array(both).T
            error, correlation = np.mean(np.abs(ours / there - 1)), np.corrcoef(ours, there)[0, 1]
            print(f"{part}, {caches}: {len(both)} launches, mean absolute error {error:.1%}, correlation {correlation:.4f}")
    print(f"{instructions / max(spent, 1e-9) / 1e6:.2f} million warp instructions a second of processor time")


if __name__ == "__main__":
    main()
