"""Where a result is from: everything that it depends on, as plain data, so that it can be made again and told from others."""

from __future__ import annotations

import hashlib
import inspect
import json
import platform
import subprocess
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields, replace
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from warploom import __version__
from warploom.energy import load_technology, technology_names
from warploom.errors import WarploomError
from warploom.machines import Machine, load_machine, machine_names
from warploom.register_file import CHOICES
from warploom.sass.toolchain import tool_versions
from warploom.simulation.caches import COLD, WARM
from warploom.simulation.result import flat
from warploom.storage.sources import PACKAGE, class_digest, file_digest
from warploom.workloads.program import PTX

if TYPE_CHECKING:
    from warploom.designs import Design
    from warploom.energy import Technology
    from warploom.workloads.program import Program

SHORT = 8  # characters of a digest where people read it


@dataclass(frozen=True)
class Provenance:
    """Who computed a result, and from what."""

    version: str  # of Warploom
    commit: str  # of the checkout that it ran from; empty for an installed package
    changed: bool  # whether the package differed from that commit
    sources: str  # a digest of the simulator's own code
    environment: dict[str, str]  # versions of what it ran on
    program: dict[str, Any]  # a workload with size and seed, or a kernel file with its launch; digests of what is run
    design: dict[str, Any]  # as `Design.to_dict` gives it
    policies: dict[str, dict[str, str]]  # for each choice a digest of the policy's code, and its file where that is the user's
    machine: dict[str, Any]  # its label, and all its numbers as `Machine.to_dict` gives them
    technology: dict[str, str]  # label and digest of the energy table, and its file where that is the user's; empty: not timed
    check: bool  # whether the shadow checker watched
    max_instructions: int  # budget of a launch
    caches: str = COLD  # in what condition launches find them

    @property
    def key(self) -> str:
        """A digest of all that the outcome depends on: results with different keys are different experiments."""
        about = (
            (self.version, self.sources, self.check, self.caches),
            {name: value for name, value in self.program.items() if name not in ("file", "recording")},
            {name: value for name, value in self.design.items() if name != "name"},
            {choice: entry["digest"] for choice, entry in self.policies.items()},
            {name: value for name, value in self.machine["numbers"].items() if name not in ("name", "title")},
            self.technology.get("digest"),
        )
        return _digest(json.dumps(about, sort_keys=True))

    def to_dict(self) -> dict[str, Any]:
        """Plain values, as ``--json`` prints them."""
        return {"key": self.key, **asdict(self)}

    @property
    def by(self) -> str:
        """The program that computed it."""
        commit = f" ({self.commit[:SHORT]}{', changed' if self.changed else ''})" if self.commit else ""
        return f"Warploom {self.version}{commit}"

    @property
    def run(self) -> str:
        """The program that was run, as short as it can be told from others."""
        about = self.program
        if "workload" in about:
            return ", ".join(f"{name} {about[name]}" for name in ("size", "seed") if about.get(name) not in (None, ""))
        if "recording" in about:
            return f"{Path(about['recording']).name}#{about['digest'][:SHORT]}, code {about['code']}"
        if "file" not in about:
            return f"PTX {about['ptx'][:SHORT]}"
        grid, block = (",".join(map(str, about[name])) for name in ("grid", "block"))
        launch = f"{about['kernel']} of {Path(about['file']).name}#{about['digest'][:SHORT]}, grid {grid}, block {block}"
        shared = f", shared {about['shared_bytes']}" if about["shared_bytes"] else ""
        return launch + shared + "".join(f", {argument}" for argument in about["arguments"])


def provenance_of(
    program: Program,
    design: Design,
    machine: Machine,
    *,
    size: str,
    technology: Technology | None,
    technology_file: str,
    check: bool,
    max_instructions: int,
    caches: str = COLD,
) -> Provenance:
    """The provenance of a run in this process."""
    commit, changed = _checkout()
    table: dict[str, str] = {}
    if technology is not None:
        table = {"name": technology_label(technology), "digest": _technology_digest(technology)}
        if technology_file:
            table["file"] = str(Path(technology_file).resolve())
    return Provenance(
        version=__version__,
        commit=commit,
        changed=changed,
        sources=file_digest(Path(__file__).with_name("simulate.py")) or "",
        environment={"python": platform.python_version(), "numba": version("numba"), "numpy": version("numpy")},
        program={
            "name": program.name,
            **program.origin,
            **({"size": size} if program.sized else {}),
            "code": program.code,
            **({"tools": tool_versions()} if program.code != PTX else {}),
            "ptx": _digest(program.ptx),
        },
        design=design.to_dict(),
        policies=policy_codes(design),
        machine={"label": machine_label(machine), "numbers": machine.to_dict()},
        technology=table,
        check=check,
        max_instructions=max_instructions,
        caches=caches,
    )


