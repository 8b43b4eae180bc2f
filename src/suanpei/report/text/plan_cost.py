"""The cost of the first plan: parts, tax, payments, and what is missing with its worst reading."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from rich.text import Text

from suanpei.market.offer import tier_name
from suanpei.messages import Message
from suanpei.money import SYMBOLS
from suanpei.report.locale import translate
from suanpei.report.text.figures import is_one_amount, say_at_most, say_money_span
from suanpei.report.text.layout import Paragraph, heading, make_table

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table

    from suanpei.market.cost import Cost, CostPart, MissingPart
    from suanpei.market.offer import Tier
    from suanpei.money import Money
    from suanpei.report.locale import Language
    from suanpei.verbs.plan_rows import OtherBill, PlanRow


def render_cost(row: PlanRow, lang: Language) -> list[RenderableType]:
    """Render the cost of a plan."""
    lines: list[RenderableType] = [heading(translate("Cost", lang))]
    if row.cost is None:
        return [*lines, Paragraph(translate(_say_no_price(row), lang))]
    lines.append(_cost_table(row.cost, lang))
    said = [
        *_say_span(row.cost),
        *_say_tax(row.cost),
        say_cash(row.cost),
        *_say_exit(row.cost),
        *map(_say_other_bill, row.other_bills),
    ]
    lines += [Paragraph(translate(message, lang)) for message in said]
    return [*lines, *_render_missing(row.cost, lang)]


def _say_span(cost: Cost) -> list[Message]:
    if is_one_amount(cost.low, cost.high):
        return [Message("as quoted, the short run and the long one cost the same")]
    return [
        Message(
            "as quoted, 90%: {span}, from the short run at the low price to the long run at the high one",
            span=say_money_span(cost.low, cost.high),
        )
    ]


def _say_other_bill(bill: OtherBill) -> Message:
    total = say_at_most(bill.ranked_total, is_open=bill.total_tax_in is None)
    if bill.provider is not None:
        said = Message("the same run from {provider}: {total} with tax", provider=bill.provider, total=total)
    else:
        said = Message("the same run from {tier}: {total} with tax", tier=name_tier(bill.tier), total=total)
    return with_span(said, bill.low_tax_in, bill.high_tax_in)


def with_span(said: Message, low: Money, high: Money) -> Message:
    """Put the range of an amount behind it; nothing where it has none."""
    return said if is_one_amount(low, high) else Message("{said} ({span})", said=said, span=say_money_span(low, high))


def name_tier(tier: Tier | Literal["stated"]) -> Message:
    """Name a tier for a person, the user's own price among them."""
    return Message("your own price") if tier == "stated" else tier_name(tier)


def _say_no_price(row: PlanRow) -> Message:
    if row.ties_at_price_per_gpu_hour is None:
        return Message(
            "No price of this card is known: give one with --price {accelerator}=…", accelerator=row.accelerator
        )
    return Message(
        "No price of this card is known; up to {price} per card-hour it ties with the cheapest priced plan: give one"
        " with --price {accelerator}=…",
        price=row.ties_at_price_per_gpu_hour,
        accelerator=row.accelerator,
    )


def _cost_table(cost: Cost, lang: Language) -> Table:
    table = make_table(
        [
            (translate("Part", lang), "left"),
            (translate("Quantity", lang), "right"),
            (translate("Price", lang), "right"),
            (translate("Amount", lang), "right"),
        ]
    )
    # the names break, so that no amount is cut on a narrow console
    table.columns[0].no_wrap = False
    for part in cost.parts:
        for line in part.parts or (part,):
            if line.amount.amount:
                _add_part(table, line, lang)
    paid = Message("total as quoted: {gpus} cards for {hours} h", gpus=cost.paid_gpus, hours=f"{cost.paid_hours:,.4g}")
    table.add_row(Text(translate(paid, lang), style="bold"), "", "", Text(str(cost.total), style="bold"))
    return table


