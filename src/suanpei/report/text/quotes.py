"""What ``suanpei quotes`` prints: offers on one basis, what to know of each, what to ask, what was not read."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from rich.console import Group
from rich.text import Text

from suanpei.messages import Message
from suanpei.report.locale import translate
from suanpei.report.text.assumptions import render_assumptions
from suanpei.report.text.figures import UNKNOWN
from suanpei.report.text.layout import ByWidth, Paragraph, heading, make_table
from suanpei.report.text.quote_notes import name_confidence, render_notes, row_of, say_amount, say_price, say_term

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import JustifyMethod, RenderableType
    from rich.table import Table

    from suanpei.market.quotes.quoted import QuotedOffer
    from suanpei.report.locale import Language
    from suanpei.verbs.quotes import QuotesResult

MOST_OFFERS = 100
"""Offers that are printed, the cheapest; a person reads no more, and ``--json`` has them all."""
MOST_QUESTIONS = 1000
"""Questions that are looked at; those that a seller is asked several times are printed once. [-]"""
MOST_UNREAD = 50
"""Unread places that are printed. [-]"""


def render_quotes(result: QuotesResult, lang: Language) -> RenderableType:
    """Render the offers by price, their notes, the questions by seller, what was not read, the assumptions."""
    ranked = sorted(result.offers, key=_rank)
    shown = ranked[:MOST_OFFERS]
    parts: list[RenderableType] = [_say_count(result, lang)]
    if shown:
        wide, narrow = (_table(shown, lang, is_wide=is_wide) for is_wide in (True, False))
        parts += [Text(), ByWidth(wide, narrow), Paragraph(translate(_LEGEND, lang), style="dim")]
        if len(ranked) > len(shown):
            said = Message(
                "The {shown} cheapest of {count} offers are shown; --json lists all.",
                shown=len(shown),
                count=f"{len(ranked):,}",
            )
            parts.append(Paragraph(translate(said, lang)))
        parts += render_notes(shown, lang)
    parts += _render_questions(result, lang)
    parts += _render_unread(result, lang)
    parts += render_assumptions(result.assumptions, lang)
    return Group(*parts)


_LEGEND = Message(
    "Per card-hour; a month is 730 h, a year 8,760 h. Sorted by the price with tax in, where that is known. By 8: "
    "cards are sold by eight. Sure: high where the seller's own words settle price, unit and card."
)


def _rank(offer: QuotedOffer) -> tuple[bool, float]:
    """Order by price: with tax in where it is known, without a price last."""
    price = offer.price_per_accelerator_hour
    amount = price.amount if price.amount_tax_in is None else price.amount_tax_in
    return amount is None, float(amount or 0)


def _say_count(result: QuotesResult, lang: Language) -> Paragraph:
    priced = sum(offer.price_per_accelerator_hour.amount is not None for offer in result.offers)
    said = (
        Message(
            "{offers} offers, {priced} of them with a price; all prices per card-hour in {currency}.",
            offers=f"{len(result.offers):,}",
            priced=f"{priced:,}",
            currency=result.currency,
        )
        if result.offers
        else Message("No offer was found.")
    )
    return Paragraph(translate(said, lang), style="bold")


def _table(offers: Sequence[QuotedOffer], lang: Language, *, is_wide: bool) -> Table:
    """Draw the offers; a narrow table leaves the seller's words, the price without tax and the rest to the notes."""
    wrapped = {
        translate("Seller, cell", lang): 16 if is_wide else 12,
        translate("Card, links", lang): 24 if is_wide else 18,
        translate("As written", lang): 18,
        translate("Term", lang): 13 if is_wide else 11,
    }
    columns: list[tuple[str, JustifyMethod]] = [
        ("#", "right"),
        (translate("Seller, cell", lang), "left"),
        (translate("Card, links", lang), "left"),
        (translate("As written", lang), "left"),
        (translate("As quoted", lang), "right"),
        (translate("Tax in", lang), "right"),
        (translate("Tax out", lang), "right"),
        (translate("Term", lang), "left"),
        (translate("On hand", lang), "right"),
        (translate("Sure", lang), "left"),
    ]
    kept = [index for index in range(len(columns)) if is_wide or index not in _WIDE_ONLY]
    table = make_table([columns[index] for index in kept])
    for column in table.columns:
        column.max_width = wrapped.get(str(column.header))
        column.no_wrap = column.max_width is None
    for number, offer in enumerate(offers, start=1):
        cells = _cells(number, offer, lang)
        table.add_row(*(cells[index] for index in kept))
    return table


