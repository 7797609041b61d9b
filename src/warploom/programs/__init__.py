"""What host programs do: the device that they see, and whole CUDA programs, run unchanged, recorded, and run again.

`RealDevice` is a GPU with the methods of `Device`; it needs CuPy and is imported when it is first used.
"""

from typing import Any

from warploom.programs.device import Device
from warploom.programs.own import program

__all__ = ["Device", "RealDevice", "program"]


def __getattr__(name: str) -> Any:
    if name != "RealDevice":
        raise AttributeError(f"module 'warploom.programs' has no attribute {name!r}")
    try:
        from warploom.programs.real import RealDevice
    except ImportError as missing:
        from warploom.errors import WarploomError

        raise WarploomError(f"RealDevice needs a GPU and CuPy ({missing}): pip install cupy-cuda13x.") from None
    return RealDevice
