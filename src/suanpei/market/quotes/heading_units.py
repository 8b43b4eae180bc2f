"""Units that stand in a heading: a bare number below ``起租期(月)`` or ``Available nodes`` is read with its unit."""

from __future__ import annotations

import re

from suanpei.market.quotes.text.words import half_width, plain

_BARE_NUMBER = re.compile(r"\d[\d.,]*")
_BRACKETED = re.compile(r"[(\[【]([^)\]】]*)[)\]】]")
_MONTHS = re.compile(r"月数|\bmonths?\b|\bmths?\b|\bmonate\b")
_DAYS = re.compile(r"天数|日数|\bdays?\b|\btage\b")
_YEARS = re.compile(r"年数|\byears?\b|\bjahre\b")
_HOURS = re.compile(r"小时数|\bhours?\b")
_MACHINES = re.compile(r"台数|机器数|节点数?|整机|\bnodes?\b|\bservers?\b|\bmachines?\b")
_CARDS = re.compile(r"卡数|张数|\bgpus?\b|\bcards?\b")
_RATE = re.compile(r"%|税率|税点|\brate\b")
_DURATIONS = ((_MONTHS, "个月"), (_DAYS, "天"), (_YEARS, "年"), (_HOURS, "小时"))
_GRANULARITY = re.compile(r"粒度|granularity|increment")
_NAMED_ROLES = frozenset({"charges", "text", "host"})
"""Columns whose heading says what the amount is for."""
_COMPLETED_ROLES = _NAMED_ROLES | {"term", "stock", "tax", "pricing"}
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
    if _BARE_NUMBER.fullmatch(half_width(cell)) is None:
        return cell
    unit = _unit_of(role, plain(heading), cell)
    if not unit:
        return cell
    name = _BRACKETED.sub("", half_width(heading)).strip(" :")
    return f"{name} {cell}{unit}" if role in _NAMED_ROLES or role == "pricing" else f"{cell}{unit}"


def _unit_of(role: str, heading: str, cell: str) -> str:
    """Give the unit that a heading states for its column; empty where it states none."""
    bracket = _BRACKETED.search(heading)
    inside = bracket[1].strip() if bracket else ""
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
