"""The verb ``gpus``: what is known of an accelerator, its links and its price, or a list of all."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING

from suanpei.machine.accelerator_table import load_accelerators
from suanpei.machine.calibration import load_calibration
from suanpei.machine.catalogue import load_catalogue
from suanpei.machine.cluster import build_cluster
from suanpei.machine.names import describe_doubts, resolve_accelerator
from suanpei.market.indicative import PriceTerms, quote_indicative
from suanpei.market.price_rows import load_exchange_rates, load_prices
from suanpei.quantities import parse_currency
from suanpei.verbs.envelope import VerbResult

if TYPE_CHECKING:
    from collections.abc import Mapping
    from decimal import Decimal
    from pathlib import Path

    from suanpei.machine.accelerator import Accelerator
    from suanpei.machine.calibration import Calibration
    from suanpei.machine.catalogue import Catalogue
    from suanpei.machine.fabric import Link
    from suanpei.market.offer import Tier
    from suanpei.market.price_rows import PriceTable
    from suanpei.messages import Message
    from suanpei.provenance import Confidence

TRAINING_FORMATS = ("bf16", "fp16", "fp32")
"""The first that a card has is the one that its achievable rate is of."""


@dataclass(frozen=True, kw_only=True)
class GpuLink:
    """A link as one accelerator sees it, per direction."""

    name: str
    technology: str
    bytes_per_s: float
    """Line rate. [B/s]"""
    achievable_bytes_per_s: float
    """Bus bandwidth of a large ring collective. [B/s]"""
    all_reduce_bytes_per_s: float
    """Bus bandwidth of a large all-reduce. [B/s]"""
    latency_s: float


@dataclass(frozen=True, kw_only=True)
class GpuLinks:
    """What joins the accelerator to others, in the usual machine."""

    gpus_per_node: int
    domain_gpus: int
    """Accelerators joined by `scale_up`."""
    scale_up: GpuLink
    scale_out: GpuLink
    """The network assumed between nodes when nothing names one."""
    host_bytes_per_s: float
    """Host link, per direction. [B/s]"""


@dataclass(frozen=True, kw_only=True)
class GpuPrice:
    """An indicative band per accelerator-hour, not an offer."""

    tier: Tier
    low: Decimal
    median: Decimal
    high: Decimal
    currency: str
    rows: int
    """Readings behind the band."""
    oldest: date | None
    substitutes: tuple[Message, ...]
    """Why these rows stand in for the ones wanted."""


@dataclass(frozen=True, kw_only=True)
class GpuFacts:
    """What the catalogue knows of one accelerator."""

    name: str
    aliases: tuple[str, ...]
    vendor: str
    stack: str
    generation: str
    form_factor: str
    memory_bytes: float
    """What the driver reports as usable. [B]"""
    marketed_bytes: float
    """The label. [B]"""
    peak_flops_per_s: Mapping[str, float]
    """Dense peak by number format. [FLOP/s]"""
    achievable_flops_per_s: float | None
    """What large 16-bit matrix products reach; None where no rate is published. [FLOP/s]"""
    memory_bytes_per_s: float | None
    links: GpuLinks
    price: GpuPrice | None
    """Cards by the hour, one node or less; None where no reading serves."""
    cluster_price: GpuPrice | None
    """What several nodes pay, by `tier`; None where no reading serves."""
    tdp_watts: float | None
    export_note: str
    accumulation_note: str
    source: str
    as_of: str | None
    as_of_is_table: bool
    """Whether `as_of` is the date of the table, because the row has none."""
    confidence: Confidence | None
    note: str
    doubts: tuple[Message, ...]
    """What is not published, and what stands in for it."""


@dataclass(frozen=True, kw_only=True)
class GpusResult(VerbResult):
    """One accelerator, or all of them."""

    accelerator: GpuFacts | None
    """The one that was asked for."""
    accelerators: tuple[GpuFacts, ...]
    """All of them, where none was asked for."""


def describe_gpus(
    name: str | None = None, *, catalog: Path | None = None, currency: str = "USD", as_of: date | None = None
) -> GpusResult:
    """Describe an accelerator, or list all.

    Args:
        name: Any usual spelling; None lists all. [-]
        catalog: Folder with the user's own tables over the bundled ones. [-]
        currency: Of the prices. [-]
        as_of: Day from which the age of a price counts; None is the date of the catalogue. [-]

    Raises:
        InputError: The name is ambiguous or unknown, the folder or one of its rows malformed, the currency unknown.
    """
    catalogue = load_catalogue(catalog)
    calibration = load_calibration(catalogue)
    day = as_of or date.fromisoformat(catalogue.catalog_date)
    code = parse_currency(currency, "currency")
    terms = PriceTerms(currency=code, rates=load_exchange_rates(catalogue), as_of=day)
    prices = load_prices(catalogue)
    assumptions: tuple[Message, ...] = ()
    accelerator: GpuFacts | None = None
    everything: tuple[GpuFacts, ...] = ()
    if name is None:
        known = load_accelerators(catalogue).values()
        everything = tuple(_describe(catalogue, calibration, one, prices, terms) for one in known)
    else:
        resolved = resolve_accelerator(catalogue, name)
        accelerator = _describe(catalogue, calibration, resolved.accelerator, prices, terms)
        assumptions = (*resolved.assumptions, *build_cluster(catalogue, resolved.accelerator).assumptions)
    return GpusResult(
        catalog_date=catalogue.catalog_date,
        calibration_id=calibration.calibration_id,
        request={"name": name, "catalog": catalog, "currency": code, "as_of": day},
        assumptions=assumptions,
        accelerator=accelerator,
        accelerators=everything,
    )


def _describe(
    catalogue: Catalogue, calibration: Calibration, accelerator: Accelerator, prices: PriceTable, terms: PriceTerms
) -> GpuFacts:
    provenance = accelerator.provenance
    has_bandwidth = "memory_bandwidth_gb_per_s" not in accelerator.missing
    return GpuFacts(
        name=accelerator.name,
        aliases=accelerator.aliases,
        vendor=accelerator.vendor,
        stack=accelerator.stack,
        generation=accelerator.generation,
        form_factor=accelerator.form_factor,
        memory_bytes=accelerator.memory_bytes,
        marketed_bytes=accelerator.marketed_bytes,
        peak_flops_per_s=accelerator.peak_flops_per_s,
        achievable_flops_per_s=_achievable(accelerator, calibration),
        memory_bytes_per_s=accelerator.memory_bytes_per_s if has_bandwidth else None,
        links=_links(catalogue, accelerator),
        price=_price(accelerator, prices, terms, nodes=1),
        cluster_price=_price(accelerator, prices, terms, nodes=2),
        tdp_watts=accelerator.tdp_watts,
        export_note=accelerator.export_note,
        accumulation_note=accelerator.accumulation_note,
        source=provenance.source,
        as_of=provenance.as_of,
        as_of_is_table=provenance.as_of_is_table,
        confidence=provenance.confidence,
        note=provenance.note,
        doubts=describe_doubts(accelerator),
    )


def _achievable(accelerator: Accelerator, calibration: Calibration) -> float | None:
    """Give the rate of large matrix products in the format that training uses on this card. [FLOP/s]"""
    coefficients = calibration.generation(accelerator.generation)
    for precision in TRAINING_FORMATS:
        if peak := accelerator.peak_of(precision):
            return min(1.0, coefficients["matrix_fraction"].value * accelerator.sustained_fraction) * peak
    return None


def _links(catalogue: Catalogue, accelerator: Accelerator) -> GpuLinks:
    cluster = build_cluster(catalogue, accelerator)
    return GpuLinks(
        gpus_per_node=cluster.gpus_per_node,
        domain_gpus=cluster.domain_gpus,
        scale_up=_link(cluster.scale_up),
        scale_out=_link(cluster.scale_out),
        host_bytes_per_s=accelerator.pcie_bytes_per_s,
    )


def _link(link: Link) -> GpuLink:
    return GpuLink(
        name=link.name,
        technology=link.technology,
        bytes_per_s=link.bytes_per_s,
        achievable_bytes_per_s=link.achievable_bytes_per_s,
        all_reduce_bytes_per_s=link.all_reduce_bytes_per_s,
        latency_s=link.latency_s,
    )


def _price(accelerator: Accelerator, prices: PriceTable, terms: PriceTerms, *, nodes: int) -> GpuPrice | None:
    quoted = quote_indicative(prices, accelerator.name, nodes=nodes, terms=terms)
    band = next(iter(quoted), None)
    if band is None or band.tier == "stated":
        return None
    low, median, high = (terms.rates.convert(money, terms.currency) for money in (band.low, band.median, band.high))
    return GpuPrice(
        tier=band.tier,
        low=low.amount,
        median=median.amount,
        high=high.amount,
        currency=terms.currency,
        rows=band.readings,
        oldest=band.oldest,
        substitutes=band.substitutes,
    )
