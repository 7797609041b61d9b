"""How a figure is set: as wide as a column of a paper, in letters of its size, with or without a line on where it is from."""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from warploom.base.errors import WarploomError

_POINTS = {"": 1.0, "pt": 1.0, "px": 1.0, "in": 72.0, "cm": 72 / 2.54, "mm": 72 / 25.4}
_NARROWEST, _WIDEST = 120, 5000  # points
_FIRST, _SECOND = 300.0, 200.0  # plots that are drawn to see what stands beside them
_CLOSE = 0.5  # points


@dataclass(frozen=True)
class Setting:
    """What a figure for a paper asks for. A point is a pixel of a picture, and 1/72 of an inch of a PDF."""

    width: float | None = None  # of the whole figure, in points; None: as wide as its plot happens to need
    font_size: float = 11
    provenance: bool = True

    @property
    def small(self) -> float:
        """The size of numbers on bars and of the line on where a figure is from."""
        return max(5, self.font_size - 2)


USUAL = Setting()


def parse_width(text: str) -> float:
    """Points of a width such as ``3.33in``, ``84mm`` or ``240pt``."""
    found = re.fullmatch(r"\s*([0-9]+(?:\.[0-9]*)?)\s*(pt|px|in|cm|mm|)\s*", text)
    if found is None:
        raise WarploomError(f"--width {text}: write a number with its unit, such as 84mm, 3.33in or 240pt")
    points = float(found[1]) * _POINTS[found[2]]
    if not _NARROWEST <= points <= _WIDEST:
        raise WarploomError(f"--width {text}: this is {points:,.0f} points; a figure has {_NARROWEST} to {_WIDEST:,}")
    return points


def finished(drawn: Any, setting: Setting = USUAL) -> Any:
    """A chart with its letters in one size, and with labels of numbers that leave each other room."""
    size, head = setting.font_size, setting.font_size + 1
    return drawn.configure(
        view={"stroke": None},
        axis={"labelFontSize": size, "titleFontSize": size},
        axisQuantitative={"labelOverlap": "greedy", "labelSeparation": 8},
        legend={"symbolSize": size * size, "labelFontSize": size, "titleFontSize": size},
        header={"labelFontSize": size, "titleFontSize": size},
        title={"fontSize": head},
    )


def fitted(draw: Callable[[float], Any], width: float) -> Any:
    """A chart that is so wide with all that stands beside its plot: drawn twice to see how its width follows from the plot's."""
    near, far = _FIRST, _SECOND
    of_near, of_far = _width_of(draw(near)), _width_of(draw(far))
    for _ in range(4):
        slope = (of_near - of_far) / (near - far) or 1.0
        far, of_far = near, of_near
        near = max(40.0, near + (width - of_near) / slope)
        drawn = draw(near)
        of_near = _width_of(drawn)
        if abs(of_near - width) <= _CLOSE or near == far:
            break
    return drawn


def _width_of(drawn: Any) -> float:
    text = io.StringIO()
    drawn.save(text, format="svg")
    found = re.search(r'<svg[^>]* width="([0-9.]+)"', text.getvalue())
    assert found is not None
    return float(found[1])