_WIDE_ONLY = {3, 6, 9}
"""Columns that a narrow table leaves out: the words, the price without tax, the confidence."""


def _cells(number: int, offer: QuotedOffer, lang: Language) -> list[RenderableType]:
    price, unit = offer.price_per_accelerator_hour, offer.accelerators_per_unit
    sold = "" if unit is None else translate(Message("by {count}", count=unit), lang)
    about = ", ".join(filter(None, (sold, offer.links, offer.region)))
    return [
        str(number),
        _two_lines(offer.seller or UNKNOWN, offer.source.cell),
        _two_lines(offer.accelerator or offer.accelerator_as_written or UNKNOWN, about),
        Paragraph(offer.price_as_written or UNKNOWN),
        translate(say_price(price), lang),
        say_amount(price.amount_tax_in),
        say_amount(price.amount_tax_out),
        Paragraph(translate(say_term(offer), lang)),
        UNKNOWN if offer.count is None else f"{offer.count:,}",
        translate(name_confidence(offer.confidence), lang),
    ]


def _two_lines(first: str, second: str) -> RenderableType:
    return Group(Paragraph(first), Paragraph(second, style="dim")) if second else Paragraph(first)


def _render_questions(result: QuotesResult, lang: Language) -> list[RenderableType]:
    """List what to ask, by seller, as lines to copy into a message; a question of several offers stands once."""
    if not result.questions:
        return []
    cards: dict[tuple[str, str], str] = {}
    counts: Counter[tuple[str, str]] = Counter()
    for offer in result.offers:
        cards[offer.source.file, row_of(offer.source.cell)] = offer.accelerator_as_written
        counts[_addressee(offer.seller, offer.source.file)] += 1
    asked: dict[tuple[str, str], dict[str, dict[str, None]]] = {}
    for question in result.questions[:MOST_QUESTIONS]:
        card = cards.get((question.file, row_of(question.cell)), "")
        text = translate(question.question, lang)
        asked.setdefault(_addressee(question.seller, question.file), {}).setdefault(text, {})[card] = None
    parts: list[RenderableType] = [heading(translate("Questions to send", lang))]
    for (seller, file), texts in asked.items():
        unnamed = Message("Seller not named ({file})", file=file)
        parts.append(Paragraph(seller or translate(unnamed, lang), indent=2, style="bold"))
        for number, (text, named) in enumerate(texts.items(), start=1):
            about = [card for card in named if card and counts[seller, file] > 1 and card not in text]
            said = translate(Message("{cards}: {text}", cards=about, text=text), lang) if about else text
            parts.append(Paragraph(said, indent=2, bullet=f"{number}. "))
    return [*parts, *_say_rest(len(result.questions) - MOST_QUESTIONS, lang)]


def _addressee(seller: str, file: str) -> tuple[str, str]:
    """Tell sellers apart: by name, those without one by the file that they sent."""
    return (seller, "") if seller else ("", file)


def _render_unread(result: QuotesResult, lang: Language) -> list[RenderableType]:
    if not result.unread:
        return []
    parts: list[RenderableType] = [heading(translate("Not read", lang))]
    for item in result.unread[:MOST_UNREAD]:
        said = Message("{place}: {reason}", place=" ".join(filter(None, (item.file, item.cell))), reason=item.reason)
        parts.append(Paragraph(translate(said, lang), bullet="  - "))
    return [*parts, *_say_rest(len(result.unread) - MOST_UNREAD, lang)]


def _say_rest(count: int, lang: Language) -> list[RenderableType]:
    if count <= 0:
        return []
    return [
        Paragraph(translate(Message("and {count} more; --json lists all", count=f"{count:,}"), lang), bullet="  - ")
    ]
