"""TOML files of people: what is no TOML is refused in one sentence."""

from __future__ import annotations

import tomllib
from typing import Any

from warploom.base.errors import WarploomError


def parse_toml(text: str | bytes, place: str) -> dict[str, Any]:
    """The tables of a TOML text; bytes are UTF-8."""
    try:
        return tomllib.loads(text if isinstance(text, str) else text.decode())
    except ValueError as error:  # of TOML, of UTF-8, or a number of thousands of digits
        raise WarploomError(f"{place}: not valid TOML: {error}") from None
    except RecursionError:
        raise WarploomError(f"{place}: not valid TOML: brackets stand too deep in each other") from None
