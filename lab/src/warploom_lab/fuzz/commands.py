"""Command lines, in this process through the function that `warploom` calls."""

from __future__ import annotations

import contextlib
import io
import os
from pathlib import Path
from random import Random

from warploom.base.errors import WarploomError
from warploom.cli.app import run_command
from warploom_lab.fuzz.descriptions import some_design
from warploom_lab.fuzz.fuzzed_programs import KERNEL
from warploom_lab.fuzz.kinds import Kind, Wrong
from warploom_lab.fuzz.mutations import ODD_WORDS, spoilt_text, tokens

ARGUMENTS = ["--arg", "out=f32[64]", "--arg", "in=f32[64]:random", "--arg", "factor=2", "--arg", "n=64"]
LAUNCH = ["--grid", "2", "--block", "32", *ARGUMENTS]
# Commands that are quick when nothing is wrong with them.
QUICK = [
    ["run", "kernel.ptx", "--emulate-only", *LAUNCH],
    ["run", "kernel.ptx", "--emulate-only", "--kernel", "scale", "--shared", "16", "--json", *LAUNCH],
    ["run", "vectoradd", "--size", "tiny", "--emulate-only", "--machine", "gtx480", "--override", "l1.mshrs=8", "--sms", "2"],
    ["inspect", "kernel.ptx", "--kernel", "scale", "--max-registers", "16", "--json"],
    ["inspect", "vectoradd", "--design", "rfv", "--machine", "rfv"],
    ["machines", "gtx480", "--json"],
    ["designs", "--machine", "rfc", "--json"],
    ["--version"],
    ["--help"],
]
# Commands that would run for long: something at their end is refused before they begin.
REFUSED = [
    ["run", "all", "--design", "rfv(shrink=0.5) + encoding=bdi", "--check", "--size", "endless"],
    ["compare", "--workloads", "rfv,bfs", "--designs", "baseline,rfc", "--out", "x.png", "--size", "endless"],
    ["workloads", "--set", "rfv", "--json", "--size", "endless"],
    ["reproduce", "rfv", "--figure", "10", "--endless"],
    ["report", "--workloads", "bfs", "--endless"],
    ["bench", "--endless"],
]

COMMANDS = {line[0] for line in (*QUICK, *REFUSED) if not line[0].startswith("-")}


class CommandLine(Kind):
    """Words after ``warploom``."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        (folder / "kernel.ptx").write_text(KERNEL)
        os.chdir(folder)
        self.words = sorted({word for line in (*QUICK, *REFUSED) for text in line for word in (text, *tokens(text))})

    def make(self, random: Random) -> list[str]:
        refused = random.random() < 0.3
        line = list(random.choice(REFUSED if refused else QUICK))
        last = 2 if line[-2:-1] == ["--size"] else 1
        tail = line[-last:] if refused else []
        words = line[: len(line) - len(tail)]
        for _ in range(random.randint(1, 3)):
            place = random.randrange(len(words)) if words else 0
            match random.randrange(6):
                case 0 if words:
                    del words[place]
                case 1 if words:
                    words[place] = spoilt_text(words[place], [*self.words, *ODD_WORDS], random)
                case 2 if words:
                    words.insert(place, random.choice(words))
                case 3:
                    words[place:place] = ["--design", some_design(random)]
                case 4:
                    words.insert(place, random.choice(ODD_WORDS))
                case _:
                    words.insert(place, random.choice(self.words))
        # What is left may be another command than it was, without its guard: only what ends at once is tried.
        return [*words, *tail] if _ends_at_once([*words, *tail]) else [*line, "--endless"]

    def attempt(self, spoilt: list[str]) -> None:
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = run_command(list(spoilt))
        if code not in (0, 1, 2):
            raise Wrong(f"the exit code is {code}")
        if code == 2 and (not err.getvalue().startswith("error: ") or out.getvalue()):
            raise Wrong(f"exit code 2, but not with one sentence on standard error alone\n{err.getvalue()}\n{out.getvalue()}")
        if "Traceback" in err.getvalue():
            raise Wrong(f"a traceback on standard error\n{err.getvalue()}")
        if code == 2:
            raise WarploomError(err.getvalue())

    def shown(self, spoilt: list[str]) -> bytes:
        return repr(spoilt).encode()


def _ends_at_once(words: list[str]) -> bool:
    """Whether a command line cannot start a long run: it only executes, or lists, or is refused by its last words."""
    commands = [word for word in words if word in COMMANDS]
    if not commands or commands[0] in ("inspect", "machines", "designs"):
        return True
    if words[-1] == "--endless" or words[-2:] == ["--size", "endless"]:
        return True
    return commands[0] == "run" and "--emulate-only" in words and not {"small", "paper", "chip", "all", "rfv"} & set(words)
