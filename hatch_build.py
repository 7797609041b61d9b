"""The description that a package index shows: README.md, whose links within the repository lead to where the project lives."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

RELATIVE = re.compile(r"\]\((?!#|[a-z]+:)")


class Description(MetadataHookInterface):
    """Fills in `readme`."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Lead relative links to the address that `[project.urls]` calls Source."""
        text = (Path(self.root) / "README.md").read_text("utf-8")
        metadata["readme"] = {"content-type": "text/markdown", "text": RELATIVE.sub(f"]({metadata['urls']['Source']}/", text)}
