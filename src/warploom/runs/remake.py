"""Making a result again from what it says of itself, and finding out whether the outcome is the same.

A result is data, perhaps a stranger's: nothing that it names is run as code. Policies are those that a person has loaded, and
options of a compiler that may touch files are those that a person has repeated.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

from warploom.base.errors import WarploomError
from warploom.base.sources import file_digest
from warploom.chip.sm import CHOICES, policies_of
from warploom.compiler.cuda.options import about_files
from warploom.programs.own_kernel import OwnKernel
from warploom.runs.execution import Executions
from warploom.runs.keys import policy_digests, technology_digests
from warploom.runs.provenance import checked_provenance, provenance_from_dict
from warploom.runs.result import Emulation, Result
from warploom.runs.run import run, run_untimed
from warploom.runs.spec import RunSpec, spec_from_dict
from warploom.runs.values import flat, plain

OUTCOME = (
    "verified",
    "cycles",
    "warp_instructions",
    "thread_instructions",
    "ipc",
    "occupancy",
    "ctas_per_sm",
    "registers_per_thread",
    "register_file_bytes",
    "counters",
    "energy_pj",
    "storage_bits",
    "launches",
    "kernels",
)


_READ_BY = {  # what is no result, and who takes it
    ".toml": "not a result: `warploom sweep` takes plans",
    ".zip": "not a result: `warploom run --from` takes bundles",
    ".wlr": "not a result: `warploom run` takes recordings",
}


def read_records(path: str | Path) -> list[dict[str, Any]]:
    """The results of a file that ``--json`` wrote: one object, or a list of them."""
    instead = _READ_BY.get(Path(path).suffix.lower())
    if instead is not None:
        raise WarploomError(f"{path}: this is {instead}; give what `warploom run --json` printed")
    try:
        data = json.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise WarploomError(f"{path}: cannot be read ({error.strerror or error})") from None
    except ValueError as error:
        raise WarploomError(f"{path}: not JSON: {error}") from None
    except RecursionError:
        raise WarploomError(f"{path}: not a result: brackets stand too deep in each other") from None
    records = data if isinstance(data, list) else [data]
    if not records or not all(isinstance(record, dict) for record in records):
        raise WarploomError(f"{path}: there is no result in it; give what `warploom run --json` printed")
    return records


def check_code(record: dict[str, Any], place: str, files: Iterable[str | Path], folders: Iterable[str | Path]) -> None:
    """Refuse policy files and papers' folders, before any of them is loaded, that hold other code than a record was made with."""
    named, papers = {Path(file).resolve() for file in files}, [Path(folder).resolve() for folder in folders]
    for entry in checked_provenance(record.get("provenance"), place)["digests"]["policies"].values():
        file, digest = _code_of(entry, place)
        text = digest.partition("-")[0]  # behind it stands what the file reads when it is loaded
        if (file in named or any(file.is_relative_to(folder) for folder in papers)) and text != file_digest(file):
            raise WarploomError(_has_changed(place, f"the policy file {file}"))


def _code_of(entry: Any, place: str) -> tuple[Path, str]:
    """The file of a policy, if it is not one of ours, and its digest."""
    match entry:
        case dict() if isinstance(file := entry.get("file", ""), str) and isinstance(digest := entry.get("digest", ""), str):
            return Path(file), digest
    raise WarploomError(f"{place}: `provenance.digests.policies` is damaged: {entry!r}")


def make_all_again(
    records: Sequence[tuple[str, dict[str, Any]]], options: Sequence[str] = ()
) -> Iterator[tuple[int, Result | Emulation]]:
    """Make records with their places again, each with its number; those of one program follow each other and share executions."""
    names = [json.dumps(record["provenance"]["spec"].get("program"), sort_keys=True) for _, record in records]
    for _, group in groupby(sorted(range(len(records)), key=names.__getitem__), names.__getitem__):
        executions = Executions()
        for number in group:
            place, record = records[number]
            yield number, make_again(record, place, options, executions)


def make_again(
    record: dict[str, Any], place: str, options: Sequence[str] = (), executions: Executions | None = None
) -> Result | Emulation:
    """Run what a record says that it was made from, with the policies that are loaded.

    ``options`` are those of its options for a compiler that a person repeated.
    """
    executions = executions or Executions()
    known = checked_provenance(record.get("provenance"), place)
    _check_loaded(known, place)
    spec, digests = spec_from_dict(known["spec"], place), known["digests"]
    if isinstance(spec.program, OwnKernel):
        _check_options(spec.program.options, options, place)
    spec.program.check_unchanged(digests["program"], place)
    _check_policies(spec, digests, place)
    if spec.timed and technology_digests(spec.settled.technology)["digest"] != digests["technology"].get("digest"):
        raise WarploomError(_has_changed(place, f"the energy table {spec.technology}"))
    executions.program(spec)  # what is wrong with its file is said before its headers are compared
    if isinstance(spec.program, OwnKernel) and spec.program.digests(spec.code) != digests["program"]:
        raise WarploomError(_has_changed(place, spec.program.file))
    return run(spec, executions=executions) if spec.timed else run_untimed(spec, executions)


def _check_loaded(known: dict[str, Any], place: str) -> None:
    """Refuse a record whose policies nobody has loaded."""
    design = known["spec"].get("design")
    for choice in CHOICES:
        file, _ = _code_of(known["digests"]["policies"].get(choice, {}), place)
        chosen = design.get(choice) if isinstance(design, dict) else None
        name = chosen.get("policy") if isinstance(chosen, dict) else chosen
        if file.name and name not in policies_of(choice):
            raise WarploomError(
                f"{place}: {choice} is a policy of {file}, and a result does not run code: name it if you trust it, with "
                f"--policy {file}, or with --paper and its paper's folder"
            )


def _check_policies(spec: RunSpec, digests: dict[str, Any], place: str) -> None:
    """Refuse to run other code of the user's than the result was made with."""
    now = policy_digests(spec.design)
    for choice, entry in digests["policies"].items():
        if "file" in entry and now.get(choice, {}).get("digest") != entry.get("digest"):
            raise WarploomError(_has_changed(place, f"the policy file {entry['file']}"))


def _has_changed(place: str, what: str) -> str:
    return f"{place}: {what} has changed since; restore it to make the result again"


def _check_options(said: Sequence[str], repeated: Sequence[str], place: str) -> None:
    """Refuse options of a compiler that let a record choose which files it reads or writes."""
    for option in about_files(said):
        if option not in repeated:
            raise WarploomError(
                f"{place}: the compiler's option {option!r} may read or write files, which a result does not choose: repeat it "
                "if you trust it, with --include or --nvrtc-option"
            )


def differences(record: dict[str, Any], made: Result | Emulation) -> list[str]:
    """The names of those numbers that came out otherwise than a record has them."""

    def outcome(values: dict[str, Any]) -> dict[str, Any]:
        return dict(flat({name: values[name] for name in OUTCOME if name in values}))

    before, after = outcome(record), outcome(plain(made.to_dict()))
    return [name for name in {**before, **after} if before.get(name) != after.get(name)]


def other_maker(record: dict[str, Any], made: Result | Emulation) -> str:
    """Who made a record, where that was another Warploom than this one; empty where it was the same."""
    before, now = provenance_from_dict(record.get("provenance"), "the record"), made.provenance
    if (before.version, before.sources) == (now.version, now.sources) and before.environment == now.environment:
        return ""
    ran_on = ", ".join(f"{name} {number}" for name, number in before.environment.items())
    return f"{before.by}, sources {before.sources[:8]}, on {ran_on}"
