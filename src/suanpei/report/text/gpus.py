"""What ``suanpei gpus`` prints: one accelerator in full, or all in a table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Group
from rich.table import Table
from rich.text import Text

from suanpei.market.offer import tier_name
from suanpei.messages import Message
from suanpei.money import Money
from suanpei.report.locale import translate
from suanpei.report.text.assumptions import render_assumptions
from suanpei.report.text.figures import UNKNOWN
from suanpei.units import GB_BYTES, GIB_BYTES, TERA, format_duration

if TYPE_CHECKING:
    from rich.console import RenderableType

    from suanpei.report.locale import Language
    from suanpei.verbs.gpus import GpuFacts, GpuLink, GpuPrice, GpusResult


def render_gpus(result: GpusResult, lang: Language) -> RenderableType:
    """Render one accelerator with its links, price and source, or the list of all."""
    if result.accelerator is None:
        return _render_list(result, lang)
    prices = (result.accelerator.price, result.accelerator.cluster_price)
    substitutes = [note for price in prices if price is not None for note in price.substitutes]
    notes = tuple(dict.fromkeys((*result.assumptions, *substitutes)))
    return Group(_render_facts(result.accelerator, lang), *render_assumptions(notes, lang))


def _render_list(result: GpusResult, lang: Language) -> RenderableType:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading, justify in (
        (translate("Accelerator", lang), "left"),
        (translate("Memory GiB", lang), "right"),
        (translate("16-bit TFLOP/s", lang), "right"),
        (translate("Achievable", lang), "right"),
        (translate("Memory TB/s", lang), "right"),
        (translate("In-node GB/s", lang), "right"),
        (translate("Price per card-hour", lang), "left"),
        (translate("Stack", lang), "left"),
        (translate("Confidence", lang), "left"),
    ):
        table.add_column(heading, justify=justify)  # type: ignore[arg-type]  # the literals above
    table.columns[0].no_wrap = True
    for facts in result.accelerators:
        peak = facts.peak_flops_per_s.get("bf16") or facts.peak_flops_per_s.get("fp16")
        table.add_row(
            facts.name,
            f"{facts.memory_bytes / GIB_BYTES:.1f}",
            _tera(peak),
            _tera(facts.achievable_flops_per_s),
            f"{facts.memory_bytes_per_s / 1e12:.2f}" if facts.memory_bytes_per_s else UNKNOWN,
            f"{facts.links.scale_up.achievable_bytes_per_s / GB_BYTES:.0f}",
            _say_median(facts.price),
            facts.stack,
            _say_confidence(facts, lang),
        )
    legend = Message(
        "Dense peaks; achievable: large matrix products; in-node: bus bandwidth of a large collective. Prices: "
        "indicative, not offers, as of {date}; median of cards by the hour on platforms, * a big cloud's list price or "
        "servers by the month. 'suanpei gpus NAME' shows all that is known.",
        date=result.catalog_date,
    )
    return Group(table, Text(translate(legend, lang)))


def _render_facts(facts: GpuFacts, lang: Language) -> Table:
    table = Table(box=None, pad_edge=False, show_header=False, title=facts.name, title_justify="left")
    table.add_column(style="bold", no_wrap=True)
    table.add_column()
    memory = Message(
        "{usable:.1f} GiB usable of {label:g} GiB on the label",
        usable=facts.memory_bytes / GIB_BYTES,
        label=facts.marketed_bytes / GIB_BYTES,
    )
    peaks = ", ".join(f"{name} {value / TERA:g}" for name, value in facts.peak_flops_per_s.items())
    links = facts.links
    for label, text in (
        (translate("Vendor", lang), f"{facts.vendor}, {facts.form_factor}, {facts.stack}, {facts.generation}"),
        (translate("Also called", lang), ", ".join(facts.aliases) or UNKNOWN),
        (translate("Memory", lang), translate(memory, lang)),
        (
            translate("Memory bandwidth", lang),
            f"{facts.memory_bytes_per_s / GB_BYTES:,.0f} GB/s" if facts.memory_bytes_per_s else UNKNOWN,
        ),
        (translate("Dense peak, TFLOP/s", lang), peaks or UNKNOWN),
        (translate("Achievable, TFLOP/s", lang), _tera(facts.achievable_flops_per_s)),
        (translate("Accumulation", lang), facts.accumulation_note or UNKNOWN),
        (translate("Inside the node", lang), _say_link(links.scale_up, links.domain_gpus, lang)),
        (translate("Between nodes", lang), _say_link(links.scale_out, None, lang)),
        (translate("Host link", lang), f"{links.host_bytes_per_s / GB_BYTES:g} GB/s"),
        (translate("Power", lang), f"{facts.tdp_watts:g} W" if facts.tdp_watts else UNKNOWN),
        (translate("Price per card-hour", lang), _say_price(facts.price, lang)),
        (translate("The same, several nodes", lang), _say_price(facts.cluster_price, lang)),
        (translate("Export", lang), facts.export_note or UNKNOWN),
        (translate("Source", lang), facts.source),
        (translate("As of", lang), _say_date(facts, lang)),
        (translate("Confidence", lang), _say_confidence(facts, lang)),
        (translate("Note", lang), facts.note or UNKNOWN),
    ):
        table.add_row(Text(label), Text(text))
    return table


def _say_link(link: GpuLink, domain_gpus: int | None, lang: Language) -> str:
    rates = Message(
        "{link}: {line:g} GB/s per card and direction; ring {ring:.3g}, all-reduce {all_reduce:.3g} GB/s; "
        "{latency} a step",
        link=link.name,
        line=link.bytes_per_s / GB_BYTES,
        ring=link.achievable_bytes_per_s / GB_BYTES,
        all_reduce=link.all_reduce_bytes_per_s / GB_BYTES,
        latency=format_duration(link.latency_s),
    )
    if domain_gpus is None:
        return translate(rates, lang)
    return translate(Message("{rates}; joins {count} cards", rates=rates, count=domain_gpus), lang)


def _say_price(price: GpuPrice | None, lang: Language) -> str:
    if price is None:
        return UNKNOWN
    low, median, high = (
        str(Money(amount=amount, currency=price.currency)) for amount in (price.low, price.median, price.high)
    )
    text = Message(
        "{median} ({low} to {high}; {rows} readings, {tier})",
        median=median,
        low=low,
        high=high,
        rows=price.rows,
        tier=tier_name(price.tier),
    )
    return translate(text, lang)


def _say_median(price: GpuPrice | None) -> str:
    """Say the middle of a band, with a star where it is not of cards by the hour."""
    if price is None:
        return UNKNOWN
    return f"{Money(amount=price.median, currency=price.currency)}{'' if price.tier == 'platform' else ' *'}"


def _say_date(facts: GpuFacts, lang: Language) -> str:
    if facts.as_of is None:
        return UNKNOWN
    return (
        translate(Message("{date} (date of the table)", date=facts.as_of), lang)
        if facts.as_of_is_table
        else facts.as_of
    )


def _say_confidence(facts: GpuFacts, lang: Language) -> str:
    words = {
        "high": translate("high", lang),
        "medium": translate("medium", lang),
        "low": translate("low", lang),
    }
    return words[facts.confidence] if facts.confidence else UNKNOWN


def _tera(flops_per_s: float | None) -> str:
    if not flops_per_s:
        return UNKNOWN
    return f"{flops_per_s / TERA:.4g}" if flops_per_s < 100 * TERA else f"{flops_per_s / TERA:.0f}"
