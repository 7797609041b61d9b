"""Where a result is from: the run that it is the result of, what the run only names, and who made it."""

from __future__ import annotations

import hashlib
import platform
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cache, lru_cache
from importlib.metadata import version
from typing import Any

from warploom import __version__
from warploom.base.errors import WarploomError
from warploom.base.sources import PACKAGE
from warploom.chip.machines import Machine, load_machine, machine_names
from warploom.programs.source import PTX
from warploom.runs.caches import WARM
from warploom.runs.keys import SHORT, Keys, simulator_digest
from warploom.runs.spec import USUAL_ORDER, RunSpec, spec_from_dict
from warploom.runs.values import flat


@dataclass(frozen=True)
class Provenance:
    """What a result was made from, and by whom."""

    spec: RunSpec  # settled
    key: str  # what it is stored under: results with different keys are different experiments
    version: str  # of Warploom
    commit: str  # of the checkout that it ran from; empty for an installed package
    changed: bool  # whether the package differed from that commit
    sources: str  # a digest of the simulator's own code
    environment: dict[str, str]  # versions of what it ran on
    digests: dict[str, Any]  # of what the run names: its program, its policies, its energy table, compilers

    def to_dict(self) -> dict[str, Any]:
        """Plain values, as ``--json`` prints them."""
        return {item.name: getattr(self, item.name) for item in fields(self)} | {"spec": self.spec.to_dict()}

    @property
    def by(self) -> str:
        """The program that computed it."""
        commit = f" ({self.commit[:SHORT]}{', changed' if self.changed else ''})" if self.commit else ""
        return f"Warploom {self.version}{commit}"

    @property
    def machine(self) -> str:
        """The machine's name, with what was changed of it."""
        return machine_label(self.spec.machine)

    @property
    def technology(self) -> str:
        """The energy table's name, with a digest where it is the user's own; empty where nothing was timed."""
        return self.digests["technology"].get("name", "")

    @property
    def run(self) -> str:
        """The program that was run, as short as it can be told from others."""
        asked = (("size", self.spec.size), ("seed", self.spec.seed))
        said = ", ".join(f"{name} {value}" for name, value in asked if value not in (None, ""))
        return self.spec.program.short(self.digests["program"]) or said


def provenance_of(spec: RunSpec) -> Provenance:
    """The provenance of a settled run that is made in this process."""
    commit, changed = _checkout()
    keys = Keys()
    return Provenance(
        spec=spec,
        key=keys.key(spec),
        version=__version__,
        commit=commit,
        changed=changed,
        sources=simulator_digest(),
        environment={"python": platform.python_version(), "numba": version("numba"), "numpy": version("numpy")},
        digests=keys.digests(spec),
    )


def provenance_from_dict(data: Any, place: str) -> Provenance:
    """A provenance from what `Provenance.to_dict` gave."""
    known = checked_provenance(data, place)
    return Provenance(spec=spec_from_dict(known["spec"], place), **{name: known[name] for name in known if name != "spec"})


_KINDS = {"str": str, "bool": bool}


def checked_provenance(data: Any, place: str) -> dict[str, Any]:
    """The entries of a provenance, of the types that they must have; the run among them is still plain data."""
    wanted = {item.name: str(item.type) for item in fields(Provenance)}
    if not isinstance(data, dict) or not wanted.keys() <= data.keys():
        raise WarploomError(f"{place}: it does not say how it was made; only results of `--json` with a `provenance` do")
    for name, kind in wanted.items():
        if not isinstance(data[name], _KINDS.get(kind, dict)):
            raise WarploomError(f"{place}: `provenance.{name}` is damaged: {data[name]!r}")
    for name in ("program", "policies", "technology"):
        if not isinstance(data["digests"].get(name), dict):
            raise WarploomError(f"{place}: `provenance.digests.{name}` is damaged: {data['digests'].get(name)!r}")
    return {name: data[name] for name in wanted}


@lru_cache(maxsize=256)
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


def described(provenances: Sequence[Provenance]) -> str:
    """One line below a table or a picture: what its results have in common, and a key to tell it from others."""
    if not provenances:
        return ""
    keys = list(dict.fromkeys(each.key for each in provenances))
    key = keys[0] if len(keys) == 1 else _digest("".join(sorted(keys)))
    specs, runs = [each.spec for each in provenances], list(dict.fromkeys(each.run for each in provenances))
    sizes = list(dict.fromkeys(f"size {spec.size}" for spec in specs if spec.size))
    parts = [
        ", ".join(dict.fromkeys(each.by for each in provenances)),
        "machine " + " and ".join(dict.fromkeys(each.machine for each in provenances)),
        "technology " + " and ".join(dict.fromkeys(each.technology for each in provenances if each.technology)),
        *(runs if len(runs) == 1 else sizes),
        *dict.fromkeys(f"code {spec.code}" for spec in specs if spec.code != PTX),
        "caches warm" if any(spec.caches == WARM for spec in specs) else "",
        "checked" if all(spec.registers_watched for spec in specs) else "",
        *dict.fromkeys(f"order {spec.order}" for spec in specs if spec.order != USUAL_ORDER),
        *dict.fromkeys(_chosen(spec) for spec in specs if spec.launches),
        f"key {key[:SHORT]}",
    ]
    return "; ".join(part for part in parts if part and part != "technology ")


def _chosen(spec: RunSpec) -> str:
    return "launches " + ", ".join(f"{kernel}:{number}" for kernel, number in spec.launches)


def brief(provenance: dict[str, Any]) -> dict[str, Any]:
    """A provenance as a row of a table can hold it: without lists, the machine's numbers and the design."""
    spec = {name: value for name, value in provenance.get("spec", {}).items() if name not in ("design", "machine")}
    spec["program"] = {name: value for name, value in spec.get("program", {}).items() if not isinstance(value, list)}
    return provenance | {"spec": {name: value for name, value in spec.items() if not isinstance(value, list)}}


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:32]


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
