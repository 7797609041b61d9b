"""Programs of one's own in Python: kernels, a host function, inputs and what should come out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

import numpy as np

from warploom.base.errors import WarploomError
from warploom.programs.origin import Digests, Origin
from warploom.programs.program import Program, check_code
from warploom.programs.source import PTX, Source
from warploom.programs.workloads.workload import Arrays, Gpu, Size

_EMPTY_MODULE = ".version 8.0\n.target sm_75\n.address_size 64\n"


@dataclass(frozen=True)
class PythonOrigin(Origin):
    """A program that was made in Python: it is opened where it was made, and nowhere else."""

    KIND: ClassVar[str] = "python"

    title: str
    kernels: str  # a digest of what its kernels are made of
    program: Program | None = field(default=None, repr=False, compare=False)

    @property
    def name(self) -> str:
        return self.title

    def short(self, digests: Digests) -> str:
        return f"kernels {self.kernels[:8]}"

    @property
    def sized(self) -> bool:
        return self.program is not None and self.program.sized

    def code_for(self, asked: str, usual: str) -> str:
        return self.program.code if self.program is not None else asked or usual

    def digests(self, code: str) -> Digests:
        return {}

    def open(self, code: str, seed: int | None) -> Program:
        self._without_seed(seed, "a program of your own has the inputs that it was given")
        if self.program is None:
            raise WarploomError(f"the program {self.title} was made in Python and can only be run again from there")
        return self.program


def origin_of(program: Program) -> Origin:
    """What names a program, of whatever kind."""
    if program.origin is not None:
        return program.origin
    return PythonOrigin(program.name, program.source.digest, program)


def program(
    name: str,
    source: str | Path | None,
    host: Callable[[Gpu, Arrays], Arrays],
    inputs: Arrays | Callable[[Size], Arrays] | None = None,
    reference: Callable[[Arrays], Arrays] | Arrays | None = None,
    *,
    tolerance: Mapping[str, tuple[float, float]] | None = None,
    code: str = PTX,
    options: Sequence[str] = (),
    lenient: bool = False,
) -> Program:
    """A program that `simulate` takes.

    ``source`` is CUDA C++ or PTX as text, or the path of such a file; None where the host function brings all kernels
    (`Device.raw_module`, functions for ``numba.cuda``). ``host`` is given a device and the inputs, launches kernels, and returns
    its outputs by name. ``inputs`` are arrays by name, or a function of the size. ``reference`` is what should come out, or a
    function that computes it from the inputs; ``tolerance`` says by how much an output may miss it (relative, absolute).
    ``code`` is what is executed: ``ptx`` or machine code such as ``sm_90``. ``options`` are for the compiler of CUDA C++.
    """
    check_code(code)
    if isinstance(source, Path):
        kernels = Source.of_file(str(source), options)
    else:
        kernels = Source.of_text(_EMPTY_MODULE if source is None else source, name, options)

    def prepared(size: Size) -> Arrays:
        given = inputs(size) if callable(inputs) else inputs or {}
        return {label: np.array(values) for label, values in given.items()}

    expected = reference if reference is None or callable(reference) else (lambda _inputs: dict(reference))
    return Program(
        name=name,
        source=kernels,
        inputs=prepared,
        host=host,
        reference=expected,
        tolerance=dict(tolerance or {}),
        sized=callable(inputs),
        code=code,
        lenient=lenient,
    )
