"""Files written whole or not at all, with the rights that the user's umask leaves."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

EVERYBODY = 0o666
"""The rights of a file like any other; the umask takes away from them."""
OWNER_WRITES = 0o644
"""The rights of a file that nobody else may write, whatever the umask leaves."""
_under_way: set[Path] = set()


def is_file(path: str | Path) -> bool:
    """Whether there is such a file. A name that no file can have, such as one that is too long, names none."""
    return os.path.isfile(path)


def make_draft(folder: Path, stem: str = "", suffix: str = "", rights: int = EVERYBODY) -> Path:
    """A new empty file of a hidden name, to be written and then renamed."""
    while True:
        draft = folder / f".{stem}-{secrets.token_hex(4)}{suffix}"
        try:
            os.close(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, rights))
        except FileExistsError:
            continue
        return draft


def abandon_drafts() -> None:
    """Remove the drafts that this process is writing, before it ends without coming back to them."""
    for draft in tuple(_under_way):
        draft.unlink(missing_ok=True)


@contextmanager
def replace_file(path: Path, rights: int = EVERYBODY) -> Iterator[Path]:
    """Yield a draft beside the path; it takes the path's place when the block ends well and vanishes when it does not."""
    path = path.resolve()
    draft = make_draft(path.parent, path.stem, path.suffix, rights)
    _under_way.add(draft)
    try:
        yield draft
        os.replace(draft, path)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise
    finally:
        _under_way.discard(draft)
