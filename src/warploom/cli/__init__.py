"""The command line. `main` is what ``warploom`` starts."""

import gc
import sys

_OBJECTS = 300_000  # that are made before Python looks for garbage: to look at what is imported takes a tenth of a start


def main() -> None:
    """Run the command line and exit; to load it takes long enough to be interrupted."""
    gc.set_threshold(_OBJECTS)
    try:
        from warploom.cli import app
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        sys.exit(130)
    app.main()
