"""Warploom: a laboratory for GPU register files.

    import warploom as wl

    result = wl.simulate(wl.workload("hotspot"), wl.design("rfv", shrink=0.5), machine="gtx480")
    result.ipc, result.energy_pj["total"], result.to_dict()

The names below are imported when they are first used, so that importing the package stays quick.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from warploom.base.errors import WarploomError as WarploomError
    from warploom.base.library import load_paper as load_paper
    from warploom.chip.machines import load_machine as machine
    from warploom.designs import Design as Design
    from warploom.designs import design as design
    from warploom.designs.energy import load_technology as technology
    from warploom.programs import Device as Device
    from warploom.programs.own import program as program
    from warploom.programs.workloads.registry import load_workload as workload
    from warploom.programs.workloads.registry import workload_names as workload_names
    from warploom.programs.workloads.registry import workload_set as workload_set
    from warploom.runs.result import Result as Result
    from warploom.runs.result import to_table as to_table
    from warploom.runs.simulate import emulate as emulate
    from warploom.runs.simulate import simulate as simulate
    from warploom.show.profile import profile as profile
    from warploom.show.reproduction import figure as figure
    from warploom.studies.search.search import search as search
    from warploom.studies.sweep.plan import Plan as Plan
    from warploom.studies.sweep.sweep import sweep as sweep

_HOMES = {
    "Design": ("warploom.designs", "Design"),
    "Device": ("warploom.programs", "Device"),
    "Plan": ("warploom.studies.sweep.plan", "Plan"),
    "Result": ("warploom.runs.result", "Result"),
    "WarploomError": ("warploom.base.errors", "WarploomError"),
    "design": ("warploom.designs", "design"),
    "figure": ("warploom.show.reproduction", "figure"),
    "profile": ("warploom.show.profile", "profile"),
    "program": ("warploom.programs.own", "program"),
    "emulate": ("warploom.runs.simulate", "emulate"),
    "load_paper": ("warploom.base.library", "load_paper"),
    "machine": ("warploom.chip.machines", "load_machine"),
    "search": ("warploom.studies.search.search", "search"),
    "simulate": ("warploom.runs.simulate", "simulate"),
    "sweep": ("warploom.studies.sweep.sweep", "sweep"),
    "technology": ("warploom.designs.energy", "load_technology"),
    "to_table": ("warploom.runs.result", "to_table"),
    "workload": ("warploom.programs.workloads.registry", "load_workload"),
    "workload_names": ("warploom.programs.workloads.registry", "workload_names"),
    "workload_set": ("warploom.programs.workloads.registry", "workload_set"),
}
__all__ = [
    "Design",
    "Device",
    "Plan",
    "Result",
    "WarploomError",
    "__version__",
    "design",
    "emulate",
    "figure",
    "load_paper",
    "machine",
    "profile",
    "program",
    "search",
    "simulate",
    "sweep",
    "technology",
    "to_table",
    "workload",
    "workload_names",
    "workload_set",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'warploom' has no attribute {name!r}")
    module, attribute = _HOMES[name]
    return getattr(import_module(module), attribute)


def __dir__() -> list[str]:
    return sorted(__all__)
