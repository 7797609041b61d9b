"""The dtypes that depend on a design: the record of an SM with the states of its policies, and their notes on instructions."""

from __future__ import annotations

from typing import Any

import numpy as np

from warploom.base.records import dtype_of, own_dtype
from warploom.chip.sm.choices import CHOICES, Policies
from warploom.chip.sm.context import CodeRow
from warploom.chip.sm.layout import CheckedSm, Sm
from warploom.chip.sm.observing import observed_dtype


def sm_dtype(design: Policies, checked: bool, observers: tuple[Any, ...] = (), stages: Any = None) -> np.dtype:
    """The record of one SM under a design, with those of its observers and of its machine's stages."""
    states = {choice: own_dtype(getattr(policy, "STATE", None)) for choice, policy in zip(CHOICES, design, strict=True)}
    kept = own_dtype(stages)
    return dtype_of(CheckedSm if checked else Sm, {**states, "observed": observed_dtype(observers), "stages": kept})


def notes_dtype(policy: Any) -> np.dtype:
    """The record of a policy's notes about one instruction."""
    return own_dtype(getattr(policy, "NOTES", None))


def code_dtype(design: Policies) -> np.dtype:
    """The record of one instruction under a design."""
    return dtype_of(CodeRow, {choice: notes_dtype(policy) for choice, policy in zip(CHOICES, design, strict=True)})
