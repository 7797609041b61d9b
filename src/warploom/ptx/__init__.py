"""PTX text to a typed module."""

from warploom.ptx.module import Function, Module
from warploom.ptx.parser import parse

__all__ = ["Function", "Module", "parse"]
