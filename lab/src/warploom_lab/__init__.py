"""The laboratory beside Warploom: what measures a GPU, records goldens, spoils inputs, and writes generated pages."""

from __future__ import annotations

from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[3]
"""The repository: tools that read tests or write docs work in it."""

DEVICES = Path(__file__).resolve().parent / "devices"
"""What was measured: one folder for each chip, and `kernels` with the code that was."""

PLANS = CHECKOUT / "lab" / "plans"
"""Plans of experiments, and goals of searches."""
