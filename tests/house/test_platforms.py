"""What `make demo` installs can be installed where the manual says that Warploom runs."""

from __future__ import annotations

import platform
import re
import tomllib

import pytest
from packaging.requirements import Requirement

from support.places import ROOT
from warploom.base.errors import WarploomError
from warploom.compiler.cuda.wheels import how_to_get
from warploom.compiler.sass import toolchain

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
LINUX = {"sys_platform": "linux", "platform_system": "Linux", "platform_machine": "aarch64"}
MACOS = {"sys_platform": "darwin", "platform_system": "Darwin", "platform_machine": "arm64"}


def installed(extras: list[str], where: dict[str, str]) -> set[str]:
    """The packages that the project itself asks for on a platform."""
    names = set()
    for extra in extras:
        for requirement in map(Requirement, PROJECT["optional-dependencies"][extra]):
            if requirement.name == "warploom":
                names |= installed(sorted(requirement.extras), where)
            elif requirement.marker is None or requirement.marker.evaluate(where):
                names.add(requirement.name)
    return names


def demo_extras() -> list[str]:
    (found,) = re.findall(r"--editable '\.\[([a-z,-]+)\]'\n\ttouch", (ROOT / "Makefile").read_text("utf-8"))[:1]
    return found.split(",")


def test_the_demonstration_asks_for_nothing_on_macos_that_nvidia_does_not_build_for_it() -> None:
    assert not [name for name in installed(demo_extras(), MACOS) if name.startswith("nvidia-")]
    assert {"nvidia-cuda-nvrtc", "nvidia-cuda-nvcc"} <= installed(demo_extras(), LINUX)
    assert installed(demo_extras(), LINUX) - installed(demo_extras(), MACOS) == {
        name for name in installed(demo_extras(), LINUX) if name.startswith("nvidia-")
    }


def test_on_macos_nobody_is_told_to_install_what_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    assert how_to_get("cuda") == "install it with: pip install 'warploom[cuda]'"
    monkeypatch.setattr(platform, "system", lambda: "Darwin")
    assert "pip install" not in how_to_get("cuda")
    with pytest.raises(WarploomError, match=r"macOS.*PTX"):
        toolchain.program_file("no-such-tool")


def test_the_manual_names_the_pythons_that_the_package_does() -> None:
    page = (ROOT / "docs" / "reference" / "platforms.md").read_text("utf-8")
    named = {text.removeprefix("Programming Language :: Python :: ") for text in PROJECT["classifiers"] if ":: 3." in text}
    assert f"Python {min(named)} to {max(named, key=lambda text: int(text[2:]))}" in page
    assert "Python 3.14" in page
