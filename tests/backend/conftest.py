"""The tests of the backend share their random kernels with those of machine code."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "code"))
