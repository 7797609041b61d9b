"""Run every workload's tiny size on a real NVIDIA GPU and store what it computes, for the tests to compare the emulator with.

    warploom-lab workload-goldens --out DIR [--modules CUBINS] [NAME ...]

Needs NumPy and CuPy alone (SciPy where a reference uses it). Writes ``workloads.npz`` and ``workloads.json`` (device, driver,
date, and for each workload the digest of its PTX without lines and whether the outputs agree with the reference). In the archive,
an output of up to 32 KiB is stored whole as ``NAME/OUTPUT``; a larger one as ``NAME/OUTPUT/sha256`` and ``NAME/OUTPUT/sample``,
every n-th value of the flattened array with n = ceil(size / 2048). A workload that cannot be run is reported and left out. Exit
status: 0 if all agree, else 1.
"""

from __future__ import annotations

import argparse
import datetime
import hashlib
import importlib
import json
import sys
import traceback
import types
from pathlib import Path
from typing import Any

import cupy
import numpy as np
from cupy.cuda import runtime

from warploom_lab import CHECKOUT
from warploom_lab.goldens.ptx_lines import without_lines

PACKAGE = CHECKOUT / "src" / "warploom"
WHOLE_BYTES = 32 * 1024
SAMPLES = 2048


def stand_in_for_packages() -> None:
    """Let modules be imported without the packages above them, which need more than is installed beside a GPU."""
    for name in ("warploom", "warploom.programs", "warploom.programs.workloads"):
        module = types.ModuleType(name)
        module.__path__ = [str(PACKAGE.parent.joinpath(*name.split(".")))]
        sys.modules[name] = module


def load(folder: Path) -> Any:
    """A folder's `Workload`; nothing but the folder itself is imported."""
    described = importlib.import_module(f"warploom.programs.workloads.{folder.name}.workload")
    return importlib.import_module("warploom.programs.workloads.workload").workload_of(folder.name.replace("_", "-"), described)


def differences(got: dict[str, np.ndarray], expected: dict[str, np.ndarray], tolerance: Any) -> list[str]:
    """What differs, in words; empty when the outputs agree."""
    found = []
    if got.keys() != expected.keys():
        found.append(f"outputs {sorted(got)} but reference {sorted(expected)}")
    for name in sorted(got.keys() & expected.keys()):
        mine, want = got[name], expected[name]
        if mine.shape != want.shape or mine.dtype != want.dtype:
            found.append(f"{name}: {mine.dtype}{mine.shape} but reference {want.dtype}{want.shape}")
            continue
        relative, absolute = tolerance.get(name, (0.0, 0.0))
        if name in tolerance:
            right = np.isclose(mine, want, rtol=relative, atol=absolute, equal_nan=True)
        else:
            right = (mine == want) | ((mine != mine) & (want != want))
        if not right.all():
            worst = np.abs(mine.astype(np.float64) - want.astype(np.float64))
            place = int(np.argmax(np.where(right, -1, worst)))
            found.append(
                f"{name}: {int((~right).sum())} of {right.size} differ, worst at {place}: "
                f"{mine.reshape(-1)[place]} against {want.reshape(-1)[place]}"
            )
    return found


def stored(name: str, outputs: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The entries of the archive for one workload."""
    entries = {}
    for output, values in outputs.items():
        if values.nbytes <= WHOLE_BYTES:
            entries[f"{name}/{output}"] = values
            continue
        digest = hashlib.sha256(np.ascontiguousarray(values).tobytes()).digest()
        entries[f"{name}/{output}/sha256"] = np.frombuffer(digest, np.uint8)
        entries[f"{name}/{output}/sample"] = values.reshape(-1)[:: -(-values.size // SAMPLES)]
    return entries


def device_note() -> dict[str, str]:
    """The device that the goldens come from."""
    properties = runtime.getDeviceProperties(0)
    return {
        "device": properties["name"].decode(),
        "compute_capability": f"{properties['major']}.{properties['minor']}",
        "driver_cuda_version": str(runtime.driverGetVersion()),
        "cupy": cupy.__version__,
        "numpy": np.__version__,
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="workloads (default: all)")
    parser.add_argument("--out", type=Path, required=True, help="folder for workloads.npz and workloads.json")
    parser.add_argument(
        "--size", default="tiny", choices=("tiny", "small", "paper", "chip"), help="goldens are made of tiny; others check"
    )
    parser.add_argument("--modules", type=Path, help="a folder of NAME.cubin to run instead of the workloads' PTX")
    options = parser.parse_args()
    stand_in_for_packages()
    real = importlib.import_module("warploom.programs.real")
    wanted = {name.replace("-", "_") for name in options.names}

    archive: dict[str, np.ndarray] = {}
    verdicts: dict[str, str] = {}
    digests: dict[str, str] = {}
    for file in sorted((PACKAGE / "programs" / "workloads").glob("*/workload.py")):
        folder = file.parent
        if wanted and folder.name not in wanted:
            continue
        try:
            workload = load(folder)
            arrays = workload.inputs(options.size)
            module = options.modules / f"{workload.name}.cubin" if options.modules else folder / "kernel.ptx"
            outputs = {name: np.asarray(values) for name, values in workload.host(real.RealDevice(module), arrays).items()}
            archive.update(stored(workload.name, outputs))
            instructions = without_lines((folder / "kernel.ptx").read_text())
            digests[workload.name] = hashlib.sha256(instructions.encode()).hexdigest()
        except Exception as problem:
            traceback.print_exc()
            verdicts[folder.name] = f"not run: {type(problem).__name__}: {problem}"
            continue
        try:
            found = differences(outputs, workload.reference(workload.inputs(options.size)), workload.tolerance)
            verdicts[workload.name] = "; ".join(found) or "agrees"
        except ImportError as problem:
            verdicts[workload.name] = f"no reference here: {problem}"
        except Exception as problem:
            traceback.print_exc()
            verdicts[workload.name] = f"reference fails: {type(problem).__name__}: {problem}"

    options.out.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(options.out / "workloads.npz", **archive)  # type: ignore[arg-type]
    note = device_note() | {"size": options.size, "ptx_sha256": digests, "verdicts": verdicts}
    (options.out / "workloads.json").write_text(json.dumps(note, indent=1) + "\n")
    for name, verdict in verdicts.items():
        print(f"{name:20} {verdict}")
    agreed = sum(verdict == "agrees" for verdict in verdicts.values())
    bytes_written = (options.out / "workloads.npz").stat().st_size
    print(f"{agreed} of {len(verdicts)} agree with their references; {bytes_written} bytes of goldens")
    return 0 if agreed == len(verdicts) else 1


if __name__ == "__main__":
    sys.exit(main())
