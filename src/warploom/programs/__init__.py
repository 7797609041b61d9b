"""What host programs do: workloads, own kernels, the device that they see, and whole CUDA programs, run, recorded and run again.

`RealDevice` is a GPU with the methods of `Device`; it needs CuPy. The names below are imported when they
are first used, because most of what stands here needs neither the emulator nor a GPU.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from warploom.base.errors import WarploomError

if TYPE_CHECKING:
    from warploom.programs.device import Device as Device
    from warploom.programs.real import RealDevice as RealDevice

_HOMES = {"Device": "device", "RealDevice": "real"}
__all__ = ["Device", "RealDevice"]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'warploom.programs' has no attribute {name!r}")
    try:
        return getattr(import_module(f"warploom.programs.{_HOMES[name]}"), name)
    except ImportError as missing:
        if name != "RealDevice":
            raise
        raise WarploomError(f"RealDevice needs a GPU and CuPy ({missing}): pip install cupy-cuda13x.") from None
