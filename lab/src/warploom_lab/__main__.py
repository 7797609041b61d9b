"""``warploom-lab TOOL [OPTIONS]``: run one tool of the laboratory; without a tool, list them."""

from __future__ import annotations

import ast
import runpy
import sys
from pathlib import Path

FOLDER = Path(__file__).resolve().parent


def tools() -> dict[str, str]:
    """Modules by the name of their tool: every module that can be run as a program."""
    found = {}
    for file in sorted(FOLDER.glob("*/*.py")):
        if '\nif __name__ == "__main__":' in file.read_text(encoding="utf-8"):
            found[file.stem.replace("_", "-")] = f"{__package__}.{file.parent.name}.{file.stem}"
    return found


def summary(module: str) -> str:
    """The first line of a module's docstring."""
    file = FOLDER.joinpath(*module.split(".")[1:]).with_suffix(".py")
    text = ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))) or ""
    return text.partition("\n")[0]


def main() -> int:
    """Run the tool that is named first; its own options follow."""
    known = tools()
    asked = sys.argv[1] if len(sys.argv) > 1 else ""
    if asked not in known:
        if asked not in ("", "--help"):
            print(f"warploom-lab: there is no tool {asked!r}.", file=sys.stderr)
        print("\n".join(f"{name:<24}{summary(module)}" for name, module in known.items()))
        return 0 if asked == "--help" else 2
    sys.argv = [f"warploom-lab {asked}", *sys.argv[2:]]
    runpy.run_module(known[asked], run_name="__main__", alter_sys=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
