"""Files that Warploom keeps, damaged: what is read must be what was kept, or be made again."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from random import Random

import numpy as np

from warploom.base.errors import WarploomError
from warploom.emulator.trace.format import Trace
from warploom.emulator.trace.store import COLUMNS, TraceStore
from warploom.programs.device import Device
from warploom.runs.result import encode, plain
from warploom.runs.simulate import simulate
from warploom.runs.store import Store
from warploom_lab.fuzz.fuzzed_programs import KERNEL
from warploom_lab.fuzz.kinds import Kind, Wrong
from warploom_lab.fuzz.mutations import spoilt_bytes


class _Kept(Kind):
    """A folder of files; an input is one file of it with other bytes, or without the file (None)."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.good, self.used = folder / "good", folder / "used"
        self.fill()
        self.files = sorted(path.relative_to(self.good) for path in self.good.rglob("*") if path.is_file())

    def fill(self) -> None:
        """Make the good files."""
        raise NotImplementedError

    def make(self, random: Random) -> tuple[Path, bytes | None]:
        file = random.choice(self.files)
        return file, spoilt_bytes((self.good / file).read_bytes(), random) if random.random() < 0.97 else None

    def attempt(self, spoilt: tuple[Path, bytes | None]) -> None:
        shutil.rmtree(self.used, ignore_errors=True)
        shutil.copytree(self.good, self.used)
        file, data = spoilt
        if data is None:
            (self.used / file).unlink()
        else:
            (self.used / file).write_bytes(data)
        try:
            self.use(file.name)
        except WarploomError as error:
            raise Wrong(f"a damaged file ends the run instead of being made again: {file.name}\n{error}") from error

    def use(self, file: str) -> None:
        """Read the folder as a run would, and compare."""
        raise NotImplementedError

    def shown(self, spoilt: tuple[Path, bytes | None]) -> bytes:
        return f"{spoilt[0]}\n".encode() + (b"(removed)" if spoilt[1] is None else spoilt[1])


class StoredTrace(_Kept):
    """The trace of a launch."""

    def fill(self) -> None:
        self.expected, self.output = self._launch(self.good)

    def use(self, file: str) -> None:
        trace, output = self._launch(self.used)
        for name in COLUMNS:
            if not np.array_equal(getattr(trace, name), getattr(self.expected, name)):
                raise Wrong(f"a damaged trace is taken as it is: {file}\ncolumn {name} differs")
        if (trace.grid, trace.block, trace.kernel) != (self.expected.grid, self.expected.block, self.expected.kernel):
            raise Wrong(f"a damaged trace is taken as it is: {file}\ngrid, block or kernel differ")
        if not np.array_equal(output, self.output):
            raise Wrong("the output of a launch differs")

    def _launch(self, root: Path) -> tuple[Trace, np.ndarray]:
        device = Device(KERNEL, file="kernel.ptx", record=TraceStore(root))
        out = device.array(np.zeros(256, np.float32))
        device.launch("scale", (4,), (64,), out, np.arange(256, dtype=np.float32), np.float32(2), 250)
        trace = device.launches[0].trace
        assert trace is not None
        return trace, out.get()


class StoredRun(_Kept):
    """The result of a run, as figures share it."""

    KEY = "0123456789abcdef"

    def fill(self) -> None:
        self.expected = json.loads(json.dumps(plain(simulate("vectoradd", size="tiny").to_dict())))
        Store(self.good).save(self.KEY, encode(self.expected))

    def use(self, file: str) -> None:
        found = Store(self.used).load(self.KEY)
        if found is not None and found != self.expected:
            raise Wrong("a damaged result of a run is taken as it is")


SCRIPT = """
from warploom.emulator.trace.encoding import compress
import numpy as np
image = np.zeros(128, np.uint8)
print(compress(np.arange(128, dtype=np.uint8), 4, 1, image), image.sum())
"""


class CompiledCode(_Kept):
    """Machine code of a function, loaded by a process of its own: it may crash."""

    def fill(self) -> None:
        self.good.mkdir()
        self.expected = self._run(self.good)

    def use(self, file: str) -> None:
        found = self._run(self.used)
        if found != self.expected:
            raise Wrong(f"damaged compiled code: {found.splitlines()[-1] if found else 'no output'}\n{file}\n{found}")

    def _run(self, cache: Path) -> str:
        environment = {**os.environ, "WARPLOOM_CACHE": str(cache)}
        environment.pop("NUMBA_CACHE_DIR", None)
        ended = subprocess.run([sys.executable, "-c", SCRIPT], env=environment, capture_output=True, text=True, timeout=120)
        return ended.stdout if ended.returncode == 0 else f"exit code {ended.returncode}\n{ended.stderr[-2000:]}"