def provenance_from_dict(data: Any, place: str) -> Provenance:
    """A provenance from what `Provenance.to_dict` gave."""
    wanted = {item.name: str(item.type) for item in fields(Provenance)}
    if isinstance(data, dict):
        data = {"caches": COLD, **data}  # which all were before there was a choice
    if not isinstance(data, dict) or not wanted.keys() <= data.keys():
        raise WarploomError(f"{place}: it does not say how it was made; only results of `--json` with a `provenance` do")
    kinds = {"str": str, "bool": bool, "int": int}
    for name, kind in wanted.items():
        if not isinstance(data[name], kinds.get(kind, dict)):
            raise WarploomError(f"{place}: `provenance.{name}` is damaged: {data[name]!r}")
    return Provenance(**{name: data[name] for name in wanted})


def machine_label(machine: Machine) -> str:
    """A machine's name with what was changed of it; a digest of its numbers where it is not one of ours."""
    if machine.name not in machine_names():
        return f"{machine.name}#{_digest(repr(machine))[:SHORT]}"
    shipped, sms = load_machine(machine.name), machine.chip.sms
    changes = _changes(machine, shipped)
    if sms < shipped.chip.sms:
        scaled = [*_changes(machine, shipped.scaled(sms)), f"sms={sms}"]
        changes = min(changes, scaled, key=len)
    return f"{machine.name}[{', '.join(changes)}]" if changes else machine.name


def _changes(machine: Machine, other: Machine) -> list[str]:
    before = dict(flat(other.to_dict()))
    changed = {key: value for key, value in flat(machine.to_dict()) if key != "title" and value != before[key]}
    return [f"{key}={value}" for key, value in changed.items()]


def technology_label(table: Technology) -> str:
    """An energy table's name, with a digest where it is not one of ours."""
    if table.name in technology_names() and _technology_digest(load_technology(table.name)) == _technology_digest(table):
        return table.name
    return f"{table.name}#{_technology_digest(table)[:SHORT]}"


def described(provenances: Sequence[Provenance]) -> str:
    """One line below a table or a picture: what its results have in common, and a key to tell it from others."""
    if not provenances:
        return ""
    keys = list(dict.fromkeys(each.key for each in provenances))
    key = keys[0] if len(keys) == 1 else _digest("".join(sorted(keys)))
    runs = list(dict.fromkeys(each.run for each in provenances))
    sizes = list(dict.fromkeys(f"size {each.program['size']}" for each in provenances if "size" in each.program))
    parts = [
        ", ".join(dict.fromkeys(each.by for each in provenances)),
        "machine " + " and ".join(dict.fromkeys(each.machine["label"] for each in provenances)),
        "technology " + " and ".join(dict.fromkeys(each.technology["name"] for each in provenances if each.technology)),
        *(runs if len(runs) == 1 else sizes),
        *dict.fromkeys(f"code {each.program['code']}" for each in provenances if each.program.get("code", PTX) != PTX),
        "caches warm" if any(each.caches == WARM for each in provenances) else "",
        "checked" if all(each.check for each in provenances) else "",
        f"key {key[:SHORT]}",
    ]
    return "; ".join(part for part in parts if part and part != "technology ")


def brief(provenance: dict[str, Any]) -> dict[str, Any]:
    """A provenance as a row of a table can hold it: without lists, the machine's numbers and the design."""
    short = {name: value for name, value in provenance.items() if name != "design"}
    if "machine" in short:
        short["machine"] = short["machine"]["label"]
    if "program" in short:
        short["program"] = {name: value for name, value in short["program"].items() if not isinstance(value, list)}
    return short


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def _technology_digest(table: Technology) -> str:
    return _digest(repr(replace(table, name="", title="", sources={})))


def policy_codes(design: Design) -> dict[str, dict[str, str]]:
    """For each choice a digest of its policy's code, and the file where that is the user's."""
    return {choice: _code_of(type(policy)) for choice, policy in zip(CHOICES, design.policies, strict=True)}


def _code_of(kind: type) -> dict[str, str]:
    digest = class_digest(kind)
    if digest is None:
        return {"digest": ""}  # a class typed into a session: nobody can make it again
    file = Path(inspect.getfile(kind))
    own = {} if file.is_relative_to(PACKAGE) else {"file": str(file.resolve())}
    return {"digest": digest, **own}


@cache
def _checkout() -> tuple[str, bool]:
    """The commit of the checkout that this package lies in, and whether the package differs from it; ("", False) for none."""

    def git(*words: str) -> str:
        done = subprocess.run(["git", "-C", str(PACKAGE), *words], capture_output=True, text=True, timeout=20)
        if done.returncode:
            raise OSError(done.stderr)
        return done.stdout.strip()

    try:
        git("ls-files", "--error-unmatch", "__init__.py")  # the package itself is kept there, not just its folder
        return git("rev-parse", "HEAD"), bool(git("status", "--porcelain", "--", "."))
    except (OSError, subprocess.SubprocessError):
        return "", False
