"""Predicted against measured on logarithmic axes, as SVG text that reads on light and dark pages.

Panels stand side by side on equal axes; each has the diagonal and dashed lines at 20 % to both sides, and a marker per
series, by shape and colour. Written by hand rather than by a plotting library, so that the same numbers give the same
bytes on every machine.
"""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from math import ceil, floor, log10
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

ERROR_LINE = 0.2
"""Relative error of the dashed lines. [-]"""

_SIDE, _GAP, _LEFT, _TOP, _BOTTOM, _LEGEND_LINE, _LETTER = 300.0, 28.0, 52.0, 30.0, 44.0, 18.0, 7.0
"""Sizes in user units: side of a panel, gaps and margins, a line of the legend, and a letter at most."""

_LIGHT = ("#0b63b5", "#c04a00", "#00795a", "#8f3f97", "#7d6400", "#5a6470")
_DARK = ("#62b0f5", "#ff9a52", "#35cfa2", "#dd93e3", "#dcc24a", "#aab4be")
"""Colours of series on light and on dark ground; with five shapes they repeat after thirty series."""

_SHAPES = ("h0", "m-2.6 0h5.2m-2.6-2.6v5.2", "m-2-2l4 4m0-4l-4 4", "m-2-2h4v4h-4z", "m0-2.6l2.4 4.2h-4.8z")
"""Marks as relative paths from their centre: dot, plus, cross, square, triangle."""


@dataclass(frozen=True, kw_only=True)
class Panel:
    """One square of points."""

    title: str
    series: Mapping[str, Sequence[tuple[float, float]]]
    """Measured and predicted by name; both above 0 and in one unit. [any]"""


