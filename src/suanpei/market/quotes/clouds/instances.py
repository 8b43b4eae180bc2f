"""Offers of cloud catalogues, whose rows name an instance, its cards and a price per instance-hour in dollars."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from suanpei.errors import InputError
from suanpei.machine.names import MEMORY, MEMORY_SIZES_GB, resolve_accelerator
from suanpei.market.quotes.quoted import Place, QuotedOffer, QuotedPrice, Reading
from suanpei.market.terms import HOURLY, UNKNOWN_TAX
from suanpei.messages import Message
from suanpei.units import GIB_BYTES

if TYPE_CHECKING:
    from collections.abc import Iterable

    from suanpei.machine.accelerator import ResolvedAccelerator
    from suanpei.machine.catalogue import Catalogue
    from suanpei.market.quotes.context import QuoteContext
    from suanpei.market.quotes.quoted import Pricing
    from suanpei.provenance import Confidence

CURRENCY = "USD"
"""Of every cloud catalogue read here."""
MARKETPLACES = frozenset({"vast", "vastai"})
"""Catalogue names of sellers whose prices are set by private hosts."""
MOST_INSTANCE_GPUS = 64
"""More cards than any instance holds. [-]"""

FORM = re.compile(r"(?<![a-z])(sxm\d?|pci-?e|nvl(?!ink))", re.IGNORECASE)
_HOUR = Fraction(1)
_LABEL_TOLERANCE = 0.03
"""By how much a memory size that a driver reports may differ from the label. [-]"""


@dataclass(frozen=True, kw_only=True)
class Instance:
    """One priced row of a cloud catalogue."""

    source: Place
    seller: str
    name: str
    """The type of the instance; empty where only its cards are priced."""
    zones: tuple[str, ...]
    card: str
    """The card's name as the catalogue spells it."""
    hints: str
    """What else tells cards of one name apart: the instance's name, a description."""
    memory_bytes: tuple[float, ...]
    """What the memory of one card may be; a catalogue may leave open whether it states one card or all. [B]"""
    gpus: int
    """Cards of the instance. [-]"""
    price: Fraction
    """Of the whole instance. [USD/h]"""
    price_as_written: str
    is_spot: bool
    region: str


class InstanceReader:
    """Turns instances into quoted offers, remembering what each spelling of a card means."""

    def __init__(self, context: QuoteContext) -> None:
        self.context = context
        self.assumptions: dict[Message, None] = {
            Message("prices are converted at {rate}", rate=str(rate)): None
            for rate in context.rates.route(CURRENCY, context.currency)
        }
        """What had to be assumed of rates and cards, in order."""
        self._factor = context.rates.factor(CURRENCY, context.currency)
        self._why: dict[int, Message] = {}
        self._cards: dict[tuple[str, str, tuple[float, ...]], ResolvedAccelerator | None] = {}

    def read(self, instance: Instance) -> QuotedOffer:
        """Make a quoted offer of an instance."""
        card = self._card(instance)
        amount = instance.price * self._factor / instance.gpus
        currency = self.context.currency
        flags = [
            *(["spot"] if instance.is_spot else []),
            *([] if instance.name else ["component_price"]),
            *([] if currency == CURRENCY else [CURRENCY.lower()]),
            *([] if card is not None else ["unknown_card"]),
        ]
        return QuotedOffer(
            source=instance.source,
            seller=instance.seller,
            accelerator=None if card is None else card.accelerator.name,
            accelerator_as_written=instance.card,
            accelerators_per_unit=instance.gpus,
            price_as_written=instance.price_as_written,
            quoted_currency=CURRENCY,
            price_per_accelerator_hour=QuotedPrice.of(amount, amount, currency, UNKNOWN_TAX),
            pricing=_pricing(instance),
            term=HOURLY,
            count=None,
            links="",
            region=instance.region,
            quote_date=None,
            valid_until=None,
            readings=(
                Reading(
                    amount=amount,
                    billed="instance",
                    period_hours=_HOUR,
                    quoted_currency=CURRENCY,
                    is_plausible=None,
                    why=self._say_why(instance.gpus),
                ),
            ),
            flags=tuple(flags),
            confidence=_confidence(instance, card),
            note=", ".join(filter(None, (instance.name, *instance.zones))),
        )

    def _card(self, instance: Instance) -> ResolvedAccelerator | None:
        form = FORM.search(instance.hints)
        key = (instance.card, form[1] if form else "", instance.memory_bytes)
        if key not in self._cards:
            card = self._cards[key] = find_card(self.context.catalogue, *key)
            if card is not None:
                self.assumptions |= dict.fromkeys(card.assumptions)
        return self._cards[key]

    def _say_why(self, gpus: int) -> Message:
        if gpus not in self._why:
            self._why[gpus] = Message("the catalogue prices whole instances of {gpus} cards by the hour", gpus=gpus)
        return self._why[gpus]


def find_card(
    catalogue: Catalogue, card: str, form: str, memory_bytes: tuple[float, ...]
) -> ResolvedAccelerator | None:
    """Find the card that a cloud catalogue means.

    Args:
        catalogue: Holds the accelerators. [-]
        card: Name as the cloud catalogue spells it: ``A100-80GB``, ``RTX4090``. [-]
        form: Form factor that the row names elsewhere; may be empty. [-]
        memory_bytes: What the memory of one card may be. [B]

    Returns:
        The card; None where the name is unknown or fits several.
    """
    has_memory = MEMORY.search(card.casefold().replace("-", " ")) is not None
    named = f"{card} {form}".rstrip()
    sizes = [] if has_memory else _label_sizes(memory_bytes)
    found = [hit for size in sizes if (hit := _resolve(catalogue, f"{named} {size}GB")) is not None]
    if found:
        return found[0] if len({hit.accelerator.name for hit in found}) == 1 else None
    return _resolve(catalogue, named) or _resolve(catalogue, card)


def _label_sizes(memory_bytes: Iterable[float]) -> list[int]:
    """Give the sizes on a label that reported sizes stand for. [GB]"""
    sizes: list[int] = []
    for size_bytes in memory_bytes:
        nearest = min(MEMORY_SIZES_GB, key=lambda label: abs(label - size_bytes / GIB_BYTES))
        if abs(nearest - size_bytes / GIB_BYTES) <= _LABEL_TOLERANCE * nearest and nearest not in sizes:
            sizes.append(nearest)
    return sizes


def _resolve(catalogue: Catalogue, text: str) -> ResolvedAccelerator | None:
    try:
        return resolve_accelerator(catalogue, text)
    except InputError:
        return None


def _pricing(instance: Instance) -> Pricing:
    if instance.is_spot:
        return "spot"
    return "marketplace" if instance.seller.casefold() in MARKETPLACES else "on_demand"


def _confidence(instance: Instance, card: ResolvedAccelerator | None) -> Confidence:
    if card is None or not instance.name:
        return "low"
    return "medium" if card.assumptions else "high"
