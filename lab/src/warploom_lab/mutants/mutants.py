"""Mutants: one small change at a random place of the sources, and whether the tests of its room notice.

    warploom-lab mutants draw --seed 1 --count 30 --out mutants.json   # the list, before anything is tried
    warploom-lab mutants try mutants.json --workers 15 --seconds 540 --out report.json

A place is found again by its function and its text, so that a list outlives changes elsewhere in the file. Each mutant has a
copy of the tree and a compiled-code cache of its own. The test files of its room are tried one by one, first those that speak of
it most; the first test that fails kills it, unless it fails without the mutant too. What survives is judged by hand.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from pathlib import Path

from warploom_lab import CHECKOUT

PACKAGE = Path("src", "warploom")
ROOMS = ("chip", "designs/policies", "papers", "emulator", "programs")
# Where the tests of a file are: the longest beginning of its path counts.
TESTS = {
    "chip": ["chip"],
    "chip/memory": ["chip/memory", "chip"],
    "designs/policies": ["designs/policies", "designs", "chip/pipeline", "chip"],
    "papers": ["papers"],
    "emulator": ["emulator/test_instruction_goldens.py", "emulator", "programs/test_device.py"],
    "emulator/sass": ["emulator/sass/test_sass_goldens.py", "emulator/test_instruction_goldens.py", "emulator"],
    "programs": ["programs", "emulator/test_device_memory.py"],
}
TAKEN_ALONG = ("src", "tests", "lab", "docs", "pyproject.toml", "README.md", "Makefile", "CONTRIBUTING.md")
FILE_SECONDS = 300  # after which a file of tests is given up
UNCOMPILED = re.compile(r"numba\.core\.errors|TypingError|LoweringError|UnsupportedError|SyntaxError|NameError")
FAILED = re.compile(r"^(?:FAILED|ERROR) (\S+::.+?|\S+\.py)(?: - .*)?$", re.MULTILINE)
COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
RETURNS = {"bool": "not ({})", "int": "({}) + 1", "float": "({}) + 1"}


@dataclass(frozen=True)
class Mutant:
    """A change of one place; ``nth`` counts equal ones in the same function."""

    file: str  # beneath the package
    function: str
    kind: str
    before: str
    after: str
    nth: int
    line: int  # when it was drawn

    def is_at(self, other: Mutant) -> bool:
        """Whether both are the same change, wherever it stands in the file now."""
        return (self.function, self.kind, self.before, self.after, self.nth) == (
            other.function,
            other.kind,
            other.before,
            other.after,
            other.nth,
        )


@dataclass(frozen=True)
class Change:
    """A mutant with the bytes of the source that it replaces."""

    mutant: Mutant
    start: int
    end: int


class _Finder(ast.NodeVisitor):
    """Every change that can be made in a file. Annotations, decorators, docstrings and texts with values are left alone."""

    def __init__(self, file: str, source: bytes) -> None:
        self.file, self.source = file, source
        self.lines = [0]
        for line in source.splitlines(keepends=True):
            self.lines.append(self.lines[-1] + len(line))
        self.scope: list[str] = []
        self.returns = ""
        self.seen: Counter[tuple[str, str, str, str]] = Counter()
        self.found: list[Change] = []

    def _offer(self, node: ast.expr | ast.stmt, kind: str, after: str) -> None:
        start = self.lines[node.lineno - 1] + node.col_offset
        end = self.lines[(node.end_lineno or 0) - 1] + (node.end_col_offset or 0)
        before = self.source[start:end].decode()
        name = (".".join(self.scope), kind, before, after)
        self.found.append(Change(Mutant(self.file, *name, self.seen[name], node.lineno), start, end))
        self.seen[name] += 1

    def _negate(self, test: ast.expr) -> None:
        self._offer(test, "condition", f"(not ({ast.unparse(test)}))")

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        outer = self.returns
        self.scope.append(node.name)
        self.returns = ast.unparse(node.returns) if node.returns is not None else ""
        for child in [*node.args.defaults, *node.body]:
            self.visit(child)
        self.scope.pop()
        self.returns = outer

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self.scope.append(node.name)
        for child in node.body:
            self.visit(child)
        self.scope.pop()

    def visit_If(self, node: ast.If) -> None:
        if ast.unparse(node.test) != "TYPE_CHECKING":
            self._negate(node.test)
            self.generic_visit(node)

    def visit_While(self, node: ast.While) -> None:
        self._negate(node.test)
        self.generic_visit(node)

    def visit_IfExp(self, node: ast.IfExp) -> None:
        self._negate(node.test)
        self.generic_visit(node)

    def visit_comprehension(self, node: ast.comprehension) -> None:
        for test in node.ifs:
            self._negate(test)
        self.generic_visit(node)

    def visit_Compare(self, node: ast.Compare) -> None:
        if len(node.ops) == 1:
            other = ast.Compare(node.left, [COMPARISONS[type(node.ops[0])]()], node.comparators)
            self._offer(node, "comparison", f"({ast.unparse(other)})")
        self.generic_visit(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        other = ast.BoolOp(ast.Or() if isinstance(node.op, ast.And) else ast.And(), node.values)
        self._offer(node, "and/or", f"({ast.unparse(other)})")
        self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        if isinstance(node.op, (ast.Add, ast.Sub)) and not (_is_text(node.left) or _is_text(node.right)):
            other = ast.BinOp(node.left, ast.Sub() if isinstance(node.op, ast.Add) else ast.Add(), node.right)
            self._offer(node, "sign", f"({ast.unparse(other)})")
        self.generic_visit(node)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        self._drop(node)
        if isinstance(node.op, (ast.Add, ast.Sub)) and not _is_text(node.value):
            other = ast.AugAssign(node.target, ast.Sub() if isinstance(node.op, ast.Add) else ast.Add(), node.value)
            self._offer(node, "sign", ast.unparse(other))
        self.generic_visit(node)

    def visit_Assign(self, node: ast.Assign) -> None:
        if all(isinstance(target, (ast.Attribute, ast.Subscript)) for target in node.targets):
            self._drop(node)
        self.generic_visit(node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.visit(node.value)

    def visit_Expr(self, node: ast.Expr) -> None:
        if isinstance(node.value, ast.Call):
            self._drop(node)
        self.generic_visit(node)

    def _drop(self, node: ast.stmt) -> None:
        if self.scope:
            self._offer(node, "statement", "pass")

    def visit_Return(self, node: ast.Return) -> None:
        if node.value is not None and self.returns in RETURNS:
            self._offer(node, "return", "return " + RETURNS[self.returns].format(ast.unparse(node.value)))
        self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        if type(node.value) is int:
            self._offer(node, "constant", str(node.value + 1))

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        """What a person reads is not looked at."""


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, (ast.JoinedStr, ast.List, ast.Tuple)) or (
        isinstance(node, ast.Constant) and isinstance(node.value, (str, bytes))
    )


def changes_of(file: str, source: bytes) -> list[Change]:
    """Every change of a source, in its order."""
    finder = _Finder(file, source)
    finder.visit(ast.parse(source))
    return finder.found


def draw(root: Path, seed: int, count: int) -> list[Mutant]:
    """Draw `count` changes of the rooms' sources, each as likely as any other."""
    package = root / PACKAGE
    files = sorted(file for room in ROOMS for file in (package / room).rglob("*.py"))
    every = [change.mutant for file in files for change in changes_of(file.relative_to(package).as_posix(), file.read_bytes())]
    return random.Random(seed).sample(every, count)


