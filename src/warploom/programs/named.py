"""Programs by the word that people type: a workload's name, or the file of a recording."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path

from warploom.errors import WarploomError
from warploom.programs.replay import is_recording, recorded_program
from warploom.workloads.program import PTX, Program, workload_program
from warploom.workloads.registry import load_workload, select_workloads


def program_named(name: str, code: str = PTX, seed: int | None = None) -> Program:
    """The program of a workload, with its own or another seed, or of a recording."""
    if not is_recording(name):
        return workload_program(name, code, seed)
    if seed is not None:
        raise WarploomError(f"{name}: a recording has the inputs that were recorded, and no seed")
    return recorded_program(name, code)


def chosen_programs(names: Iterable[str]) -> list[str]:
    """Workloads, sets and recordings by name (each may be a list with commas), without repetition, in the order asked for."""
    chosen: dict[str, None] = {}
    for name in (part.strip() for text in names for part in text.split(",")):
        if is_recording(name) and not Path(name).is_file():
            raise WarploomError(f"{name}: there is no such recording")
        chosen.update(dict.fromkeys([name] if is_recording(name) else select_workloads([name])))
    return list(chosen)


def own_seed(name: str) -> int | None:
    """The seed that the inputs of a program follow from; None where nothing in them is random, as in a recording."""
    return None if is_recording(name) else load_workload(name).seed


def content_digest(name: str) -> str:
    """What tells a recording from others of its name; empty for a workload, which belongs to the simulator."""
    return hashlib.sha256(Path(name).read_bytes()).hexdigest()[:32] if is_recording(name) else ""
