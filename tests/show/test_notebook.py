"""docs/tutorial/laboratory.ipynb: every cell runs as it stands, and what it shows is what its text says."""

from __future__ import annotations

import json
from pathlib import Path

import nbformat
from nbclient import NotebookClient

from support.places import ROOT

NOTEBOOK = ROOT / "docs" / "tutorial" / "laboratory.ipynb"


def test_the_notebook_runs_and_teaches_what_it_says(tmp_path: Path) -> None:
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    asked = "import json\nprint(json.dumps([sweep.to_dict('list'), list(table.energy)]))"
    notebook.cells.append(nbformat.v4.new_code_cell(asked))
    NotebookClient(notebook, timeout=600, kernel_name="python3", resources={"metadata": {"path": tmp_path}}).execute()
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", ())]
    shown = "\n".join(output.get("data", {}).get("text/plain", "") for output in outputs)
    assert "rfv + warped-rf" in shown
    sweep, energies = json.loads(outputs[-1]["text"])
    assert sweep["file, KB"] == sorted(sweep["file, KB"], reverse=True)
    assert sweep["throttled cycles"][0] == 0 < sweep["throttled cycles"][1] < sweep["throttled cycles"][2]
    assert 1 < sweep["time"][0] < sweep["time"][1] < sweep["time"][2]  # less of the file costs time,
    assert 1 > sweep["energy"][0] > sweep["energy"][1] > sweep["energy"][2]  # and saves energy
    assert all(0 < share < 1 for share in sweep["entries never used"])
    assert energies[0] == 1 and max(energies[1:]) < 1
    pictures = [output["data"]["image/svg+xml"] for output in outputs if "image/svg+xml" in output.get("data", {})]
    assert len(pictures) == 1 and "<path" in pictures[0]  # drawn here: a chart that a browser draws would fetch what draws it
