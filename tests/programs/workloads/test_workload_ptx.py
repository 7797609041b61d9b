"""The PTX beside each kernel.cu is what NVRTC makes of it today."""

import subprocess
import sys

import pytest

from support.places import ROOT

pytestmark = pytest.mark.oracle


def test_all_ptx_is_current() -> None:
    check = subprocess.run(
        [sys.executable, "-m", "warploom_lab", "build-workload-ptx", "--check"], capture_output=True, text=True, check=False
    )
    assert check.returncode == 0, check.stdout + check.stderr


def test_every_workload_folder_is_complete() -> None:
    root = ROOT / "src" / "warploom" / "programs" / "workloads"
    folders = [path.parent for path in root.glob("*/workload.py")]
    assert len(folders) > 40
    for folder in folders:
        assert {"kernel.cu", "kernel.ptx"} <= {path.name for path in folder.iterdir()}, folder.name
