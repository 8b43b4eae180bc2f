"""One worksheet, written row by row: styles, lists, widths that fit Chinese, and pages of A4.

The first column holds what a row is and is hidden; columns are counted from 0 behind it.
"""

from __future__ import annotations

import io
import re
import zipfile
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal

from suanpei.messages import Message
from suanpei.report.locale import translate
from suanpei.report.workbook.page import count_lines, fit_pages

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import date

    from suanpei.market.rfq.fields import Field
    from suanpei.market.rfq.words import FormWords
    from suanpei.report.locale import Language

Filler = Literal["seller", "buyer"]
"""Who fills a cell."""
FONTS: dict[str, str] = {"zh": "微软雅黑", "en": "Arial"}
"""Arial has a twin of equal widths wherever it is missing, so that texts keep their cells."""
WIDTH_FONT = "Arial"
"""Columns are as wide as its digits at 10 points, whatever is written in them."""
LINE_POINTS: dict[str, float] = {"zh": 16.5, "en": 14.0}
"""Height of one line of text in these fonts at 10 points. [pt]"""
_TEXT_FORMAT = "@"
"""What is typed stays as typed: ``6%`` does not become 0.06."""
_ZIP_DAY = (1980, 1, 1, 0, 0, 0)
_HEADER_FILL, _BAND_FILL, _EXAMPLE_FILL = "FFD9E2F3", "FFB4C6E7", "FFEDEDED"
_SELLER_FILL, _BUYER_FILL = "FFFFF9E5", "FFE2EFDA"


