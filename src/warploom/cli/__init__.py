"""The command line. `main` is what ``warploom`` starts."""

import sys


def main() -> None:
    """Run the command line and exit; to load it takes long enough to be interrupted."""
    try:
        from warploom.cli import app
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        sys.exit(130)
    app.main()
