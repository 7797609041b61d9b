"""The wheel alone, with the core's dependencies and no extra, gives a ``warploom`` that works outside the checkout.

The fresh environment sees the packages that the wheel requires and those that they require, and no others of the environment that
runs the tests; so an import that only an extra brings is noticed.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import venv
import zipfile
from email.message import Message
from email.parser import Parser
from importlib import metadata
from pathlib import Path
from typing import cast

import pytest
from packaging.requirements import Requirement
from typer.core import TyperGroup
from typer.main import get_command

from support.places import ROOT
from warploom.cli.app import application

pytestmark = pytest.mark.compiled
ONE_SENTENCE = re.compile(r"error: [^\n]+\n")
COMMANDS = """
from typer.main import get_command
from warploom.cli.app import application, run_command
for name in sorted(get_command(application()).commands):
    print(name, run_command([name, "--help"]))
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The built wheel."""
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder), str(ROOT)]
    built = subprocess.run(command, capture_output=True, text=True)
    assert built.returncode == 0, built.stdout[-2000:] + built.stderr[-2000:]
    (file,) = folder.glob("*.whl")
    return file


def headers(wheel: Path) -> Message:
    """What a package index reads of a wheel."""
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        return Parser().parsestr(archive.read(name).decode())


def closure(requirements: list[str]) -> set[str]:
    """The distributions that are installed when these are, no extra asked for."""
    found: set[str] = set()
    open_ends = list(requirements)
    while open_ends:
        wanted = Requirement(open_ends.pop())
        if wanted.name not in found and (wanted.marker is None or wanted.marker.evaluate({"extra": ""})):
            found.add(wanted.name)
            open_ends += metadata.requires(wanted.name) or []
    return found


def lend(distribution: str, folder: Path) -> None:
    """Link the files of an installed distribution into another environment."""
    installed = metadata.distribution(distribution)
    for first in {file.parts[0] for file in installed.files or ()} - {"..", "__pycache__"}:
        if not (folder / first).exists():
            (folder / first).symlink_to(str(installed.locate_file(first)))


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of commands of a fresh environment."""
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder, with_pip=False)
    subprocess.run(
        [sys.executable, "-m", "pip", "--python", str(folder / "bin/python"), "install", "--quiet", "--no-deps", str(wheel)],
        check=True,
        capture_output=True,
    )
    (packages,) = (folder / "lib").glob("python*/site-packages")
    for distribution in closure(headers(wheel).get_all("Requires-Dist", [])):
        lend(distribution, packages)
    return folder / "bin"


def run(command: Path, *words: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a command in a folder outside the checkout."""
    environment = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
    return subprocess.run([command, *words], cwd=folder, capture_output=True, text=True, env=environment)


def test_the_wheel_carries_its_data_and_nothing_of_the_laboratory(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    for needed in (
        "warploom/programs/workloads/vectoradd/kernel.ptx",
        "warploom/programs/cublas/kernels/bf16.ptx",
        "warploom/programs/workloads/vectoradd/kernel.cu",
        "warploom/chip/machines/gtx480.toml",
        "warploom/designs/named.toml",
        "warploom/designs/energy/technologies/common.toml",
        "warploom/papers/rfv/machines/rfv.toml",
        "warploom/papers/rfv/technologies/rfv.toml",
        "warploom/papers/rfv/designs.toml",
        "warploom/papers/rfv/published.toml",
        "warploom/papers/rfv/workloads.toml",
    ):
        assert needed in names
    assert {name.split("/")[0].partition("-")[0] for name in names} == {"warploom"}
    assert not [name for name in names if "__pycache__" in name or name.endswith((".cubin", ".npz", ".tsv", ".wlr"))]


def test_every_link_of_the_description_leads_somewhere(wheel: Path) -> None:
    """A package index has the description alone: no link is relative, and those into the repository name files that are there."""
    about = headers(wheel)
    source = dict(each.split(", ") for each in about.get_all("Project-URL", []))["Source"]
    links = re.findall(r"\]\(([^)]+)\)", str(about.get_payload()))
    inside = [link.removeprefix(f"{source}/").partition("#")[0] for link in links if link.startswith(f"{source}/")]
    assert len(inside) > 10
    assert not [link for link in links if ":" not in link and not link.startswith("#")]
    assert not [link for link in inside if not (ROOT / link).exists()]


def test_no_package_of_an_extra_is_there(installed: Path, tmp_path: Path) -> None:
    script = (
        "import importlib.util as u; print([n for n in ('nvidia', 'elftools', 'pandas', 'scipy', 'pytest') if u.find_spec(n)])\n"
        "import warploom; print(warploom.__file__)"
    )
    said = run(installed / "python", "-c", script, folder=tmp_path).stdout
    assert said.startswith("[]\n")
    assert str(ROOT) not in said


def test_a_workload_runs_and_is_right(installed: Path, tmp_path: Path) -> None:
    ended = run(installed / "warploom", "run", "vectoradd", "--size", "tiny", "--json", folder=tmp_path)
    assert ended.returncode == 0, ended.stderr
    result = json.loads(ended.stdout)
    assert result["verified"] and result["cycles"] > 0 and result["energy_pj"]["total"] > 0


@pytest.mark.parametrize("words", [("run", "vectoradd", "--size", "tiny"), ("inspect", "vectoradd")], ids=lambda words: words[0])
def test_machine_code_without_its_extra_is_one_sentence_that_names_it(installed: Path, tmp_path: Path, words: tuple[str]) -> None:
    ended = run(installed / "warploom", *words, "--code", "sm_90", folder=tmp_path)
    assert (ended.returncode, ended.stdout) == (2, "")
    assert ONE_SENTENCE.fullmatch(ended.stderr)
    assert "warploom[sass]" in ended.stderr


def test_every_command_helps(installed: Path, tmp_path: Path) -> None:
    said = run(installed / "python", "-c", COMMANDS, folder=tmp_path)
    assert said.returncode == 0, said.stderr
    ended = dict(re.findall(r"^(\w+) (\d+)$", said.stdout, re.MULTILINE))
    assert ended.keys() == set(cast(TyperGroup, get_command(application())).commands)  # those of this checkout, none missing
    assert set(ended.values()) == {"0"}


def test_what_only_looks_works_elsewhere(installed: Path, tmp_path: Path) -> None:
    machines = run(installed / "warploom", "machines", "--json", folder=tmp_path)
    assert "gtx480" in [machine["name"] for machine in json.loads(machines.stdout)]
    listing = run(installed / "warploom", "inspect", "vectoradd", "--json", folder=tmp_path)
    assert listing.returncode == 0, listing.stderr
    (kernel,) = json.loads(listing.stdout)
    assert kernel["name"] == "vectoradd"
    assert kernel["registers"] >= kernel["max_live"] > 0
    script = (
        "import warploom as wl; from warploom.programs.workloads.registry import workload_ptx\n"
        "for name in wl.workload_names(): wl.workload(name).inputs('tiny'), workload_ptx(name)\n"
        "print(len(wl.workload_names()), wl.design('baseline'), wl.technology('common').name)"
    )
    loaded = run(installed / "python", "-c", script, folder=tmp_path)
    assert loaded.returncode == 0, loaded.stderr
    assert loaded.stdout.split()[1:] == ["baseline", "common"]
