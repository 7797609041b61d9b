"""What the tests of pages share: a browser."""

from pathlib import Path

import pytest

from support.browser import COMMAND, Browser


@pytest.fixture
def browser(tmp_path: Path) -> Browser:
    """A browser; the test is skipped where there is none."""
    if COMMAND is None:
        pytest.skip("no Chromium: apt-get install chromium")
    return Browser(COMMAND, tmp_path)
