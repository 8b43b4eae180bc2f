"""Predicted against measured: points where their numbers put them, and a document that parses."""

from __future__ import annotations

import re
from xml.etree import ElementTree as ET

import pytest

from suanpei.report.charts.scatter import Panel, draw_scatter

NAMESPACE = "{http://www.w3.org/2000/svg}"


def _parse(text: str) -> ET.Element:
    return ET.fromstring(text)  # noqa: S314  # our own text


def _marks(text: str) -> list[str]:
    root = _parse(text)
    return [node.get("d") or "" for node in root.iter(f"{NAMESPACE}path") if "mark" in (node.get("class") or "")]


def test_points_stand_on_logarithmic_axes_of_one_range() -> None:
    # the range is 1 / 1.25 to 100 × 1.25: 100 is log10(100 / 0.8) / log10(125 / 0.8) of 300 along and up
    text = draw_scatter([Panel(title="one", series={"a": [(1.0, 100.0), (10.0, 10.0)]})], "time, s")
    points = [(float(x), float(y)) for x, y in re.findall(r"M([\d.]+) ([\d.]+)h0", _marks(text)[0])]
    (left, top), (middle_x, middle_y) = points
    assert left - 52 == pytest.approx(300 * 0.09691 / 2.19382, abs=0.06)
    assert 330 - top == pytest.approx(300 * 2.09691 / 2.19382, abs=0.06)
    # equal figures lie on the diagonal
    assert middle_x - 52 == pytest.approx(330 - middle_y, abs=0.11)


def test_panels_share_a_legend_and_names_are_escaped() -> None:
    panels = [
        Panel(title="first & last", series={"a<b": [(1.0, 1.1)], "c": [(2.0, 2.0)]}),
        Panel(title="second", series={"c": [(3.0, 2.0)]}),
    ]
    root = _parse(draw_scatter(panels, "memory, GiB"))
    words = [node.text for node in root.iter(f"{NAMESPACE}text")]
    assert words.count("c") == 1
    assert {"first & last", "second", "a<b"} <= set(words)
    # three series of points and two marks of the legend
    assert len(_marks(draw_scatter(panels, "memory, GiB"))) == 5


def test_it_follows_the_page_into_the_dark() -> None:
    assert "@media (prefers-color-scheme:dark)" in draw_scatter([Panel(title="", series={"a": [(1, 2)]})], "s")
