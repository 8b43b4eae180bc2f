"""What ``suanpei compare`` prints: the sellers in a table, then what each leaves out and what to ask it."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

from rich.console import Group
from rich.text import Text

from suanpei.messages import Message
from suanpei.report.locale import translate
from suanpei.report.text.assumptions import render_assumptions
from suanpei.report.text.compare_sellers import render_sellers
from suanpei.report.text.figures import (
    UNKNOWN,
    is_one_amount,
    name_tax_side,
    say_at_most,
    say_bare_span,
    say_duration,
    say_nodes,
    say_probability,
    say_span,
    say_strategy,
)
from suanpei.report.text.layout import ByWidth, Paragraph, heading, make_table
from suanpei.report.text.plan_headline import say_job
from suanpei.report.text.spot import say_spot
from suanpei.units import DAY_S
from suanpei.verbs.compare_rows import PARADOX

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import JustifyMethod, RenderableType

    from suanpei.report.locale import Language
    from suanpei.verbs.compare import CompareResult
    from suanpei.verbs.compare_rows import SellerRow

WIDE_TABLE_COLUMNS = 116
"""Columns from which on the table stands whole. [-]"""
TIMES_FROM = 2.0
"""Ratio of totals from which on it is not said in per cent. [-]"""


def render_compare(result: CompareResult, lang: Language) -> RenderableType:
    """Render a comparison: who is cheapest, the table, then seller by seller."""
    ranked = [row for row in result.sellers if row.rank is not None]
    is_limited = any(result.request.get(name) is not None for name in ("deadline", "budget"))
    parts: list[RenderableType] = [
        Paragraph(translate(_headline(result, ranked, lang), lang), style="bold"),
        *(
            Paragraph(translate(said, lang))
            for said in (*_say_spot(ranked), *_say_risk(ranked), *_say_paradoxes(ranked))
        ),
        Paragraph(translate(say_job(result.job), lang)),
        heading(translate("Sellers", lang)),
        ByWidth(
            _as_table(ranked, lang, with_probability=is_limited),
            _as_blocks(ranked, lang, with_probability=is_limited),
            least=WIDE_TABLE_COLUMNS,
        ),
        Paragraph(translate(_LEGEND, lang), style="dim"),
        *render_sellers(result.sellers, lang),
        *render_assumptions(result.assumptions, lang),
    ]
    said = Message(
        "One search for all offers: {candidates} strategies evaluated in full, {seconds} s. Catalogue of {date},"
        " calibration {calibration}.",
        candidates=f"{result.candidates:,}",
        seconds=f"{result.seconds:.1f}",
        date=result.catalog_date,
        calibration=result.calibration_id,
    )
    return Group(*parts, Text(), Paragraph(translate(said, lang), style="dim"))


_LEGEND = Message(
    "With tax: ≤ where the seller leaves tax open, at the worst reading, which ranks. Per 1M tokens: the total with tax"
    " over the tokens trained. On hand: cards taken of those that the offer has in one fabric. Ranges are 90%"
    " intervals, of a total with both readings of an open tax."
)


def _headline(result: CompareResult, ranked: Sequence[SellerRow], lang: Language) -> Message:
    first = ranked[0]
    values = {
        "seller": first.seller,
        "gpus": first.gpus,
        "accelerator": first.accelerator,
        "nodes": say_nodes(first.nodes or 1),
        "time": say_duration((first.days or 0.0) * DAY_S, lang),
        "total": _total_cells(first)[0],
    }
    is_soonest = result.request.get("objective") == "time"
    what = (
        Message("Soonest: {seller}, {gpus} × {accelerator} ({nodes}), {time}, {total} with tax", **values)
        if is_soonest
        else Message(
            "Cheapest for this job: {seller}, {gpus} × {accelerator} ({nodes}), {time}, {total} with tax", **values
        )
    )
    if len(ranked) < 2 or is_soonest or first.ranked_total is None or ranked[1].ranked_total is None:
        return Message("{what}.", what=what)
    ratio = ranked[1].ranked_total.ratio(first.ranked_total)
    if ratio == 1.0:
        return Message("{what}; {seller} costs the same.", what=what, seller=ranked[1].seller)
    if ratio >= TIMES_FROM:
        return Message(
            "{what}; next is {seller}, {ratio} times as much.", what=what, seller=ranked[1].seller, ratio=f"{ratio:.3g}"
        )
    return Message(
        "{what}; next is {seller}, {percent} more.", what=what, seller=ranked[1].seller, percent=f"{ratio - 1.0:.1%}"
    )


def _say_spot(ranked: Sequence[SellerRow]) -> list[Message]:
    """Warn where the first is on machines that may be taken back."""
    if not _is_spot(ranked[0]):
        return []
    otherwise = next((row for row in ranked if not _is_spot(row)), None)
    return [say_spot(None if otherwise is None else (otherwise.seller, _total_cells(otherwise)[0]))]


def _is_spot(row: SellerRow) -> bool:
    return row.offer is not None and row.offer.tier == "spot"


def _say_risk(ranked: Sequence[SellerRow]) -> list[Message]:
    """Warn where the first may come dearer than the next is expected to."""
    if len(ranked) < 2:
        return []
    first, second = ranked[0], ranked[1]
    if first.high_tax_in is None or second.ranked_total is None or not second.ranked_total < first.high_tax_in:
        return []
    return [
        Message(
            "Within its 90% interval {seller} may come to {high}, more than {other} is expected to cost ({total}).",
            seller=first.seller,
            high=first.high_tax_in,
            other=second.seller,
            total=second.ranked_total,
        )
    ]


def _say_paradoxes(ranked: Sequence[SellerRow]) -> list[Message]:
    """Name the first seller that is dearer per hour and cheaper for the job, beside the cheapest hour that it beats."""
    for row in ranked:
        beaten = [other for other in ranked if PARADOX in row.flags and _is_dearer(other, row)]
        if beaten:
            other = min(beaten, key=_hourly)
            return [
                Message(
                    "Dearer per card-hour, cheaper per token: {seller} at {price} for {hours} h paid per card, against"
                    " {other} at {other_price} for {other_hours} h.",
                    seller=row.seller,
                    price=row.price_per_gpu_hour,
                    hours=_paid_hours(row),
                    other=other.seller,
                    other_price=other.price_per_gpu_hour,
                    other_hours=_paid_hours(other),
                )
            ]
    return []


def _is_dearer(other: SellerRow, row: SellerRow) -> bool:
    """Tell whether another seller asks less per hour and more for the job."""
    if other.ranked_total is None or row.ranked_total is None:
        return False
    return _hourly(other) < _hourly(row) and other.ranked_total > row.ranked_total


def _paid_hours(row: SellerRow) -> str:
    return UNKNOWN if row.cost is None else f"{row.cost.paid_hours:,.4g}"


def _hourly(row: SellerRow) -> Decimal:
    return Decimal(0) if row.price_per_gpu_hour is None else row.price_per_gpu_hour.amount


def _as_table(rows: Sequence[SellerRow], lang: Language, *, with_probability: bool) -> RenderableType:
    """Show two lines a seller: the figures, and below them strategy, intervals and tax side."""
    columns: list[tuple[str, JustifyMethod]] = [
        ("", "right"),
        (translate("Seller", lang), "left"),
        (translate("Cards and strategy", lang), "left"),
        (translate("Time", lang), "right"),
    ]
    if with_probability:
        columns.append((translate("Prob.", lang), "right"))
    columns += [
        (translate("With tax", lang), "right"),
        (translate("Without tax", lang), "right"),
        (translate("Card-hour", lang), "right"),
        (translate("1M tokens", lang), "right"),
        (translate("On hand", lang), "right"),
    ]
    table = make_table(columns)
    # long names and cards break, so that no amount is cut
    for column in table.columns[1:3]:
        column.no_wrap, column.overflow = False, "fold"
    for row in rows:
        time, span = _time_cells(row, lang)
        total, readings = _total_cells(row)
        table.add_row(
            str(row.rank),
            row.seller,
            _two(say_cards(row), _say_strategy(row)),
            _two(time, span),
            *([say_probability(row.constraint_probability or 0.0)] if with_probability else []),
            _two(total, readings),
            str(row.total_tax_out or UNKNOWN),
            _two(str(row.price_per_gpu_hour), translate(_name_tax_side(row), lang)),
            str(row.cost_per_million_tokens),
            say_on_hand(row),
        )
    return table


def _as_blocks(rows: Sequence[SellerRow], lang: Language, *, with_probability: bool) -> RenderableType:
    """Show four lines a seller, for narrow consoles."""
    lines: list[RenderableType] = []
    for row in rows:
        time, span = _time_cells(row, lang)
        total, readings = _total_cells(row)
        spanned = f"{total} ({readings})" if readings else total
        said = [f"{time} ({span})", translate(Message("with tax {total}", total=spanned), lang)]
        if row.total_tax_out is not None:
            said.append(translate(Message("without {total}", total=row.total_tax_out), lang))
        if with_probability:
            share = say_probability(row.constraint_probability or 0.0)
            said.append(translate(Message("probability {share}", share=share), lang))
        price = Message("{price} per card-hour", price=row.price_per_gpu_hour)
        prices = (
            f"{translate(price, lang)} ({translate(_name_tax_side(row), lang)})",
            translate(Message("{price} per 1M tokens", price=row.cost_per_million_tokens), lang),
            translate(Message("{count} cards on hand", count=say_on_hand(row)), lang),
        )
        lines += [
            Paragraph(f"{row.seller}: {say_cards(row)}", bullet=f"{row.rank}  ", style="bold"),
            Paragraph("  ".join(said), indent=3),
            Paragraph("  ".join(prices), indent=3),
            Paragraph(_say_strategy(row), indent=3, style="dim"),
        ]
    return Group(*lines)


def say_cards(row: SellerRow) -> str:
    """Write number and kind of cards: ``16 × A800-SXM4-80GB``."""
    return f"{row.gpus} × {row.accelerator}"


def say_on_hand(row: SellerRow) -> str:
    """Write cards taken of those on hand: ``16/64``; ``8/?`` where the seller names none."""
    return f"{row.gpus}/{'?' if row.on_hand_gpus is None else row.on_hand_gpus}"


def _say_strategy(row: SellerRow) -> str:
    return "" if row.strategy is None else f"{row.recipe} {say_strategy(row.strategy)}"


def _time_cells(row: SellerRow, lang: Language) -> tuple[str, str]:
    seconds = (row.days or 0.0) * DAY_S
    return say_duration(seconds, lang), say_span((row.low_days or 0.0) * DAY_S, (row.high_days or 0.0) * DAY_S, seconds)


def _total_cells(row: SellerRow) -> tuple[str, str]:
    """Give the total with tax, and below it the range that it may come to."""
    if row.ranked_total is None or row.low_tax_in is None or row.high_tax_in is None:
        return UNKNOWN, ""
    total = say_at_most(row.ranked_total, is_open=row.total_tax_in is None)
    is_certain = is_one_amount(row.low_tax_in, row.high_tax_in)
    return total, "" if is_certain else say_bare_span(row.low_tax_in, row.high_tax_in)


def _name_tax_side(row: SellerRow) -> Message:
    """Say on which tax side a seller's price is quoted."""
    return name_tax_side("unknown" if row.offer is None else row.offer.tax.state)


def _two(first: str, second: str) -> Text:
    return Text(first + "\n").append(second, style="dim") if second else Text(first)
