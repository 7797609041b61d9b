"""What mkdocs calls while it builds the site: it adds pages and leads their links."""

from __future__ import annotations

from typing import Any

from mkdocs.structure.files import File, Files

from warploom_lab.site.reference import PAGES, reference_page
from warploom_lab.site.sources import origins, page_text, with_links


def on_files(files: Files, config: Any) -> Files:
    """Add the pages whose text is not in docs/."""
    for page in origins():
        files.append(File.generated(config, page, content=page_text(page)))
    for page in PAGES:
        files.append(File.generated(config, page, content=reference_page(page)))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Lead links to pages of the site."""
    return with_links(markdown, page.file.src_uri)
