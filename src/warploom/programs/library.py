"""The libraries that take the place of CUDA's in a program: built once by the user's C compiler, kept in the cache."""

from __future__ import annotations

import hashlib
import os
import re
import shlex
import shutil
import subprocess
import tempfile
from importlib import resources
from pathlib import Path
from typing import NamedTuple

from warploom.base.cache import Cache, NoCache
from warploom.base.errors import WarploomError
from warploom.base.kept import is_sealed, seal

RECORDING = "libwarploom-record.so"
"""The library that is preloaded beside CUDA's own runtime."""
IN_FRONT = "in-front"
"""The folder of the library that stands in front of the real driver, under the driver's name."""
REAL_DRIVER = "WARPLOOM_REAL_DRIVER"
"""The variable of the environment that names the driver behind it."""
NAMES = {11: "libcudart.so.11.0", 12: "libcudart.so.12", 13: "libcudart.so.13"}
"""The file that programs of each major version of the runtime ask for; it is also the version of its symbols."""
DRIVER = "libcuda.so.1"
"""The file that programs ask for that use the driver's interface."""
INSIDE = "libwarploom-inside.so"
"""The library that brings those of the runtime with it and leads executables with the runtime inside to them."""
PRODUCTS = {12: ("libcublas.so.12", "libcublasLt.so.12"), 13: ("libcublas.so.13", "libcublasLt.so.13")}
"""The files that programs ask for that multiply matrices by cuBLAS; they are also the versions of their symbols."""
OUR_KERNELS = "warploom_gemm_"
"""What the names of our own kernels for products begin with."""
_COMMON = "libwarploom.so"  # what the others share, so that there is one device however many of them a process has
_MULTIPLYING = "libwarploom-products.so"  # our kernels for products, for all of these
_PROGRAMS = resources.files("warploom.programs")
_SOURCES = {
    folder: _PROGRAMS.joinpath(*folder.split("/"))
    for folder in ("shared", "cudart", "cudart/beside", "driver", "driver/beside", "inside", "cublas", "cublas/kernels")
}
LINE, RECORDING_LINE = "WARPLOOM_EXEC", "WARPLOOM_RECORD"
"""The variables of the environment that tell each library where Warploom listens; with _PID behind them, who that is."""
_TELLING = tuple(f"shared/{name}.c" for name in ("connection", "files", "kernels", "launch_attributes"))  # each recorder's own
_NOTED = re.compile(r"^(?:API status|ALLOCATES\(|FREES\(|COPIES\() *(cu\w+)", re.MULTILINE)
_NOTED_FILLS = re.compile(r"^FILLS(?:_ROWS)?\((\w+),", re.MULTILINE)
_PER_THREAD = ("_ptds", "_ptsz")  # the same calls, for a default stream of each thread
_INCLUDES = "-Ishared"


class DriverEntry(NamedTuple):
    """A function of the driver's interface, in one of its versions."""

    symbol: str
    name: str  # that programs look for, in whatever version
    version: int  # of CUDA, from which on they get this one
    per_thread: bool


def error_table(folder: str = "cudart") -> dict[int, tuple[str, str]]:
    """The error codes of an interface: name and words."""
    rows = (line.split(" ", 2) for line in _lines(folder, "errors.txt"))
    return {int(code): (name, words) for code, name, words in rows}


def exported_functions(major: int) -> list[str]:
    """All functions that the runtime library of a version has."""
    return [name for name, *versions in (line.split() for line in _lines("cudart", "exports.txt")) if str(major) in versions]


def product_functions(file: str) -> list[str]:
    """All functions that cuBLAS (`exports.txt`) or cuBLASLt (`exports-lt.txt`) declares."""
    return _lines("cublas", file)


def driver_entries() -> list[DriverEntry]:
    """All functions that the driver's library has."""
    rows = (line.split() for line in _lines("driver", "exports.txt"))
    return [DriverEntry(symbol, name, int(version), bool(int(per_thread))) for symbol, name, version, per_thread in rows]


def _lines(folder: str, file: str) -> list[str]:
    text = (_SOURCES[folder] / file).read_text(encoding="utf-8")
    return [line for line in text.splitlines() if line and not line.startswith("#")]


