"""The tests of papers share hand-made kernels with those of the core, and hand-written code with those of machine code."""

import sys
from pathlib import Path

for room in ("code", "core"):
    sys.path.insert(0, str(Path(__file__).parent.parent / room))
