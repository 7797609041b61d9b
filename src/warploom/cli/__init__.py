"""The command line. `main` is what ``warploom`` starts."""

from warploom.cli.app import main

__all__ = ["main"]
