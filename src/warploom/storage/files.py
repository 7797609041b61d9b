"""Files written whole or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def replace_file(path: Path) -> Iterator[Path]:
    """Yield a draft beside the path; it takes the path's place when the block ends well and vanishes when it does not."""
    path = path.resolve()
    descriptor, name = tempfile.mkstemp(suffix=path.suffix, prefix=f".{path.stem}-", dir=path.parent)
    os.close(descriptor)
    draft = Path(name)
    try:
        yield draft
        os.chmod(draft, 0o644)  # a temporary file is made for its owner alone
        os.replace(draft, path)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise
