"""What kernels are made of, and the one way to read it: CUDA C++, PTX or machine code, of a text, a file, or a loaded module."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from warploom.base.errors import WarploomError
from warploom.compiler.ptx import parse
from warploom.compiler.ptx.linking import link
from warploom.compiler.ptx.module import Module
from warploom.compiler.sass.cubin import cubin_architecture
from warploom.compiler.sass.fatbin import FatEntry, best_cubin, ptx_entry, read_fatbin
from warploom.compiler.sass.module import ARCHITECTURES, SassModule, from_cubin, from_cuda, from_ptx

PTX = "ptx"
SUFFIXES = (".cu", ".ptx", ".cubin", ".fatbin")
_PTX_TEXT = re.compile(r"^\s*\.version\s", re.MULTILINE)
_LAUNCHES_KERNELS = "device-side kernel launch could not be processed"  # NVRTC's words


@dataclass(frozen=True)
class Source:
    """CUDA C++, or what a compiler has made already; from it come the kernels in whatever code is asked for."""

    place: str  # the file whose lines instructions name, for messages
    cuda: str | None = None  # CUDA C++
    images: tuple[FatEntry, ...] = ()  # else: PTX and cubins
    options: tuple[str, ...] = ()  # for the compiler of CUDA C++
    instance: str = ""  # of a template of CUDA C++, made besides the kernels that the text itself asks for

    @classmethod
    def of_text(cls, text: str, place: str, options: Sequence[str] = ()) -> Source:
        """PTX or CUDA C++."""
        if _PTX_TEXT.search(text) is not None:
            return cls(place, images=(ptx_entry(text),))
        return cls(place, cuda=text, options=tuple(options))

    @classmethod
    def of_file(cls, path: str, options: Sequence[str] = ()) -> Source:
        """A file, by the ending of its name."""
        check_exists(path)
        try:
            data = Path(path).read_bytes()
            match Path(path).suffix.lower():
                case ".cubin":
                    return cls(path, images=(FatEntry(True, cubin_architecture(data, path), data),))
                case ".fatbin":
                    return cls(path, images=tuple(read_fatbin(data, path)))
                case ".cu":
                    return cls(path, cuda=data.decode("utf-8"), options=tuple(options))
            return cls(path, images=(ptx_entry(data.decode("utf-8")),))
        except UnicodeDecodeError:
            raise WarploomError(f"{path}: this is not text; give CUDA C++ or PTX") from None
        except OSError as error:
            raise WarploomError(f"{path}: cannot be read ({error.strerror or error})") from None

    def kernels(self, code: str) -> Module | SassModule:
        """The kernels in a code: ``ptx``, or machine code such as ``sm_90``, which is taken from a cubin where one fits."""
        if code == PTX:
            if self.ptx is None:
                raise WarploomError(
                    f"{self.place}: it holds no PTX but machine code ({self._held}); choose that with --code, or compile with "
                    "-gencode arch=compute_75,code=compute_75."
                )
            return parse(self.ptx, self.place)
        if self.cuda is not None:
            return from_cuda(self.cuda, self.place, code, self.options, self.instance)
        cubin = best_cubin(self.images, code)
        if cubin is not None:
            own = code if code.removesuffix("a") == f"sm_{cubin.architecture}" else None
            return from_cubin(cubin.data, self.place, own, self.ptx)
        if self.ptx is None:
            raise WarploomError(f"{self.place}: it holds neither PTX nor machine code for {code}, but {self._held}.")
        return from_ptx(self.ptx, self.place, code)

    def code_for(self, asked: str | None, usual: str) -> str:
        """The code to execute: what is asked for, else the newest machine code that is there, else the usual code."""
        if asked or not any(image.cubin for image in self.images):
            return asked or usual
        fitting = (best_cubin(self.images, name) for name in reversed(ARCHITECTURES))
        newest = next((cubin for cubin in fitting if cubin is not None), None)
        if newest is None and self.ptx is None:
            raise WarploomError(f"{self.place}: there is no code for a known architecture in it; it holds {self._held}.")
        return f"sm_{newest.architecture}" if newest is not None else usual

    def compiled(self, code: str) -> bytes:
        """What a compiler makes of it for a code: PTX, or a cubin."""
        made = self.kernels(code)
        return made.make(None) if isinstance(made, SassModule) else (self.ptx or "").encode()

    def lines(self, code: str) -> list[str]:
        """The text whose lines the instructions of a code name; none of a cubin."""
        if self.cuda is not None:
            return self.cuda.splitlines()
        if code != PTX and best_cubin(self.images, code) is not None:
            return []
        return (self.ptx or "").splitlines()

    @property
    def digest(self) -> str:
        """A digest of what there is."""
        contents = b"".join(image.data for image in self.images)
        return hashlib.sha256(contents if self.cuda is None else self.cuda.encode()).hexdigest()[:32]

    @cached_property
    def ptx(self) -> str | None:
        """As PTX, which CUDA C++ is compiled to and parts are linked to; None where there is nothing but machine code.

        All parts are taken for the newest architecture that every one of them has PTX for; what has none as old is the library
        for kernels that launch kernels, which is linked to every program.
        """
        if self.cuda is not None:
            return _compiled(self, self.cuda)
        parts: dict[int, list[FatEntry]] = {}
        for entry in self.images:
            if not entry.cubin:
                parts.setdefault(entry.container, []).append(entry)
        if not parts:
            return None
        newest = min(max(entry.architecture for entry in part) for part in parts.values())
        usable = ([entry for entry in part if entry.architecture <= newest] for part in parts.values())
        return link([max(part, key=lambda entry: entry.architecture).text for part in usable if part], self.place)

    @property
    def _held(self) -> str:
        return ", ".join(sorted({image.name for image in self.images if image.cubin and image.linked})) or "nothing"


def _compiled(source: Source, text: str) -> str:
    """CUDA C++ as PTX with the lines of its file."""
    from warploom.compiler.cuda import compile_to_ptx

    try:
        return compile_to_ptx(text, source.place, line_numbers=True, options=source.options, instance=source.instance)
    except WarploomError as error:
        if _LAUNCHES_KERNELS not in str(error):
            raise
        # Only as relocatable code does NVRTC take kernels that launch kernels. The other kernels of the file can be run.
        relocatable = (*source.options, "--relocatable-device-code=true")
        return compile_to_ptx(text, source.place, line_numbers=True, options=relocatable, instance=source.instance)


def is_file_name(text: str) -> bool:
    """Whether a command-line word names a kernel file rather than a workload."""
    return Path(text).suffix.lower() in SUFFIXES


def check_exists(path: str) -> None:
    """Refuse a file that is not there, before anything is said about its launch."""
    if not os.path.exists(path):  # false, too, for names that no file can have
        raise WarploomError(f"{path}: there is no such file")
