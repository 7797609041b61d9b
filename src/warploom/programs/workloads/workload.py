"""What a workload is: a folder with ``kernel.cu``, ``kernel.ptx`` and a ``workload.py`` that says all else under fixed names."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from inspect import getdoc
from types import ModuleType
from typing import Any, Generic, Protocol, TypeVar

import numpy as np

Arrays = dict[str, np.ndarray]
Size = str  # "tiny", "small", "paper" or "chip"
SIZES: tuple[Size, ...] = ("tiny", "small", "paper", "chip")
Extent = TypeVar("Extent")


@dataclass(frozen=True)
class Sizes(Generic[Extent]):
    """How large a workload's inputs are, by size: ``chip`` is the paper's where nothing else is given."""

    tiny: Extent
    small: Extent
    paper: Extent
    chip: Extent | None = None  # what fills a chip of 132 SMs, where the paper's does not

    def __getitem__(self, size: Size) -> Extent:
        extent: Extent = self.paper if size == "chip" and self.chip is None else getattr(self, size)
        return extent


class Buffer(Protocol):
    """An array in device memory."""

    def get(self) -> np.ndarray:
        """A copy of the contents."""
        ...

    def set(self, values: np.ndarray) -> None:
        """Replace the contents."""
        ...


class Gpu(Protocol):
    """What a host program needs of a device. The emulator is one; a real GPU (for golden outputs) is another."""

    def array(self, values: np.ndarray) -> Buffer:
        """Copy an array to the device."""
        ...

    def texture(self, values: np.ndarray, *, linear: bool = False, wrap: bool = False, normalized: bool = False) -> Any:
        """A texture object over an array: shape (w,), (h, w) or (d, h, w), with a last axis of 2 or 4 for vector texels."""
        ...

    def launch(self, kernel: str, grid: tuple[int, ...], block: tuple[int, ...], *arguments: Any, shared_bytes: int = 0) -> None:
        """Run a kernel to its end. Arguments are buffers, textures and NumPy scalars (``np.int32(n)``)."""
        ...


@dataclass(frozen=True)
class Workload:
    """One program: everything to run it on any `Gpu` and to judge its output."""

    name: str
    title: str  # one line: what it computes
    sizes: Sizes[Any]  # how large the inputs are
    inputs: Callable[..., Arrays]  # of a size and, unless nothing is random, a seed; scalars as 0-d arrays
    host: Callable[[Gpu, Arrays], Arrays]  # uploads, launches, downloads; returns the outputs by name
    reference: Callable[[Arrays], Arrays]  # the same outputs in NumPy/SciPy
    tolerance: Mapping[str, tuple[float, float]] = field(default_factory=dict)  # output: (relative, absolute); absent: exact
    seed: int | None = None  # of the inputs unless another is asked for; None where nothing is random
    shaped: str = ""  # how the kernel is unlike its namesake so that it uses registers as a paper says


def workload_of(name: str, module: ModuleType) -> Workload:
    """The workload that a module describes: what it is called by its folder, all else under these names.

    The first line of its docstring is the title. ``SEED``, ``TOLERANCE`` and ``SHAPED`` may be absent.
    """
    return Workload(
        name=name,
        title=(getdoc(module) or name).partition("\n")[0].removesuffix("."),
        sizes=module.SIZES,
        inputs=module.inputs,
        host=module.host,
        reference=module.reference,
        tolerance=getattr(module, "TOLERANCE", {}),
        seed=getattr(module, "SEED", None),
        shaped=getattr(module, "SHAPED", ""),
    )
