"""A user's own kernel as a program: CUDA C++ or PTX, a launch, and arguments as typed on the command line."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from warploom.base.errors import WarploomError
from warploom.base.progress import activity
from warploom.base.spelling import did_you_mean
from warploom.compiler.code.instruction import Parameter
from warploom.compiler.cuda.demangle import demangle
from warploom.compiler.sass.module import SassModule
from warploom.emulator.extents import extent_problem
from warploom.emulator.shape import LaunchShape
from warploom.programs.arguments import KernelParameter, match_arguments, parse_argument
from warploom.programs.array_files import read_npy
from warploom.programs.program import Kernels, Program
from warploom.programs.signature import source_signature
from warploom.programs.source import Source
from warploom.programs.variables import set_variables
from warploom.programs.workloads.workload import Arrays, Gpu, Size

if TYPE_CHECKING:
    from warploom.compiler.ptx.module import Module, PtxParameter
    from warploom.programs.own_kernel import OwnKernel

_INSTANCE = re.compile(r"[\w:\s]+<[^;{}#\\\n\"]*>\s*")  # of a template, as C++ writes it
_LAUNCHED = re.compile(r"\b([A-Za-z_][\w:]*\s*<[^<>;{}()]*(?:<[^<>;{}()]*>[^<>;{}()]*)*>)\s*<<<")
_ERROR = re.compile(r"error: (.+)")
_MOST_LETTERS = 100  # of a kernel's name in a line of a table
_SEED = 20240229  # of random arguments; each argument adds its position


def named_kernels(source: Source, code: str, wanted: str | None) -> tuple[Source, Module | SassModule, Sequence[str]]:
    """A source with its kernels in a code, and the names of those that are meant: the one that is wanted, or all.

    An instance of a template that is wanted and that nothing in device code asks for is made.
    """
    module, text = source.kernels(code), source.cuda or ""
    launched = _launched(text)
    if not module.kernels and launched and (wanted is None or "<" not in wanted):
        raise WarploomError(
            f"{source.place}: its kernels are templates, and nothing in device code makes an instance of them; name one, such as "
            f"--kernel '{launched[0]}'"
        )
    if wanted is None and module.kernels:
        return source, module, list(module.kernels)
    if wanted is None or not text or not _INSTANCE.fullmatch(wanted) or _matching(module, wanted):
        return source, module, [find_kernel(module, wanted, source.place)]
    try:
        more = replace(source, instance=wanted)
        made = more.kernels(code)
        new = [kernel for kernel in made.kernels if kernel not in module.kernels]
    except WarploomError as error:
        reason = _ERROR.search(str(error))
        if reason is None:
            raise
        known = did_you_mean(wanted, [*kernel_titles(module.kernels).values(), *launched])
        raise WarploomError(f"{source.place}: there is no kernel {wanted!r}: {reason[1]}{known}") from None
    return more, made, new if len(new) == 1 else [find_kernel(made, wanted, source.place)]


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


def table_titles(kernels: Iterable[str]) -> dict[str, str]:
    """The same for a line of a table: what is long there is shortened, and numbered where it would be that of another."""
    found: dict[str, str] = {}
    seen: Counter[str] = Counter()
    for kernel, whole in kernel_titles(kernels).items():
        short = whole if len(whole) <= _MOST_LETTERS else demangle(kernel).short
        title = short if len(short) <= _MOST_LETTERS else f"{short[: _MOST_LETTERS - 1]}…"
        seen[title] += 1
        found[kernel] = title if seen[title] == 1 else f"{title} #{seen[title]}"
    return found


def kernel_program(own: OwnKernel, code: str) -> Program:
    """A program that launches one kernel of a file once. Its outputs are the arrays after the launch."""
    path, shape = own.file, LaunchShape(own.grid, own.block, own.shared_bytes)
    with activity(f"reading {path}"):
        source, module, names = named_kernels(Source.of_file(path, own.options), code, own.kernel)
    name = names[0] if len(names) == 1 else find_kernel(module, None, path)
    parsed = [parse_argument(text, _SEED + position) for position, text in enumerate(own.arguments)]
    slots = _slots(module, name, source.cuda)
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
        source,
        inputs,
        host,
        reference=(lambda _arrays: expected) if expected else None,
        origin=replace(own, file=str(Path(path).resolve()), kernel=source.instance or name),
        sized=False,
        code=code,
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


def _slots(module: Module | SassModule, kernel: str, source: str | None) -> list[KernelParameter]:
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
