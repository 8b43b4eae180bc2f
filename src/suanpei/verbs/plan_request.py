"""What a user asks of a plan, and the same read and checked."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date  # noqa: TC003  # a replay reads the annotations at run time
from pathlib import Path  # noqa: TC003  # as above
from typing import TYPE_CHECKING

from suanpei.errors import InputError
from suanpei.market.price_rows import load_exchange_rates
from suanpei.messages import Message
from suanpei.quantities import (
    CountRange,
    parse_choice,
    parse_count_range,
    parse_currency,
    parse_duration_s,
    parse_fraction,
    parse_gpu_price,
    parse_money,
)
from suanpei.verbs.job_request import JobRequest  # noqa: TC001  # a replay reads the annotations at run time

if TYPE_CHECKING:
    from collections.abc import Mapping

    from suanpei.machine.catalogue import Catalogue
    from suanpei.market.offer import Tier
    from suanpei.money import ExchangeRates, Money
    from suanpei.planner.options import Objective

LARGEST_GPUS = 16_384
DEFAULT_GPUS = "1-1024"
OBJECTIVES: tuple[Objective, ...] = ("cost", "time")
EXTRA_TIERS: tuple[Tier, ...] = ("spot", "marketplace")
"""Tiers of prices that are taken only when asked for."""


@dataclass(frozen=True, kw_only=True)
class PlanRequest:
    """What the user said; None is not said."""

    job: JobRequest
    as_of: date
    """The day from which the age of a price counts."""
    currency: str
    """Of costs and budget: CNY in Chinese, USD otherwise, unless the user names one."""
    deadline: str | None = None
    budget: str | None = None
    gpu: tuple[str, ...] = ()
    gpus: str | None = None
    fabric: str | None = None
    gpus_per_node: int | None = None
    offers: tuple[Path, ...] = ()
    price: tuple[str, ...] = ()
    tier: tuple[str, ...] = ()
    """``spot`` and ``marketplace``, only when asked for."""
    region: str | None = None
    tenancy: str | None = None
    confidence: str = "0.9"
    objective: str = "cost"
    day_value: str | None = None
    rate: tuple[str, ...] = ()
    data_size: str | None = None
    """Size of the data set as it is pulled."""
    uplink: str | None = None
    """The line to the machines."""
    rack_kw: float | None = None
    """What one rack feeds. [kW]"""
    top: int = 5
    catalog: Path | None = None


@dataclass(frozen=True, kw_only=True)
class PlanTerms:
    """The request, read and checked."""

    currency: str
    rates: ExchangeRates
    deadline_s: float | None
    budget: Money | None
    confidence: float
    objective: Objective
    day_value: Money | None
    counts: CountRange
    stated_prices: Mapping[str, Money]
    """Prices that the user states, by the name as written."""
    extra_tiers: frozenset[Tier]
    dedicated: bool
    assumptions: tuple[Message, ...]


def read_terms(request: PlanRequest, catalogue: Catalogue) -> PlanTerms:
    """Read and check everything but the job.

    Args:
        request: What the user said.
        catalogue: Holds the exchange rates.

    Returns:
        Quantities in SI units and money in the plan's currency.

    Raises:
        InputError: a value that cannot be read or is out of range, naming the option.
    """
    rates = load_exchange_rates(catalogue, request.rate)
    currency = parse_currency(request.currency, "currency")
    notes = []
    if request.gpus is None:
        notes.append(Message("cards: 1 to 1024, whole nodes above one node (default)"))
    if request.confidence == "0.9":
        notes.append(Message("confidence: 0.9; a listed plan keeps deadline and budget with this probability"))
    counts = parse_count_range(request.gpus or DEFAULT_GPUS, "gpus")
    if counts.most > LARGEST_GPUS:
        raise InputError(Message("gpus must be at most {most}, got {given}", most=LARGEST_GPUS, given=counts.most))
    confidence = parse_fraction(request.confidence, "confidence")
    if not 0.5 <= confidence <= 0.99:
        raise InputError(Message("confidence must be between 0.5 and 0.99, got {given}", given=request.confidence))
    if not 1 <= request.top <= 100:
        raise InputError(Message("top must be between 1 and 100, got {given}", given=request.top))
    objective = parse_choice(request.objective, "objective", OBJECTIVES)
    if request.day_value is not None and objective == "time":
        raise InputError(Message("day-value weighs days against money; it does not go with --objective time"))
    return PlanTerms(
        currency=currency,
        rates=rates,
        deadline_s=None if request.deadline is None else parse_duration_s(request.deadline, "deadline"),
        budget=_money(request.budget, "budget", currency, rates),
        confidence=confidence,
        objective=objective,
        day_value=_money(request.day_value, "day-value", currency, rates),
        counts=counts,
        stated_prices=_read_prices(request.price),
        extra_tiers=frozenset(parse_choice(tier, "tier", EXTRA_TIERS) for tier in request.tier),
        dedicated=parse_choice(request.tenancy or "shared", "tenancy", ("shared", "dedicated")) == "dedicated",
        assumptions=tuple(notes),
    )


def _money(text: str | None, field: str, currency: str, rates: ExchangeRates) -> Money | None:
    return None if text is None else rates.convert(parse_money(text, field), currency)


def _read_prices(texts: tuple[str, ...]) -> dict[str, Money]:
    prices: dict[str, Money] = {}
    for name, price in (parse_gpu_price(text, "price") for text in texts):
        if prices.setdefault(name, price) != price:
            raise InputError(
                Message(
                    "price: {name} is given twice, at {first} and at {second}; keep one",
                    name=name,
                    first=prices[name],
                    second=price,
                )
            )
    return prices
