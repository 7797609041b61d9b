"""Compile every workload's ``kernel.cu`` to the ``kernel.ptx`` beside it, with its lines, or check that the PTX is current.

warploom-lab build-workload-ptx [NAME ...]        # rebuild all folders, or those named
warploom-lab build-workload-ptx --check [NAME ...]  # exit 1 and name the folders whose PTX is not current

The name ``products`` stands for the kernels of the library in the place of cuBLAS, which lie in one folder.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from warploom.compiler.cuda import compile_to_ptx
from warploom_lab import CHECKOUT

WORKLOADS = CHECKOUT / "src" / "warploom" / "programs" / "workloads"
ARCHITECTURE = "compute_75"
CUBLAS = WORKLOADS.parent / "cublas"
PRODUCTS = {
    "f32": ("lanes", "compute_75", "-DSCALAR=float"),
    "f64": ("lanes", "compute_75", "-DSCALAR=double"),
    "f16": ("tensors", "compute_80", "-DBRAIN=0"),
    "bf16": ("tensors", "compute_80", "-DBRAIN=1"),
}
"""The type of each product's matrices: its source, the oldest architecture, what the source is told."""


def folders(names: list[str]) -> list[Path]:
    """The workload folders asked for, all of them by default."""
    found = sorted(path.parent for path in WORKLOADS.glob("*/kernel.cu"))
    if not names:
        return found
    wanted = {name.replace("-", "_") for name in names}
    unknown = wanted - {folder.name for folder in found}
    if unknown:
        raise SystemExit(f"{WORKLOADS}: no kernel.cu in {', '.join(sorted(unknown))}")
    return [folder for folder in found if folder.name in wanted]


def build_products(check: bool) -> list[str]:
    """The types whose PTX is not current; unless it is only checked, it is written."""
    stale = []
    for name, (source, arch, told) in PRODUCTS.items():
        text = (CUBLAS / "kernels" / f"{source}.cu").read_text()
        options = (f"-I{CUBLAS}", f"-I{CUBLAS / 'kernels'}", "--std=c++17", f"-DNAME=warploom_gemm_{name}", told)
        ptx = compile_to_ptx(text, f"{source}.cu", arch=arch, options=options)
        target = CUBLAS / "kernels" / f"{name}.ptx"
        if target.exists() and target.read_text() == ptx:
            continue
        stale.append(f"products {name}")
        if not check:
            target.write_text(ptx)
    return stale


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="workloads (default: all)")
    parser.add_argument("--check", action="store_true", help="change nothing; exit 1 if a kernel.ptx is not current")
    options = parser.parse_args()
    whole, workloads = not options.names, [name for name in options.names if name != "products"]
    stale = build_products(options.check) if whole or "products" in options.names else []
    for folder in folders(workloads) if whole or workloads else ():
        source = (folder / "kernel.cu").read_text()
        ptx = compile_to_ptx(source, f"{folder.name}/kernel.cu", arch=ARCHITECTURE, line_numbers=True)
        target = folder / "kernel.ptx"
        if target.exists() and target.read_text() == ptx:
            continue
        stale.append(folder.name)
        if not options.check:
            target.write_text(ptx)
    if stale:
        print("not current:" if options.check else "rebuilt:", ", ".join(stale))
    return 1 if stale and options.check else 0


if __name__ == "__main__":
    sys.exit(main())
