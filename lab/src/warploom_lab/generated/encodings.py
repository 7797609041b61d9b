"""Text of single encodings, which need not be in a cubin."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory

from warploom.compiler.sass.disassembly import INSTRUCTION_BYTES
from warploom.compiler.sass.toolchain import program_file

_LINE = re.compile(r"^\s+/\*([0-9a-f]{4,})\*/\s+(.*?)\s*;", re.MULTILINE)
_REFUSED = re.compile(r"at address 0x([0-9a-f]+)")


def print_encodings(architecture: str, encodings: list[int]) -> dict[int, str]:
    """What nvdisasm prints for numbers of 128 bits, by their places in the list; without those that it refuses."""
    left = list(range(len(encodings)))
    if not left:
        return {}
    with TemporaryDirectory() as folder:
        file = Path(folder) / "encodings.bin"
        words = [str(program_file("nvdisasm")), "--binary", architecture.replace("sm_", "SM"), str(file)]
        while True:
            file.write_bytes(b"".join(encodings[place].to_bytes(INSTRUCTION_BYTES, "little") for place in left))
            done = subprocess.run(words, capture_output=True, text=True, check=False)
            refused = {int(address, 16) // INSTRUCTION_BYTES for address in _REFUSED.findall(done.stderr)}
            if not refused:
                return {left[int(address, 16) // INSTRUCTION_BYTES]: text for address, text in _LINE.findall(done.stdout)}
            left = [place for number, place in enumerate(left) if number not in refused]
