"""A user's own kernel as a program: CUDA C++ or PTX, a launch, and arguments as typed on the command line."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from warploom.code.instruction import Parameter
from warploom.errors import WarploomError
from warploom.names import did_you_mean
from warploom.sass.module import SassModule, from_cubin
from warploom.workloads.arguments import Slot, match_arguments, parse_argument
from warploom.workloads.program import PTX, Program, read_module
from warploom.workloads.signature import source_signature
from warploom.workloads.workload import Arrays, Gpu, Size

if TYPE_CHECKING:
    from warploom.ptx.module import Module
    from warploom.ptx.module import Parameter as DeclaredParameter

SUFFIXES = (".cu", ".ptx", ".cubin")
_SEED = 20240229  # of random arguments; each argument adds its position


@dataclass(frozen=True)
class SourceFile:
    """A kernel file: as PTX, with the CUDA source where it was compiled from one; or what machine code is made of."""

    place: str
    ptx: str
    source: str = ""
    code: str = PTX
    cubin: bytes = b""

    def module(self) -> Module | SassModule:
        """Its kernels in the code that is asked for."""
        return read_module(self.code, self.place, self.ptx, self.source, self.cubin)


def is_file_name(text: str) -> bool:
    """Whether a command-line word names a kernel file rather than a workload."""
    return Path(text).suffix.lower() in SUFFIXES


def read_source(path: str, code: str | None = None) -> SourceFile:
    """Read a ``.ptx`` file, compile a ``.cu`` file to PTX, or take either, or a ``.cubin``, as what machine code is made of.

    ``code`` is "ptx" or an architecture; without it a cubin is taken as it is and all else goes through PTX.
    """
    suffix = Path(path).suffix.lower()
    try:
        data = Path(path).read_bytes()
        if suffix == ".cubin":
            if code == PTX:
                raise WarploomError(f"{path}: a cubin holds machine code; leave --code out, or name its architecture")
            return SourceFile(path, "", code=code or from_cubin(data, path).architecture, cubin=data)
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        raise WarploomError(f"{path}: this is not text; give CUDA C++ or PTX") from None
    except OSError as error:
        raise WarploomError(f"{path}: cannot be read ({error.strerror or error})") from None
    if code not in (None, PTX):
        return SourceFile(path, "", text, code) if suffix == ".cu" else SourceFile(path, text, code=code)
    if suffix == ".cu":
        from warploom.cuda import compile_to_ptx

        return SourceFile(path, compile_to_ptx(text, path), text)
    return SourceFile(path, text)


def find_kernel(module: Module | SassModule, wanted: str | None, place: str) -> str:
    """The kernel meant: by its name in PTX, by its name in C++, or the only one."""
    kernels = list(module.kernels)
    if not kernels:
        raise WarploomError(f"{place}: there is no kernel in this file")
    if wanted is None:
        if len(kernels) > 1:
            names = ", ".join(plain_name(name) for name in kernels)
            raise WarploomError(f"{place}: there are several kernels; choose one with --kernel: {names}")
        return kernels[0]
    if wanted in module.kernels:
        return wanted
    matching = [name for name in kernels if plain_name(name) == wanted]
    if len(matching) == 1:
        return matching[0]
    if matching:
        raise WarploomError(f"{place}: kernel {wanted!r} is overloaded; give its name in PTX: {', '.join(matching)}")
    raise WarploomError(f"{place}: there is no kernel {wanted!r}{did_you_mean(wanted, [plain_name(name) for name in kernels])}")


def plain_name(name: str) -> str:
    """A kernel's name as its C++ source spells it, where the mangling is simple enough; else the name itself."""
    match = re.match(r"_Z(?:N(?:\d+_GLOBAL__N__\w+?)?)?(\d+)", name)
    if match is None:
        return name
    rest, length = name[match.end() :], int(match.group(1))
    return rest[:length] if len(rest) >= length else name


def file_program(
    path: str,
    *,
    kernel: str | None,
    grid: tuple[int, int, int],
    block: tuple[int, int, int],
    arguments: Sequence[str],
    shared_bytes: int = 0,
    code: str | None = None,
) -> Program:
    """A program that launches one kernel of a file once. Its outputs are the arrays after the launch."""
    file = read_source(path, code)
    module = file.module()
    name = find_kernel(module, kernel, path)
    parsed = [parse_argument(text, _SEED + position) for position, text in enumerate(arguments)]
    slots = _slots(module, name, file.source)
    values = match_arguments(slots, parsed, plain_name(name))

    def inputs(_size: Size) -> Arrays:
        return {slot.name: np.asarray(value) for slot, value in zip(slots, values, strict=True)}

    def host(gpu: Gpu, arrays: Arrays) -> Arrays:
        buffers = {
            slot.name: gpu.array(arrays[slot.name])
            for slot, value in zip(slots, values, strict=True)
            if isinstance(value, np.ndarray)
        }
        launched = [buffers.get(slot.name, value) for slot, value in zip(slots, values, strict=True)]
        gpu.launch(name, grid, block, *launched, shared_bytes=shared_bytes)
        return {label: buffer.get() for label, buffer in buffers.items()}

    return Program(
        f"{Path(path).stem}:{plain_name(name)}",
        file.ptx,
        file.place,
        inputs,
        host,
        sized=False,
        code=file.code,
        source=file.source if file.code != PTX else "",
        cubin=file.cubin,
    )


def _slots(module: Module | SassModule, kernel: str, source: str) -> list[Slot]:
    if isinstance(module, SassModule):
        parameters: Sequence[Parameter | DeclaredParameter] = module.kernel(kernel).parameters
    else:
        parameters = module.kernels[kernel].parameters
    declared = source_signature(source, plain_name(kernel)) if source else None
    if declared is not None and len(declared) == len(parameters):
        return [
            Slot(name, parameter.type, parameter.size, pointer, element if pointer else "")
            for parameter, (name, pointer, element) in zip(parameters, declared, strict=True)
        ]
    names = [re.sub(rf"^{re.escape(kernel)}_", "", parameter.name) for parameter in parameters]
    return [
        Slot(name, parameter.type, parameter.size, parameter.pointer) for name, parameter in zip(names, parameters, strict=True)
    ]


def parse_extent(text: str, what: str) -> tuple[int, int, int]:
    """A grid or block as typed: ``64``, ``64,64`` or ``8,8,4``."""
    try:
        numbers = tuple(int(part) for part in re.split(r"[,x]", text))
    except ValueError:
        raise WarploomError(f"--{what} {text!r}: write one to three whole numbers with commas, such as 64,64") from None
    if not 1 <= len(numbers) <= 3 or min(numbers) < 1:
        raise WarploomError(f"--{what} {text!r}: write one to three whole numbers from 1, such as 64,64")
    x, y, z = (*numbers, 1, 1)[:3]
    if what == "block" and x * y * z > 1024:
        raise WarploomError(f"--block {text!r}: a block has at most 1024 threads, this one has {x * y * z}")
    return x, y, z
