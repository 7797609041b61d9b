"""How to get NVIDIA's compilers, which come as wheels."""

from __future__ import annotations

import platform


def how_to_get(extra: str) -> str:
    """What to do where one of them is missing; ``extra`` is the one of ours that brings it."""
    if platform.system() == "Darwin":
        return "NVIDIA builds none for macOS: make PTX on Linux (`nvcc --ptx`) and run that here, or run on Linux"
    return f"install it with: pip install 'warploom[{extra}]'"
