"""Two ways to compile the same functions: a quick one that needs inner parts of Numba, and a plain one for versions without them.

The results are the same to the last bit; only the times to compile and to run differ. Which way is taken is decided once, when
this module is imported: the quick one if Numba has all that `linking`, `tuning` and `indexing` beside this module use, else the
plain one, with a line on standard error. ``WARPLOOM_JIT=plain`` and ``WARPLOOM_JIT=quick`` decide it by hand.
"""

from __future__ import annotations

import multiprocessing
import os
import sys
import warnings
from typing import Any, NamedTuple

import numba
from numba.core.errors import NumbaExperimentalFeatureWarning

from warploom.base.errors import WarploomError

VARIABLE = "WARPLOOM_JIT"
# Numba says, with both types in full, that the SM's record of a checked run has all fields of that of another run. It compiles
# the code for each of them all the same, for the contexts differ.
warnings.filterwarnings("ignore", message=".*has been considered a subtype", category=NumbaExperimentalFeatureWarning)


class Way(NamedTuple):
    """The options of ``numba.njit`` for each kind of function."""

    name: str
    by_itself: dict[str, Any]  # what Python calls and what may be called by anything
    whole: dict[str, Any]  # with all its callees
    separate: dict[str, Any]  # a callee
    inlined: dict[str, Any]  # a callee that is copied into its callers


def _quick() -> Way:
    """The quick way; ImportError or AttributeError where Numba lacks what it needs."""
    from warploom.jit import indexing, linking, tuning

    for owner, names in (*linking.INNER_PARTS, *tuning.INNER_PARTS, *indexing.INNER_PARTS):
        for name in names:
            if not _has(owner, name):
                raise AttributeError(f"{owner.__name__} has no {name}")
    tuning.install()
    indexing.install()
    callee = {"error_model": "numpy", "_nrt": False, "no_cpython_wrapper": True}
    return Way(
        "quick",
        # Reference counting is named so that it is never inherited from a caller: what is on the disk serves all callers.
        by_itself={"error_model": "numpy", "nogil": True, "_nrt": True},
        whole={"error_model": "numpy", "nogil": True, "_nrt": False, "pipeline_class": linking.WholeCompiler},
        separate={**callee, "pipeline_class": linking.SeparateCompiler},
        inlined={**callee, "pipeline_class": linking.InlinedCompiler},
    )


def _has(owner: Any, name: str) -> bool:
    """Whether a module, a class or its instances have an attribute; what instances have is named by some method of the class."""
    values = (value for base in getattr(owner, "__mro__", ()) for value in vars(base).values())
    return hasattr(owner, name) or any(name in value.__code__.co_names for value in values if hasattr(value, "__code__"))


def _plain() -> Way:
    both = {"error_model": "numpy", "nogil": True}
    return Way("plain", by_itself=both, whole=both, separate=both, inlined=both)


def _chosen() -> Way:
    asked = os.environ.get(VARIABLE, "")
    if asked not in ("", "quick", "plain"):
        raise WarploomError(f"environment variable {VARIABLE}: it must be quick or plain, not {asked!r}")
    if asked == "plain":
        return _plain()
    try:
        return _quick()
    except (ImportError, AttributeError) as lacking:
        reason = f"Numba {numba.__version__} lacks inner parts that this version of Warploom compiles with ({lacking})"
        if asked == "quick":
            raise WarploomError(f"environment variable {VARIABLE}: {reason}; unset it") from lacking
        if multiprocessing.parent_process() is None:  # workers would say it again
            print(f"{reason}; results are the same, but compiling takes several times as long", file=sys.stderr, flush=True)
        return _plain()


WAY = _chosen()
