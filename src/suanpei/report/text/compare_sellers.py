"""Seller by seller: the price at which it would tie, what its total leaves out, what to ask; then who has no plan."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from suanpei.messages import Message
from suanpei.report.locale import translate
from suanpei.report.text.figures import is_one_amount, say_duration, say_money_span
from suanpei.report.text.layout import Paragraph, heading
from suanpei.report.text.plan_cost import say_cash
from suanpei.units import DAY_S, HOUR_S

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rich.console import RenderableType

    from suanpei.market.cost import MissingPart
    from suanpei.report.locale import Language
    from suanpei.verbs.compare_rows import SellerRow

_SEMICOLON: dict[Language, str] = {"zh": "；", "en": "; "}


def render_sellers(rows: Sequence[SellerRow], lang: Language) -> list[RenderableType]:
    """Render what stands behind each row of the table, then the sellers without a plan."""
    ranked = [row for row in rows if row.rank is not None]
    missing = [row for row in rows if row.rank is None]
    parts: list[RenderableType] = [heading(translate("Seller by seller", lang))]
    common = _common(ranked)
    if common:
        said = Message("Not in any total as quoted (unknown, not zero): {parts}", parts=_list_parts(common, lang))
        parts.append(Paragraph(translate(said, lang)))
    asked = _asked_of_all(ranked)
    if asked:
        parts.append(Paragraph(translate("Ask every seller before signing:", lang)))
        parts += [Paragraph(translate(question, lang), bullet="  - ") for question in asked]
    for row in ranked:
        parts += [Text(), *_render_seller(row, common, asked, lang)]
    if missing:
        parts.append(heading(translate("Sellers without a plan that keeps what you asked", lang)))
        for row in missing:
            parts += [Paragraph(translate(said, lang), bullet="  - ") for said in _say_missing(row, lang)]
    return parts


def _render_seller(
    row: SellerRow, common: Sequence[MissingPart], asked: Sequence[Message], lang: Language
) -> list[RenderableType]:
    lines: list[RenderableType] = [
        Paragraph(translate(_title(row), lang), style="bold"),
        *(Paragraph(translate(said, lang), indent=2) for said in _say_figures(row)),
    ]
    own = [part for part in row.not_included if part not in common]
    if own:
        said = Message("Not in the total as quoted: {parts}", parts=_list_parts(own, lang))
        lines.append(Paragraph(translate(said, lang), indent=2))
    questions = [question for question in row.questions if question not in asked]
    if questions:
        lines.append(Paragraph(translate("Ask before signing:", lang), indent=2))
        lines += [Paragraph(translate(question, lang), bullet="  - ") for question in questions]
    return lines


def _title(row: SellerRow) -> Message:
    values = {"rank": row.rank, "seller": row.seller, "source": "" if row.offer is None else row.offer.source}
    return Message("{rank} {seller} ({source})", **values)


def _say_figures(row: SellerRow) -> Iterable[Message]:
    """Say the interval of the total, the price that ties and the total at its worst."""
    if row.low is not None and row.high is not None and not is_one_amount(row.low, row.high):
        yield Message("As quoted {total}, 90%: {span}.", total=row.total, span=say_money_span(row.low, row.high))
    if row.cost is not None:
        yield say_cash(row.cost)
        held = (row.days or 0.0) * DAY_S / HOUR_S
        if row.cost.paid_hours > MUCH_UNUSED * held:
            yield Message(
                "{paid} h are paid per card for a run of {held} h: ask for a shorter billing period or minimum term.",
                paid=f"{row.cost.paid_hours:,.4g}",
                held=f"{held:,.3g}",
            )
    if row.ties_at_price_per_gpu_hour is not None:
        yield Message(
            "Ties with the first at {price} per card-hour on the same terms, now {now}.",
            price=_say_price(row),
            now=row.price_per_gpu_hour,
        )
    elif row.rank is not None and row.rank > 1:
        yield Message("No price per card-hour makes it tie with the first.")
    if row.worst_total is not None and row.worst_total != row.ranked_total:
        yield Message("With tax and everything left out at its worst reading: {total}.", total=row.worst_total)


MUCH_UNUSED = 2.0
"""Hours paid over hours held from which the billing is worth a question. [-]"""


def _say_price(row: SellerRow) -> str:
    """Write the price that ties to the digit to which it was found."""
    price = row.ties_at_price_per_gpu_hour
    if price is None:
        raise ValueError(row)
    return str(price).replace(f"{price.rounded().amount:,}", f"{price.amount:,}")


def _say_missing(row: SellerRow, lang: Language) -> Iterable[Message]:
    """Say why a seller has no plan, and what comes nearest."""
    yield Message("{seller}: {reason}", seller=row.seller, reason=row.reason)
    if row.days is not None:
        yield Message(
            "{seller}, nearest: {gpus} × {accelerator}, {time}, {total} with tax at most, {price} per card-hour",
            seller=row.seller,
            gpus=row.gpus,
            accelerator=row.accelerator,
            time=say_duration(row.days * DAY_S, lang),
            total=row.ranked_total,
            price=row.price_per_gpu_hour,
        )


def _common(rows: Sequence[SellerRow]) -> list[MissingPart]:
    """Give what every total leaves out alike, so that it is said once."""
    if len(rows) < 2:
        return []
    return [part for part in rows[0].not_included if all(part in row.not_included for row in rows[1:])]


def _asked_of_all(rows: Sequence[SellerRow]) -> list[Message]:
    """Give what every seller is to be asked alike."""
    if len(rows) < 2:
        return []
    return [question for question in rows[0].questions if all(question in row.questions for row in rows[1:])]


def _list_parts(parts: Sequence[MissingPart], lang: Language) -> str:
    """List parts of a cost; semicolons part them, for there are commas in them."""
    said = [
        part.name if part.worst is None else Message("{name} (at worst {amount})", name=part.name, amount=part.worst)
        for part in parts
    ]
    return _SEMICOLON[lang].join(translate(part, lang) for part in said)
