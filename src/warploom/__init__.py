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
    from warploom.designs import Design as Design
    from warploom.designs import design as design
    from warploom.energy import load_technology as technology
    from warploom.errors import WarploomError as WarploomError
    from warploom.library import load_paper as load_paper
    from warploom.machines import load_machine as machine
    from warploom.programs import Device as Device
    from warploom.programs import program as program
    from warploom.report.profile import profile as profile
    from warploom.report.reproduction import figure as figure
    from warploom.simulation.result import Result as Result
    from warploom.simulation.result import to_table as to_table
    from warploom.simulation.simulate import emulate as emulate
    from warploom.simulation.simulate import simulate as simulate
    from warploom.sweeps.plan import Plan as Plan
    from warploom.sweeps.search import search as search
    from warploom.sweeps.sweep import sweep as sweep
    from warploom.workloads.registry import load_workload as workload
    from warploom.workloads.registry import workload_names as workload_names
    from warploom.workloads.registry import workload_set as workload_set

_HOMES = {
    "Design": ("warploom.designs", "Design"),
    "Device": ("warploom.programs", "Device"),
    "Plan": ("warploom.sweeps.plan", "Plan"),
    "Result": ("warploom.simulation.result", "Result"),
    "WarploomError": ("warploom.errors", "WarploomError"),
    "design": ("warploom.designs", "design"),
    "figure": ("warploom.report.reproduction", "figure"),
    "profile": ("warploom.report.profile", "profile"),
    "program": ("warploom.programs", "program"),
    "emulate": ("warploom.simulation.simulate", "emulate"),
    "load_paper": ("warploom.library", "load_paper"),
    "machine": ("warploom.machines", "load_machine"),
    "search": ("warploom.sweeps.search", "search"),
    "simulate": ("warploom.simulation.simulate", "simulate"),
    "sweep": ("warploom.sweeps.sweep", "sweep"),
    "technology": ("warploom.energy", "load_technology"),
    "to_table": ("warploom.simulation.result", "to_table"),
    "workload": ("warploom.workloads.registry", "load_workload"),
    "workload_names": ("warploom.workloads.registry", "workload_names"),
    "workload_set": ("warploom.workloads.registry", "workload_set"),
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
