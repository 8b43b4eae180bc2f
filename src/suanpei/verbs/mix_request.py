"""What a user asks of a mix, and the same read and checked."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import TYPE_CHECKING

from suanpei.errors import InputError
from suanpei.market.mix.demand import Demand, parse_phases
from suanpei.market.mix.demand_file import load_demand
from suanpei.market.mix.linear import Limits
from suanpei.market.mix.owning import Machine
from suanpei.market.mix.start_up import Interruptions, StartUp, clean_run_probability, transfer_s
from suanpei.market.offer import USUAL_NODE_GPUS
from suanpei.market.price_rows import load_exchange_rates
from suanpei.messages import Message, name_duration
from suanpei.quantities import (
    parse_bandwidth_bytes_per_s,
    parse_bytes,
    parse_choice,
    parse_count,
    parse_currency,
    parse_duration_s,
    parse_fraction,
    parse_money,
)
from suanpei.units import DAY_S, HOUR_S, MONTH_HOURS
from suanpei.verbs.mix_phases import MOST_PHASES, list_phases
from suanpei.verbs.mix_plan import read_planned_step
from suanpei.verbs.plan_request import EXTRA_TIERS

if TYPE_CHECKING:
    from datetime import date
    from pathlib import Path

    from suanpei.machine.catalogue import Catalogue
    from suanpei.market.mix.capacity import TaxSide
    from suanpei.market.mix.pilot import PlannedStep
    from suanpei.market.offer import Tier
    from suanpei.money import ExchangeRates

TAX_NOTES: dict[TaxSide, Message] = {
    "in": Message("all rents are with tax"),
    "out": Message("all rents are without tax"),
    "quoted": Message("rents are as quoted, with or without tax as each seller has it"),
}
"""On which side of tax offers are compared."""
MOST_INTERRUPTIONS_PER_HOUR = 60.0
"""One a minute. [1/h]"""
TRIAL_S = int(7 * DAY_S)
"""A trial that names no duration takes a week. [s]"""
DEFAULT_TIME_LIMIT = "20s"
DEFAULT_GAP = "0.0001%"


@dataclass(frozen=True, kw_only=True)
class MixRequest:
    """What the user said; None is not said."""

    as_of: date
    """The day of the question."""
    currency: str
    demand: Path | None = None
    """A CSV file."""
    phases: str | None = None
    """In place of a file: ``train:64x20d, tune:8x60d``."""
    one_seller: bool | None = None
    """Whether each phase is one run that stands with one seller; None is so for `phases`, not for a file."""
    offers: tuple[Path, ...] = ()
    gpu: tuple[str, ...] = ()
    """Accelerators that may stand for each other, card for card."""
    region: str | None = None
    tier: tuple[str, ...] = ()
    """``spot`` and ``marketplace``, only when asked for."""
    tax: str = "in"
    """Prices with tax (in), without (out), or as quoted."""
    boot_time: str | None = None
    image_size: str | None = None
    pull_rate: str | None = None
    data_size: str | None = None
    data_rate: str | None = None
    checkpoint_size: str | None = None
    checkpoint_rate: str | None = None
    spot_interruptions_per_hour: float | None = None
    checkpoint_every: str | None = None
    trial: str | None = None
    """Cards, or phases: ``8``, ``8x7d``."""
    ramp: str | None = None
    """Phases before the demand: ``8x14d, 32x14d``."""
    plan: Path | None = None
    """A result of ``suanpei plan --json`` that a pilot would check."""
    buy: str | None = None
    """Price of a machine."""
    buy_gpus: str | None = None
    hosting: str | None = None
    """Per machine and month."""
    life: str | None = None
    residual: str | None = None
    """Share of the price left at the end of its life."""
    rate: tuple[str, ...] = ()
    time_limit: str = DEFAULT_TIME_LIMIT
    gap: str = DEFAULT_GAP
    catalog: Path | None = None


@dataclass(frozen=True, kw_only=True)
class MixTerms:
    """The request, read and checked."""

    currency: str
    rates: ExchangeRates
    demand: Demand
    tax: TaxSide
    extra_tiers: frozenset[Tier]
    start_up: StartUp
    interruptions: Interruptions | None
    trial: Demand | None
    ramp: Demand | None
    planned: PlannedStep | None
    machine: Machine | None
    limits: Limits
    assumptions: tuple[Message, ...]


def read_mix_terms(request: MixRequest, catalogue: Catalogue) -> MixTerms:
    """Read every quantity of a request.

    Args:
        request: What the user said. [-]
        catalogue: Holds the exchange rates. [-]

    Raises:
        InputError: A value that cannot be read, contradicts another or lacks one, naming the option.
    """
    rates = load_exchange_rates(catalogue, request.rate)
    currency = parse_currency(request.currency, "currency")
    notes: list[Message] = []
    demand, tax = _read_demand(request, notes), parse_choice(request.tax, "tax", tuple(TAX_NOTES))
    return MixTerms(
        currency=currency,
        rates=rates,
        demand=demand,
        tax=tax,
        extra_tiers=frozenset(parse_choice(tier, "tier", EXTRA_TIERS) for tier in request.tier),
        start_up=_read_start_up(request, notes),
        interruptions=_read_interruptions(request, demand, notes),
        trial=_read_pilot(request.trial, "trial", default_s=TRIAL_S),
        ramp=_read_pilot(request.ramp, "ramp"),
        planned=None if request.plan is None else read_planned_step(request.plan),
        machine=_read_machine(request, currency, rates, notes),
        limits=_read_limits(request),
        assumptions=(TAX_NOTES[tax], *demand.assumptions, *notes),
    )


def _read_demand(request: MixRequest, notes: list[Message]) -> Demand:
    """Read what is needed, and whether each phase is one run."""
    if (request.demand is None) == (request.phases is None):
        raise InputError(Message("demand: give either a CSV file or --phases 'train:64x20d, tune:8x60d', one of them"))
    if request.demand is not None:
        demand, is_one = load_demand(request.demand), bool(request.one_seller)
    else:
        demand, is_one = parse_phases(request.phases or "", "phases"), request.one_seller is not False
    if not is_one:
        return demand
    phases = len(list_phases(demand))
    if phases > MOST_PHASES:
        raise InputError(Message("one-seller: {given:,} phases are more than {most:,}", given=phases, most=MOST_PHASES))
    if request.one_seller is None:
        notes.append(Message("each phase is one run and stands with one seller; --any-seller takes them as a pool"))
    notes.append(Message("the cards of one seller are counted as one fabric, also where they stand in several offers"))
    return replace(demand, needs_one_seller=True)


def _read_pilot(text: str | None, field: str, *, default_s: int | None = None) -> Demand | None:
    """Read a trial or a ramp, each phase of which is one run; None where none is asked for. [s]"""
    if text is None:
        return None
    return replace(parse_phases(text, field, default_s=default_s), needs_one_seller=True)


def _read_start_up(request: MixRequest, notes: list[Message]) -> StartUp:
    """Read what a start of elastic capacity takes."""
    pull, pulled = request.pull_rate, None
    parts = {}
    for field, size, own in (
        ("image", request.image_size, None),
        ("data", request.data_size, request.data_rate),
        ("checkpoint", request.checkpoint_size, request.checkpoint_rate),
    ):
        rate, option = (pull, "pull-rate") if own is None else (own, f"{field}-rate")
        if size is None:
            parts[f"{field}_s"] = 0.0
            continue
        if rate is None:
            raise InputError(
                Message("{field}-size is given without a rate; add --pull-rate, such as 500MB/s", field=field)
            )
        parts[f"{field}_s"] = transfer_s(parse_bytes(size, f"{field}-size"), parse_bandwidth_bytes_per_s(rate, option))
        pulled = size if own is None else pulled
        if field != "image" and own is None:
            notes.append(Message("{field}: read at --pull-rate, {rate}", field=field, rate=rate))
    for field, size, rate in (
        ("pull-rate", pulled, pull),
        ("data-rate", request.data_size, request.data_rate),
        ("checkpoint-rate", request.checkpoint_size, request.checkpoint_rate),
    ):
        if rate is not None and size is None:
            raise InputError(Message("{field} is given without a size that it would carry", field=field))
    boot_s = 0.0 if request.boot_time is None else parse_duration_s(request.boot_time, "boot-time")
    start_up = StartUp(boot_s=boot_s, **parts)
    if start_up.total_s == 0:
        notes.append(Message("starting elastic machines costs nothing: neither --boot-time nor --image-size is given"))
    return start_up


def _read_interruptions(request: MixRequest, demand: Demand, notes: list[Message]) -> Interruptions | None:
    """Read how often spot is taken back."""
    rate = request.spot_interruptions_per_hour
    if rate is None:
        if request.checkpoint_every is not None:
            raise InputError(Message("checkpoint-every counts for spot: give --spot-interruptions-per-hour beside it"))
        if "spot" in request.tier:
            notes.append(
                Message("spot is counted as never taken back: --spot-interruptions-per-hour is not given; ask for it")
            )
        return None
    if not 0 <= rate <= MOST_INTERRUPTIONS_PER_HOUR:
        raise InputError(
            Message(
                "spot-interruptions-per-hour must be between 0 and {most:g}, got {given}",
                most=MOST_INTERRUPTIONS_PER_HOUR,
                given=rate,
            )
        )
    if request.checkpoint_every is None:
        hours = demand.longest_run_hours
        notes.append(
            Message(
                "spot work has no checkpoint: an interruption loses the whole stretch; the longest, {time}, has a"
                " probability of {clean} to run through without one",
                time=name_duration(hours * HOUR_S),
                clean=f"{clean_run_probability(hours, rate):.2%}",
            )
        )
        return Interruptions(rate_per_hour=rate)
    hours = parse_duration_s(request.checkpoint_every, "checkpoint-every") / HOUR_S
    return Interruptions(rate_per_hour=rate, checkpoint_hours=hours)


def _read_machine(request: MixRequest, currency: str, rates: ExchangeRates, notes: list[Message]) -> Machine | None:
    """Read the machine that could be bought."""
    if request.buy is None:
        for field, text in (
            ("hosting", request.hosting),
            ("life", request.life),
            ("residual", request.residual),
            ("buy-gpus", request.buy_gpus),
        ):
            if text is not None:
                raise InputError(Message("{field} says nothing without --buy, the price of a machine", field=field))
        return None
    if request.life is None:
        raise InputError(Message("life is missing: --buy needs the years that the machine serves, such as --life 4y"))
    if request.residual is None:
        notes.append(Message("the bought machine is worth nothing at the end of its life: --residual is not given"))
    if request.buy_gpus is None:
        notes.append(Message("a bought machine has {gpus} cards (default)", gpus=USUAL_NODE_GPUS))
    notes.append(Message("the price and hosting of a bought machine stand on the same side of tax as the rents"))
    hosting = None
    if request.hosting is not None:
        text = re.sub(r"\s*(?:/|每|per)\s*(?:月|个月|mo|month)\s*$", "", request.hosting.strip(), flags=re.IGNORECASE)
        hosting = rates.convert(parse_money(text, "hosting"), currency)
    months = Decimal(repr(parse_duration_s(request.life, "life"))) / Decimal(int(HOUR_S * MONTH_HOURS))
    return Machine(
        gpus=USUAL_NODE_GPUS if request.buy_gpus is None else parse_count(request.buy_gpus, "buy-gpus", most=1024),
        price=rates.convert(parse_money(request.buy, "buy"), currency),
        residual_fraction=_read_residual(request.residual),
        life_months=months,
        hosting_per_month=hosting,
    )


def _read_residual(text: str | None) -> Decimal:
    if text is None or re.fullmatch(r"0+(?:\.0*)?%?", text.strip()):
        return Decimal(0)
    fraction = parse_fraction(text, "residual")
    if fraction >= 1:
        raise InputError(Message("residual must be below 1, got '{given}'", given=text))
    return Decimal(repr(fraction))


def _read_limits(request: MixRequest) -> Limits:
    gap = 0.0 if re.fullmatch(r"0+(?:\.0*)?%?", request.gap.strip()) else parse_fraction(request.gap, "gap")
    return Limits(time_s=parse_duration_s(request.time_limit, "time-limit"), gap_fraction=gap)
