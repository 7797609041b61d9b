"""Results that ``run --from`` makes again: what they say of themselves, spoilt, as JSON and in bundles."""

from __future__ import annotations

import copy
import json
import math
import zipfile
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from warploom.base.errors import WarploomError
from warploom.chip.machines import load_machine
from warploom.designs import parse_design
from warploom.programs.named import origin_named
from warploom.programs.own_kernel import OwnKernel
from warploom.runs.bundle import unpack_bundle, write_bundle
from warploom.runs.remake import check_code, differences, make_again, read_records
from warploom.runs.run import run_untimed
from warploom.runs.spec import RunSpec
from warploom.runs.values import plain
from warploom_lab.fuzz.fuzzed_programs import KERNEL
from warploom_lab.fuzz.kinds import Kind
from warploom_lab.fuzz.recordings import spoilt_value

BUDGET = 100_000  # warp instructions of a launch
MOST_BLOCKS = 1 << 16  # a large grid may run for hours and is right to
_RESULT = "result.json"


class SpoiltResult(Kind):
    """A result file, or the result in a bundle, that says something else at one to three places of its provenance."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        (folder / "kernel.ptx").write_text(KERNEL)
        np.save(folder / "in.npy", np.arange(256, dtype=np.float32))
        np.save(folder / "out.npy", 2.5 * np.arange(256, dtype=np.float32))
        arguments = ("out=f32[256]", f"in=f32[256]:{folder / 'in.npy'}", "factor=2.5", "n=256")
        own = OwnKernel(
            str(folder / "kernel.ptx"),
            grid=(8, 1, 1),
            block=(32, 1, 1),
            arguments=arguments,
            expect=(f"out={folder / 'out.npy'}",),
        )
        self.good, self.bundles = [], []
        for number, (program, size) in enumerate(((origin_named("vectoradd"), "tiny"), (own, ""))):
            made = run_untimed(
                RunSpec(program, parse_design("baseline"), load_machine("gtx480"), size=size, budget=BUDGET, timed=False)
            )
            record = json.loads(json.dumps(plain(made.to_dict())))
            write_bundle([record], _RESULT, folder / f"{number}.zip")
            with zipfile.ZipFile(folder / f"{number}.zip") as archive:
                files = {name: archive.read(name) for name in archive.namelist()}
            self.good += [record, json.loads(files[_RESULT])]
            self.bundles += [None, files]

    def make(self, random: Random) -> tuple[int, str]:
        number = random.randrange(len(self.good))
        record = copy.deepcopy(self.good[number])
        for _ in range(random.randint(1, 3)):
            _spoil(record["provenance"], random)
        return number, json.dumps(record)

    def shown(self, spoilt: tuple[int, str]) -> bytes:
        return f"{spoilt[0]}\n{spoilt[1]}".encode()

    def attempt(self, spoilt: tuple[int, str]) -> None:
        """Make it again, as ``run --from`` does when nothing else was named."""
        number, text = spoilt
        files = self.bundles[number]
        try:
            if files is None:
                path = self.folder / "spoilt.json"
                path.write_text(text)
                self._remake(read_records(path), str(path))
                return
            path = self.folder / "spoilt.zip"
            with zipfile.ZipFile(path, "w") as archive:
                for name, data in (files | {_RESULT: text.encode()}).items():
                    archive.writestr(name, data)
            with TemporaryDirectory(dir=self.folder) as folder:
                bundle = unpack_bundle(path, Path(folder))
                if bundle.code or bundle.papers:
                    raise WarploomError("the command asks for --trust-bundle here")
                self._remake(bundle.records, str(path))
        except MemoryError as error:
            raise WarploomError("the command says that there is not enough memory") from error

    def _remake(self, records: list[dict[str, Any]], place: str) -> None:
        for record in records:
            check_code(record, place, (), ())
            grid = record["provenance"].get("spec", {}).get("program", {}).get("grid", ()) if _is_plain(record) else ()
            if isinstance(grid, list) and all(type(extent) is int for extent in grid) and math.prod(grid) > MOST_BLOCKS:
                return
            differences(record, make_again(record, place))


def _is_plain(record: dict[str, Any]) -> bool:
    """Whether what names the program is where it belongs."""
    spec = record["provenance"].get("spec")
    return isinstance(spec, dict) and isinstance(spec.get("program"), dict)


def _spoil(value: Any, random: Random) -> None:
    """Put something else at a place within lists and tables, all of which are as likely."""
    places = list(_places(value))
    holder, name = random.choice(places)
    match random.randrange(12):
        case 0 if isinstance(holder, dict):
            del holder[name]
        case 1 if isinstance(holder, dict):
            holder[random.choice(("colour", "", "file", "kind", "symbols", "options"))] = spoilt_value(holder[name], random)
        case _:
            holder[name] = spoilt_value(holder[name], random)


def _places(value: Any) -> Any:
    """Every table or list within a value, with every name or number of it."""
    if isinstance(value, dict | list):
        for name in value if isinstance(value, dict) else range(len(value)):
            yield value, name
            yield from _places(value[name])
