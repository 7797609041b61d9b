"""Names that a module hands on from others, each imported when it is first asked for."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import NamedTuple


class Home(NamedTuple):
    """Where a name is from."""

    module: str
    name: str  # there


def homes(file: str | Path) -> dict[str, Home]:
    """Where each name is from that a module imports ``if TYPE_CHECKING``, read from its text: the one list of them."""
    body = ast.parse(Path(file).read_bytes()).body
    block = next(node for node in body if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING")
    statements = [node for node in block.body if isinstance(node, ast.ImportFrom)]
    return {alias.asname or alias.name: Home(one.module or "", alias.name) for one in statements for alias in one.names}
