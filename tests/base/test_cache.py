"""The one door to the cache: what is declared, who may write to it, what is in it, and what was changed there."""

from __future__ import annotations

import ast
import os
import pickle
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import warploom
from support.damage import DAMAGES, damage
from warploom.base.cache import PARTS, Cache, UnsafeCache, cache_root
from warploom.base.files import replace_file
from warploom.cli.app import run_command
from warploom.compiler.sass import module as sass_module
from warploom.compiler.sass.disassembly import listing
from warploom.compiler.sass.toolchain import is_installed
from warploom.programs.library import NAMES, libraries
from warploom.programs.workloads.registry import workload_ptx
from warploom.runs.result import encode
from warploom.runs.store import Store

PACKAGE = Path(warploom.__file__).parent
needs_tools = pytest.mark.skipif(not is_installed(), reason="NVIDIA's tools are not installed")
each_damage = pytest.mark.parametrize("how", DAMAGES, ids=lambda how: how.__name__)


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("WARPLOOM_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@contextmanager
def umask(mask: int) -> Iterator[None]:
    before = os.umask(mask)
    try:
        yield
    finally:
        os.umask(before)


def rights(path: Path) -> int:
    return path.stat().st_mode & 0o777


def calls_of(name: str) -> Iterator[tuple[str, ast.Call]]:
    for file in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name | ast.Attribute):
                called = node.func.id if isinstance(node.func, ast.Name) else node.func.attr
                if called == name:
                    yield file.relative_to(PACKAGE).as_posix(), node


def test_a_part_that_is_not_declared_has_no_door() -> None:
    with pytest.raises(KeyError):
        Cache("readings of the stars")


def test_every_part_has_somebody_who_opens_it_and_nobody_goes_around_the_door() -> None:
    opened = [call.args[0] for file, call in calls_of("Cache") if file != "base/cache.py"]
    assert {part.value for part in opened if isinstance(part, ast.Constant)} == set(PARTS) and len(opened) >= len(PARTS)
    assert {file for file, _ in calls_of("cache_root")} == {"base/cache.py", "cli/cache.py"}


def test_what_is_written_is_read(cache: Path) -> None:
    kept = Cache("timings")
    assert kept.read("a") is None and kept.read_json("b") is None
    kept.write("a", b"bytes")
    kept.write_json("b", [1])
    assert kept.read("a") == b"bytes" and kept.read_json("b") == [1]
    assert sorted(file.name for file in (cache / "timings").iterdir()) == ["a", "b"]


