"""A program in machine code: its kernels, from CUDA C++, PTX or a cubin, made once and kept."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from warploom.base.cache import Cache
from warploom.base.errors import WarploomError
from warploom.compiler.code.instruction import Code, Variable
from warploom.compiler.sass.cubin import Cubin, KernelFacts, read_cubin
from warploom.compiler.sass.disassembly import Listing, listing
from warploom.compiler.sass.load import load_kernel, module_variables
from warploom.compiler.sass.toolchain import assemble, tool_version

ARCHITECTURES = ("sm_75", "sm_80", "sm_86", "sm_87", "sm_89", "sm_90", "sm_90a")
"""The architectures whose machine code can be read and executed."""


def check_architecture(name: str) -> str:
    """An architecture by name, or an error that lists them."""
    if name not in ARCHITECTURES:
        raise WarploomError(f"code {name!r} is not known; choose ptx, {', '.join(ARCHITECTURES[:-1])} or {ARCHITECTURES[-1]}")
    return name


@dataclass
class SassModule:
    """Kernels of one program for one architecture. Another limit of registers is another compilation."""

    place: str
    architecture: str
    make: Callable[[int | None], bytes]  # the cubin under a limit of registers per thread
    unlimited: Cubin | None = None  # what was read of it without a limit
    _read: dict[int | None, tuple[Cubin, Listing]] = field(default_factory=dict)

    @property
    def kernels(self) -> tuple[str, ...]:
        """The names of the kernels, in the order of the file."""
        return self._cubin(None)[0].kernels

    def facts(self, kernel: str) -> KernelFacts:
        """Registers, parameters and the like of a kernel."""
        return self._cubin(None)[0].facts(kernel)

    def kernel(self, name: str, max_registers: int | None = None) -> Code:
        """The machine code of a kernel; a limit of registers is the compiler's own, with its own spills."""
        cubin, sections = self._cubin(max_registers)
        return load_kernel(cubin, sections, name, self.place)

    def variables(self) -> tuple[Variable, ...]:
        """What all kernels of the module share: its constant bank and its global variables, each as one piece."""
        return module_variables(self._cubin(None)[0])

    @property
    def variable_names(self) -> tuple[str, ...]:
        """The names of the variables that lie in those pieces."""
        return tuple(symbol.name for symbol in self._cubin(None)[0].symbols if symbol.kind == "STT_OBJECT" and symbol.name)

    def variable(self, name: str) -> tuple[str, int, int] | None:
        """Where a variable lies: the piece, its place there, and its size; None if there is none of this name."""
        for symbol in self._cubin(None)[0].symbols:
            if symbol.name == name and symbol.kind == "STT_OBJECT":
                return symbol.section, symbol.value, symbol.size
        return None

    def _cubin(self, max_registers: int | None) -> tuple[Cubin, Listing]:
        if max_registers not in self._read:
            data = self.make(max_registers)
            known = self.unlimited if max_registers is None else None
            cubin = known or read_cubin(data, self.place)
            if f"sm_{cubin.architecture}" != self.architecture.removesuffix("a"):
                raise WarploomError(
                    f"{self.place}: this is machine code for sm_{cubin.architecture}, not for {self.architecture}."
                )
            self._read[max_registers] = (cubin, listing(data, self.place, cubin))
        return self._read[max_registers]


def from_ptx(text: str, place: str, architecture: str) -> SassModule:
    """The machine code that ptxas makes of PTX."""
    check_architecture(architecture)

    return SassModule(place, architecture, lambda max_registers: _assembled(text, place, architecture, max_registers))


def _assembled(text: str, place: str, architecture: str, max_registers: int | None) -> bytes:
    about = ("ptxas with lines", tool_version("ptxas"), architecture, max_registers)
    return _kept(about, text, lambda: assemble(text, place, architecture, max_registers))


def from_cuda(source: str, place: str, architecture: str, options: Sequence[str] = (), instance: str = "") -> SassModule:
    """The machine code that NVRTC makes of CUDA C++; ``options`` are the user's for the compiler, ``instance`` a template's."""
    from warploom.compiler.cuda import compile_to_cubin

    check_architecture(architecture)

    def make(max_registers: int | None) -> bytes:
        limit = (f"--maxrregcount={max_registers}",) if max_registers is not None else ()
        asked = (*options, f"instance {instance}") if instance else options
        about = ("nvrtc with lines", tool_version("NVRTC"), architecture, max_registers, *asked)
        given = (*limit, *options)
        return _kept(about, source, lambda: compile_to_cubin(source, place, arch=architecture, options=given, instance=instance))

    return SassModule(place, architecture, make)


def from_cubin(data: bytes, place: str, architecture: str | None = None, ptx: str | None = None) -> SassModule:
    """The machine code in a cubin; under another limit of registers that of the PTX beside it, if there is some."""
    cubin = read_cubin(data, place)
    own = f"sm_{cubin.architecture}"
    if architecture is None and own not in ARCHITECTURES:
        raise WarploomError(f"{place}: this is machine code for {own}, which is not known; {', '.join(ARCHITECTURES)} are.")
    chosen = check_architecture(architecture) if architecture else own

    def make(max_registers: int | None) -> bytes:
        if max_registers is None:
            return data
        if ptx is None:
            raise WarploomError(f"{place}: a cubin is compiled already; give CUDA C++ or PTX for another limit of registers.")
        return _assembled(ptx, place, chosen, max_registers)

    return SassModule(place, chosen, make, cubin)


def _kept(about: tuple, text: str, make: Callable[[], bytes]) -> bytes:
    """What a compiler made of a text before, or makes of it now; always anew where the text may include a user's files."""
    digest = hashlib.sha256(repr((about, text)).encode()).hexdigest()[:32]
    cache, name = Cache("sass"), f"{digest}.elf"
    own_files = re.search(r'#\s*include\s*"', text) or any(str(word).startswith("-I") for word in about)
    kept = None if own_files else cache.read(name)
    if kept is not None:
        return kept
    data = make()
    if not own_files:
        cache.write(name, data)
    return data
