"""Programs by the word that people type: a workload's name, or the file of a recording."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from warploom.base.errors import WarploomError
from warploom.base.files import is_file
from warploom.programs.origin import Origin
from warploom.programs.program import Program, WorkloadOrigin
from warploom.programs.recording import read_recording, say_if_cut_off
from warploom.programs.replay import RecordingOrigin, is_recording
from warploom.programs.source import PTX
from warploom.programs.workloads.registry import load_workload, select_workloads


def origin_named(name: str) -> Origin:
    """What names the program of a workload, or of a recording."""
    return RecordingOrigin(str(Path(name).resolve())) if is_recording(name) else WorkloadOrigin(load_workload(name).name)


def program_named(name: str, code: str = PTX, seed: int | None = None) -> Program:
    """The program of a workload, with its own or another seed, or of a recording."""
    return origin_named(name).open(code, seed)


def chosen_programs(names: Iterable[str]) -> list[str]:
    """Workloads, sets and recordings by name (each may be a list with commas), without repetition, in the order asked for."""
    chosen: dict[str, None] = {}
    for name in (part.strip() for text in names for part in text.split(",")):
        if is_recording(name):
            _check_recording(name)
        chosen.update(dict.fromkeys([name] if is_recording(name) else select_workloads([name])))
    return list(chosen)


def _check_recording(name: str) -> None:
    """Refuse a recording that cannot be run, before anything else is, and say if it was cut off."""
    if not is_file(name):
        raise WarploomError(f"{name}: there is no such recording")
    say_if_cut_off(read_recording(name))
