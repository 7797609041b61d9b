"""Compile every workload's ``kernel.cu`` to the ``kernel.ptx`` beside it, with its lines, or check that the PTX is current.

warploom-lab build-workload-ptx [NAME ...]        # rebuild all folders, or those named
warploom-lab build-workload-ptx --check [NAME ...]  # exit 1 and name the folders whose PTX is not current
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from warploom.compiler.cuda import compile_to_ptx
from warploom_lab import CHECKOUT

WORKLOADS = CHECKOUT / "src" / "warploom" / "programs" / "workloads"
ARCHITECTURE = "compute_75"


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


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="workloads (default: all)")
    parser.add_argument("--check", action="store_true", help="change nothing; exit 1 if a kernel.ptx is not current")
    options = parser.parse_args()
    stale = []
    for folder in folders(options.names):
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
