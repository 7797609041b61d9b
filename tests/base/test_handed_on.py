"""Names that a module hands on are read from what type checkers see of it."""

from __future__ import annotations

from pathlib import Path

from warploom.base.handed_on import Home, homes

MODULE = """
from typing import TYPE_CHECKING
from elsewhere import nothing

if TYPE_CHECKING:
    from place.one import first as first
    from place.two import second as renamed


def later():
    from place.three import third
"""


def test_only_what_type_checkers_see_is_handed_on(tmp_path: Path) -> None:
    (tmp_path / "module.py").write_text(MODULE)
    assert homes(tmp_path / "module.py") == {"first": Home("place.one", "first"), "renamed": Home("place.two", "second")}
