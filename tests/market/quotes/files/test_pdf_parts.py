"""Parts of the PDF reader on pages and fonts written by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from pypdf.generic import ArrayObject, DecodedStreamObject, DictionaryObject, FloatObject, NameObject, NumberObject

from suanpei.market.quotes.files.pdf_grid import find_grids
from suanpei.market.quotes.files.pdf_lines import join_words
from suanpei.market.quotes.files.pdf_marks import Rule, multiply
from suanpei.market.quotes.files.pdf_widths import Widths, usual_width
from tests.market.quotes.files.samples import read_bytes, reasons, shape
from tests.market.quotes.files.test_pdf import make_pdf

if TYPE_CHECKING:
    from pathlib import Path


def show(x: float, y: float, text: str) -> str:
    return f"BT /F1 10 Tf {x} {y} Td ({text}) Tj ET "


CELLS = (
    show(55, 707, "GPU")
    + show(155, 707, "Price")
    + show(55, 687, "H800")
    + show(155, 693, "78000 per")
    + show(155, 682, "node")
)
TABLE = [("table", None, [(1, ("GPU", "Price")), (2, ("H800", "78000 per node"))])]
LINES = [(50, y, 250, y) for y in (720, 700, 680)] + [(x, 680, x, 720) for x in (50, 150, 250)]


@pytest.mark.parametrize(
    "drawn",
    [
        "".join(f"{x} {y} m {to_x} {to_y} l S " for x, y, to_x, to_y in LINES),
        "".join(f"{x} {y} {to_x - x or 0.5} {to_y - y or 0.5} re f " for x, y, to_x, to_y in LINES),
        "".join(f"{x} {y} 100 20 re S " for x in (50, 150) for y in (680, 700)),
        "".join(
            f"{x} {y} m {x + 100} {y} l {x + 100} {y + 20} l {x} {y + 20} l h S " for x in (50, 150) for y in (680, 700)
        ),
        "q 2 0 0 2 0 0 cm " + "".join(f"{x / 2} {y / 2} 50 10 re S " for x in (50, 150) for y in (680, 700)) + "Q ",
        # cell by cell, with gaps of a hair, and a shaded head
        "50 700 200 20 re f "
        + "".join(f"{x + 0.3} {y} m {x + 99.5} {y} l S " for x in (50, 150) for y in (680, 700, 720))
        + "".join(f"{x} {y + 0.4} m {x} {y + 19.8} l S " for x in (50, 150, 250) for y in (680, 700)),
    ],
)
def test_rules_however_they_are_drawn(tmp_path: Path, drawn: str) -> None:
    assert shape(read_bytes(tmp_path, "q.pdf", make_pdf(drawn + CELLS))) == TABLE


@pytest.mark.parametrize(
    "drawn", ["50 680 200 40 re W n ", "50 680 200 40 re f ", "1 2 3 re 4 m S ", "50 680 m 250 720 l S "]
)
def test_what_is_no_rule_parts_nothing(tmp_path: Path, drawn: str) -> None:
    cells = show(55, 707, "GPU") + show(155, 707, "Price") + show(55, 687, "H800") + show(155, 687, "7.8")
    document = read_bytes(tmp_path, "q.pdf", make_pdf(drawn + cells))
    assert shape(document) == [("table", None, [(1, ("GPU", "Price")), (2, ("H800", "7.8"))])]


def test_a_frame_around_the_page_is_no_table(tmp_path: Path) -> None:
    document = read_bytes(tmp_path, "q.pdf", make_pdf("40 40 500 760 re S " + show(55, 700, "H800: 78000 per month")))
    assert shape(document) == [("text", None, [(1, ("H800: 78000 per month",))])]


def test_two_ruled_tables_side_by_side_and_an_empty_one(tmp_path: Path) -> None:
    boxes = "".join(f"{x} {y} 50 20 re S " for x in (50, 100, 300, 350) for y in (680, 700))
    empty = "".join(f"{x} {y} 50 20 re S " for x in (50, 100) for y in (100, 120))
    words = "".join(show(x + 5, y + 7, f"c{x}r{y}"[:5]) for x in (50, 100, 300, 350) for y in (680, 700))
    document = read_bytes(tmp_path, "q.pdf", make_pdf(boxes + empty + words))
    assert [kind for kind, _, _ in shape(document)] == ["table", "table"]
    assert {cells for _, _, lines in shape(document) for _, cells in lines} == {
        ("c50r7", "c100r"),
        ("c50r6", "c100r"),
        ("c300r", "c350r"),
    }


def test_letters_of_two_bytes_that_are_read_one_by_one_keep_their_words(tmp_path: Path) -> None:
    drawn = "".join(f"{x} {y} m {to_x} {to_y} l S " for x, y, to_x, to_y in LINES)
    cells = CELLS
    for word in ("GPU", "Price", "H800", "78000 per", "node"):
        cells = cells.replace(f"({word})", "(" + "".join(f"\\000{letter}" for letter in word) + ")")
    assert cells != CELLS
    assert shape(read_bytes(tmp_path, "q.pdf", make_pdf(drawn + cells))) == TABLE


def test_a_page_that_cannot_be_read_is_named_and_the_text_before_it_kept(tmp_path: Path) -> None:
    document = read_bytes(
        tmp_path, "q.pdf", make_pdf(show(50, 700, "x")).replace(b"/MediaBox [0 0 595 842]", b"/Rotate /A" + b" " * 13)
    )
    ((place, reason),) = reasons(document)
    assert place == "P1"
    assert reason.startswith("the page cannot be read (")


def test_a_step_down_ends_a_table_and_a_lone_line_of_parts_is_text(tmp_path: Path) -> None:
    rows = "".join(show(50, 700 - 14 * row, f"H{row}00") + show(150, 700 - 14 * row, f"{row}.5") for row in (1, 2))
    alone = show(50, 500, "Valid until") + show(150, 500, "March 2025")
    assert shape(read_bytes(tmp_path, "q.pdf", make_pdf(rows + alone))) == [
        ("table", None, [(1, ("H100", "1.5")), (2, ("H200", "2.5"))]),
        ("text", None, [(3, ("Valid until March 2025",))]),
    ]


def test_a_line_alone_among_rows_is_a_cell_of_its_own_row(tmp_path: Path) -> None:
    content = (
        show(50, 700, "GPU")
        + show(150, 700, "Price")
        + show(50, 686, "Overseas")
        + show(50, 672, "H100")
        + show(150, 672, "2.35")
    )
    assert shape(read_bytes(tmp_path, "q.pdf", make_pdf(content))) == [
        ("table", None, [(1, ("GPU", "Price")), (2, ("Overseas", "")), (3, ("H100", "2.35"))])
    ]


def test_drawings_of_thousands_of_rules_are_no_tables() -> None:
    rules = [
        Rule(is_level=level, place=4.0 * place, start=0.0, end=9000.0)
        for level in (True, False)
        for place in range(1500)
    ]
    assert find_grids(rules) == []
    assert len(find_grids([rule for rule in rules if rule.place < 100])) == 1


def test_matrices_are_multiplied_as_the_standard_says() -> None:
    double, move = (2.0, 0.0, 0.0, 2.0, 0.0, 0.0), (1.0, 0.0, 0.0, 1.0, 10.0, 20.0)
    assert multiply(double, move) == (2.0, 0.0, 0.0, 2.0, 10.0, 20.0)  # first doubled, then moved
    assert multiply(move, double) == (2.0, 0.0, 0.0, 2.0, 20.0, 40.0)


def font(to_unicode: bytes | None, **entries: object) -> DictionaryObject:
    made = DictionaryObject({NameObject(f"/{key}"): value for key, value in entries.items()})
    if to_unicode is not None:
        stream = DecodedStreamObject()
        stream.set_data(to_unicode)
        made[NameObject("/ToUnicode")] = stream
    return made


def numbers(*values: object) -> ArrayObject:
    return ArrayObject(
        ArrayObject(map(NumberObject, value)) if isinstance(value, list) else NumberObject(value) for value in values
    )


def test_widths_of_a_simple_font_are_those_of_its_codes() -> None:
    simple = font(None, Subtype=NameObject("/Type1"), FirstChar=NumberObject(65), Widths=numbers(700, 0, 650))
    widths = Widths()
    assert widths.measure("AC", simple) == pytest.approx(0.7 + 0.65)
    assert widths.measure("B", simple) == usual_width("B")  # of width zero: not stated


def test_widths_of_a_composite_font_go_by_what_its_codes_stand_for() -> None:
    cmap = (
        b"2 beginbfchar <0001> <0048> <0002> <D840DC00> endbfchar "
        b"2 beginbfrange <0003> <0005> <0030> <0006> <0007> [<4E07> <5143>] endbfrange"
    )
    descendant = font(None, W=numbers(1, [720, 10], 3, 5, 550, 6, [990]))
    composite = font(cmap, Subtype=NameObject("/Type0"), DescendantFonts=ArrayObject([descendant]))
    widths = Widths()
    assert widths.measure("H", composite) == pytest.approx(0.72)
    assert widths.measure("012", composite) == pytest.approx(3 * 0.55)
    assert widths.measure("万", composite) == pytest.approx(0.99)
    assert widths.measure("元", composite) == 1.0  # W says nothing of it


@pytest.mark.parametrize(
    "damaged",
    [
        font(None, Subtype=NameObject("/Type0")),
        font(None, Subtype=NameObject("/Type1"), FirstChar=NameObject("/x"), Widths=numbers(1)),
        font(None, Subtype=NameObject("/Type1"), FirstChar=NumberObject(1), Widths=FloatObject(2)),
    ],
)
def test_a_damaged_font_leaves_the_usual_widths(damaged: DictionaryObject) -> None:
    assert Widths().measure("Hi 万", damaged) == pytest.approx(sum(map(usual_width, "Hi 万")))


@pytest.mark.parametrize(
    ("letter", "width"), [("万", 1.0), ("，", 1.0), ("i", 0.3), ("W", 0.86), ("H", 0.68), ("8", 0.54), (" ", 0.25)]
)
def test_usual_widths(letter: str, width: float) -> None:
    assert usual_width(letter) == width


def test_wrapped_words_are_joined_as_their_script_does() -> None:
    assert join_words(["per node", "and month"]) == "per node and month"
    assert join_words(["元/卡", "/时"]) == "元/卡/时"
    assert join_words(["", "H800"]) == "H800"
