"""PTX text to a typed module."""

from warploom.compiler.ptx.module import Function, Module
from warploom.compiler.ptx.parser import parse

__all__ = ["Function", "Module", "parse"]
