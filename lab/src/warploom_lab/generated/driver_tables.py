"""Makes the tables of the driver's interface, `programs/driver/exports.txt` and `errors.txt`, from a toolkit's headers.

warploom-lab driver-tables /usr/local/cuda-13.0/include
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

from warploom.programs.library import error_table
from warploom_lab import CHECKOUT

TARGET = CHECKOUT / "src" / "warploom" / "programs" / "driver"
PER_THREAD = ("_ptds", "_ptsz")


def declared(include: Path) -> set[str]:
    """All functions that the headers declare, of every version; the profiler's includes the other."""
    command = ["cc", "-E", "-D__CUDA_API_VERSION_INTERNAL", f"-I{include}", str(include / "cudaProfiler.h")]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return set(re.findall(r"\b(cu[A-Z]\w+)(?=\()", text))


def versions(include: Path) -> dict[str, list[tuple[int, str]]]:
    """Of each function the versions of CUDA in which it changed, and whether that is one for streams of each thread."""
    found = defaultdict(list)
    text = (include / "cudaTypedefs.h").read_text() + (include / "cudaProfilerTypedefs.h").read_text()
    for name, version, ending in re.findall(r"\(CUDAAPI \*PFN_(cu\w+?)_v(\d+)(_ptsz|_ptds)?\)", text):
        found[name].append((int(version), ending))
    return {name: sorted(rows) for name, rows in found.items()}


def rows(include: Path) -> list[str]:
    """Symbol, the name that programs ask for, the version of CUDA from which on it answers to that, and 1 if per thread."""
    names, made = declared(include), {}
    for base, changes in versions(include).items():
        plain = [version for version, ending in changes if not ending]
        for version, ending in changes:
            number = sum(each <= version for each in plain)
            symbol = base + (f"_v{number}" if number > 1 else "") + ending
            if symbol in names:
                made[symbol] = f"{symbol} {base} {version} {int(ending in PER_THREAD)}"
    assert made.keys() == names, sorted(names - made.keys())
    return sorted(made.values())


def errors(include: Path) -> list[str]:
    """Number, name and words of each error; the words are those of the runtime's error of the same number."""
    words = {number: text for number, (_, text) in error_table().items()}
    found = re.findall(r"^\s+(CUDA_(?:SUCCESS|ERROR_\w+))\s*=\s*(\d+)", (include / "cuda.h").read_text(), re.MULTILINE)
    return [f"{number} {name} {words.get(int(number), 'unknown error')}" for name, number in found]


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    head = "# Every function of the driver's interface: symbol, name and version of CUDA for cuGetProcAddress, per thread.\n"
    (TARGET / "exports.txt").write_text(head + "\n".join(rows(folder)) + "\n")
    head = "# The driver's error codes: number, name, and the words that cuGetErrorString gives.\n"
    (TARGET / "errors.txt").write_text(head + "\n".join(errors(folder)) + "\n")