def _add_part(table: Table, part: CostPart, lang: Language) -> None:
    number = f"{part.quantity:,.1f}"
    quantities = {
        "gpu_hour": Message("{number} card-h", number=number),
        "gb_month": Message("{number} GB·months", number=number),
        "gb": Message("{number} GB", number=number),
        "rental": Message("once"),
    }
    price = f"× {_say_price(part.price)}"
    table.add_row(translate(part.name, lang), translate(quantities[part.unit], lang), price, str(part.amount))


def _say_price(price: Money) -> str:
    """Write a price; what is below one unit keeps four digits, so that quantity times price is the amount."""
    if price.amount >= 1 or not price.amount:
        return str(price)
    symbol = SYMBOLS.get(price.currency, f"{price.currency} ")
    return f"{symbol}{price.rounded(4).amount.normalize():f}"


def _say_tax(cost: Cost) -> list[Message]:
    """Say both sides of tax where they are known, one side where only that is, and what an open tax may come to."""
    if cost.total_tax_in is not None and cost.total_tax_out is not None and cost.tax_rate_fraction is not None:
        return [
            Message(
                "tax of {rate}: {with_tax} with it, {without} without",
                rate=f"{float(cost.tax_rate_fraction) * 100:.4g}%",
                with_tax=cost.total_tax_in,
                without=cost.total_tax_out,
            )
        ]
    if cost.total_tax_in is not None:
        return [Message("tax is in the total, its rate is not stated")]
    return [
        Message(
            "tax is left open: {least} to {most} with it, the worst of which ranks",
            least=cost.least_total_tax_in,
            most=cost.ranked_total,
        )
    ]


def say_cash(cost: Cost) -> Message:
    """Say when it is paid."""
    items = cost.cash_flow
    if not items:
        return Message("nothing is paid")
    last = f"{max(item.day for item in items):.0f}"
    back = [item for item in items if item.amount.amount < 0]
    if max(item.day for item in items) < 1:
        return Message("paid within a day of signing")
    if len(items) == 1:
        return Message("paid on day {day} after signing", day=last)
    values = {
        "first": sum((item.amount for item in items if item.day == 0 and item.amount.amount > 0), start=cost.total * 0),
        "peak": cost.peak_cash_out,
        "count": len(items),
        "last": last,
    }
    if not back:
        return Message("paid: {first} on signing, {peak} in {count} payments by day {last}", **values)
    returned = sum((-item.amount for item in back), start=cost.total * 0)
    return Message(
        "paid: {first} on signing, at most {peak} at a time, {count} payments by day {last}; {returned} of it comes"
        " back",
        returned=returned,
        **values,
    )


def _say_exit(cost: Cost) -> list[Message]:
    leave = cost.early_exit
    if leave is None:
        return []
    return [
        Message(
            "ended with the run instead of the minimum term: {total} ({fee} for leaving, {rent} of unused rent saved)",
            total=leave.total,
            fee=leave.fee,
            rent=leave.unused_rent,
        )
    ]


def _render_missing(cost: Cost, lang: Language) -> list[RenderableType]:
    if not cost.missing:
        return []
    lines: list[RenderableType] = [
        Text(translate("Not in it, because nothing states it (unknown, not zero):", lang)),
        *(Paragraph(translate(_say_missing(part), lang), bullet="  - ") for part in cost.missing),
    ]
    worst = Message("With all of this at its worst: {worst}", worst=cost.worst_total)
    if any(part.worst is None for part in cost.missing):
        worst = Message("With this at its worst: {worst}, and what is unknown on top", worst=cost.worst_total)
    return [*lines, Paragraph(translate(worst, lang))]


def _say_missing(part: MissingPart) -> Message:
    if part.worst is None:
        return Message("{part}: unknown; {question}", part=part.name, question=part.question)
    if not part.worst.amount:
        return Message("{part}: {basis}; {question}", part=part.name, basis=part.basis, question=part.question)
    return Message(
        "{part}: up to {worst} ({basis}); {question}",
        part=part.name,
        worst=part.worst,
        basis=part.basis,
        question=part.question,
    )
