"""How much a launch may execute, so that an endless one ends."""

DEFAULT_BUDGET = 1_000_000_000
"""Warp instructions of one launch, unless the caller says otherwise: some minutes of emulation."""
LARGEST_BUDGET = (1 << 63) - 1
"""What the emulator can count to."""