def changed(source: bytes, mutant: Mutant) -> bytes | None:
    """The source with a mutant in it; None if the place is no longer there."""
    for change in changes_of(mutant.file, source):
        if change.mutant.is_at(mutant):
            return source[: change.start] + mutant.after.encode() + source[change.end :]
    return None


def _with_checks(file: Path) -> str:
    """The text of a test file, with that of the files of checks that it runs in processes of their own."""
    text = file.read_text("utf-8")
    return text + "".join(checks.read_text("utf-8") for checks in file.parent.glob("*_checks.py") if checks.stem in text)


def tests_of(root: Path, mutant: Mutant) -> list[str]:
    """The test files of a mutant's room, or of its paper; first those that are named after its module, or name it most."""
    path = Path(mutant.file)
    room = max((name for name in TESTS if path.is_relative_to(name)), key=len)
    places = [root / "tests" / place for place in TESTS[room]]
    if room == "papers" and (root / "tests" / path.parent).is_dir():
        places = [root / "tests" / path.parent]
    files: dict[Path, int] = {}
    for number, place in enumerate(places):
        for file in [place] if place.is_file() else place.rglob("test_*.py"):
            files.setdefault(file, number)
    words = {path.stem, path.stem.replace("_", "-"), mutant.function.rpartition(".")[2].lstrip("_")} - {""}

    def distance(file: Path) -> tuple[bool, int, int, str]:
        text = _with_checks(file)
        return path.stem.rstrip("s") not in file.stem, files[file], -sum(text.count(word) for word in words), file.name

    return [file.relative_to(root).as_posix() for file in sorted(files, key=distance)]


