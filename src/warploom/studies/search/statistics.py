"""The mean of a few measurements, and how far the true one may be from it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

CONFIDENCE = 0.95


@dataclass(frozen=True)
class Estimate:
    """A mean with half the width of its confidence interval; not a number for a single measurement."""

    number: int
    mean: float
    half_width: float


def estimate(values: Sequence[float], confidence: float = CONFIDENCE) -> Estimate:
    """Mean and Student's interval of independent measurements."""
    number, mean = len(values), math.fsum(values) / len(values)
    if number < 2:
        return Estimate(number, mean, math.nan)
    variance = math.fsum((value - mean) ** 2 for value in values) / (number - 1)
    return Estimate(number, mean, t_quantile(confidence, number - 1) * math.sqrt(variance / number))


def t_quantile(confidence: float, freedom: int) -> float:
    """How many standard errors to either side hold this share of Student's distribution."""
    low, high = 0.0, 1.0
    while t_share(high, freedom) < confidence:
        high *= 2
    while high - low > 1e-12 * high:
        middle = (low + high) / 2
        low, high = (middle, high) if t_share(middle, freedom) < confidence else (low, middle)
    return (low + high) / 2


def t_share(t: float, freedom: int) -> float:
    """The share of Student's distribution between -t and t: finite sums, Abramowitz and Stegun 26.7.3 and 26.7.4."""
    angle = math.atan2(t, math.sqrt(freedom))
    cosine, sine = math.cos(angle), math.sin(angle)
    odd = freedom % 2 == 1
    term, total = (cosine if odd else 1.0), 0.0
    for power in range(1 if odd else 0, freedom - 1, 2):
        total += term
        term *= cosine * cosine * (power + 1) / (power + 2)
    return 2 / math.pi * (angle + sine * total) if odd else sine * total