def test_what_was_not_used_for_longest_goes_first(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(PARTS, "sass", PARTS["sass"].__class__("", most=3))
    kept = Cache("sass")
    for number, name in enumerate("abc"):
        kept.write(name, b"")
        os.utime(cache / "sass" / name, (number, number))
    assert kept.read("a") == b""
    kept.write("d", b"")
    assert sorted(file.name for file in (cache / "sass").iterdir()) == ["a", "c", "d"]


@pytest.mark.parametrize("mode", [0o777, 0o775, 0o757])
@pytest.mark.parametrize("place", ["", "jit", "jit/abc"])
def test_a_cache_that_others_may_write_to_is_refused(cache: Path, place: str, mode: int) -> None:
    Cache("jit").write("abc/def", b"code")
    (cache / place).chmod(mode)
    for use in (lambda: Cache("jit").read("abc/def"), lambda: Cache("jit").write("abc/def", b"other")):
        with pytest.raises(UnsafeCache, match=f"^{cache / place}: others may write to this folder.*go-w {cache}"):
            use()
    (cache / place).chmod(0o755)
    assert Cache("jit").read("abc/def") == b"code"


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give a folder away")
@pytest.mark.parametrize("place", ["", "jit", "jit/abc"])
def test_a_cache_of_somebody_else_is_refused(cache: Path, place: str) -> None:
    Cache("jit").write("abc/def", b"code")
    os.chown(cache / place, 4321, -1)
    with pytest.raises(UnsafeCache, match=f"^{cache / place}: .* belongs to another user"):
        Cache("jit").read("abc/def")


class Harm:
    """What runs when it is unpickled."""

    def __init__(self, marker: Path) -> None:
        self.marker = marker

    def __reduce__(self) -> tuple[Callable, tuple[str]]:
        return os.mkdir, (str(self.marker),)


@pytest.mark.compiled
def test_a_run_refuses_to_load_code_that_others_may_have_written(cache: Path, tmp_path: Path) -> None:
    code = (
        "import warploom.base.cache as c, pickle, sys; from warploom.jit import kept_code\n"
        "kept_code.KeptCode._name = lambda self, key: 'abc/def.code'\n"
        "from warploom.cli import main; main()"
    )
    Cache("jit").write("abc/def.code", pickle.dumps(Harm(tmp_path / "ran")))
    command = [sys.executable, "-c", code, "run", "vectoradd", "--size", "tiny", "--emulate-only"]
    (cache / "jit").chmod(0o777)
    ended = subprocess.run(command, capture_output=True, text=True)
    assert ended.returncode == 2 and not (tmp_path / "ran").exists()
    assert ended.stderr.count("\n") == 1 and f"error: {cache}/jit: others may write" in ended.stderr


@pytest.mark.parametrize(("mask", "usual"), [(0o022, 0o644), (0o077, 0o600), (0o002, 0o664), (0o000, 0o666)])
def test_the_umask_is_heeded(tmp_path: Path, cache: Path, mask: int, usual: int) -> None:
    results = tmp_path / "results"
    with umask(mask):
        with replace_file(tmp_path / "table.csv") as draft:
            draft.write_text("1")
        Store(results).save("a", encode({"cycles": 1}))
        Store(results).fold()
        Store(results).save("b", encode({"cycles": 2}))
        Cache("timings").write("a", b"")
    assert {rights(file) for file in (tmp_path / "table.csv", *results.iterdir())} == {usual}
    assert rights(cache / "timings" / "a") == usual & 0o644  # nobody else may write there, whatever the umask leaves
    assert rights(cache) == rights(cache / "timings") == 0o755 & ~mask
    with umask(mask):
        assert Cache("timings").read("a") == b""


@pytest.fixture
def cubin() -> bytes:
    return sass_module.from_ptx(workload_ptx("vectoradd"), "vectoradd", "sm_90").make(None)


def texts(cubin: bytes) -> list[str]:
    return [line.text for section in listing(cubin, "vectoradd").values() for line in section.lines]


@needs_tools
def test_a_kept_addition_does_not_become_a_product(cubin: bytes, cache: Path, capfd: pytest.CaptureFixture[str]) -> None:
    before = texts(cubin)
    (kept,) = (cache / "sass").glob("*.listing")
    damage(kept, lambda data: data.replace(b"FADD", b"FMUL"))
    assert texts(cubin) == before and any(text.startswith("FADD") for text in before)
    assert f"{kept}: it was damaged and is removed" in capfd.readouterr().err
    assert texts(cubin) == before and capfd.readouterr().err == ""


@needs_tools
@each_damage
def test_kept_machine_code_that_was_damaged_is_made_again(
    cubin: bytes, cache: Path, how: Callable, capfd: pytest.CaptureFixture[str]
) -> None:
    (kept,) = (cache / "sass").glob("*.elf")
    damage(kept, how)
    assert sass_module.from_ptx(workload_ptx("vectoradd"), "vectoradd", "sm_90").make(None) == cubin
    assert f"{kept}: it was damaged and is removed" in capfd.readouterr().err
    assert sass_module.from_ptx(workload_ptx("vectoradd"), "vectoradd", "sm_90").make(None) == cubin


def test_a_library_that_was_damaged_is_built_again(cache: Path, capfd: pytest.CaptureFixture[str]) -> None:
    folder = libraries()
    whole = (folder / NAMES[12]).read_bytes()
    damage(folder / NAMES[12], DAMAGES[1])
    assert libraries() == folder and (folder / NAMES[12]).read_bytes()[:64] == whole[:64]
    assert f"{folder}: it was damaged and is removed" in capfd.readouterr().err
    assert libraries() == folder and capfd.readouterr().err == ""


def test_every_part_is_shown_and_cleared(cache: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for part in PARTS:
        (Cache(part).make_folder() / "something").write_text("12345")
    assert run_command(["cache"]) == 0
    shown = capsys.readouterr().out
    assert all(part.what in shown for part in PARTS.values()) and shown.count("5 bytes") == len(PARTS)
    assert run_command(["cache", "--clear"]) == 0
    assert list(cache.iterdir()) == [] and cache_root() == cache
