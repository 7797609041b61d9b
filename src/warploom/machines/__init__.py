"""Machine descriptions: data files, one per published configuration, each number with its source."""

from warploom.machines.loader import load_machine, machine_names
from warploom.machines.machine import MACHINE_DTYPE, Machine

__all__ = ["MACHINE_DTYPE", "Machine", "load_machine", "machine_names"]
