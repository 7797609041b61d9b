"""Programs of one's own in Python: kernels, a host function, inputs and what should come out."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np

from warploom.programs.raw_module import is_ptx
from warploom.workloads.custom import read_source
from warploom.workloads.program import PTX, Program, check_code
from warploom.workloads.workload import Arrays, Gpu, Size

_EMPTY_MODULE = ".version 8.0\n.target sm_75\n.address_size 64\n"


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
    place = str(source) if isinstance(source, Path) else name
    text = source.read_text("utf-8") if isinstance(source, Path) and source.suffix not in (".cubin", ".fatbin") else source
    ptx, cuda, cubin = _EMPTY_MODULE, "", b""
    if isinstance(source, Path):
        file = read_source(str(source), code, PTX, tuple(options))
        ptx, cuda, cubin = file.ptx, file.source if code != PTX else "", file.cubin
    elif text is not None:
        ptx, cuda = _compiled(str(text), place, code, options)

    def prepared(size: Size) -> Arrays:
        given = inputs(size) if callable(inputs) else inputs or {}
        return {label: np.array(values) for label, values in given.items()}

    expected = reference if reference is None or callable(reference) else (lambda _inputs: dict(reference))
    digest = hashlib.sha256(cubin or (cuda or ptx).encode()).hexdigest()[:32]
    return Program(
        name=name,
        ptx=ptx,
        place=place,
        inputs=prepared,
        host=host,
        reference=expected,
        tolerance=dict(tolerance or {}),
        origin={"name": name, "digest": digest, "code": code},
        sized=callable(inputs),
        code=code,
        source=cuda,
        cubin=cubin,
        options=tuple(options),
        lenient=lenient,
    )


def _compiled(text: str, place: str, code: str, options: Sequence[str]) -> tuple[str, str]:
    """A text as PTX and, where machine code is to be made of it, as CUDA C++."""
    if is_ptx(text):
        return text, ""
    if code != PTX:
        return "", text
    from warploom.cuda import compile_to_ptx

    return compile_to_ptx(text, place, options=tuple(options), line_numbers=True), ""
