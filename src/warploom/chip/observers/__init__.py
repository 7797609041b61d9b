"""Parts that watch a run and count, and can change nothing of it; any of them can be attached to any run."""

from warploom.chip.observers.registry import make_observers, observer_names

__all__ = ["make_observers", "observer_names"]