class SheetWriter:
    """Writes one worksheet from the top."""

    def __init__(self, sheet: Any, lang: Language, words: FormWords) -> None:
        from openpyxl.styles import Alignment, Border, Font, PatternFill, Protection, Side

        self.sheet = sheet
        self.lang = lang
        self.words = words
        self.next_row = 1
        name = FONTS[lang]
        thin = Side(style="thin", color="FFBFBFBF")
        self._border = Border(left=thin, right=thin, top=thin, bottom=thin)
        self._ruled = Border(top=thin, bottom=thin)
        self._wrapped = Alignment(wrap_text=True, vertical="top")
        self._fonts = {
            "text": Font(name=name, size=10),
            "title": Font(name=name, size=14, bold=True),
            "header": Font(name=name, size=10, bold=True),
            "band": Font(name=name, size=10, bold=True),
            "head": Font(name=name, size=10, bold=True),
            "cell": Font(name=name, size=10),
            "example": Font(name=name, size=10, italic=True, color="FF7F7F7F"),
        }
        self._fills = {
            "header": PatternFill("solid", fgColor=_HEADER_FILL),
            "band": PatternFill("solid", fgColor=_BAND_FILL),
            "example": PatternFill("solid", fgColor=_EXAMPLE_FILL),
        }
        self._input_fills = {
            "seller": PatternFill("solid", fgColor=_SELLER_FILL),
            "buyer": PatternFill("solid", fgColor=_BUYER_FILL),
        }
        self._unlocked = Protection(locked=False)
        sheet.column_dimensions["A"].hidden = True

    def hidden_row(self, *cells: str) -> int:
        """Write a row that is not seen; returns its number."""
        row = self._write(cells)
        self.sheet.row_dimensions[row].hidden = True
        return row

    def text_row(self, role: str, text: str, *, style: str = "text", column: int = 0) -> int:
        """Write one line of text, which runs over the cells beside it; returns its row."""
        row = self._write((role, *[""] * column, text))
        cell = self.sheet.cell(row, column + 2)
        cell.font = self._fonts[style]
        self.sheet.row_dimensions[row].height = LINE_POINTS[self.lang] * (1.6 if style == "title" else 1.1)
        return row

    def row(
        self, role: str, cells: Sequence[Any], *, style: str, inputs: Iterable[int] = (), filler: Filler = "seller"
    ) -> int:
        """Write a row of a table.

        Args:
            role: What the row is, for the reader of the form. [-]
            cells: From the second column on. [-]
            style: ``header``, ``band``, ``head``, ``cell`` or ``example``. [-]
            inputs: Columns that are to be filled, from 0 behind the first. [-]
            filler: Who fills them: told by the colour. [-]

        Returns:
            Its number.
        """
        row = self._write((role, *cells))
        filled = set(inputs)
        for column in range(len(cells)):
            cell = self.sheet.cell(row, column + 2)
            cell.font = self._fonts["cell" if style == "head" and column in filled else style]
            if style not in ("head", "band"):
                cell.alignment = self._wrapped
            if style in self._fills:
                cell.fill = self._fills[style]
            if style != "head":
                cell.border = self._border
            if column in filled:
                if style == "head":
                    cell.border = self._ruled
                cell.fill = self._input_fills[filler]
                cell.protection = self._unlocked
        return row

    def field(self, field: Field, lang: Language, *, column: int, first_row: int, last_row: int) -> None:
        """Give the cells of a field its number format, and what may be filled into them.

        Args:
            field: The field. [-]
            lang: Language of words and warnings. [-]
            column: From 0 behind the first. [-]
            first_row: Of the cells, from 1. [-]
            last_row: Of the cells. [-]
        """
        if field.kind == "choice":
            self.choice(
                self.words.choices(field.choices, lang).values(), column=column, first_row=first_row, last_row=last_row
            )
        elif field.kind in ("money", "number", "count"):
            self._numbers(field, column=column, first_row=first_row, last_row=last_row)
        else:
            for row in range(first_row, last_row + 1):
                self.sheet.cell(row, column + 2).number_format = _TEXT_FORMAT

    def choice(self, words: Iterable[str], *, column: int, first_row: int, last_row: int) -> None:
        """Let only words of a list be picked. Rows count from 1, columns from 0 behind the first."""
        from openpyxl.worksheet.datavalidation import DataValidation

        rule = DataValidation(
            type="list", formula1='"' + ",".join(words) + '"', allow_blank=True, showErrorMessage=True
        )
        rule.error = translate("Please pick one of the list.", self.lang)
        self._validate(rule, column, first_row, last_row)

    def _numbers(self, field: Field, *, column: int, first_row: int, last_row: int) -> None:
        from openpyxl.worksheet.datavalidation import DataValidation

        is_count = field.kind == "count"
        rule = DataValidation(
            type="whole" if is_count else "decimal",
            operator="greaterThanOrEqual",
            formula1="1" if is_count else "0",
            allow_blank=True,
            showErrorMessage=True,
        )
        rule.error = translate(
            Message("A whole number of at least 1, without unit.")
            if is_count
            else Message("A number of at least 0, without unit."),
            self.lang,
        )
        self._validate(rule, column, first_row, last_row)

    def _validate(self, rule: Any, column: int, first_row: int, last_row: int) -> None:
        letter = self._letter(column)
        rule.add(f"{letter}{first_row}:{letter}{last_row}")
        self.sheet.add_data_validation(rule)

    def widths(self, widths: Sequence[int]) -> None:
        """Set the widths of the columns behind the first. [characters]"""
        for column, width in enumerate(widths):
            self.sheet.column_dimensions[self._letter(column)].width = width

    def fit_heights(self, first_row: int, last_row: int) -> None:
        """Set heights so that wrapped text is seen whole."""
        for row in range(first_row, last_row + 1):
            lines = max(
                count_lines(str(cell.value), self.sheet.column_dimensions[cell.column_letter].width)
                for cell in self.sheet[row][1:]
                if cell.value is not None
            )
            self.sheet.row_dimensions[row].height = LINE_POINTS[self.lang] * lines + 4

    def freeze(self, first_row: int, columns: int) -> None:
        """Keep what stands above a row, and the first columns behind the hidden one, in sight."""
        self.sheet.freeze_panes = f"{self._letter(columns)}{first_row}"

    def print_on_a4(
        self, *, last_row: int, title_row: int, footer: str, groups: Sequence[int], repeated: int = 0
    ) -> None:
        """Print landscape on A4, with the header on every page.

        Args:
            last_row: Of what is printed, from 1. [-]
            title_row: Printed on every page. [-]
            footer: Names the form on every page. [-]
            groups: Number of columns of each group, from the first column behind the hidden one; a page holds whole
                groups, and a sheet of one group is fitted to one page in width. [-]
            repeated: First columns that are printed on every page. [-]
        """
        from openpyxl.worksheet.pagebreak import Break, ColBreak

        sheet = self.sheet
        sheet.page_setup.orientation = "landscape"
        sheet.page_setup.paperSize = sheet.PAPERSIZE_A4
        widths = [sheet.column_dimensions[self._letter(column)].width for column in range(sum(groups))]
        ends, scale_percent = fit_pages(widths, groups, repeated)
        if len(ends) == 1:
            sheet.sheet_properties.pageSetUpPr.fitToPage = True
            sheet.page_setup.fitToWidth, sheet.page_setup.fitToHeight = 1, 0
        else:
            sheet.page_setup.scale = scale_percent
            sheet.col_breaks = ColBreak(brk=tuple(Break(id=end + 1, max=1048575) for end in ends[:-1]))
        sheet.print_area = f"B1:{self._letter(len(widths) - 1)}{last_row}"
        sheet.print_title_rows = f"{title_row}:{title_row}"
        if repeated:
            sheet.print_title_cols = f"B:{self._letter(repeated - 1)}"
        sheet.page_margins.left = sheet.page_margins.right = 0.4
        sheet.page_margins.top, sheet.page_margins.bottom, sheet.page_margins.footer = 0.5, 0.6, 0.3
        sheet.oddFooter.left.text = footer.replace("&", "&&")
        sheet.oddFooter.right.text = "&P / &N"

    def protect(self) -> None:
        """Let only the seller's cells be changed; rows and columns may be resized, and there is no password."""
        protection = self.sheet.protection
        protection.sheet = True
        protection.formatColumns = protection.formatRows = False

    def _write(self, cells: Sequence[Any]) -> int:
        row = self.next_row
        self.next_row += 1
        for column, value in enumerate(cells, start=1):
            cell = self.sheet.cell(row, column)
            if value != "":
                cell.value = value
                if isinstance(value, str):
                    cell.data_type = "s"  # never a formula, whatever it begins with
        return row

    def _letter(self, column: int) -> str:
        from openpyxl.utils import get_column_letter

        return str(get_column_letter(column + 2))


