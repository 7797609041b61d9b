"""Write the machine code of workloads as cubins, for `workload_goldens.py --modules` on a machine with a GPU.

warploom-lab workload-cubins --code sm_90 --out FOLDER NAME ...
"""

from __future__ import annotations

import argparse
from pathlib import Path

from warploom.compiler.sass.module import from_ptx
from warploom.programs.workloads.registry import workload_ptx


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("names", nargs="+")
    parser.add_argument("--code", default="sm_90")
    parser.add_argument("--out", type=Path, required=True)
    asked = parser.parse_args()
    asked.out.mkdir(parents=True, exist_ok=True)
    for name in asked.names:
        module = from_ptx(workload_ptx(name), f"{name}/kernel.ptx", asked.code)
        (asked.out / f"{name}.cubin").write_bytes(module.make(None))


if __name__ == "__main__":
    main()
