"""Machine descriptions: data files, one per published configuration, each number with its source."""

from warploom.chip.machines.loader import load_machine, machine_names
from warploom.chip.machines.machine import Machine
from warploom.chip.machines.schema import MACHINE_DTYPE, MachineRecord

__all__ = ["MACHINE_DTYPE", "Machine", "MachineRecord", "load_machine", "machine_names"]
