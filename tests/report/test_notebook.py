"""docs/laboratory.ipynb: every cell runs as it stands, and the tables it shows are there."""

from __future__ import annotations

from pathlib import Path

import nbformat
from nbclient import NotebookClient

NOTEBOOK = Path(__file__).parents[2] / "docs" / "laboratory.ipynb"


def test_the_notebook_runs(tmp_path: Path) -> None:
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    NotebookClient(notebook, timeout=600, kernel_name="python3", resources={"metadata": {"path": tmp_path}}).execute()
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", ())]
    shown = "\n".join(output.get("data", {}).get("text/plain", "") for output in outputs)
    assert "rfv + warped-rf" in shown
    assert "throttled cycles" in shown
    assert "alt.Chart" in shown
