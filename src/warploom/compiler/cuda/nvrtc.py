"""The few functions of NVRTC that turn CUDA C++ into PTX, called through ctypes from the wheel ``nvidia-cuda-nvrtc``."""

from __future__ import annotations

import ctypes
import functools
import importlib.util
import os
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from warploom.base.errors import WarploomError
from warploom.compiler.cuda.host_code import local_headers, set_aside_host_code, system_headers
from warploom.compiler.cuda.host_headers import HOST_HEADERS
from warploom.compiler.cuda.wheels import how_to_get

_Made = TypeVar("_Made", str, bytes)
_UNMARKED_IS_DEVICE = "--device-as-default-execution-space"  # a global variable of the host's harms nobody
_USUAL = ("--device-int128",) if os.name == "posix" else ()  # what nvcc understands and NVRTC only when it is asked to
_MISSING = re.compile(r'cannot open source file "([^"]+)"')
_LIBRARY_NAMES = ("libnvrtc.so.13", "nvrtc64_130_0.dll")


def _library_file() -> Path:
    """Where the wheel put the library; its folder is a namespace package shared by NVIDIA's wheels."""
    spec = importlib.util.find_spec("nvidia")
    for root in (spec.submodule_search_locations or ()) if spec is not None else ():
        for folder in ("cu13/lib", "cu13/bin/x86_64", "cu13/bin"):
            for name in _LIBRARY_NAMES:
                file = Path(root) / folder / name
                if file.is_file():
                    return file
    raise WarploomError(
        f"CUDA C++ needs the NVRTC 13.0 compiler, which is not installed: {how_to_get('cuda')}, or give PTX instead."
    )


@functools.cache
def _library() -> ctypes.CDLL:
    file = _library_file()
    # The compiler opens its built-ins by bare name; loading them first lets it find them without LD_LIBRARY_PATH.
    for builtins in sorted(file.parent.glob("libnvrtc-builtins.so.*")):
        ctypes.CDLL(str(builtins), mode=ctypes.RTLD_GLOBAL)
    try:
        library = ctypes.CDLL(str(file))
    except OSError as problem:
        raise WarploomError(f"{file}: the NVRTC library does not load ({problem}); {how_to_get('cuda')}.") from None
    library.nvrtcGetErrorString.restype = ctypes.c_char_p
    return library


class _Program:
    """One translation unit inside NVRTC, released with the ``with`` block."""

    def __init__(self, source: str, file: str, headers: Mapping[str, str], instance: str = "") -> None:
        self._nvrtc = _library()
        self._handle = ctypes.c_void_p()
        texts = (ctypes.c_char_p * len(headers))(*(text.encode() for text in headers.values()))
        names = (ctypes.c_char_p * len(headers))(*(name.encode() for name in headers))
        made = self._nvrtc.nvrtcCreateProgram(
            ctypes.byref(self._handle), source.encode(), file.encode(), len(headers), texts, names
        )
        self._require(made, file)
        if instance:
            self._require(self._nvrtc.nvrtcAddNameExpression(self._handle, instance.encode()), file)

    def __enter__(self) -> _Program:
        return self

    def __exit__(self, *_: object) -> None:
        self._nvrtc.nvrtcDestroyProgram(ctypes.byref(self._handle))

    def _require(self, status: int, file: str) -> None:
        if status:
            raise WarploomError(f"{file}: NVRTC fails with {self._nvrtc.nvrtcGetErrorString(status).decode()}.")

    def _text(self, what: str, file: str) -> str:
        size = ctypes.c_size_t()
        self._require(getattr(self._nvrtc, f"nvrtcGet{what}Size")(self._handle, ctypes.byref(size)), file)
        text = ctypes.create_string_buffer(size.value)
        self._require(getattr(self._nvrtc, f"nvrtcGet{what}")(self._handle, text), file)
        return text.value.decode(errors="replace")

    def ptx(self, options: Sequence[str], file: str) -> str:
        self._compile(options, file)
        return self._text("PTX", file)

    def cubin(self, options: Sequence[str], file: str) -> bytes:
        self._compile(options, file)
        size = ctypes.c_size_t()
        self._require(self._nvrtc.nvrtcGetCUBINSize(self._handle, ctypes.byref(size)), file)
        data = ctypes.create_string_buffer(size.value)
        self._require(self._nvrtc.nvrtcGetCUBIN(self._handle, data), file)
        return data.raw

    def _compile(self, options: Sequence[str], file: str) -> None:
        arguments = (ctypes.c_char_p * len(options))(*(option.encode() for option in options))
        status = self._nvrtc.nvrtcCompileProgram(self._handle, len(options), arguments)
        if status:
            log = self._text("ProgramLog", file).strip()
            reason = log or self._nvrtc.nvrtcGetErrorString(status).decode()
            raise WarploomError(f"{file}: CUDA C++ does not compile:\n{reason}")


