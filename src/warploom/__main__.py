"""``python -m warploom``: the same as the ``warploom`` command."""

from warploom.cli import main

main()
