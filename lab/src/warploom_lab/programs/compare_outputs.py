"""Compare what programs wrote in two places, such as a GPU and `warploom exec`: one folder for each program, in both.

    warploom-lab compare-outputs GPU_FOLDER WARPLOOM_FOLDER [--ignore REGEX ...] [--json FILE]

Texts are compared line by line without lines that match a pattern (times, names of devices), word by word; words that are numbers
may differ, and by how much is printed: the largest difference relative to the larger of the two. Other files are compared
byte by byte and, where they differ, as numbers of 32 bits in floating point. Exit status: 0 if everything is equal.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from pathlib import Path
from typing import Any

import numpy as np

USUAL = (r"\btimes?\b|time:|seconds?\b|\bsecs?\b|\bm?sec\b|\d ?ms\b|\(ms\)|\(s\)|[GM]B/s|flops?\b|bandwidth|throughput|speed",)
_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*(?:[eE][-+]?\d+)?|\.\d+(?:[eE][-+]?\d+)?|nan|inf)")


def text_of(data: bytes) -> str | None:
    """The text of a file, or None where it is none."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return None
    return None if "\0" in text else text


def kept_lines(text: str, ignored: re.Pattern[str]) -> list[str]:
    """The lines that count."""
    return [line.rstrip() for line in text.splitlines() if line.strip() and not ignored.search(line)]


def difference(one: float, other: float) -> float:
    """How far two numbers are apart, relative to the larger one."""
    if one == other or (one != one and other != other):
        return 0.0
    return float(abs(one - other) / max(abs(one), abs(other)))


def compare_texts(one: str, other: str, ignored: re.Pattern[str]) -> tuple[str, float, int]:
    """What differs in words (empty if only numbers do), the largest difference of numbers, and how many numbers differ."""
    first, second = kept_lines(one, ignored), kept_lines(other, ignored)
    if len(first) != len(second):
        return f"{len(first)} lines against {len(second)}", 0.0, 0
    worst, count = 0.0, 0
    for left, right in zip(first, second, strict=True):
        if left == right:
            continue
        numbers = _NUMBER.findall(left), _NUMBER.findall(right)
        if _NUMBER.sub("#", left) != _NUMBER.sub("#", right):
            return f"{left[:60]!r} against {right[:60]!r}", worst, count
        apart = [difference(float(a), float(b)) for a, b in zip(*numbers, strict=True)]
        worst, count = max(worst, *apart), count + sum(each > 0 for each in apart)
    return "", worst, count


def compare_bytes(one: bytes, other: bytes) -> tuple[str, float, int]:
    """The same for files that are no text."""
    if one == other:
        return "", 0.0, 0
    if len(one) != len(other) or len(one) % 4:
        return f"{len(one)} bytes against {len(other)}", 0.0, 0
    left, right = (np.frombuffer(data, np.float32).astype(np.float64) for data in (one, other))
    if not (np.isfinite(left) & np.isfinite(right)).all():
        return f"{np.count_nonzero(left != right)} words differ", 0.0, 0
    larger = np.maximum(np.abs(left), np.abs(right))
    apart = np.abs(left - right) / np.where(larger > 0, larger, 1)
    return "", float(apart.max()), int(np.count_nonzero(apart))


def compare_programs(one: Path, other: Path, ignored: re.Pattern[str]) -> dict[str, Any]:
    """What two folders of one program have in common."""
    names = [{str(file.relative_to(folder)) for file in folder.rglob("*") if file.is_file()} for folder in (one, other)]
    found: dict[str, Any] = {"files": 0, "worst": 0.0, "numbers": 0, "problem": ""}
    for name in sorted(names[0] ^ names[1]):
        found["problem"] = f"{name} is in one place only"
    for name in sorted(names[0] & names[1]):
        contents = (one / name).read_bytes(), (other / name).read_bytes()
        texts = [text_of(data) for data in contents]
        if texts[0] is not None and texts[1] is not None:
            problem, worst, numbers = compare_texts(texts[0], texts[1], ignored)
        else:
            problem, worst, numbers = compare_bytes(*contents)
        found["files"] += 1
        found["worst"], found["numbers"] = max(found["worst"], worst), found["numbers"] + numbers
        if problem:
            found["problem"] = f"{name}: {problem}"
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("one", type=Path)
    parser.add_argument("other", type=Path)
    parser.add_argument("--ignore", action="append", default=[], help="also leave out lines that match this")
    parser.add_argument("--json", type=Path, help="also write what was found there")
    options = parser.parse_args()
    ignored = re.compile("|".join((*USUAL, *options.ignore)), re.IGNORECASE)
    both = sorted(folder.name for folder in options.one.iterdir() if (options.other / folder.name).is_dir())
    found = {name: compare_programs(options.one / name, options.other / name, ignored) for name in both}
    for name, each in found.items():
        numbers = f"{each['numbers']} numbers differ by up to {each['worst']:.2g}" if each["numbers"] else ""
        print(f"{name:32} {'; '.join(filter(None, (each['problem'], numbers))) or 'equal'} ({each['files']} files)")
    equal = sum(not each["problem"] and not each["numbers"] for each in found.values())
    print(f"{equal} of {len(found)} are equal")
    if options.json is not None:
        options.json.write_text(json.dumps(found, indent=1) + "\n")
    return 0 if equal == len(found) else 1


if __name__ == "__main__":
    sys.exit(main())
