"""The manual as a site: it builds, no link leads nowhere, nothing comes from elsewhere, and the reference is whole."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from support.places import ROOT
from warploom import kit
from warploom.chip.machines.schema import KEYS
from warploom.chip.sm.hooks import HOOKS
from warploom.cli.app import application

FETCHED = re.compile(r"<(?:script|img|iframe)\b[^>]*\bsrc=\"?(?:https?:)?//|<link\b[^>]*rel=\"?(?:stylesheet|preconnect)[^>]*//")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, built as `make docs` builds it; the test is skipped where mkdocs is missing."""
    pytest.importorskip("mkdocs", reason="no mkdocs: pip install 'warploom[docs]'")
    pytest.importorskip("material", reason="no Material for mkdocs: pip install 'warploom[docs]'")
    folder = tmp_path_factory.mktemp("site")
    words = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    built = subprocess.run(words, cwd=ROOT, capture_output=True, text=True)
    assert built.returncode == 0, built.stderr
    return folder


def test_no_page_fetches_anything_from_another_site(site: Path) -> None:
    """Links to read are allowed; scripts, styles and pictures from elsewhere are not."""
    pages = list(site.rglob("*.html"))
    assert len(pages) > 30
    assert [page.name for page in pages if FETCHED.search(page.read_text("utf-8"))] == []


def test_the_search_finds_what_readers_ask_for(site: Path) -> None:
    index = (site / "search" / "search_index.json").read_text("utf-8").lower()
    assert [word for word in ("occupancy", "spill", "reuse cache") if word not in index] == []


def listed(*words: str) -> list[dict[str, Any]]:
    """What a command lists, in a process of its own, which knows no policies and machines but those of the package."""
    command = [sys.executable, "-m", "warploom", *words, "--json"]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def test_every_command_counter_key_hook_and_name_is_in_the_reference(site: Path) -> None:
    names = ("commands", "counters", "machine-keys", "hooks", "kit")
    pages = {name: (site / "reference" / f"{name}.html").read_text("utf-8") for name in names}
    commands = [f"warploom {command.name}" for command in application().registered_commands]
    assert len(commands) > 10
    assert [name for name in commands if name not in pages["commands"]] == []
    assert [one["name"] for one in listed("counters") if f"<code>{one['name']}</code>" not in pages["counters"]] == []
    assert [key for key in KEYS if f"<code>{key.partition('.')[2]}</code>" not in pages["machine-keys"]] == []
    assert [name for points in HOOKS.values() for name in points if f"{name}<" not in pages["hooks"]] == []
    assert [name for name in kit.__all__ if name not in pages["kit"]] == []


def test_every_value_of_every_machine_is_there(site: Path) -> None:
    page = (site / "reference" / "machine-values.html").read_text("utf-8")
    for machine in listed("machines"):
        assert f'id="{machine["name"]}"' in page
        tables = {table: keys for table, keys in machine.items() if isinstance(keys, dict)}
        keys = [f"{table}.{key}" for table, keys in tables.items() for key in keys]
        assert keys and [key for key in keys if f"<code>{key}</code>" not in page] == []
