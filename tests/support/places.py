"""Where tests find the checkout and the data beside them."""

from __future__ import annotations

from pathlib import Path

TESTS = Path(__file__).parents[1]
ROOT = TESTS.parent
DATA = TESTS / "data"
GOLDENS = TESTS / "goldens"
SUPPORT = TESTS / "support"
