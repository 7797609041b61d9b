"""A user's own kernel as a program: CUDA C++ or PTX, a launch, and arguments as typed on the command line."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from warploom.base.errors import WarploomError
from warploom.base.progress import activity
from warploom.base.spelling import did_you_mean
from warploom.compiler.code.instruction import Parameter
from warploom.compiler.cuda.demangle import demangle
from warploom.compiler.sass.fatbin import choose_entry, read_fatbin
from warploom.compiler.sass.module import ARCHITECTURES, SassModule, from_cubin
from warploom.emulator.extents import extent_problem
from warploom.emulator.shape import LaunchShape
from warploom.programs.arguments import KernelParameter, match_arguments, parse_argument
from warploom.programs.array_files import read_npy
from warploom.programs.program import PTX, Kernels, Program, read_module
from warploom.programs.signature import source_signature
from warploom.programs.variables import set_variables
from warploom.programs.workloads.workload import Arrays, Gpu, Size

if TYPE_CHECKING:
    from warploom.compiler.ptx.module import Module, PtxParameter
    from warploom.programs.own_kernel import OwnKernel

SUFFIXES = (".cu", ".ptx", ".cubin", ".fatbin")
_LAUNCHES_KERNELS = "device-side kernel launch could not be processed"  # NVRTC's words
_INSTANCE = re.compile(r"[\w:\s]+<[^;{}#\\\n\"]*>\s*")  # of a template, as C++ writes it
_LAUNCHED = re.compile(r"\b([A-Za-z_][\w:]*\s*<[^<>;{}()]*(?:<[^<>;{}()]*>[^<>;{}()]*)*>)\s*<<<")
_ERROR = re.compile(r"error: (.+)")
_SEED = 20240229  # of random arguments; each argument adds its position


@dataclass(frozen=True)
class SourceFile:
    """A kernel file: as PTX, with the CUDA source where it was compiled from one; or what machine code is made of."""

    place: str
    ptx: str
    source: str = ""
    code: str = PTX
    cubin: bytes = b""
    options: tuple[str, ...] = ()
    instance: str = ""  # of a template, made besides the kernels that the source itself asks for

    def module(self) -> Module | SassModule:
        """Its kernels in the code that is asked for."""
        return read_module(self.code, self.place, self.ptx, self.source, self.cubin, self.options, self.instance)


def is_file_name(text: str) -> bool:
    """Whether a command-line word names a kernel file rather than a workload."""
    return Path(text).suffix.lower() in SUFFIXES


def check_exists(path: str) -> None:
    """Refuse a file that is not there, before anything is said about its launch."""
    if not os.path.exists(path):  # false, too, for names that no file can have
        raise WarploomError(f"{path}: there is no such file")


def read_source(
    path: str, code: str | None = None, usual: str = PTX, options: Sequence[str] = (), instance: str = ""
) -> SourceFile:
    """Read a ``.ptx`` file, compile a ``.cu`` file to PTX, or take either, or a ``.cubin``, as what machine code is made of.

    ``code`` is "ptx" or an architecture; without it a cubin is taken as it is and all else becomes the ``usual`` code. Of a
    ``.fatbin``, the cubin for the architecture is taken, or its PTX. ``options`` are for the compiler of CUDA C++.
    """
    check_exists(path)
    suffix = Path(path).suffix.lower()
    try:
        data = Path(path).read_bytes()
        if suffix == ".cubin":
            if code == PTX:
                raise WarploomError(f"{path}: a cubin holds machine code; leave --code out, or name its architecture")
            return SourceFile(path, "", code=code or from_cubin(data, path).architecture, cubin=data)
        if suffix == ".fatbin":
            return _from_fatbin(data, path, code, usual)
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        raise WarploomError(f"{path}: this is not text; give CUDA C++ or PTX") from None
    except OSError as error:
        raise WarploomError(f"{path}: cannot be read ({error.strerror or error})") from None
    code = code or usual
    if code != PTX:
        if suffix == ".cu":
            return SourceFile(path, "", text, code, options=tuple(options), instance=instance)
        return SourceFile(path, text, code=code)
    if suffix == ".cu":
        return SourceFile(path, _ptx_of(text, path, options, instance), text, options=tuple(options), instance=instance)
    return SourceFile(path, text)


def _ptx_of(text: str, path: str, options: Sequence[str], instance: str) -> str:
    from warploom.compiler.cuda import compile_to_ptx

    try:
        return compile_to_ptx(text, path, line_numbers=True, options=options, instance=instance)
    except WarploomError as error:
        if _LAUNCHES_KERNELS not in str(error):
            raise
        # Only as relocatable code does NVRTC take kernels that launch kernels. The other kernels of the file can be run.
        options = (*options, "--relocatable-device-code=true")
        return compile_to_ptx(text, path, line_numbers=True, options=options, instance=instance)


def _from_fatbin(data: bytes, path: str, code: str | None, usual: str) -> SourceFile:
    entries = read_fatbin(data, path)
    if code == PTX:
        entries = [entry for entry in entries if not entry.cubin]
        if not entries:
            raise WarploomError(f"{path}: there is no PTX in it; leave --code out, or name an architecture")
    chosen = choose_entry(entries, None if code == PTX else code, ARCHITECTURES, path)
    if chosen.cubin:
        return SourceFile(path, "", code=f"sm_{chosen.architecture}", cubin=chosen.data)
    return SourceFile(path, chosen.text, code=code or usual)


def read_kernels(
    path: str, code: str | None, usual: str, options: Sequence[str], wanted: str | None
) -> tuple[SourceFile, Module | SassModule, Sequence[str]]:
    """A file, its kernels, and the names of those that are meant: the one that is wanted, or all.

    An instance of a template that is wanted and that nothing in device code asks for is made.
    """
    file = read_source(path, code, usual, options)
    module = file.module()
    launched = _launched(file.source)
    if not module.kernels and launched and (wanted is None or "<" not in wanted):
        raise WarploomError(
            f"{path}: its kernels are templates, and nothing in device code makes an instance of them; name one, such as "
            f"--kernel '{launched[0]}'"
        )
    if wanted is None and module.kernels:
        return file, module, list(module.kernels)
    if wanted is None or not file.source or not _INSTANCE.fullmatch(wanted) or _matching(module, wanted):
        return file, module, [find_kernel(module, wanted, path)]
    try:
        more = read_source(path, code, usual, options, wanted)
        made = more.module()
        new = [kernel for kernel in made.kernels if kernel not in module.kernels]
    except WarploomError as error:
        reason = _ERROR.search(str(error))
        if reason is None:
            raise
        known = did_you_mean(wanted, [*kernel_titles(module.kernels).values(), *launched])
        raise WarploomError(f"{path}: there is no kernel {wanted!r}: {reason[1]}{known}") from None
    return more, made, new if len(new) == 1 else [find_kernel(made, wanted, path)]


def _launched(source: str) -> list[str]:
    """The instances of templates that the host code of a source launches, as they are written there."""
    return list(dict.fromkeys("".join(found.split()) for found in _LAUNCHED.findall(source)))


def find_kernel(module: Kernels, wanted: str | None, place: str) -> str:
    """The kernel meant: by its name in PTX, by its name in C++ as far as that tells it from the others, or the only one."""
    kernels = list(module.kernels)
    if not kernels:
        raise WarploomError(f"{place}: there is no kernel in this file")
    if wanted is None:
        if len(kernels) > 1:
            raise WarploomError(f"{place}: there are several kernels; choose one with --kernel: {_listed(kernels)}")
        return kernels[0]
    matching = _matching(module, wanted)
    if len(matching) == 1:
        return matching[0]
    if matching:
        raise WarploomError(f"{place}: kernel {wanted!r} may be any of these; give one of them whole: {_listed(matching)}")
    known = [*kernel_titles(kernels).values()]
    raise WarploomError(f"{place}: there is no kernel {wanted!r}{did_you_mean(wanted, known)}")


def _matching(module: Kernels, wanted: str) -> list[str]:
    """The kernels that a name may mean."""
    if wanted in module.kernels:
        return [wanted]
    spelling = "".join(wanted.split())
    return [name for name in module.kernels if spelling in demangle(name).spellings()]


def _listed(kernels: list[str]) -> str:
    titles = list(kernel_titles(kernels).values())
    return ("; " if any("," in title for title in titles) else ", ").join(titles)


def kernel_titles(kernels: Iterable[str]) -> dict[str, str]:
    """What to call each kernel of a file: its path in C++, with its parameters where another has the same, or its name in PTX."""
    names = {kernel: demangle(kernel) for kernel in kernels}
    paths, wholes = Counter(name.path for name in names.values()), Counter(name.whole for name in names.values())
    return {
        kernel: name.path if paths[name.path] == 1 else name.whole if wholes[name.whole] == 1 else kernel
        for kernel, name in names.items()
    }


def kernel_program(own: OwnKernel, code: str) -> Program:
    """A program that launches one kernel of a file once. Its outputs are the arrays after the launch."""
    path, shape = own.file, LaunchShape(own.grid, own.block, own.shared_bytes)
    with activity(f"reading {path}"):
        file, module, names = read_kernels(path, code, code, own.options, own.kernel)
    name = names[0] if len(names) == 1 else find_kernel(module, None, path)
    parsed = [parse_argument(text, _SEED + position) for position, text in enumerate(own.arguments)]
    slots = _slots(module, name, file.source)
    title = kernel_titles(module.kernels)[name]
    values = match_arguments(slots, parsed, title)

    textures = {argument.name for argument in parsed if argument.texture}
    variables = [parse_argument(text, _SEED - 1 - position) for position, text in enumerate(own.symbols)]
    files, wanted = _output_files(own.save, slots, "--save"), _output_files(own.expect, slots, "--expect")
    expected = {label: _loaded(file) for label, file in wanted.items()}

    def inputs(_size: Size) -> Arrays:
        return {slot.name: np.asarray(value) for slot, value in zip(slots, values, strict=True)}

    def host(gpu: Gpu, arrays: Arrays) -> Arrays:
        arrays_given = [slot.name for slot, value in zip(slots, values, strict=True) if isinstance(value, np.ndarray)]
        buffers = {label: gpu.array(arrays[label]) for label in arrays_given if label not in textures}
        given: dict[str, Any] = buffers | {label: gpu.texture(arrays[label]) for label in arrays_given if label in textures}
        plain = [value.tobytes() if isinstance(value, np.void) else value for value in values]
        launched = [given.get(slot.name, value) for slot, value in zip(slots, plain, strict=True)]
        set_variables(gpu, module, name, shape, variables, path)
        gpu.launch(name, own.grid, own.block, *launched, shared_bytes=own.shared_bytes)
        outputs = {label: buffer.get() for label, buffer in buffers.items()}
        for label, file in files.items():
            np.save(file, outputs[label])
        return outputs

    return Program(
        f"{Path(path).stem}:{title}",
        file.ptx,
        file.place,
        inputs,
        host,
        reference=(lambda _arrays: expected) if expected else None,
        origin=replace(own, file=str(Path(path).resolve()), kernel=file.instance or name),
        sized=False,
        code=file.code,
        source=file.source if file.code != PTX else "",
        cubin=file.cubin,
        options=file.options,
        instance=file.instance,
        lenient=own.lenient,
    )


def _output_files(texts: Sequence[str], slots: Sequence[KernelParameter], option: str) -> dict[str, Path]:
    """``out=file.npy`` for arrays of the kernel."""
    files = {}
    for text in texts:
        label, equals, file = (part.strip() for part in text.partition("="))
        if not equals or not file.endswith(".npy"):
            raise WarploomError(f"{option} {text!r}: write the array and a .npy file, such as out=out.npy")
        if label not in {slot.name for slot in slots}:
            raise WarploomError(
                f"{option} {text!r}: there is no parameter {label!r}{did_you_mean(label, [s.name for s in slots])}"
            )
        files[label] = Path(file)
    return files


def _loaded(file: Path) -> np.ndarray:
    try:
        return read_npy(file)
    except ValueError as error:
        raise WarploomError(f"{file}: {error}") from None


def _slots(module: Module | SassModule, kernel: str, source: str) -> list[KernelParameter]:
    if isinstance(module, SassModule):
        parameters: Sequence[Parameter | PtxParameter] = module.kernel(kernel).parameters
    else:
        parameters = module.kernels[kernel].parameters
    declared = source_signature(source, demangle(kernel).last) if source else None
    if declared is not None and len(declared) == len(parameters):
        return [
            KernelParameter(name, parameter.type, parameter.size, pointer, element if pointer else "")
            for parameter, (name, pointer, element) in zip(parameters, declared, strict=True)
        ]
    names = [re.sub(rf"^{re.escape(kernel)}_", "", parameter.name) for parameter in parameters]
    return [
        KernelParameter(name, parameter.type, parameter.size, parameter.pointer)
        for name, parameter in zip(names, parameters, strict=True)
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
    problem = extent_problem(what, (x, y, z))
    if problem:
        raise WarploomError(f"--{what} {text!r}: {problem}")
    return x, y, z