def compile_to_ptx(
    source: str,
    file: str,
    *,
    arch: str = "compute_75",
    options: Sequence[str] = (),
    line_numbers: bool = False,
    instance: str = "",
) -> str:
    """Compile CUDA C++ to PTX.

    ``file`` is the name that messages show; ``options`` are passed to NVRTC as they are (``--use_fast_math``, ``-DN=4``,
    ``-I…``). A compile error raises a `WarploomError` with NVRTC's own log, which has file and line. With ``line_numbers``, the
    PTX says for each instruction which line of ``file`` it is from; the instructions themselves stay as they are. ``instance``
    names an instance of a kernel that is a template, such as ``rowdot<16>``, to be made besides those that the source asks for.
    """
    lines = ("--generate-line-info",) if line_numbers else ()
    asked = (f"--gpu-architecture={arch}", *lines, *options)
    ptx = _compiled(source, file, options, lambda program, folders: program.ptx((*asked, *folders), file), instance)
    # NVRTC makes names absolute; the PTX should not depend on the folder that it was compiled in.
    return ptx.replace(f'"{Path.cwd()}/', '"') if line_numbers else ptx


def compile_to_cubin(source: str, file: str, *, arch: str, options: Sequence[str] = (), instance: str = "") -> bytes:
    """Compile CUDA C++ to machine code with line numbers, for a real architecture such as ``sm_90``; else as `compile_to_ptx`."""
    asked = (f"--gpu-architecture={arch}", "--generate-line-info", *options)
    return _compiled(source, file, options, lambda program, folders: program.cubin((*asked, *folders), file), instance)


def _compiled(
    source: str, file: str, options: Sequence[str], make: Callable[[_Program, Sequence[str]], _Made], instance: str
) -> _Made:
    """What NVRTC makes of a source as it is; where it refuses, of its device code alone."""
    if "\0" in source or "\0" in file:
        raise WarploomError(f"{file.replace(chr(0), '?')}: this is not CUDA C++ but binary data.")
    own: list[Path] = [Path(file).parent, *(Path(option.removeprefix("-I")) for option in options if option.startswith("-I"))]
    folders: list[str] = [*_USUAL, *(f"-I{folder}" for folder in (own[0], *_header_folders()) if folder.is_dir())]
    try:
        with _Program(source, file, HOST_HEADERS, instance) as program:
            return make(program, folders)
    except WarploomError:
        return _without_host(source, file, local_headers(source, own), folders, make, instance)


def _without_host(
    source: str,
    file: str,
    headers: Mapping[str, str],
    options: Sequence[str],
    make: Callable[[_Program, Sequence[str]], _Made],
    instance: str,
) -> _Made:
    """What NVRTC makes of the device code of a source.

    Headers of the user's own may hold host code too; given as texts, they are found before the files. Headers of the system that
    are not there are the host's: they are taken to be empty.
    """
    texts = HOST_HEADERS | {name: set_aside_host_code(text) for name, text in headers.items()}
    system = system_headers((source, *headers.values()))
    device = set_aside_host_code(source)
    first: WarploomError | None = None  # that a header is missing, if leaving it out does not help
    while True:
        try:
            with _Program(device, file, texts, instance) as program:
                return make(program, [*options, _UNMARKED_IS_DEVICE])
        except WarploomError as problem:
            missing = _MISSING.search(str(problem))
            if missing is None or missing.group(1) not in system or missing.group(1) in texts:
                raise (first or problem) from None
            first = first or problem
            texts[missing.group(1)] = ""


def _header_folders() -> list[Path]:
    """Where NVIDIA's wheels put the headers of CUDA, those of CUB and libcu++ among them."""
    spec = importlib.util.find_spec("nvidia")
    roots = [Path(root) / "cu13" / "include" for root in (spec.submodule_search_locations or ())] if spec is not None else []
    return [folder for root in roots for folder in (root, root / "cccl") if folder.is_dir()]
