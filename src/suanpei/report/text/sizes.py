"""What ``suanpei sizes`` prints: by method and size the least rent, the cheapest cards, and the fewest of each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Group
from rich.table import Table
from rich.text import Text

from suanpei.messages import Message
from suanpei.report.locale import translate
from suanpei.report.text.assumptions import render_assumptions
from suanpei.report.text.figures import UNKNOWN
from suanpei.units import GIB_BYTES

if TYPE_CHECKING:
    from rich.console import RenderableType

    from suanpei.report.locale import Language
    from suanpei.verbs.sizes import SizeCard, SizeCell, SizesResult


def render_sizes(result: SizesResult, lang: Language) -> RenderableType:
    """Render the tier table, the fewest cards of each kind, and what was assumed."""
    parts: list[RenderableType] = [_render_tiers(result, lang), Text(), _render_counts(result, lang), Text()]
    parts += [Text(f"  {_label(card)}: {_say_card(card, lang)}") for card in result.cards]
    parts += render_assumptions(result.assumptions, lang)
    return Group(*parts)


def _render_tiers(result: SizesResult, lang: Language) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    days, cost = translate("Days per 1B tokens", lang), translate("Cost per 1B tokens", lang)
    table.add_column(translate("Method", lang))
    table.add_column(translate("Model", lang), justify="right")
    cells = [cell for row in result.rows for cell in (row.smallest, row.cheapest)]
    widest = max((len(_say_cell(cell)[-1]) for cell in cells), default=0)
    for heading in (translate("Least rent that holds it", lang), translate("Cheapest per token", lang)):
        table.add_column(heading, overflow="fold")
        table.add_column(days, justify="right")
        table.add_column(cost, justify="right", min_width=widest)  # an amount is never cut
    before = None
    for row in result.rows:
        if before is not None and before != row.method:
            table.add_row()
        before = row.method
        table.add_row(row.method, row.size, *_say_cell(row.smallest), *_say_cell(row.cheapest))
    return table


def _render_counts(result: SizesResult, lang: Language) -> Table:
    """Render the fewest cards of each memory size."""
    title = translate("Fewest cards, by marketed memory", lang)
    table = Table(box=None, pad_edge=False, header_style="bold", title=title, title_justify="left")
    table.add_column(translate("Method", lang))
    table.add_column(translate("Model", lang), justify="right")
    labels = [_label(card) for card in result.cards]
    for card, label in zip(result.cards, labels, strict=True):
        table.add_column(label if labels.count(label) == 1 else card.accelerator, justify="right")
    for row in result.rows:
        gpus = {cell.accelerator: f"{cell.gpus:,}" for cell in row.cells}
        table.add_row(row.method, row.size, *(gpus.get(card.accelerator, UNKNOWN) for card in result.cards))
    return table


def _label(card: SizeCard) -> str:
    return f"{card.marketed_bytes / GIB_BYTES:.0f} GiB"


def _say_card(card: SizeCard, lang: Language) -> str:
    if card.price_per_gpu_hour is None:
        return translate(Message("{accelerator}, no price on record", accelerator=card.accelerator), lang)
    text = Message(
        "{accelerator}, {price} per card-hour (sellers read: {sellers})",
        accelerator=card.accelerator,
        price=str(card.price_per_gpu_hour),
        sellers=card.sellers,
    )
    return translate(text, lang)


def _say_cell(cell: SizeCell | None) -> tuple[str, str, str]:
    if cell is None:
        return UNKNOWN, UNKNOWN, UNKNOWN
    cost = cell.cost_per_billion_tokens
    return (
        f"{cell.gpus:,} × {cell.accelerator}",
        f"{cell.days_per_billion_tokens:.2g}"
        if cell.days_per_billion_tokens < 10
        else f"{cell.days_per_billion_tokens:.0f}",
        UNKNOWN if cost is None else str(cost),
    )
