"""Pages of the site whose text is elsewhere in the repository than in docs/, and links between all of them."""

from __future__ import annotations

import json
import posixpath
import re
import tomllib
from collections.abc import Iterator
from functools import cache

from warploom_lab import CHECKOUT

NOTEBOOK = "docs/tutorial/laboratory.ipynb"
PAPERS = CHECKOUT / "src" / "warploom" / "papers"
LINK = re.compile(r"(\]\()([^)\s]+)(\))")
ELSEWHERE = re.compile(r"#|[a-z]+:")  # a place on the same page, or another site


@cache
def origins() -> dict[str, str]:
    """Pages by their place on the site, with the file of the repository that each shows."""
    papers = {f"papers/{file.parent.name}.md": file.relative_to(CHECKOUT).as_posix() for file in PAPERS.glob("*/README.md")}
    return {
        "index.md": "README.md",
        "contribute/contributing.md": "CONTRIBUTING.md",
        "reference/changelog.md": "CHANGELOG.md",
        "lab/tools.md": "lab/README.md",
        "tutorial/laboratory.md": NOTEBOOK,
        **dict(sorted(papers.items())),
    }


def page_text(page: str) -> str:
    """The Markdown of a page that is not in docs/."""
    origin = origins()[page]
    text = (CHECKOUT / origin).read_text(encoding="utf-8")
    return "\n\n".join(_cells(text)) if origin == NOTEBOOK else text


def _cells(notebook: str) -> Iterator[str]:
    for cell in json.loads(notebook)["cells"]:
        text = "".join(cell["source"])
        yield f"```python\n{text}\n```" if cell["cell_type"] == "code" else text


def with_links(text: str, page: str) -> str:
    """Lead each link within the repository to the page that shows the file, or else to where the project's source is."""
    here = posixpath.dirname(origins().get(page, f"docs/{page}"))
    return LINK.sub(lambda link: link[1] + _target(link[2], here, page) + link[3], text)


def _target(link: str, here: str, page: str) -> str:
    path, hash_mark, place = link.partition("#")
    file = posixpath.normpath(posixpath.join(here, path))
    if ELSEWHERE.match(link) or not (CHECKOUT / file).exists():
        return link  # mkdocs refuses a link that leads nowhere
    shown = {origin: shown for shown, origin in origins().items()}.get(file, file.removeprefix("docs/"))
    if shown == file:
        return f"{_source_address()}/{file}"
    return posixpath.relpath(shown, posixpath.dirname(page) or ".") + hash_mark + place


@cache
def _source_address() -> str:
    project = tomllib.loads((CHECKOUT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return project["urls"]["Source"]
