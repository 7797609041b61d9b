"""Warploom: a laboratory for GPU register files."""

__version__ = "0.1.0"
