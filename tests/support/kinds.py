"""The three kinds of tests, and what a unit test may not do.

`unit`      in this process, without the compiled emulator and timing core: milliseconds
`compiled`  executes or times something, or starts Python anew
`oracle`    compares with what others answered: hardware, another simulator, another compiler

A folder decides the kind of its tests, a file can say otherwise (``pytestmark = pytest.mark.unit``).
"""

from __future__ import annotations

import multiprocessing.process
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePath
from typing import Any
from unittest import mock

import pytest
from numba.core.dispatcher import Dispatcher

KINDS = ("unit", "compiled", "oracle")
# The longest beginning of a path counts.
OF_FOLDERS = {
    "": "compiled",
    "base": "unit",
    "chip/machines": "unit",
    "compiler": "unit",
    "compiler/sass": "compiled",
    "designs": "unit",
    "designs/policies": "compiled",
    "house": "unit",
    "jit": "compiled",
}
COMPILED_ROOMS = ("warploom.chip", "warploom.emulator")


def kind_of_folder(folder: PurePath) -> str:
    """The kind of the tests in a folder, given below ``tests``."""
    return next(OF_FOLDERS[name] for parent in (folder, *folder.parents) if (name := str(parent).strip(".")) in OF_FOLDERS)


@contextmanager
def nothing_compiled() -> Iterator[None]:
    """Fail what loads or compiles the emulator or the timing core, or starts Python anew."""
    compile_it, start_it, begin_it = Dispatcher.compile, subprocess.Popen.__init__, multiprocessing.process.BaseProcess.start

    def compiling(dispatcher: Any, signature: Any) -> Any:
        if dispatcher.py_func.__module__.startswith(COMPILED_ROOMS):
            refuse(f"needs {dispatcher.py_func.__module__}.{dispatcher.py_func.__name__} compiled")
        return compile_it(dispatcher, signature)

    def starting(process: Any, arguments: Any, *others: Any, **options: Any) -> None:
        first = arguments if isinstance(arguments, str) else str(arguments[0])
        if Path(first).name.startswith(("python", "warploom", "nvcc")):
            refuse("starts Python anew")
        start_it(process, arguments, *others, **options)

    def beginning(process: Any) -> None:
        refuse("starts Python anew")
        begin_it(process)

    with (
        mock.patch.object(Dispatcher, "compile", compiling),
        mock.patch.object(subprocess.Popen, "__init__", starting),
        mock.patch.object(multiprocessing.process.BaseProcess, "start", beginning),
    ):
        yield


def refuse(what: str) -> None:
    """End a unit test."""
    pytest.fail(f"this test is marked unit and {what}: mark it, or its file, with pytest.mark.compiled", pytrace=False)
