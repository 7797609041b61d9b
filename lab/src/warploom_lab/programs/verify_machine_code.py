"""Executes workloads and random kernels in machine code on all cores, and says which outputs are not what they should be.

    warploom-lab verify-machine-code --workloads tiny small paper chip --codes sm_75 sm_80 sm_90
    warploom-lab verify-machine-code --seeds 600 --codes ptx sm_75 sm_80

Workloads are compared with their references, random kernels with a real GPU's answers (`tests/goldens/random_cuda.json`). PTX is
compiled by our backend. Compilers may fuse a product and a sum of half precision or not, as they like; some kernels differ by it.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib.util
import json
import multiprocessing
import sys
import time
from collections import Counter
from pathlib import Path

from warploom.base.errors import WarploomError
from warploom.compiler.cuda import compile_to_cubin, compile_to_ptx
from warploom.compiler.sass.module import from_cubin
from warploom.programs.device import Device
from warploom.programs.named import program_named
from warploom.programs.workloads.registry import workload_names
from warploom.runs.simulate import emulate
from warploom_lab import CHECKOUT
from warploom_lab.goldens.random_cuda import BLOCK, BLOCKS, random_kernel

GOLDENS = CHECKOUT / "tests" / "goldens" / "random_cuda.json"
BUDGET = 50_000_000
Task = tuple[str, str, str]  # a workload or a seed; a size, or "random"; the code


def _headers() -> list[str]:
    """The folder of cuda_fp16.h, from NVIDIA's wheels, as an option."""
    spec = importlib.util.find_spec("nvidia")
    roots = (spec.submodule_search_locations or ()) if spec is not None else ()
    return [f"-I{root}/cu13/include" for root in roots if Path(root, "cu13", "include", "cuda_fp16.h").is_file()]


def random_output(seed: int, code: str) -> str:
    """The digest of what a random kernel stores."""
    kernel = random_kernel(seed)
    options = ("--std=c++17", *_headers())
    place = f"random{seed}.cu"
    if code == "ptx":
        device = Device(compile_to_ptx(kernel.source, place, options=options), file=place, record=None, budget=BUDGET)
    else:
        module = from_cubin(compile_to_cubin(kernel.source, place, arch=code, options=options), place, code)
        device = Device(lambda name, _shape: module.kernel(name), record=None, budget=BUDGET)
    words, empty = (device.array(array) for array in kernel.arguments())
    device.launch("k", (BLOCKS,), (BLOCK,), words, empty)
    return hashlib.sha256(empty.get().tobytes()).hexdigest()[:16]


def outcome(task: Task) -> tuple[Task, str]:
    """ "right", or what is wrong."""
    name, size, code = task
    try:
        if size == "random":
            golden = json.loads(GOLDENS.read_text())["kernels"][name]
            return task, "right" if random_output(int(name), code) == golden["output"] else "another output than the GPU's"
        verified = emulate(program_named(name, code, None), size=size).verified
        return task, "right" if verified else "another output than the reference"
    except WarploomError as problem:
        return task, str(problem)


def tasks(sizes: list[str], seeds: int, codes: list[str]) -> list[Task]:
    """What is to be executed, the longest first."""
    found = [(name, size, code) for size in reversed(sizes) for name in workload_names() for code in codes]
    return found + [(str(seed), "random", code) for seed in range(seeds) for code in codes]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--workloads", nargs="*", default=[], metavar="SIZE")
    parser.add_argument("--seeds", type=int, default=0, help="how many random kernels")
    parser.add_argument("--codes", nargs="+", default=["sm_75", "sm_80", "sm_90"])
    parser.add_argument("--jobs", type=int, default=multiprocessing.cpu_count())
    parser.add_argument("--seconds", type=float, default=float("inf"), help="after which what is left is not executed")
    asked = parser.parse_args()
    started = time.monotonic()
    for code in asked.codes:  # what is compiled here, every process has
        outcome(("vectoradd", "tiny", code))
    print(f"ready after {time.monotonic() - started:.0f} s", flush=True)
    right: Counter[tuple[str, str]] = Counter()
    wrong = 0
    wanted = tasks(asked.workloads, asked.seeds, asked.codes)
    with multiprocessing.get_context("fork").Pool(asked.jobs) as pool:
        answers = pool.imap_unordered(outcome, wanted)
        for _ in wanted:
            try:
                (name, size, code), words = answers.next(max(0.0, asked.seconds - (time.monotonic() - started)))
            except multiprocessing.TimeoutError:
                break
            if words == "right":
                right[size, code] += 1
            else:
                wrong += 1
                print(f"{name} {size} {code}: {words}", flush=True)
        pool.terminate()
    for (size, code), count in sorted(right.items()):
        print(f"{size} {code}: {count} right")
    left = len(wanted) - right.total() - wrong
    print(f"{wrong} wrong{f', {left} not executed' if left else ''}, {time.monotonic() - started:.0f} s")
    sys.exit(wrong > 0)


if __name__ == "__main__":
    main()
