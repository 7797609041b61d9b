"""What names mean inside a function: registers, variables, parameters, in nested scopes."""

from __future__ import annotations

import re

from warploom.compiler.ptx.module import FunctionName, PtxParameter, PtxVariable, Register, SpecialRegister

Named = Register | PtxVariable | PtxParameter | SpecialRegister | FunctionName

_NUMBERED = re.compile(r"(.*?)(0|[1-9][0-9]*)\Z")

SPECIAL_SIZES: dict[str, int] = {
    **{f"{name}.{axis}": 4 for name in ("tid", "ntid", "ctaid", "nctaid") for axis in "xyz"},
    **dict.fromkeys(("laneid", "warpid", "nwarpid", "smid", "nsmid", "clock", "clock_hi", "globaltimer_lo", "globaltimer_hi"), 4),
    **dict.fromkeys(("lanemask_eq", "lanemask_le", "lanemask_lt", "lanemask_ge", "lanemask_gt"), 4),
    **dict.fromkeys(("dynamic_smem_size", "total_smem_size"), 4),
    **dict.fromkeys(("envreg1", "envreg2"), 4),  # the two halves of the address through which a cooperative grid synchronises
    **dict.fromkeys(("clock64", "globaltimer", "gridid"), 8),
}
"""Special registers and their sizes in bytes."""

_SPECIALS: dict[str, Named] = {f"%{name}": SpecialRegister(name) for name in SPECIAL_SIZES}


class Counter:
    """Numbers for the registers of one function."""

    def __init__(self) -> None:
        self.value = 0

    def next(self) -> int:
        self.value += 1
        return self.value - 1


class Scope:
    """The names declared between one pair of braces."""

    def __init__(self, parent: Scope | None, counter: Counter) -> None:
        self.parent = parent
        self.names: dict[str, Named] = {}
        self.labels: dict[str, int] = {}  # to positions in the body
        self.tables: dict[str, list[str]] = {}  # .branchtargets
        self._ranges: dict[str, tuple[int, str]] = {}
        self._counter = counter

    def inner(self) -> Scope:
        """A new scope inside this one."""
        return Scope(self, self._counter)

    def add_register(self, name: str, type_: str) -> Register | None:
        """Declare one register; None if the name is taken."""
        if name in self.names:
            return None
        register = Register(self._counter.next(), type_, name)
        self.names[name] = register
        return register

    def add_range(self, prefix: str, count: int, type_: str) -> None:
        """Declare ``prefix<count>``; the registers come to be when they are first named."""
        self._ranges[prefix] = (count, type_)

    def find(self, name: str) -> Named | None:
        """What a name means here, or None."""
        scope: Scope | None = self
        while scope is not None:
            found = scope.names.get(name)
            if found is not None:
                return found
            if scope._ranges:
                numbered = _NUMBERED.match(name)
                if numbered is not None and len(name) < 200:
                    count, type_ = scope._ranges.get(numbered[1], (0, ""))
                    if len(numbered[2]) < 10 and int(numbered[2]) < count:
                        return scope.add_register(name, type_)
            scope = scope.parent
        return _SPECIALS.get(name)

    def find_label(self, name: str) -> int | None:
        """The position that a label names."""
        scope: Scope | None = self
        while scope is not None:
            if name in scope.labels:
                return scope.labels[name]
            scope = scope.parent
        return None

    def find_table(self, name: str) -> list[str] | None:
        """The labels of a ``.branchtargets`` list."""
        scope: Scope | None = self
        while scope is not None:
            if name in scope.tables:
                return scope.tables[name]
            scope = scope.parent
        return None