def draw_scatter(panels: Sequence[Panel], quantity: str) -> str:
    """Draw panels side by side with one legend.

    Args:
        panels: At least one, with at least one point in all.
        quantity: What the axes show, with its unit.

    Returns:
        An SVG document.
    """
    points = [point for panel in panels for series in panel.series.values() for point in series]
    low, high = min(map(min, points)) / 1.25, max(map(max, points)) * 1.25
    names = sorted({name for panel in panels for name in panel.series})
    width = _LEFT + len(panels) * (_SIDE + _GAP)
    column = max(map(len, names)) * _LETTER + 40
    columns = max(int((width - _LEFT) // column), 1)
    foot = _TOP + _SIDE + _BOTTOM
    height = foot + ceil(len(names) / columns) * _LEGEND_LINE + 8
    parts = [
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}"'
            f' height="{height:.0f}" role="img">'
        ),
        f"<title>{escape(quantity)}: predicted against measured</title>",
        _style(),
        f'<rect class="ground" width="{width:.0f}" height="{height:.0f}"/>',
    ]
    for number, panel in enumerate(panels):
        parts += _draw_panel(
            panel, _LEFT + number * (_SIDE + _GAP), _Axis(low, high), names, quantity, is_first=number == 0
        )
    for number, name in enumerate(names):
        x = _LEFT + (number % columns) * column
        y = foot + (number // columns + 0.5) * _LEGEND_LINE
        parts.append(f'<path class="{_class(number)}" d="M{x + 6:.1f} {y:.1f}{_shape(number)}"/>')
        parts.append(f'<text x="{x + 16:.1f}" y="{y + 4:.1f}">{escape(name)}</text>')
    return "\n".join([*parts, "</svg>", ""])


@dataclass(frozen=True)
class _Axis:
    """Both axes of a panel: the same logarithmic range."""

    low: float
    high: float

    def place(self, value: float) -> float:
        """Give the distance from the low end. [user units]"""
        return _SIDE * log10(value / self.low) / log10(self.high / self.low)

    def ticks(self) -> list[float]:
        """Give decades, with 2 and 5 between where they are few."""
        decades = range(floor(log10(self.low)), ceil(log10(self.high)) + 1)
        steps = (1, 2, 5) if log10(self.high / self.low) < 2.2 else (1,)
        values = [float(f"{step}e{decade}") for decade in decades for step in steps]
        return [value for value in values if self.low <= value <= self.high]


def _draw_panel(
    panel: Panel, left: float, axis: _Axis, names: Sequence[str], quantity: str, *, is_first: bool
) -> list[str]:
    bottom, right, middle = _TOP + _SIDE, left + _SIDE, left + _SIDE / 2
    parts = [f'<text class="title" x="{left:.1f}" y="{_TOP - 10:.1f}">{escape(panel.title)}</text>']
    for tick in axis.ticks():
        along, up = left + axis.place(tick), bottom - axis.place(tick)
        parts.append(f'<path class="grid" d="M{along:.1f} {_TOP:.1f}V{bottom:.1f}M{left:.1f} {up:.1f}H{right:.1f}"/>')
        parts.append(f'<text class="tick" text-anchor="middle" x="{along:.1f}" y="{bottom + 15:.1f}">{tick:,g}</text>')
        if is_first:
            parts.append(f'<text class="tick" text-anchor="end" x="{left - 6:.1f}" y="{up + 4:.1f}">{tick:,g}</text>')
    for factor, kind in ((1.0, "diagonal"), (1 - ERROR_LINE, "error"), (1 + ERROR_LINE, "error")):
        start, end = max(axis.low, axis.low / factor), min(axis.high, axis.high / factor)
        parts.append(
            f'<path class="{kind}" d="M{left + axis.place(start):.1f} {bottom - axis.place(start * factor):.1f}'
            f'L{left + axis.place(end):.1f} {bottom - axis.place(end * factor):.1f}"/>'
        )
    for number, name in enumerate(names):
        marks = "".join(
            f"M{left + axis.place(measured):.1f} {bottom - axis.place(predicted):.1f}{_shape(number)}"
            for measured, predicted in panel.series.get(name, ())
        )
        if marks:
            parts.append(f'<path class="{_class(number)}" d="{marks}"/>')
    parts.append(f'<rect class="frame" x="{left:.1f}" y="{_TOP:.1f}" width="{_SIDE:.1f}" height="{_SIDE:.1f}"/>')
    label = f"measured {quantity}"
    parts.append(f'<text text-anchor="middle" x="{middle:.1f}" y="{bottom + 33:.1f}">{escape(label)}</text>')
    if is_first:
        x, y = 14.0, _TOP + _SIDE / 2
        parts.append(
            f'<text text-anchor="middle" transform="rotate(-90 {x:.1f} {y:.1f})" x="{x:.1f}" y="{y:.1f}">predicted'
            f" {escape(quantity)}</text>"
        )
    return parts


def _class(number: int) -> str:
    return f"{'mark' if number % len(_SHAPES) else 'mark dot'} c{number % len(_LIGHT)}"


def _shape(number: int) -> str:
    return _SHAPES[number % len(_SHAPES)]


def _style() -> str:
    """Give the style sheet; a viewer that asks for dark pages gets dark ground and lighter ink."""
    light = "".join(f".c{number}{{stroke:{colour}}}" for number, colour in enumerate(_LIGHT))
    dark = "".join(f".c{number}{{stroke:{colour}}}" for number, colour in enumerate(_DARK))
    return (
        "<style>text{font:12px system-ui,sans-serif;fill:#24292f}.tick{font-size:11px;fill:#57606a}"
        ".title{font-weight:600}.ground{fill:#fff}.frame{fill:none;stroke:#8c959f}.grid{stroke:#e3e7eb;fill:none}"
        ".diagonal{stroke:#57606a;fill:none}.error{stroke:#8c959f;fill:none;stroke-dasharray:4 3}"
        ".mark{fill:none;stroke-width:1.2;stroke-opacity:.8}.dot{stroke-width:3.6;stroke-linecap:round}"
        f"{light}@media (prefers-color-scheme:dark){{text{{fill:#e6edf3}}.tick{{fill:#9aa4af}}.ground{{fill:#0d1117}}"
        f".frame{{stroke:#6e7681}}.grid{{stroke:#21262d}}.diagonal{{stroke:#9aa4af}}.error{{stroke:#6e7681}}{dark}}}"
        "</style>"
    )