def libraries() -> Path:
    """The folder that holds all libraries under the names that programs ask for; built if this was not done before."""
    contents = sorted(
        (f"{name}/{entry.name}", entry.read_bytes())
        for name, folder in _SOURCES.items()
        for entry in folder.iterdir()
        if entry.is_file()
    )
    compiler = shlex.split(os.environ.get("CC", "cc"))
    about = hashlib.sha256(repr((contents, compiler, Path(__file__).read_bytes())).encode()).hexdigest()[:32]
    try:
        folder = Cache("cudart").make_folder() / about
    except NoCache as problem:
        raise WarploomError(f"the libraries that take the place of CUDA's cannot be kept: {problem}.") from None
    if is_sealed(folder):
        return folder
    draft = Path(tempfile.mkdtemp(prefix=".building-", dir=folder.parent))
    try:
        for name, data in contents:
            (draft / name).parent.mkdir(parents=True, exist_ok=True)
            (draft / name).write_bytes(data)
        _build_common(draft, compiler)
        for major in NAMES:
            _build_runtime(draft, compiler, major)
        _build_driver(draft, compiler)
        _build_products(draft, compiler)
        _compile(
            draft,
            compiler,
            INSIDE,
            ["inside/lead.c", "-Wl,-z,initfirst", "-Wl,--no-as-needed", *NAMES.values(), *_linked(INSIDE)],
        )
        _build_recorder(draft, compiler)
        _build_in_front(draft, compiler)
        for entry in draft.iterdir():
            if entry.is_dir() and entry.name != IN_FRONT:
                shutil.rmtree(entry)
        seal(draft)
        draft.rename(folder)
    except OSError:
        if not folder.is_dir():  # another process may have been faster
            raise
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    return folder


def _write_errors(folder: Path, interface: str) -> None:
    rows = [f'{{{code}, "{name}", "{words}"}},' for code, (name, words) in error_table(interface).items()]
    (folder / interface / "errors.inc").write_text("\n".join(rows) + "\n", encoding="utf-8")


def _write_stubs(file: Path, names: set[str]) -> None:
    """What is not there says so; what is there takes the stub's place."""
    stubs = ['#include "warploom.h"', "status missing(const char *name, int *said);"]
    stubs += [
        f'API __attribute__((weak)) status {name}(void) {{ static int said; return missing("{name}", &said); }}'
        for name in sorted(names)
        if _plain(name) not in names or _plain(name) == name
    ]
    file.write_text("\n".join(stubs) + "\n", encoding="utf-8")


def _plain(name: str) -> str:
    for ending in _PER_THREAD:
        name = name.removesuffix(ending)
    return name


def _same(names: set[str]) -> list[str]:
    return [f"-Wl,--defsym={name}={_plain(name)}" for name in sorted(names) if _plain(name) != name and _plain(name) in names]


def _own(folder: Path, interface: str) -> list[str]:
    return sorted(f"{interface}/{path.name}" for path in (folder / interface).glob("*.c"))


def _linked(name: str) -> list[str]:
    """How a library beside the common one is linked."""
    return [_COMMON, "-Wl,-rpath,$ORIGIN", f"-Wl,-soname,{name}"]


def _build_common(folder: Path, compiler: list[str]) -> None:
    _compile(folder, compiler, _COMMON, [*_own(folder, "shared"), f'-DWARPLOOM_LINE="{LINE}"', f"-Wl,-soname,{_COMMON}"])


def _build_runtime(folder: Path, compiler: list[str], major: int) -> None:
    names = set(exported_functions(major))
    _write_errors(folder, "cudart")
    _write_stubs(folder / "cudart" / "stubs.c", names)
    exported = folder / "cudart" / "exports.map"
    exported.write_text(f"{NAMES[major]} {{ global: cuda*; __cuda*; local: *; }};\n", encoding="utf-8")
    options = [f"-DWARPLOOM_CUDART_MAJOR={major}", "-Wl,--version-script=cudart/exports.map", "-ldl", *_linked(NAMES[major])]
    _compile(folder, compiler, NAMES[major], [*_own(folder, "cudart"), *options, *_same(names)])


def _build_recorder(folder: Path, compiler: list[str]) -> None:
    """It has what the libraries share for itself alone, for it may stand beside them."""
    (folder / "exports.map").write_text("{ global: cuda*; __cuda*; local: *; };\n", encoding="utf-8")
    options = [f'-DWARPLOOM_LINE="{RECORDING_LINE}"', "-Wl,--version-script=exports.map", "-ldl"]
    _compile(folder, compiler, RECORDING, ["cudart/beside/record.c", *_TELLING, *options])
    (folder / "exports.map").unlink()


