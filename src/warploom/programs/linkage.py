"""How a program was linked: which CUDA libraries it asks for, and what to say where Warploom cannot take their place."""

from __future__ import annotations

import re
import shutil
import struct
import subprocess
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from warploom.base.errors import WarploomError
from warploom.programs.library import DRIVER, NAMES, REAL_DRIVER

_SYMBOL_TABLE = 2  # the kind of section
_OTHERS = re.compile(r"lib(?:cublas|cublasLt|cufft|curand|cusparse|cusolver|cudnn|nccl|npp\w+|nvjpeg|cufile|nvrtc)\.so[.\d]*")


def check_program(command: str) -> None:
    """Refuse a program that uses what we cannot take the place of; a script is let through."""
    path = shutil.which(command)
    if path is None:
        raise WarploomError(f"{command}: there is no such program.")
    data = Path(path).read_bytes()
    if not data.startswith(b"\x7fELF"):
        return
    needed = _needed(data)
    others = [name for name in needed if _OTHERS.fullmatch(name)]
    if others:
        raise WarploomError(f"{command}: it is linked with {', '.join(others)}, whose kernels Warploom does not run.")
    for name in needed:
        if name.startswith("libcudart.so") and name not in NAMES.values():
            raise WarploomError(
                f"{command}: it is linked with {name}; the versions that Warploom knows: {', '.join(NAMES.values())}."
            )
    if b".nv_fatbin" in data and not _has_symbols(data):  # with them, the runtime inside is found and led to ours
        raise WarploomError(
            f"{command}: CUDA's runtime is linked into it and its symbols were stripped; link it with: nvcc -cudart shared."
        )


def asks_for_runtime(command: str) -> bool:
    """Whether a program is linked with CUDA's runtime as a library of its own."""
    path = shutil.which(command)
    data = Path(path).read_bytes() if path is not None else b""
    return data.startswith(b"\x7fELF") and any(name.startswith("libcudart.so") for name in _needed(data))


def real_driver(environment: Mapping[str, str]) -> Path:
    """The driver's library on this machine, as programs would find it."""
    named = environment.get(REAL_DRIVER)
    if named is not None:
        if not Path(named).is_file():
            raise WarploomError(f"environment variable {REAL_DRIVER}: {named}: there is no such file")
        return Path(named)
    places = [Path(folder) / DRIVER for folder in environment.get("LD_LIBRARY_PATH", "").split(":") if folder]
    with suppress(OSError):
        listed = subprocess.run(["/sbin/ldconfig", "-p"], capture_output=True, text=True, check=False).stdout
        places += [
            Path(line.split(" => ")[1]) for line in listed.splitlines() if line.split()[:1] == [DRIVER] and "x86-64" in line
        ]
    for place in places:
        if place.is_file():
            return place.resolve()
    raise WarploomError(f"there is no {DRIVER} on this machine, which a GPU's driver brings; name one with {REAL_DRIVER}=PATH")


def _has_symbols(data: bytes) -> bool:
    """Whether an ELF file of 64 bits has its symbol table still."""
    try:
        start, size, count = *struct.unpack_from("<Q", data, 40), *struct.unpack_from("<HH", data, 58)
        return any(struct.unpack_from("<I", data, start + index * size + 4)[0] == _SYMBOL_TABLE for index in range(count))
    except struct.error:
        return False


def _needed(data: bytes) -> list[str]:
    """The libraries that an ELF file of 64 bits names (DT_NEEDED)."""
    try:
        return _read_needed(data)
    except (struct.error, IndexError, ValueError):
        return []


def _read_needed(data: bytes) -> list[str]:
    start, size, count = *struct.unpack_from("<Q", data, 32), *struct.unpack_from("<HH", data, 54)
    segments = [struct.unpack_from("<IIQQQQ", data, start + index * size) for index in range(count)]

    def offset(address: int) -> int:
        for kind, _, at, virtual, _, bytes_ in segments:
            if kind == 1 and virtual <= address < virtual + bytes_:
                return at + address - virtual
        raise ValueError(address)

    dynamic = next((segment for segment in segments if segment[0] == 2), None)
    if dynamic is None:
        return []
    entries = [struct.unpack_from("<QQ", data, dynamic[2] + 16 * index) for index in range(dynamic[5] // 16)]
    strings = offset(next(value for tag, value in entries if tag == 5))
    names = (data[strings + value : data.index(b"\0", strings + value)] for tag, value in entries if tag == 1)
    return [name.decode("utf-8", "replace") for name in names]
