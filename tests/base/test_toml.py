"""Every TOML file that people write, with brackets as deep as nobody writes them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from warploom.base.errors import WarploomError
from warploom.chip.machines import load_machine
from warploom.designs import load_design
from warploom.designs.energy import load_technology
from warploom.studies.search.goal import make_goal
from warploom.studies.sweep.plan import make_plan

DEEP = "x = " + "[" * 20_000 + "]" * 20_000


@pytest.mark.parametrize("read", [load_design, load_machine, load_technology, make_plan, make_goal])
@pytest.mark.parametrize("text", [DEEP, "x = [", "x = 1" + "0" * 5000, "\xff\xfe"])
def test_what_is_no_toml_is_one_sentence(read: Callable[[str], Any], text: str, tmp_path: Path) -> None:
    file = tmp_path / "any.toml"
    file.write_bytes(text.encode("latin-1"))
    with pytest.raises(WarploomError, match=f"^{file}: not valid TOML: [^\n]+$"):
        read(str(file))
