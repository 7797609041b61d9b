"""The PTX beside each kernel.cu is what NVRTC makes of it today."""

import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).parents[2] / "scripts" / "build_workload_ptx.py"


def test_all_ptx_is_current() -> None:
    check = subprocess.run([sys.executable, str(SCRIPT), "--check"], capture_output=True, text=True, check=False)
    assert check.returncode == 0, check.stdout + check.stderr


def test_every_workload_folder_is_complete() -> None:
    root = SCRIPT.parents[1] / "src" / "warploom" / "workloads"
    folders = [path.parent for path in root.glob("*/workload.py")]
    assert len(folders) > 40
    for folder in folders:
        assert {"__init__.py", "kernel.cu", "kernel.ptx"} <= {path.name for path in folder.iterdir()}, folder.name
