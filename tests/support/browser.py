"""Chromium without a window, as the tests of pages use it."""

from __future__ import annotations

import html
import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

COMMAND = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
DARK = "--blink-settings=preferredColorScheme=0"  # what the system of a visitor prefers
_FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--virtual-time-budget=10000",
]
_ANSWERING = "const answer = value => { document.body.dataset.answer = JSON.stringify(value); };"
_WAIT = "await new Promise(done => setTimeout(done, 1500));"  # until the page has drawn its figures


class Browser:
    """A browser with a profile of its own in a folder."""

    def __init__(self, command: str, folder: Path) -> None:
        self._command, self._folder = command, folder

    def dom(self, page: Path, *flags: str, width: int = 1600) -> str:
        """The page as it is when its scripts are done."""
        return self._run(page, "--dump-dom", f"--window-size={width},900", *flags)

    def look(self, page: Path, script: str, *flags: str, width: int = 1600) -> Any:
        """What a visitor's script answers: it runs after the page's own, and says `answer(value)`."""
        before, _, after = page.read_text("utf-8").rpartition("</body>")
        visited = self._folder / "visited.html"
        visited.write_text(f'{before}<script type="module">{_ANSWERING}\n{_WAIT}\n{script}</script></body>{after}', "utf-8")
        found = re.search(r'<body data-answer="(.*?)">', self.dom(visited, *flags, width=width))
        assert found is not None, "the script did not answer"
        return json.loads(html.unescape(found.group(1)))

    def print(self, page: Path, paper: Path) -> None:
        """The page as a PDF file."""
        self._run(page, f"--print-to-pdf={paper}", "--no-pdf-header-footer")

    def photograph(self, page: Path, picture: Path, *flags: str, width: int, height: int) -> None:
        """The page as a PNG file."""
        self._run(page, f"--screenshot={picture}", f"--window-size={width},{height}", "--hide-scrollbars", *flags)

    def _run(self, page: Path, *flags: str) -> str:
        words = [self._command, *_FLAGS, f"--user-data-dir={self._folder / 'profile'}", *flags, page.as_uri()]
        return subprocess.run(words, capture_output=True, text=True, timeout=180, check=True).stdout
