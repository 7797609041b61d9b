"""NVIDIA's assembler and disassembler, from the wheels ``nvidia-cuda-nvcc`` and ``nvidia-cuda-nvdisasm``."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import tempfile
from contextlib import suppress
from importlib import metadata
from pathlib import Path

from warploom.base.errors import WarploomError
from warploom.compiler.cuda.wheels import how_to_get

_WHEELS = {"NVRTC": "nvidia-cuda-nvrtc", "ptxas": "nvidia-cuda-nvcc", "nvdisasm": "nvidia-cuda-nvdisasm"}
_SECONDS = 300  # after which a tool is taken to hang


def is_installed() -> bool:
    """Whether PTX can be made machine code here."""
    try:
        return all(map(program_file, ("ptxas", "nvdisasm")))
    except WarploomError:
        return False


def tool_versions() -> str:
    """The versions of NVIDIA's tools that machine code depends on, as far as they are installed."""
    found = []
    for tool in _WHEELS:
        with suppress(WarploomError):
            found.append(f"{tool} {tool_version(tool)}")
    return ", ".join(found)


def tool_version(tool: str) -> str:
    """The version of one of NVIDIA's tools, or an error that says how it is installed."""
    try:
        return metadata.version(_WHEELS[tool])
    except metadata.PackageNotFoundError:
        raise _missing(tool) from None


def _missing(tool: str) -> WarploomError:
    return WarploomError(f"machine code needs NVIDIA's program {tool}, which is not installed: {how_to_get('sass')}.")


def program_file(name: str) -> Path:
    """Where the wheels put a program; their folder is a namespace package shared by NVIDIA's wheels."""
    spec = importlib.util.find_spec("nvidia")
    for root in (spec.submodule_search_locations or ()) if spec is not None else ():
        for file in (Path(root) / "cu13" / "bin" / name, Path(root) / "cu13" / "bin" / f"{name}.exe"):
            if file.is_file():
                return file
    raise _missing(name)


def _run(name: str, place: str, *arguments: str) -> str:
    """What a program writes; an error of its own is shown in its own words."""
    program = program_file(name)
    if os.name == "posix" and not os.access(program, os.X_OK):
        program.chmod(program.stat().st_mode | 0o111)  # some installers lose the mode
    try:
        done = subprocess.run([program, *arguments], capture_output=True, text=True, timeout=_SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired) as problem:
        raise WarploomError(f"{place}: {name} does not run ({problem}).") from None
    if done.returncode:
        words = " ".join((done.stderr or done.stdout).split()) or f"exit code {done.returncode}"
        raise WarploomError(f"{place}: {name} refuses it: {words}")
    return done.stdout


def _limited(ptx: str, max_registers: int) -> str:
    """PTX whose kernels with launch bounds also name a limit of registers: for those ptxas does not heed its own option."""
    bounded = re.sub(r"^(\s*\.maxntid\b[^\n]*)$", rf"\1\n.maxnreg {max_registers}", ptx, flags=re.MULTILINE)
    return re.sub(r"^\s*\.minnctapersm\b[^\n]*$", "", bounded, flags=re.MULTILINE)


def assemble(ptx: str, place: str, architecture: str, max_registers: int | None = None) -> bytes:
    """PTX to a cubin for an architecture such as ``sm_90``, by ptxas; with the lines that the PTX names."""
    with tempfile.TemporaryDirectory() as folder:
        source, cubin = Path(folder) / "kernel.ptx", Path(folder) / "kernel.cubin"
        source.write_text(ptx if max_registers is None else _limited(ptx, max_registers), encoding="utf-8")
        limit = [f"--maxrregcount={max_registers}"] if max_registers is not None else []
        asked = [f"--gpu-name={architecture}", "--generate-line-info", *limit]
        _run("ptxas", place, *asked, str(source), "--output-file", str(cubin))
        return cubin.read_bytes()


def disassemble(cubin: bytes, place: str, symbol: int | None = None) -> str:
    """The text of all code sections of a cubin, with addresses, encodings and lines of the source, by nvdisasm.

    With the number of a symbol, that of its section alone.
    """
    asked = ["--print-code", "--print-instruction-encoding", "--print-line-info-inline"]
    if symbol is not None:
        asked.append(f"--cuda-function-index={symbol}")
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "kernel.cubin"
        file.write_bytes(cubin)
        return _run("nvdisasm", place, *asked, str(file))
