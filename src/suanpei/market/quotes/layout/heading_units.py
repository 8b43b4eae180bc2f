"""Units that stand in a heading: a bare number below ``起租期(月)`` or ``Available nodes`` is read with its unit."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from suanpei.market.quotes.text.words import half_width, plain

if TYPE_CHECKING:
    from collections.abc import Sequence

    from suanpei.market.quotes.layout.entries import Cell
    from suanpei.market.quotes.layout.header import Header
    from suanpei.market.quotes.text.clue import ClueReader

_BARE_NUMBER = re.compile(r"\d[\d.,]*")
_BRACKETED = re.compile(r"[(\[【]([^)\]】]*)[)\]】]")
_MONTHS = re.compile(r"月数|\bmonths?\b|\bmths?\b|\bmonate\b")
_DAYS = re.compile(r"天数|日数|\bdays?\b|\btage\b")
_YEARS = re.compile(r"年数|\byears?\b|\bjahre\b")
_HOURS = re.compile(r"小时数|\bhours?\b")
_MACHINES = re.compile(r"台数|机器数|节点数?|整机|\bnodes?\b|\bservers?\b|\bmachines?\b")
_CARDS = re.compile(r"卡数|张数|\bgpus?\b|\bcards?\b")
_RATE = re.compile(r"%|税率|税点|\brate\b")
_GIGABYTES = re.compile(r"(?<![a-z])gi?b(?![a-z])")
_RACKS = re.compile(r"柜|超节点|\bracks?\b")
_SAID = re.compile(r"押金|保证金|提前(?:退租|解约|终止)|违约|\bdeposit|\bearly (?:exit|termination)|\bkaution")
"""Headings without which their cells (1个月, 剩余租金20%) would say something else, or nothing."""
_POWER = re.compile(r"电费")
_NOT_SAID = frozenset({"无", "免", "没有", "不收", "不需要", "无需", "none", "no", "keine"})
_HOST_PARTS = ((re.compile(r"cpu|核|\bcores?\b"), "vcpu"), (re.compile(r"\bram\b|内存"), "gb ram"))
_PRICED = re.compile(r"[¥$€元]|\bper\b|\bprice\b|单价|价格|每")
_BESIDE = re.compile(r"extra|additional|额外|超出|加购")
"""More than the machine has: the price of the card is then of the whole machine."""
_MONEY = re.compile(r"[¥$€]?\s*\d+(?:[.,]\d+)?\s*元?")
_DURATIONS = ((_MONTHS, "个月"), (_DAYS, "天"), (_YEARS, "年"), (_HOURS, "小时"))
_GRANULARITY = re.compile(r"粒度|granularity|increment")
_NAMED_ROLES = frozenset({"charges", "text", "host"})
"""Columns whose heading says what the amount is for."""
_COMPLETED_ROLES = _NAMED_ROLES | {"term", "stock", "tax", "pricing", "gpus", "unit", "memory"}
_MOST_WHOLE_PERCENT = 1
"""A rate below it may be a fraction already (0.06), unless the heading writes the sign. [%]"""


def complete(role: str, cell: str, heading: str) -> str:
    """Write the unit of a heading behind a bare number of its column; any other cell stays as it is.

    Args:
        role: Of the column. [-]
        cell: As written. [-]
        heading: As written. [-]

    Example:
        >>> complete("term", "3", "起租期(月)"), complete("text", "1", "押金(月)"), complete("stock", "16", "Nodes")
        ('3个月', '押金 1个月', '16台')
    """
    if role not in _COMPLETED_ROLES or not heading:
        return cell
    if role in ("pricing", "text") and _GRANULARITY.search(plain(heading)):
        return f"{heading} {cell}"
    if role in ("text", "unit", "charges") and (said := _said_by_heading(cell, plain(heading))):
        return said
    if role == "unit" or _BARE_NUMBER.fullmatch(half_width(cell)) is None:
        return cell
    unit = _unit_of(role, plain(heading), cell)
    if not unit:
        return cell
    name = _BRACKETED.sub("", half_width(heading)).strip(" :")
    return f"{name} {cell}{unit}" if role in _NAMED_ROLES or role == "pricing" else f"{cell}{unit}"


def complete_row(cells: Sequence[str], header: Header, clues: ClueReader) -> list[Cell]:
    """Give the cells of a row that hold no price, each with its role and what its heading adds to it.

    Args:
        cells: As written. [-]
        header: Of their table. [-]
        clues: Tells what a cell of charges says without its heading. [-]
    """
    row: list[Cell] = []
    for column, role in header.order:
        if column < len(cells) and (cell := cells[column]):
            is_completed = role in _COMPLETED_ROLES
            row.append(_complete_cell(role, cell, header.headings[column], clues) if is_completed else (role, cell))
    return row


@lru_cache(maxsize=16_384)
def _complete_cell(role: str, cell: str, heading: str, clues: ClueReader) -> Cell:
    completed = complete(role, cell, heading)
    return role, clues.name_charge(completed, heading) if role == "charges" else completed


def _said_by_heading(cell: str, heading: str) -> str:
    """Write the words of a heading before a cell that says nothing without them; empty where it does."""
    part = next((name for pattern, name in _HOST_PARTS if pattern.search(heading)), "")
    if part and _PRICED.search(heading) and _MONEY.fullmatch(half_width(cell)):
        return f"{'' if _BESIDE.search(heading) else 'gpu only; '}{cell}/{part}"
    if _POWER.search(heading) and not _POWER.search(plain(cell)):
        return f"电费{cell}"
    found = _SAID.search(heading)
    is_counted = _BARE_NUMBER.fullmatch(half_width(cell)) is not None
    if found is None or is_counted or found.group() in plain(cell):
        return ""
    return f"无{heading}" if plain(cell) in _NOT_SAID else f"{heading} {cell}"


def _unit_of(role: str, heading: str, cell: str) -> str:
    """Give the unit that a heading states for its column; empty where it states none."""
    bracket = _BRACKETED.search(heading)
    inside = bracket[1].strip() if bracket else ""
    if role == "memory":
        return "GB" if _GIGABYTES.search(heading) else ""
    if role == "gpus":
        return "卡整柜" if _RACKS.search(heading) else ""
    if role == "tax":
        return "%" if "%" in heading or (_RATE.search(heading) and _is_whole_percent(cell)) else ""
    if role == "stock":
        words = inside or heading
        if words in ("台", "套", "节点", "台数") or _MACHINES.search(words):
            return "台"
        return "卡" if words in ("卡", "张") or _CARDS.search(words) else ""
    if inside in ("月", "个月"):
        return "个月"
    for pattern, unit in _DURATIONS:
        if pattern.search(inside or heading) and "/" not in inside:
            return unit
    return inside


def _is_whole_percent(cell: str) -> bool:
    try:
        return float(cell.replace(",", ".")) >= _MOST_WHOLE_PERCENT
    except ValueError:
        return False
