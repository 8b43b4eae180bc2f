"""What a cost consists of: its parts, what is missing from it, when it is paid."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from decimal import Decimal

    from suanpei.market.indicative import IndicativePrice
    from suanpei.market.offer import Offer
    from suanpei.messages import Message
    from suanpei.money import Money

CostUnit = Literal["gpu_hour", "gb_month", "gb", "rental"]
"""What a quantity counts; GB is 1e9 bytes, a month 730 h."""


@dataclass(frozen=True, kw_only=True)
class CostPart:
    """One line of a bill: ``amount = quantity · price`` to the cent; a part with parts below it is their sum."""

    name: Message
    currency: str
    quantity: Decimal
    unit: CostUnit
    """What `quantity` counts and `price` is for."""
    price: Money
    amount: Money
    low: Money
    """The least of the short run at the low price, the likely run, and the long run at the high price. Amounts of parts
    sum to what they are parts of; their ends do not, because not all are least in the same course: a longer run leaves
    fewer hours unused. So the low ends sum to no more than the low end of the whole, the high ends to no less."""
    high: Money
    """The most of the three; see `low`."""
    parts: tuple[CostPart, ...] = ()


@dataclass(frozen=True, kw_only=True)
class MissingPart:
    """A cost part that nothing states: not in the total, and not zero."""

    name: Message
    currency: str
    worst: Money | None
    """What it may add to the total at its worst reading; None is unknown."""
    basis: Message | None
    """What `worst` rests on; None where there is none."""
    question: Message
    """What to ask the seller."""
    is_in_total: bool = False
    """Whether the total holds the worst reading already: `worst` is then 0."""


@dataclass(frozen=True, kw_only=True)
class CashItem:
    """One payment."""

    day: float
    """Days after signing. [d]"""
    currency: str
    amount: Money
    """Above zero is paid, below zero comes back."""
    what: Message


@dataclass(frozen=True, kw_only=True)
class EarlyExit:
    """What it costs to end with the run instead of the minimum term."""

    currency: str
    unused_hours: float
    """Hours of the minimum term per card that the run does not need. [h]"""
    unused_rent: Money
    """Their rent, with the network where it is billed apart; the total holds it."""
    fee: Money
    """What the seller takes of it."""
    total: Money
    """Of the whole cost, ended so."""


@dataclass(frozen=True, kw_only=True)
class Cost:
    """What a run costs: as quoted, with tax in or out as the price has it, and with tax."""

    currency: str
    total: Money
    low: Money
    """Low end of the price for the short end of the run."""
    high: Money
    """High end of the price for the long end of the run."""
    total_tax_in: Money | None
    """With tax in; None where the state of the price or the rate is not known."""
    total_tax_out: Money | None
    """Without tax; None where the state of the price or the rate is not known."""
    tax_rate_fraction: Decimal | None
    """The rate that the seller states. [-]"""
    least_total_tax_in: Money
    """With tax at the reading that suits the buyer; `total_tax_in` where that is known."""
    ranked_total: Money
    """What ranks and what a budget has to pay: with tax, at the worst reading where the price leaves tax open."""
    low_tax_in: Money
    """`low` with tax at the reading that suits the buyer."""
    high_tax_in: Money
    """`high` with tax at its worst reading."""
    parts: tuple[CostPart, ...]
    """They sum to `total`."""
    missing: tuple[MissingPart, ...]
    """Cost parts that nothing states: not in `total`, and not zero."""
    worst_total: Money
    """With tax where that is known and every missing part at its worst; what has no worst reading comes on top."""
    cash_flow: tuple[CashItem, ...]
    """Payments by day from signing; they sum to `total`."""
    peak_cash_out: Money
    """The most that is paid in at any time, deposits included."""
    early_exit: EarlyExit | None
    """None where the run fills the minimum term or the seller states no terms of exit."""
    paid_hours: float
    """Hours paid per card. [h]"""
    paid_gpus: int
    """Cards paid. [-]"""


@dataclass(frozen=True, kw_only=True)
class Bill:
    """A cost and the price that it rests on."""

    price: IndicativePrice | Offer
    cost: Cost
