"""Modules of extras: there, or a sentence that says what needs them and how to get them."""

from __future__ import annotations

import sys

import pytest

from warploom.base.errors import WarploomError
from warploom.base.extras import imported


def test_a_module_that_is_there_is_imported() -> None:
    assert imported("json.decoder", "a test needs", "none").JSONDecoder is sys.modules["json"].JSONDecoder


def test_one_that_is_not_there_is_a_sentence_with_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "absent", None)
    with pytest.raises(WarploomError, match=r"^tables need absent: pip install 'warploom\[report\]'$"):
        imported("absent.part", "tables need", "report")
