"""How a thing shows itself in a notebook: a title and a table of its facts, in the notebook's own colours."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape


def html_facts(title: str, facts: Mapping[str, object]) -> str:
    """A table of two columns as HTML; whatever stands in it is text."""
    rows = "".join(
        f'<tr><th style="text-align:left">{escape(name)}</th><td style="text-align:left">{escape(str(value))}</td></tr>'
        for name, value in facts.items()
    )
    return f'<table><caption style="text-align:left"><b>{escape(title)}</b></caption><tbody>{rows}</tbody></table>'
