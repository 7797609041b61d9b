"""The tables that are made of code for a machine under a design."""

from __future__ import annotations

from typing import Any

import numpy as np

from warploom.chip.context import code_table, with_notes
from warploom.chip.machines import Machine
from warploom.chip.sm import Policies
from warploom.compiler.code.instruction import Code


class Tables:
    """Tables of code, each made once however many launches run it, on one chip or on several of the same kind.

    They are made in Python, which takes longer than a small launch. No launch changes them.
    """

    def __init__(self, design: Policies, machine: Machine) -> None:
        self.design, self.machine = design, machine
        self._made: dict[int, tuple[Code, Any, Any]] = {}  # by identity of the code, which is kept alive by being here

    def of(self, code: Code) -> tuple[Any, Any]:
        """The facts of each instruction, and the same with what the policies note of it."""
        if id(code) not in self._made:
            table = code_table(code, self.machine).view(np.recarray)
            noted = with_notes(self.design, code, table, self.machine).view(np.recarray)
            self._made[id(code)] = (code, table, noted)
        return self._made[id(code)][1:]