@dataclass
class Trial:
    """What is known of a mutant so far."""

    mutant: Mutant
    verdict: str = ""
    by: str = ""  # the test that failed
    words: str = ""  # the end of what it said
    passed: list[str] = field(default_factory=list)  # test files
    unusable: list[str] = field(default_factory=list)  # files that fail without the mutant, too
    given_up: list[str] = field(default_factory=list)  # files that took too long
    seconds: float = 0.0
    folder: Path | None = None
    lock: threading.Lock = field(default_factory=threading.Lock)


class Laboratory:
    """Tries mutants side by side until a time."""

    def __init__(self, root: Path, work: Path, until: float) -> None:
        self.root, self.work, self.until = root, work, until
        self.broken: dict[str, bool] = {}  # whether tests fail without a mutant
        self.asking: dict[str, threading.Lock] = defaultdict(threading.Lock)

    def pytest(self, folder: Path, cache: Path, arguments: list[str]) -> tuple[int | None, str]:
        """Run tests in a tree; the exit code, None where there was no time for it, and what was said."""
        limit = min(FILE_SECONDS, self.until - time.monotonic())
        if limit <= 0:
            return None, ""
        environment = {**os.environ, "PYTHONPATH": str(folder / "src"), "WARPLOOM_CACHE": str(cache)}
        command = [sys.executable, "-m", "pytest", "-x", "-q", "--tb=short", "-p", "no:cacheprovider", *arguments]
        with subprocess.Popen(
            command,
            cwd=folder,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            start_new_session=True,
        ) as run:
            try:
                said, _ = run.communicate(timeout=limit)
            except subprocess.TimeoutExpired:
                os.killpg(run.pid, signal.SIGKILL)
                return None, run.communicate()[0]
        return run.returncode, said

    def fails_anyway(self, test: str) -> bool:
        """Whether a test fails without any mutant, too."""
        with self.asking[test]:
            if test not in self.broken:
                code, _ = self.pytest(self.root, self.work / "cache", [test])
                self.broken[test] = code != 0
            return self.broken[test]

    def tree_of(self, trial: Trial, number: int) -> Path:
        """A copy of the tree with the mutant in it, made when it is first asked for."""
        with trial.lock:
            if trial.folder is None:
                folder = self.work / str(number)
                copy_tree(self.root, folder)
                file = folder / PACKAGE / trial.mutant.file
                file.write_bytes(changed(file.read_bytes(), trial.mutant) or b"")
                trial.folder = folder
            return trial.folder

    def run_file(self, trial: Trial, number: int, tests: str) -> None:
        """Try one test file on a mutant that nothing has killed yet."""
        if trial.verdict or time.monotonic() >= self.until:
            return
        folder, begun = self.tree_of(trial, number), time.monotonic()
        passed_over: list[str] = []
        while not trial.verdict:
            code, said = self.pytest(folder, folder / "cache", [tests, *(f"--deselect={test}" for test in passed_over)])
            failed = FAILED.findall(said)
            if code in (0, 5):
                trial.passed.append(tests)
            elif code is None:
                trial.given_up.append(tests)
            elif failed and failed[0] not in passed_over and self.fails_anyway(failed[0]):
                if "::" in failed[0]:
                    passed_over.append(failed[0])
                    continue
                trial.unusable.append(tests)
            elif not trial.verdict:
                trial.verdict = "could not be compiled" if UNCOMPILED.search(said) else "killed"
                trial.by, trial.words = failed[0] if failed else tests, said[-2500:]
                print(f"{number}: {trial.verdict} by {trial.by}", flush=True)
            break
        trial.seconds += time.monotonic() - begun


