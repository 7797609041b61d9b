"""Add to a list of encodings one for every spelling, and every kind of operands, that machine code has and the list has not.

warploom-lab sass-instructions --list tests/data/sass-instructions.txt [CUBIN ...]

Without cubins, the machine code is that of all workloads, of the cases of instructions, and of the kernels that use today's CUDA.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from warploom.base.errors import WarploomError
from warploom.compiler.sass.cubin import read_cubin
from warploom.compiler.sass.disassembly import Line, parse_listing
from warploom.compiler.sass.module import from_cuda, from_ptx
from warploom.compiler.sass.toolchain import disassemble
from warploom.emulator.sass.registry import encoders
from warploom.programs.workloads.registry import workload_names, workload_ptx
from warploom_lab.generated.encodings import print_encodings
from warploom_lab.goldens import instruction_cases, modern_cases

ARCHITECTURES = ("sm_75", "sm_80", "sm_90")
_HEAD = "# One encoding for every spelling and every kind of operands in machine code of ptxas: warploom-lab sass-instructions\n"
_GUARD = re.compile(r"^@!?U?P[0-9T]\s+")
_NUMBER = re.compile(r"(?<![\w.])[-+]?(\d[\w.+-]*|INF|QNAN)(?= |,|$)")


def form(text: str) -> str:
    """An instruction without its guard and without the numbers of registers and constants."""
    opcode, _, operands = _GUARD.sub("", text).replace(".reuse", "").partition(" ")
    operands = re.sub(r"0x[0-9a-f]+", "#", operands)
    operands = re.sub(r"\b(UR|R|UP|P|B)\d+", r"\1", operands)
    return f"{opcode} {_NUMBER.sub('%', re.sub(r'`[(].*?[)]', 'L', operands))}"


def cubins(architecture: str) -> Iterator[tuple[str, bytes]]:
    """Machine code that has most opcodes, with its name; what an architecture has not is left out."""
    for name in workload_names():
        yield name, from_ptx(workload_ptx(name), f"{name}/kernel.ptx", architecture).make(None)
    for case in instruction_cases.cases():
        with suppress(WarploomError):
            yield case.name, from_ptx(case.ptx, case.name, architecture).make(None)
    for name in modern_cases.NAMES:
        with suppress(WarploomError):
            yield name, from_cuda(modern_cases.source(name), f"{name}.cu", architecture, ("--std=c++17",)).make(None)


def lines(cubin: bytes, place: str) -> list[Line]:
    """All instructions of a cubin that the emulator executes."""
    sections = parse_listing(disassemble(cubin, place), place).values()
    return [line for section in sections for line in section.lines if re.split(r"[. ]", form(line.text))[0] in encoders()]


def add(found: dict[tuple[str, str], str], architecture: str, new: list[Line]) -> None:
    """Keep the encoding of what has a form that is not there yet."""
    for line in new:
        found.setdefault((architecture, form(line.text)), f"{line.high:016x}{line.low:016x}")


def read(file: Path) -> dict[tuple[str, str], str]:
    """What a list has, by architecture and form."""
    found: dict[tuple[str, str], str] = {}
    given = [line.split() for line in file.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    for architecture in ARCHITECTURES:
        encodings = [bits for name, bits in given if name == architecture]
        texts = print_encodings(architecture, [int(each, 16) for each in encodings])
        for place, text in texts.items():
            found.setdefault((architecture, form(text)), encodings[place])
    return found


def main() -> None:
    """Read the list, add what is new, write it again."""
    parser = argparse.ArgumentParser(
        prog="sass-instructions", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("cubins", nargs="*", type=Path)
    parser.add_argument("--list", type=Path, required=True)
    asked = parser.parse_args()
    found = read(asked.list) if asked.list.exists() else {}
    before = len(found)
    for file in asked.cubins:
        add(found, f"sm_{read_cubin(file.read_bytes(), str(file)).architecture}", lines(file.read_bytes(), str(file)))
    for architecture in ARCHITECTURES if not asked.cubins else ():
        for name, cubin in cubins(architecture):
            add(found, architecture, lines(cubin, name))
    rows = [f"{architecture} {bits}" for (architecture, _), bits in sorted(found.items())]
    asked.list.write_text(_HEAD + "\n".join(rows) + "\n", encoding="utf-8")
    print(f"{len(found) - before} instructions are new; there are {len(found)}")


if __name__ == "__main__":
    main()
