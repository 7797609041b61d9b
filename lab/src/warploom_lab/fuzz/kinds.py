"""What a kind of input is, and how an input ends. Kind, number and seed of an input are enough to make it again."""

from __future__ import annotations

import importlib
import traceback
from abc import ABC, abstractmethod
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

from warploom.base.errors import WarploomError

# Name: where its class is, and its share of all inputs in thousandths. Shares follow from what an input costs.
KINDS = {
    "design-text": ("warploom_lab.fuzz.descriptions:DesignText", 270),
    "design-toml": ("warploom_lab.fuzz.descriptions:DesignToml", 120),
    "plan-toml": ("warploom_lab.fuzz.descriptions:PlanToml", 30),
    "goal-toml": ("warploom_lab.fuzz.descriptions:GoalToml", 30),
    "machine-toml": ("warploom_lab.fuzz.descriptions:MachineToml", 110),
    "technology-toml": ("warploom_lab.fuzz.descriptions:TechnologyToml", 110),
    "command-line": ("warploom_lab.fuzz.commands:CommandLine", 20),
    "kernel-launch": ("warploom_lab.fuzz.fuzzed_programs:KernelLaunch", 60),
    "ptx": ("warploom_lab.fuzz.fuzzed_programs:Ptx", 120),
    "cuda": ("warploom_lab.fuzz.fuzzed_programs:Cuda", 10),
    "recording-fields": ("warploom_lab.fuzz.recordings:SpoiltFields", 100),
    "recording-order": ("warploom_lab.fuzz.recordings:SpoiltOrder", 100),
    "recording-memory": ("warploom_lab.fuzz.recordings:SpoiltMemory", 100),
    "recording-data": ("warploom_lab.fuzz.recordings:SpoiltData", 100),
    "result": ("warploom_lab.fuzz.results:SpoiltResult", 100),
    "trace": ("warploom_lab.fuzz.kept_files:StoredTrace", 60),
    "stored-run": ("warploom_lab.fuzz.kept_files:StoredRun", 59.7),
    "compiled-code": ("warploom_lab.fuzz.kept_files:CompiledCode", 0.3),
}


class Wrong(Exception):
    """An input was taken, but what came out is wrong."""


@dataclass(frozen=True)
class Finding:
    """An input that ended as no input may."""

    kind: str
    number: int
    what: str  # "traceback", "wrong", "hang" or "crash"
    signature: str  # equal for findings of the same cause
    details: str


class Kind(ABC):
    """Inputs of one kind. An instance lives as long as its worker, in a folder of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @abstractmethod
    def make(self, random: Random) -> Any:
        """A spoilt input."""

    @abstractmethod
    def attempt(self, spoilt: Any) -> None:
        """Use an input as the command line would. A WarploomError is a fine answer; Wrong and anything else is not."""

    def shown(self, spoilt: Any) -> bytes:
        """An input as it is kept for people to look at."""
        return spoilt if isinstance(spoilt, bytes) else str(spoilt).encode("utf-8", "backslashreplace")


def load_kind(place: str, folder: Path) -> Kind:
    """The kind whose class is at ``module:class``."""
    module, _, name = place.partition(":")
    return getattr(importlib.import_module(module), name)(folder)


def generator(seed: int, kind: str, number: int) -> Random:
    """The generator of one input."""
    return Random(f"{seed} {kind} {number}")


def outcome(kind: Kind, name: str, number: int, spoilt: Any) -> str | Finding:
    """How an input ends: "accepted", "refused", or a finding."""
    try:
        kind.attempt(spoilt)
    except WarploomError as error:
        if not str(error).strip():
            return Finding(name, number, "wrong", "an error without a sentence", repr(error))
        return "refused"
    except Wrong as error:
        return Finding(name, number, "wrong", str(error).splitlines()[0][:100], str(error))
    except (Exception, SystemExit) as error:
        frames = [frame for frame in traceback.extract_tb(error.__traceback__) if "/warploom/" in frame.filename]
        place = f"{Path(frames[-1].filename).name}:{frames[-1].lineno} {frames[-1].name}" if frames else "outside the package"
        return Finding(name, number, "traceback", f"{type(error).__name__} in {place}", traceback.format_exc())
    return "accepted"
