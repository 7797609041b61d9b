"""What host programs do: the device that they see, and whole CUDA programs, run unchanged, recorded, and run again."""

from warploom.programs.device import Device

__all__ = ["Device"]
