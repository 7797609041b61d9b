"""Runs a program with the library in place of CUDA's, and answers it until it ends."""

from __future__ import annotations

import os
import secrets
import selectors
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from itertools import chain
from typing import Any, TextIO

from warploom.base.errors import WarploomError
from warploom.programs.beside import BesideGpu
from warploom.programs.codes import CudaError, CudaStatus
from warploom.programs.library import (
    DRIVER,
    IN_FRONT,
    INSIDE,
    LINE,
    PRODUCTS,
    REAL_DRIVER,
    RECORDING,
    RECORDING_LINE,
    libraries,
)
from warploom.programs.linkage import asks_for_runtime, check_program, real_driver
from warploom.programs.protocol import Connection, Gone, LibraryCall
from warploom.programs.runtime import Runtime

_LOOK_EVERY = 0.2  # seconds between two looks at a program that asks for nothing
_PATIENCE = 5.0  # seconds that an interrupted program has to end by itself
_STICKY = frozenset(
    ("module", "unload", "properties", "attributes", "device_name", "hello")
)  # what works after a kernel was stopped


def run_program(
    command: Sequence[str],
    make_runtime: Callable[[], Runtime | BesideGpu],
    *,
    beside_gpu: bool = False,
    output: TextIO | None = None,
) -> int:
    """Run a command to its end; its exit code, as a shell gives it. Each process that uses CUDA gets a runtime of its own.

    ``output`` takes what the program prints; without it, that goes where ours goes.
    """
    name = f"warploom-{os.getpid()}-{secrets.token_hex(8)}"
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as door, selectors.DefaultSelector() as selector:
        door.bind(f"\0{name}")  # not a file: nothing is left behind
        door.listen()
        selector.register(door, selectors.EVENT_READ)
        process = _start(command, name, beside_gpu, output)
        runtimes: dict[Connection, Runtime | BesideGpu] = {}
        try:
            while True:
                ready = selector.select(_LOOK_EVERY)
                if not ready and process.poll() is not None:
                    break
                for key, _ in ready:
                    if key.fileobj is door:
                        _accept(door, selector, runtimes, make_runtime)
                    elif not _serve(runtimes[key.data], key.data):
                        selector.unregister(key.data)
                        key.data.close()
                        runtimes.pop(key.data).close()
        except BaseException:
            _end(process)
            raise
        finally:
            for line, runtime in runtimes.items():
                line.close()
                runtime.close()
    code = process.returncode
    if code < 0:
        print(f"warploom: the program was ended by signal {signal.Signals(-code).name}", file=sys.stderr, flush=True)
    return code if code >= 0 else 128 - code


def _accept(
    door: socket.socket,
    selector: selectors.BaseSelector,
    runtimes: dict[Connection, Runtime | BesideGpu],
    make_runtime: Callable[[], Runtime | BesideGpu],
) -> None:
    connection, _ = door.accept()
    credentials = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)
    if int.from_bytes(credentials[4:8], sys.byteorder) != os.getuid():
        connection.close()
        return
    line = Connection(connection)
    runtimes[line] = make_runtime()
    selector.register(line, selectors.EVENT_READ, line)


def _serve(runtime: Runtime | BesideGpu, line: Connection) -> bool:
    """Answer what was asked so far; False if the program has gone. Nobody waits for the rest of a question: it may never come."""
    try:
        line.receive()
        while (question := line.question()) is not None:
            operation, given, wanted = question
            status, words, data = _outcome(runtime, operation, given)
            if not wanted:  # a launch that nobody waits for: what goes wrong with it is the next answer
                runtime.owed = runtime.owed or status
            else:
                line.answer(status or runtime.owed, words, data, b"" if operation.name == "launch" else runtime.printed())
                runtime.owed = 0
            if operation.name == "hello" and runtime.file is not None:
                line.send_file(runtime.file)
    except Gone:
        return False
    return True


def _outcome(runtime: Runtime | BesideGpu, operation: LibraryCall, given: Sequence[Any]) -> tuple[int, Sequence[int], bytes]:
    if runtime.broken and operation.name not in _STICKY:
        return runtime.broken, (), b""
    try:
        words, data = getattr(runtime, operation.name)(*given)
    except CudaError as error:
        return error.status, (), b""
    except WarploomError as problem:
        runtime.say(str(problem))
        return CudaStatus.UNKNOWN, (), b""
    return CudaStatus.SUCCESS, words, data


def _start(command: Sequence[str], name: str, beside_gpu: bool, output: TextIO | None) -> subprocess.Popen:
    folder = libraries()
    environment: Mapping[str, str] = os.environ
    paths = [str(folder), *filter(None, [environment.get("LD_LIBRARY_PATH")])]
    line = RECORDING_LINE if beside_gpu else LINE
    added = {line: name, f"{line}_PID": str(os.getpid()), "LD_LIBRARY_PATH": os.pathsep.join(paths)}
    if beside_gpu and not asks_for_runtime(command[0]):
        in_front = folder / IN_FRONT
        added |= {
            REAL_DRIVER: str(real_driver(environment)),
            "LD_PRELOAD": str(in_front / DRIVER),
            "TRITON_LIBCUDA_PATH": str(in_front),
        }
        added["LD_LIBRARY_PATH"] = os.pathsep.join([str(in_front), *filter(None, [environment.get("LD_LIBRARY_PATH")])])
        return _started(command, {**environment, **added}, output)
    check_program(command[0])
    if beside_gpu:
        added["LD_PRELOAD"], added["LD_LIBRARY_PATH"] = str(folder / RECORDING), environment.get("LD_LIBRARY_PATH", "")
    else:  # loaded first, whatever paths of their own the program and what it loads have to CUDA's libraries
        ours = [str(folder / name) for name in (INSIDE, DRIVER, *chain.from_iterable(PRODUCTS.values()))]
        added["LD_PRELOAD"] = " ".join([*ours, *filter(None, [environment.get("LD_PRELOAD")])])
        added["TRITON_LIBCUDA_PATH"] = str(folder)
    return _started(command, {**environment, **added}, output)


def _started(command: Sequence[str], environment: Mapping[str, str], output: TextIO | None) -> subprocess.Popen:
    try:
        return subprocess.Popen(command, env=dict(environment), stdout=output)
    except FileNotFoundError:
        raise WarploomError(f"{command[0]}: there is no such program.") from None
    except OSError as error:
        raise WarploomError(f"{command[0]}: cannot be run ({error.strerror or error}).") from None


def _end(process: subprocess.Popen) -> None:
    """After an interruption: let the program end, then make it."""
    if process.poll() is None:
        process.terminate()
        with suppress(subprocess.TimeoutExpired):
            process.wait(_PATIENCE)
    if process.poll() is None:
        process.kill()
        process.wait()
