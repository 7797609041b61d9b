"""Write everything that `measure.py` runs on a machine with a GPU: machine code and launches, as plain files.

    warploom-lab build --out FOLDER [--micro PREFIX ...] [--workloads NAME ...] [--kernels NAME ...]
    warploom-lab build --compile [NAME ...]   # lab/src/warploom_lab/devices/kernels/*.cu to the cubins beside them

FOLDER then holds ``workloads/NAME.cubin`` (the 49 workloads in the very code that ``warploom run NAME --code sm_90`` simulates),
``code/*.cubin`` and ``launches.json`` (the microbenchmarks), ``programs/`` (the single kernels). Needs Warploom with its
tools for machine code, and no GPU.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import json
import shutil
from pathlib import Path

from warploom.compiler.sass.module import from_cuda, from_ptx
from warploom.programs.workloads.registry import workload_names, workload_ptx
from warploom.studies.validate.benchmark import Launch
from warploom.studies.validate.recorded import OWN_SIZE
from warploom_lab import DEVICES
from warploom_lab.microbenchmarks import all_microbenchmarks
from warploom_lab.microbenchmarks.energy import SLOTS, loops

CODE = "sm_90"
WARPGROUPS = "wgmma."  # a source with this in it needs the architecture that has products of warpgroups
KERNELS = DEVICES / "kernels"


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
    about |= {"counted": launch.counted}
    return about | {"shared_bytes": launch.shared_bytes, "repeats": launch.repeats, "arguments": arguments}


def single_kernels(asked: list[str]) -> list[str]:
    """Names of single kernels: those that are asked for, by name or by their set's; all if nothing is."""
    sets = {file.stem: json.loads(file.read_text()).get("size", OWN_SIZE) for file in sorted(KERNELS.glob("*.json"))}
    return [name for name, its in sets.items() if not asked or name in asked or its in asked]


def compile_kernels(asked: list[str]) -> None:
    """The machine code of single kernels that are there as CUDA C++."""
    with contextlib.chdir("/"):  # the compiler writes the folder that it runs in into the code's table of lines
        for source in [KERNELS / f"{name}.cu" for name in single_kernels(asked)]:
            if source.is_file():
                text = source.read_text()
                architecture = f"{CODE}a" if WARPGROUPS in text else CODE
                source.with_suffix(".cubin").write_bytes(from_cuda(text, source.name, architecture).make(None))


def write_microbenchmarks(out: Path, prefixes: list[str]) -> None:
    """Those whose names begin so."""
    (out / "code").mkdir(exist_ok=True)
    words: dict[str, list[int]] = {}
    launches = []
    for benchmark in all_microbenchmarks():
        if benchmark.name.startswith(tuple(prefixes)):
            launches += [_written(launch, out, words) for launch in benchmark.launches()]
    (out / "launches.json").write_text(json.dumps({"words": words, "launches": launches}))
    print(f"{len(launches)} launches of microbenchmarks")


def write_workloads(out: Path, names: list[str]) -> None:
    """Their machine code."""
    (out / "workloads").mkdir(exist_ok=True)
    for name in names:
        cubin = from_ptx(workload_ptx(name), f"{name}/kernel.ptx", CODE).make(None)
        (out / "workloads" / f"{name}.cubin").write_bytes(cubin)


def write_kernels(out: Path, names: list[str]) -> None:
    """Their machine code and what they are launched with."""
    (out / "programs").mkdir(exist_ok=True)
    for name in names:
        for kind in ("cubin", "json"):
            shutil.copyfile(KERNELS / f"{name}.{kind}", out / "programs" / f"{name}.{kind}")


def write_energy(out: Path) -> None:
    """The loops for the power counter."""
    words: dict[str, list[int]] = {}
    energy = [_written(launch, out, words) | {"name": name, "what": what, "slots": SLOTS} for name, what, launch in loops()]
    (out / "energy.json").write_text(json.dumps({"words": words, "loops": energy}))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--micro", nargs="*", help="microbenchmarks whose names begin so")
    parser.add_argument("--workloads", nargs="*", help="these workloads")
    parser.add_argument("--kernels", nargs="*", help="these single kernels, or sets of them: own, fresh")
    parser.add_argument("--compile", nargs="*", help="make the machine code of these single kernels or sets from their CUDA C++")
    asked = parser.parse_args()
    if asked.compile is not None:
        compile_kernels(asked.compile)
    if asked.out is None:
        return
    asked.out.mkdir(parents=True, exist_ok=True)
    whole = asked.micro is None and asked.workloads is None and asked.kernels is None
    if whole or asked.micro is not None:
        write_microbenchmarks(asked.out, asked.micro or [""])
    if whole or asked.workloads is not None:
        write_workloads(asked.out, asked.workloads or list(workload_names()))
    if whole or asked.kernels is not None:
        write_kernels(asked.out, single_kernels(asked.kernels or []))
    if whole:
        write_energy(asked.out)


if __name__ == "__main__":
    main()
