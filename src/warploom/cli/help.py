"""What ``--help`` shows of the commands: their options in groups, examples at the end, and names for the shell to complete.

An option has one name and one meaning in all commands, so it is told by its name which group it is in and what completes it.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from typing import Any

from typer.models import ParameterInfo

from warploom.cli.names_first import known_designs, known_machines

GROUPS = {
    "Machine": ("machine", "override", "sms", "technology"),
    "How runs are made": (
        "size", "code", "seed", "caches", "check", "order", "max_instructions", "emulate_only", "max_registers", "jobs",
        "threads", "scheduler", "memory", "real_gpu", "results", "store",
    ),
    "Kernel of a file": (
        "kernel", "grid", "block", "arg", "shared", "include", "define", "std", "nvrtc_option", "symbol", "save", "expect",
    ),
    "Your own code": ("paper", "folders", "policy", "trust_bundle"),
    "Output": (
        "out", "csv", "latex", "power", "json", "width", "font_size", "no_provenance", "picture", "pictures", "summary", "report",
        "quiet", "error_exitcode", "record", "only", "launches", "record_limit",
        "timeline", "pipeline", "sm", "warps", "cycles", "by", "sort", "top", "hot_spots",
    ),
}  # fmt: skip
_NOT_SO = {"reproduce": ("paper",), "run": ("record",)}  # there the name is the command's argument, or `--from`

EXAMPLES = {
    "run": (
        "warploom run hotspot --design baseline --design rfv",
        "warploom run my.cu --kernel blur --grid 64,64 --block 16,16 --arg 'in=f32[1024]:random'",
        "warploom run hotspot --json > result.json",
        "warploom run --from result.json",
        "warploom run --from result.zip",
    ),
    "exec": ("warploom exec -- ./app arguments", "warploom exec --design rfv --record app.wlr -- ./app"),
    "compare": ("warploom compare --workloads hotspot,bfs --designs baseline,rfc,rfv --out compare.png",),
    "profile": (
        "warploom profile hotspot --by line --sort energy",
        "warploom profile hotspot --design baseline --design rfc --out profile.html",
    ),
    "sweep": ("warploom sweep lab/plans/shrink.toml --dry-run", "warploom sweep lab/plans/shrink.toml"),
    "search": ("warploom search lab/plans/energy-gtx480.toml --out results/search",),
    "reproduce": ("warploom reproduce rfv --figure 10", "warploom reproduce all"),
    "report": ("warploom report --workloads hotspot,bfs --designs baseline,rfv",),
    "validate": ("warploom validate --machine hopper --only hotspot",),
    "inspect": ("warploom inspect hotspot --design rfv", "warploom inspect my.cu --kernel blur --max-registers 24"),
    "bundle": ("warploom bundle result.json result.zip", "warploom bundle plan.toml plan.zip --results results/sweep"),
    "compile": ("warploom compile baseline rfv --machine gtx480",),
    "designs": ("warploom designs", "warploom designs gpu-shrink --out gpu-shrink.svg"),
    "machines": ("warploom machines hopper", "warploom machines --keys latency"),
    "new": ("warploom new policy my-idea",),
    "counters": ("warploom counters stall",),
    "workloads": ("warploom workloads --set rfv",),
    "cite": ("warploom cite result.json",),
    "bench": ("warploom bench --only timing",),
    "cache": ("warploom cache", "warploom cache --clear"),
}


def epilog(command: str) -> str:
    """The examples of a command, each a paragraph: only those begin a new line."""
    return "\n\n".join(["Examples:", *EXAMPLES[command]])


def with_help(name: str, command: Callable[..., Any]) -> Callable[..., Any]:
    """A command whose options know their groups, and what completes them."""
    taken = inspect.signature(command, eval_str=True)
    group_of = {option: group for group, options in GROUPS.items() for option in options if option not in _NOT_SO.get(name, ())}
    for parameter in taken.parameters.values():
        for info in getattr(parameter.annotation, "__metadata__", ()):
            if isinstance(info, ParameterInfo):
                info.rich_help_panel = group_of.get(parameter.name) or info.rich_help_panel
                info.autocompletion = _COMPLETED.get((name, parameter.name)) or _COMPLETED.get(("", parameter.name))
    command.__signature__ = taken  # type: ignore[attr-defined]
    return command


def _beginning(names: Iterable[str], typed: str) -> list[str]:
    """The names that begin as the last of those that are typed, which may have commas between them."""
    before, comma, last = typed.rpartition(",")
    return [f"{before}{comma}{name}" for name in sorted(names) if name.startswith(last)]


def complete_workload(incomplete: str) -> list[str]:
    """Workloads and sets of them."""
    from warploom.programs.workloads.registry import ALL, set_names, workload_names

    return _beginning({*workload_names(), *set_names(), ALL}, incomplete)


def complete_design(incomplete: str) -> list[str]:
    """Named designs and policies."""
    return _beginning(known_designs(), incomplete)


def complete_machine(incomplete: str) -> list[str]:
    """Machines that come with Warploom, and papers' own."""
    return _beginning(known_machines(), incomplete)


_COMPLETED: dict[tuple[str, str], Callable[[str], list[str]]] = {
    ("", "target"): complete_workload,
    ("", "workloads"): complete_workload,
    ("", "design"): complete_design,
    ("", "designs"): complete_design,
    ("designs", "name"): complete_design,
    ("", "machine"): complete_machine,
    ("machines", "name"): complete_machine,
}
