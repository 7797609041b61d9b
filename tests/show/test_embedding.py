"""JSON inside pages: whatever stands in it, the element ends where it should and the JSON is the same."""

from __future__ import annotations

import json
from html.parser import HTMLParser
from typing import Any

import pytest

from warploom.show.embedding import in_script

pytestmark = pytest.mark.unit


class Scripts(HTMLParser):
    """What stands in script elements, and the names of all that are not."""

    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []
        self.others: list[str] = []
        self.inside = False

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.inside = tag == "script"
        if not self.inside:
            self.others.append(tag)

    def handle_endtag(self, tag: str) -> None:
        self.inside = False

    def handle_data(self, data: str) -> None:
        if self.inside:
            self.texts.append(data)


@pytest.mark.parametrize("name", ["<!--<script>.cu", "</script><b>", "<!-- --!>", "a < b", "<![CDATA[", "é\u2028"])
def test_a_name_does_not_swallow_the_page(name: str) -> None:
    text = in_script(json.dumps({"file": name}))
    assert "<" not in text and json.loads(text) == {"file": name}
    page = Scripts()
    page.feed(f'<script type="application/json">{text}</script><p>after</p>')
    assert "".join(page.texts) == text and page.others == ["p"]