def copy_tree(root: Path, folder: Path) -> None:
    """What tests need of a tree."""
    folder.mkdir(parents=True)
    for name in TAKEN_ALONG:
        if (root / name).is_dir():
            shutil.copytree(root / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy2(root / name, folder / name)


def try_all(root: Path, mutants: list[Mutant], workers: int, seconds: float, work: Path) -> list[Trial]:
    """Try the first test file of every mutant, then the second, and so on."""
    laboratory = Laboratory(root, work, time.monotonic() + seconds)
    trials = [Trial(mutant) for mutant in mutants]
    jobs = []
    for number, trial in enumerate(trials):
        source = root / PACKAGE / trial.mutant.file
        if not source.is_file() or changed(source.read_bytes(), trial.mutant) is None:
            trial.verdict = "no longer there"
            continue
        jobs += [(place, number, trial, tests) for place, tests in enumerate(tests_of(root, trial.mutant))]
    jobs.sort(key=lambda job: job[:2])
    with ThreadPoolExecutor(workers) as pool:
        for _ in pool.map(lambda job: laboratory.run_file(job[2], job[1], job[3]), jobs):
            pass
    for number, trial in enumerate(trials):
        if not trial.verdict:
            wanted = sum(job[1] == number for job in jobs)
            trial.verdict = "survived" if len(trial.passed) + len(trial.unusable) == wanted else "undecided"
    print(f"fail without a mutant, too: {sorted(test for test, broken in laboratory.broken.items() if broken)}")
    return trials


def rows(trials: list[Trial]) -> Iterator[dict[str, object]]:
    """The report: a row for each mutant."""
    for number, trial in enumerate(trials):
        told = {name: getattr(trial, name) for name in ("verdict", "by", "words", "passed", "unusable", "given_up", "seconds")}
        yield {"number": number, **asdict(trial.mutant), **told}


def main() -> int:
    """Draw a list, or try one."""
    parser = argparse.ArgumentParser(prog="mutants", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ways = parser.add_subparsers(dest="way", required=True)
    drawing = ways.add_parser("draw", help="draw a list of mutants")
    drawing.add_argument("--seed", type=int, required=True)
    drawing.add_argument("--count", type=int, default=30)
    trying = ways.add_parser("try", help="try a list of mutants")
    trying.add_argument("list", type=Path)
    trying.add_argument("--only", type=int, nargs="*", help="numbers of the list")
    trying.add_argument("--workers", type=int, default=2)
    trying.add_argument("--seconds", type=float, default=3600)
    for each in (drawing, trying):
        each.add_argument("--out", type=Path, required=True)
    words = parser.parse_args()
    if words.way == "draw":
        drawn = draw(CHECKOUT, words.seed, words.count)
        words.out.write_text(json.dumps({"seed": words.seed, "mutants": [asdict(mutant) for mutant in drawn]}, indent=1) + "\n")
        return 0
    mutants = [Mutant(**row) for row in json.loads(words.list.read_text())["mutants"]]
    chosen = words.only if words.only is not None else range(len(mutants))
    with tempfile.TemporaryDirectory(prefix="mutants-") as work:
        trials = try_all(CHECKOUT, [mutants[number] for number in chosen], words.workers, words.seconds, Path(work))
    report = [{**row, "number": number} for number, row in zip(chosen, rows(trials), strict=True)]
    words.out.write_text(json.dumps(report, indent=1) + "\n")
    for row in report:
        print(f"{row['number']:3} {row['verdict']:22} {row['file']}:{row['line']} {row['kind']} {row['by']}")
    print(", ".join(f"{count} {verdict}" for verdict, count in Counter(trial.verdict for trial in trials).items()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
