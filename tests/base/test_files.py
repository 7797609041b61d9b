"""Names of files that no file can have: they are looked for, and not found."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from warploom.base.errors import WarploomError
from warploom.base.files import is_file
from warploom.chip.machines import load_machine
from warploom.chip.sm import load_policy_file
from warploom.designs.energy import load_technology
from warploom.programs.arguments import parse_argument
from warploom.programs.source import check_exists

LONG = 300 * "a"  # file systems have names of 255 bytes at most


@pytest.mark.parametrize("name", [LONG, "a\0b", "", "."])
def test_what_is_no_name_names_no_file(name: str) -> None:
    assert not is_file(name)


@pytest.mark.parametrize(
    "look",
    [
        lambda: load_machine(f"{LONG}.toml"),
        lambda: load_technology(f"{LONG}.toml"),
        lambda: load_policy_file(f"{LONG}.py"),
        lambda: parse_argument(f"x=f32[4]:{LONG}.npy", 0),
        lambda: check_exists(f"{LONG}.cu"),
    ],
)
def test_a_name_that_is_too_long_is_not_there(look: Callable[[], object]) -> None:
    with pytest.raises(WarploomError, match=r"there is no|no such"):
        look()


def test_a_base_of_too_long_a_name_is_not_there(tmp_path: Path) -> None:
    path = tmp_path / "machine.toml"
    path.write_text(f'base = "{LONG}.toml"\n')
    with pytest.raises(WarploomError, match=r"machine.toml: its `base` .* is not there"):
        load_machine(path)
