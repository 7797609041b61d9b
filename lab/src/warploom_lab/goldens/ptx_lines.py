"""PTX without the lines of its source: a digest of it stays the same where only a comment of the source has moved."""

from __future__ import annotations

import re


def without_lines(ptx: str) -> str:
    """PTX as NVRTC writes it when it is not asked for lines: the same instructions."""
    names_left_out = re.sub(r"\t\.section\t\.debug_str\n\t\{\n(?:[^\t].*\n|\n)*\t\}\n", "\n", ptx)
    return re.sub(r"^\t\.(?:loc|file)\t.*\n", "", names_left_out, flags=re.MULTILINE)
