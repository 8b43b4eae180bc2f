"""How the sheets of a form and their cells are known.

The first cell of each sheet is a marker. The first column, which is hidden, says what a row is; a hidden row holds
the key of each column. So a form saved as CSV, sheet by sheet, is read as well as the workbook, in whatever language.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from suanpei.market.rfq.specification import Specification
    from suanpei.market.rfq.words import FormLanguage, FormWords

MARKER = "suanpei-rfq"
"""Begins the first cell of every sheet of a form."""
FORM_SHEET = "_suanpei_form"
"""The hidden sheet of the workbook, which holds the marker and what the form was made from."""

KEYS_ROLE = "keys"
"""Row roles, in the first column: the keys of the columns below …"""
LABELS_ROLE = "labels"
"""… their labels …"""
TEXT_ROLE = "text"
"""… words for the reader …"""
EXAMPLE_ROLE = "example"
"""… the line that shows how to fill; a row without a role is a line of the seller."""
HEAD_PREFIX = "head."
BUYER_PREFIX = "buyer."
NEED_PREFIX = "need."
ANSWER_COLUMNS = ("group", "item", "need", "basis", "answer", "comment")
"""Keys of the columns of the requirements."""


def write_marker(words: FormWords, language: FormLanguage, specification: Specification, *, sheet: str) -> str:
    """Write what the first cell of a sheet says: that it is a form, of which version, language and plan.

    Args:
        words: Hold the version. [-]
        language: Of the form. [-]
        specification: What the form asks for. [-]
        sheet: ``requirements``, ``offers`` or ``form``. [-]
    """
    return (
        f"{MARKER} version={words.version} language={language} request={specification.request_hash}"
        f" rank={specification.rank} sheet={sheet}"
    )


@dataclass(frozen=True, kw_only=True)
class Marker:
    """What the first cell of a sheet of a form says."""

    version: int
    language: str
    request_hash: str
    rank: int
    sheet: str
    column: int = 0
    """Where it stands, from 0: a form may be pasted beside something else. [-]"""


COPY_SHEET = "copy"
"""In place of the name of a sheet that shows a form without what is hidden in it."""
_SIGN = re.compile(rf"\b{MARKER} ([0-9a-f]{{6,64}})\b")


def write_sign(specification: Specification) -> str:
    """Write what is seen of the marker: by it a copy of the cells in sight is known for what it is."""
    return f"{MARKER} {specification.request_hash}"


def read_sign(text: str) -> Marker | None:
    """Find the sign in a text; None where there is none."""
    found = _SIGN.search(text)
    if found is None:
        return None
    return Marker(version=0, language="", request_hash=found.group(1), rank=0, sheet=COPY_SHEET)


_MARKER = re.compile(
    rf"{MARKER} version=(\d{{1,4}}) language=(\w{{2,3}}) request=([0-9a-f]+) rank=(\d{{1,4}}) sheet=(\w+)"
)


def read_marker(text: str) -> Marker | None:
    """Read the first cell of a sheet; None where it is no sheet of a form."""
    found = _MARKER.fullmatch(text.strip())
    if found is None:
        return None
    version, language, request_hash, rank, sheet = found.groups()
    return Marker(version=int(version), language=language, request_hash=request_hash, rank=int(rank), sheet=sheet)
