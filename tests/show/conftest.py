"""What the tests of reports share: a browser, and hand-written code with the tests of machine code."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent.parent / "code"))
from browser import COMMAND, Browser


@pytest.fixture
def browser(tmp_path: Path) -> Browser:
    """A browser; the test is skipped where there is none."""
    if COMMAND is None:
        pytest.skip("no Chromium: apt-get install chromium")
    return Browser(COMMAND, tmp_path)
