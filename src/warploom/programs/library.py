"""The library that takes the place of CUDA's runtime in a program: built once by the user's C compiler, kept in the cache."""

from __future__ import annotations

import hashlib
import os
import shlex
import shutil
import subprocess
import tempfile
from importlib import resources
from pathlib import Path

from warploom.errors import WarploomError
from warploom.storage.cache import NoCache, cache_directory

RECORDING = "libwarploom-record.so"
"""The library that is preloaded beside CUDA's own runtime."""
NAMES = {11: "libcudart.so.11.0", 12: "libcudart.so.12", 13: "libcudart.so.13"}
"""The file that programs of each major version ask for; it is also the version of its symbols."""
_SOURCES = resources.files("warploom.programs") / "cudart"
LINE, RECORDING_LINE = "WARPLOOM_EXEC", "WARPLOOM_RECORD"
"""The variables of the environment that tell each library where Warploom listens; with _PID behind them, who that is."""
_BESIDE = ("record.c", "connection.c", "kernels.c")
_PER_THREAD = ("_ptds", "_ptsz")  # the same calls, for a default stream of each thread


def error_table() -> dict[int, tuple[str, str]]:
    """CUDA's error codes: name and words."""
    rows = (line.split(" ", 2) for line in _lines("errors.txt"))
    return {int(code): (name, words) for code, name, words in rows}


def exported_functions(major: int) -> list[str]:
    """All functions that the runtime library of a version has."""
    return [name for name, *versions in (line.split() for line in _lines("exports.txt")) if str(major) in versions]


def _lines(file: str) -> list[str]:
    text = (_SOURCES / file).read_text(encoding="utf-8")
    return [line for line in text.splitlines() if line and not line.startswith("#")]


def libraries() -> Path:
    """The folder that holds the library under the names of all versions; built if this was not done before."""
    folders = (_SOURCES, _SOURCES / "beside")
    contents = sorted((entry.name, entry.read_bytes()) for folder in folders for entry in folder.iterdir() if entry.is_file())
    compiler = shlex.split(os.environ.get("CC", "cc"))
    about = hashlib.sha256(repr((contents, compiler, Path(__file__).read_bytes())).encode()).hexdigest()[:32]
    try:
        folder = cache_directory("cudart", about)
    except NoCache as problem:
        raise WarploomError(f"the library that takes the place of CUDA's cannot be kept: {problem}.") from None
    if folder.is_dir():
        return folder
    folder.parent.mkdir(parents=True, exist_ok=True)
    draft = Path(tempfile.mkdtemp(prefix=".building-", dir=folder.parent))
    try:
        _generate(draft, contents)
        for major in NAMES:
            _build(draft, compiler, major)
        _compile(
            draft, compiler, RECORDING, [*_BESIDE, "-DWARPLOOM_CUDART_MAJOR=0", f'-DWARPLOOM_LINE="{RECORDING_LINE}"', "-ldl"]
        )
        for entry in draft.iterdir():
            if entry.name not in (*NAMES.values(), RECORDING):
                entry.unlink()
        draft.chmod(0o755)
        draft.rename(folder)
    except OSError:
        if not folder.is_dir():  # another process may have been faster
            raise
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    return folder


def _generate(folder: Path, contents: list[tuple[str, bytes]]) -> None:
    for name, data in contents:
        (folder / name).write_bytes(data)
    rows = [f'{{{code}, "{name}", "{words}"}},' for code, (name, words) in error_table().items()]
    (folder / "errors.inc").write_text("\n".join(rows) + "\n", encoding="utf-8")
    for major in NAMES:
        names = set(exported_functions(major))
        stubs = ['#include "warploom.h"', "status missing(const char *name, int *said);"]
        stubs += [
            f'API __attribute__((weak)) status {name}(void) {{ static int said; return missing("{name}", &said); }}'
            for name in sorted(names)
            if _plain(name) not in names or _plain(name) == name
        ]
        (folder / f"stubs{major}.c").write_text("\n".join(stubs) + "\n", encoding="utf-8")
        exported = f"{NAMES[major]} {{ global: cuda*; __cuda*; local: *; }};\n"
        (folder / f"exports{major}.map").write_text(exported, encoding="utf-8")


def _plain(name: str) -> str:
    for ending in _PER_THREAD:
        name = name.removesuffix(ending)
    return name


def _build(folder: Path, compiler: list[str], major: int) -> None:
    names = set(exported_functions(major))
    same = [f"-Wl,--defsym={name}={_plain(name)}" for name in sorted(names) if _plain(name) != name and _plain(name) in names]
    own = sorted(path.name for path in folder.glob("*.c") if not path.name.startswith("stubs") and path.name != "record.c")
    options = [
        f"-DWARPLOOM_CUDART_MAJOR={major}",
        f'-DWARPLOOM_LINE="{LINE}"',
        f"-Wl,-soname,{NAMES[major]}",
        f"-Wl,--version-script=exports{major}.map",
        *same,
    ]
    _compile(folder, compiler, NAMES[major], [*own, f"stubs{major}.c", *options])


def _compile(folder: Path, compiler: list[str], target: str, rest: list[str]) -> None:
    usual = ["-std=gnu11", "-O1", "-fPIC", "-shared", "-pthread", "-fvisibility=hidden", "-w"]
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
