"""The parts that the sheets of a workbook share: names and order of sheets, shared texts, formats, struck fonts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from suanpei.market.quotes.files.shown_numbers import NumberFormat

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from suanpei.market.quotes.files.archive import Package

_BUILT_IN = {
    1: "0",
    2: "0.00",
    3: "#,##0",
    4: "#,##0.00",
    9: "0%",
    10: "0.00%",
    11: "0.00E+00",
    37: "#,##0;-#,##0",
    38: "#,##0;-#,##0",
    39: "#,##0.00;-#,##0.00",
    40: "#,##0.00;-#,##0.00",
    41: "#,##0;-#,##0",
    42: "#,##0;-#,##0",
    43: "#,##0.00;-#,##0.00",
    44: "#,##0.00;-#,##0.00",
    48: "0.0E+0",
    49: "@",
    **dict.fromkeys((5, 6), "#,##0;-#,##0"),
    **dict.fromkeys((7, 8), "#,##0.00;-#,##0.00"),
    **dict.fromkeys((*range(14, 23), *range(27, 37), 45, 46, 47, *range(50, 59)), "yyyy-mm-dd"),
}
"""Formats that a workbook names by number only (ECMA-376-1:2016, 18.8.30); what is absent is General."""
_READERS_OWN_CURRENCY = frozenset((5, 6, 7, 8, 42, 44))
"""Of them, those whose currency sign is that of the computer on which the workbook is opened."""
_TRUE = ("1", "true", "on")


@dataclass(frozen=True, kw_only=True, eq=False)
class Style:
    """How a cell is shown."""

    number_format: NumberFormat | None
    """None is General."""
    is_struck: bool
    is_currency_open: bool
    """Whether the format adds the currency sign of the reader's own computer."""


PLAIN = Style(number_format=None, is_struck=False, is_currency_open=False)


SharedText = tuple[str, str]
"""A text, and its parts that are struck out."""


class SheetPart(NamedTuple):
    """One sheet of a workbook."""

    name: str
    part: str
    """Name in the archive."""
    is_hidden: bool


@dataclass(frozen=True, kw_only=True)
class Book:
    """What the sheets share."""

    sheets: tuple[SheetPart, ...]
    without_cells: tuple[str, ...]
    """Names of sheets that are charts, or whose part is missing."""
    texts: Sequence[SharedText]
    styles: Sequence[Style]
    is_1904: bool


def is_true(given: str | None) -> bool:
    """Read a flag of the file."""
    return (given or "").lower() in _TRUE


def local_name(element: Any) -> str:
    """Name an element without its namespace."""
    return str(element.tag).rpartition("}")[2]


def read_book(package: Package) -> Book:
    """Read what the sheets share.

    Raises:
        InputError: The workbook is damaged, or has no sheet.
    """
    main = package.main_part("xl/workbook.xml")
    related = package.related(main)
    root = package.tree(main)
    sheets: list[SheetPart] = []
    without_cells: list[str] = []
    for element in root.iter("{*}sheet"):
        key = next((value for name, value in element.items() if name.endswith("}id")), "")
        kind, part = related.get(key, ("", ""))
        if kind == "worksheet" and package.has(part):
            sheets.append(SheetPart(element.get("name") or "", part, (element.get("state") or "visible") != "visible"))
        else:
            without_cells.append(element.get("name") or "")
    if not sheets:
        raise package.lacks(main)
    by_kind = {kind: part for kind, part in related.values() if package.has(part)}
    properties = root.find("{*}workbookPr")
    return Book(
        sheets=tuple(sheets),
        without_cells=tuple(without_cells),
        texts=_read_texts(package, by_kind.get("sharedStrings")),
        styles=_read_styles(package, by_kind.get("styles")),
        is_1904=properties is not None and is_true(properties.get("date1904")),
    )


def read_text(element: Any) -> SharedText:
    """Read a text of one or several runs: what is struck out apart, phonetic guides left out."""
    if len(element) == 1 and (only := element[0]).tag.endswith("}t"):
        return only.text or "", ""
    words: list[str] = []
    struck: list[str] = []
    for child in element:
        name = local_name(child)
        if name == "t":
            words.append(child.text or "")
        elif name == "r":
            text = "".join(part.text or "" for part in child.iterchildren("{*}t"))
            mark = child.find("{*}rPr/{*}strike")
            is_struck = mark is not None and (mark.get("val") is None or is_true(mark.get("val")))
            (struck if is_struck else words).append(text)
    return "".join(words), "".join(struck)


def _read_texts(package: Package, part: str | None) -> list[SharedText]:
    return [read_text(element) for element in package.rows(part, ("si",))] if part else []


def _read_styles(package: Package, part: str | None) -> list[Style]:
    if part is None:
        return []
    root = package.tree(part)
    codes = {each.get("numFmtId"): each.get("formatCode") or "" for each in root.iterfind("{*}numFmts/{*}numFmt")}
    struck = [_is_font_struck(font) for font in root.iterfind("{*}fonts/{*}font")]
    formats: dict[str, NumberFormat | None] = {}
    styles: list[Style] = []
    for each in root.iterfind("{*}cellXfs/{*}xf"):
        number, font = each.get("numFmtId") or "0", each.get("fontId") or "0"
        if number not in formats:
            formats[number] = _find_format(number, codes)
        styles.append(
            Style(
                number_format=formats[number],
                is_struck=font.isdecimal() and int(font) < len(struck) and struck[int(font)],
                is_currency_open=number not in codes and number.isdecimal() and int(number) in _READERS_OWN_CURRENCY,
            )
        )
    return styles


def _is_font_struck(font: Any) -> bool:
    mark = font.find("{*}strike")
    return mark is not None and (mark.get("val") is None or is_true(mark.get("val")))


def _find_format(number: str, codes: Mapping[str | None, str]) -> NumberFormat | None:
    code = codes.get(number)
    if code is None:
        code = _BUILT_IN.get(int(number)) if number.isdecimal() and len(number) < 9 else None
    return None if code in (None, "", "General") else NumberFormat(code)
