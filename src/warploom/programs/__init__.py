"""What a host program does: the device that it sees, and the launches that it makes on it."""

from warploom.programs.device import Device

__all__ = ["Device"]
