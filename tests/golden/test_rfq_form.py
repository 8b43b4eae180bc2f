"""Golden files of the form for quotes: every cell of it, in both languages, and what the command prints.

A difference is either a defect or an intended change: read it, then ``make golden-update``.
"""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from openpyxl import load_workbook

from suanpei.market.rfq.words import FORM_LANGUAGES
from suanpei.report.text.rfq import render_rfq
from suanpei.report.workbook.rfq_form import write_form
from suanpei.verbs.rfq import RfqRequest, request_quotes
from tests.golden.plan_samples import print_at
from tests.golden.test_golden import check
from tests.market.rfq.samples import EIGHT_MACHINES, WORDS

if TYPE_CHECKING:
    from suanpei.market.rfq.words import FormLanguage
    from suanpei.verbs.rfq import RfqResult


def asked(language: FormLanguage) -> RfqResult:
    return request_quotes(RfqRequest(plan=EIGHT_MACHINES, language=language, out=Path("ask.xlsx"), seller=("甲云",)))


@pytest.mark.parametrize("language", FORM_LANGUAGES)
def test_every_cell_is_as_it_was(language: FormLanguage) -> None:
    book = load_workbook(io.BytesIO(write_form(asked(language).specification, language, WORDS, seller="甲云")))
    lines = []
    for sheet in book:
        lines.append(f"# {sheet.title}")
        lines += [
            f"{cell.coordinate}\t{cell.value}" for row in sheet.iter_rows() for cell in row if cell.value is not None
        ]
        lines += [
            f"{rule.sqref}\t{rule.type} {rule.operator or ''} {rule.formula1}"
            for rule in sheet.data_validations.dataValidation
        ]
    check(f"rfq_form_{language}", "\n".join(lines) + "\n")


@pytest.mark.parametrize("language", FORM_LANGUAGES)
def test_the_text_is_as_it_was(language: FormLanguage) -> None:
    check(f"rfq_{language}_80", print_at(render_rfq(asked(language), language), 80))
