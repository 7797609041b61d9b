"""Sub-cores without operand collectors: small kernels, without compilation; and what the pipeline asks of a machine's stages."""

from __future__ import annotations

import ast
from pathlib import Path

from support.places import ROOT
from support.plain_python import run_checks

CORE = ROOT / "src" / "warploom" / "chip"


def test_subcores() -> None:
    run_checks(Path(__file__).parent / "subcore_checks.py")


def questions() -> set[str]:
    """The hook points whose answer depends on a machine's stages."""
    functions = [
        node for file in CORE.rglob("*.py") for node in ast.parse(file.read_text()).body if isinstance(node, ast.FunctionDef)
    ]
    return {f.name for f in functions if f.decorator_list and f.args.args and f.args.args[0].arg == "stages"}


def test_every_question_to_the_stages_is_answered() -> None:
    """A hook that no stages answer differently is not needed; an answer to no question would never be heard."""
    tree = ast.parse((CORE / "pipeline" / "subcores.py").read_text())
    methods = {
        node.name
        for kind in tree.body
        if isinstance(kind, ast.ClassDef)
        for node in kind.body
        if isinstance(node, ast.FunctionDef)
    }
    assert len(questions()) > 10
    assert questions() == methods