def start_book() -> Any:
    """Make a workbook without sheets whose columns are equally wide in every program."""
    from openpyxl import Workbook
    from openpyxl.styles import Font

    book = Workbook()
    book.remove(book.active)
    book._named_styles["Normal"].font = Font(name=WIDTH_FONT, size=10)  # noqa: SLF001  # openpyxl has no public way
    return book


def save_reproducibly(book: Any, day: date) -> bytes:
    """Save a workbook so that equal content gives equal bytes: dated to a given day, not to the clock.

    Args:
        book: An openpyxl workbook. [-]
        day: What its properties are dated to. [-]
    """
    book.properties.creator = "suanpei"
    book.properties.created = datetime(day.year, day.month, day.day)  # noqa: DTZ001  # the format has no time zone
    buffer = io.BytesIO()
    book.save(buffer)
    stamp = f"{day.isoformat()}T00:00:00Z"
    result = io.BytesIO()
    with zipfile.ZipFile(buffer) as saved, zipfile.ZipFile(result, "w", zipfile.ZIP_DEFLATED) as stored:
        for name in saved.namelist():
            content = saved.read(name)
            if name == "docProps/core.xml":
                content = re.sub(rb"(<dcterms:modified[^>]*>)[^<]*", rb"\g<1>" + stamp.encode(), content)
            stored.writestr(zipfile.ZipInfo(name, _ZIP_DAY), content, zipfile.ZIP_DEFLATED)
    return result.getvalue()
