"""The wheel, installed in a fresh environment, gives a ``warploom`` that works outside the checkout."""

import json
import os
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder), str(CHECKOUT)]
    subprocess.run(command, check=True, capture_output=True)
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory):
    """A fresh environment with the wheel alone; its dependencies are lent by the environment that runs the tests."""
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder, with_pip=False)
    subprocess.run(
        [sys.executable, "-m", "pip", "--python", str(folder / "bin/python"), "install", "--quiet", "--no-deps", str(wheel)],
        check=True,
        capture_output=True,
    )
    (packages,) = (folder / "lib").glob("python*/site-packages")
    # A .pth file would also bring the editable install of the checkout along; a plain path does not.
    (packages / "lent.pth").write_text(f"{sysconfig.get_path('purelib')}\n")
    return folder / "bin/warploom"


def run(command, *words, folder):
    environment = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
    return subprocess.run([command, *words], cwd=folder, capture_output=True, text=True, env=environment)


def test_the_wheel_carries_its_data(wheel):
    names = set(zipfile.ZipFile(wheel).namelist())
    for needed in (
        "warploom/workloads/vectoradd/kernel.ptx",
        "warploom/workloads/vectoradd/kernel.cu",
        "warploom/machines/gtx480.toml",
        "warploom/designs/named.toml",
        "warploom/energy/technologies/common.toml",
        "warploom/papers/rfv/machines/rfv.toml",
        "warploom/papers/rfv/technologies/rfv.toml",
        "warploom/papers/rfv/designs.toml",
        "warploom/papers/rfv/published.toml",
        "warploom/papers/rfv/workloads.toml",
        "warploom/validation/microbenchmarks/memory.cu",
        "warploom/validation/devices/h200/kernels.tsv",
        "warploom/validation/devices/kernels/empty.cubin",
    ):
        assert needed in names
    assert not [name for name in names if "__pycache__" in name or name.startswith("tests")]


def test_the_installed_command_works_elsewhere(installed, tmp_path):
    location = run(installed.parent / "python", "-c", "import warploom; print(warploom.__file__)", folder=tmp_path)
    assert str(CHECKOUT / "src") not in location.stdout
    machines = run(installed, "machines", "--json", folder=tmp_path)
    assert "gtx480" in [machine["name"] for machine in json.loads(machines.stdout)]
    listing = run(installed, "inspect", "vectoradd", "--json", folder=tmp_path)
    assert listing.returncode == 0, listing.stderr
    (kernel,) = json.loads(listing.stdout)
    assert kernel["name"] == "vectoradd"
    assert kernel["registers"] >= kernel["max_live"] > 0
    script = (
        "import warploom as wl; from warploom.workloads.registry import workload_ptx\n"
        "for name in wl.workload_names(): wl.workload(name).inputs('tiny'), workload_ptx(name)\n"
        "print(len(wl.workload_names()), wl.design('baseline'), wl.technology('common').name)"
    )
    loaded = run(installed.parent / "python", "-c", script, folder=tmp_path)
    assert loaded.returncode == 0, loaded.stderr
    assert loaded.stdout.split()[1:] == ["baseline", "common"]
