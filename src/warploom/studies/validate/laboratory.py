"""The one door to the laboratory: microbenchmarks, and what was measured with them, come in a distribution of their own."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from warploom.base.errors import WarploomError

if TYPE_CHECKING:
    from warploom.studies.validate.benchmark import Microbenchmark

PACKAGE = "warploom_lab"
INSTALL = "pip install warploom-lab (in a clone: pip install ./lab)"


def devices() -> Path | None:
    """The folder with the laboratory's measurements, one folder for each chip; None where the laboratory is not installed."""
    spec = find_spec(PACKAGE)
    return Path(spec.origin).parent / "devices" if spec is not None and spec.origin else None


def microbenchmarks() -> list[Microbenchmark]:
    """Every microbenchmark of the laboratory."""
    if find_spec(PACKAGE) is None:
        raise WarploomError(
            "microbenchmarks are part of the laboratory: pip install warploom-lab (in a clone: pip install ./lab)."
        )
    from warploom_lab.microbenchmarks import all_microbenchmarks

    return list(all_microbenchmarks())
