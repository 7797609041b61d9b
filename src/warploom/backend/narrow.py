"""Computes in 32 bits the values of which only one half is ever used."""

from __future__ import annotations

from warploom.code.instruction import Code


def narrow_addresses(code: Code) -> None:
    """Change the code in place."""