def _build_driver(folder: Path, compiler: list[str]) -> None:
    entries = driver_entries()
    names = {entry.symbol for entry in entries}
    _write_errors(folder, "driver")
    _write_stubs(folder / "driver" / "stubs.c", names)
    rows = [f"ENTRY({entry.symbol}, {entry.name}, {entry.version}, {int(entry.per_thread)})" for entry in entries]
    (folder / "driver" / "entries.inc").write_text("\n".join(rows) + "\n", encoding="utf-8")
    _compile(folder, compiler, DRIVER, [*_own(folder, "driver"), "-ldl", "-Wl,-Bsymbolic", *_linked(DRIVER), *_same(names)])
    (folder / DRIVER.removesuffix(".1")).symlink_to(DRIVER)


def _build_products(folder: Path, compiler: list[str]) -> None:
    _compile(folder, compiler, _MULTIPLYING, ["cublas/gemm.c", *_linked(_MULTIPLYING)])
    for number, (source, exports) in enumerate((("blas", "exports.txt"), ("blaslt", "exports-lt.txt"))):
        _write_stubs(folder / "cublas" / f"stubs-{source}.c", set(product_functions(exports)))
        sources = [f"cublas/{name}.c" for name in (source, f"stubs-{source}", "missing")]
        for names in PRODUCTS.values():
            version = folder / "cublas" / "exports.map"
            version.write_text(f"{names[number]} {{ global: cublas*; local: *; }};\n", encoding="utf-8")
            options = ["-Wl,--version-script=cublas/exports.map", _MULTIPLYING, *_linked(names[number])]
            _compile(folder, compiler, names[number], [*sources, *options])


def noted_functions() -> set[str]:
    """The functions of the driver that its recorder notes; all others are led to the real ones as they are."""
    texts = [entry.read_text("utf-8") for entry in _SOURCES["driver/beside"].iterdir() if entry.name.endswith(".c")]
    fills = {f"cuMemset{kind}{form}" for text in texts for kind in _NOTED_FILLS.findall(text) for form in ("_v2", "Async")}
    return fills.union(*(set(_NOTED.findall(text)) for text in texts))


def _build_in_front(folder: Path, compiler: list[str]) -> None:
    """Noted functions take the place of those of each thread's own default stream as well: everything waits for everything."""
    names, noted = list(dict.fromkeys(entry.symbol for entry in driver_entries())), noted_functions()
    forwards = [f"FORWARD({name}, {place})" for place, name in enumerate(names) if _plain(name) not in noted]
    places = [f"PLACE({name})" for name in names]
    for file, rows in (("forwards.inc", forwards), ("places.inc", places)):
        (folder / "driver" / file).write_text("\n".join(rows) + "\n", encoding="utf-8")
    (folder / "exports.map").write_text("{ global: cu*; local: *; };\n", encoding="utf-8")
    (folder / IN_FRONT).mkdir()
    target = f"{IN_FRONT}/{DRIVER}"
    same = [f"-Wl,--defsym={name}={_plain(name)}" for name in names if _plain(name) != name and _plain(name) in noted]
    options = [f'-DWARPLOOM_LINE="{RECORDING_LINE}"', "-I.", "-Wl,--version-script=exports.map", f"-Wl,-soname,{DRIVER}", "-ldl"]
    _compile(folder, compiler, target, [*_own(folder, "driver/beside"), *_TELLING, *options, *same])
    (folder / target.removesuffix(".1")).symlink_to(DRIVER)
    (folder / "exports.map").unlink()


def _compile(folder: Path, compiler: list[str], target: str, rest: list[str]) -> None:
    usual = ["-std=gnu11", "-O1", "-fPIC", "-shared", "-pthread", "-fvisibility=hidden", "-w", _INCLUDES]
    command = [*compiler, *usual, "-o", target, *rest]
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300)
    except FileNotFoundError:
        raise WarploomError(
            f"there is no C compiler {compiler[0]!r}, and running a CUDA program needs one once: install gcc or clang, or name "
            "yours with CC=..."
        ) from None
    if done.returncode:
        first = next((line for line in done.stderr.splitlines() if "error" in line), done.stderr.strip()[:300])
        raise WarploomError(f"the C compiler {' '.join(compiler)!r} refused the library that takes the place of CUDA's: {first}")
