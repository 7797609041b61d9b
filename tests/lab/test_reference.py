"""The pages of machine keys and of counters say what the code declares."""

from __future__ import annotations

import subprocess
import sys

import pytest

from support.places import ROOT

PRINT = "from warploom_lab.generated.write_reference import PAGES; import sys; sys.stdout.write(PAGES[sys.argv[1]]())"


@pytest.mark.parametrize("page", ["machine-keys.md", "counters.md"])
def test_a_generated_page_is_up_to_date(page: str) -> None:
    """In a process of its own, which knows no policies but those of the package."""
    written = subprocess.run([sys.executable, "-c", PRINT, page], check=True, capture_output=True, text=True).stdout
    assert (ROOT / "docs" / "reference" / page).read_text("utf-8") == written, "run `warploom-lab write-reference`"
