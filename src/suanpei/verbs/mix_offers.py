"""The offers of a mix: read, chosen by card, region and tier, and put on one basis."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from suanpei.errors import InputError
from suanpei.market.cost.tax import load_tax_rates
from suanpei.market.mix.capacity import build_capacity
from suanpei.market.price_rows import is_in_region
from suanpei.messages import Message
from suanpei.verbs.offered import read_offers, take_named_cards

if TYPE_CHECKING:
    from collections.abc import Sequence

    from suanpei.market.cost.tax import TaxRates
    from suanpei.market.mix.capacity import Capacity
    from suanpei.market.offer import Offer
    from suanpei.verbs.inputs import Inputs
    from suanpei.verbs.mix_request import MixRequest, MixTerms


@dataclass(frozen=True, kw_only=True)
class Offered:
    """What can be mixed."""

    capacities: tuple[Capacity, ...]
    accelerators: tuple[str, ...]
    assumptions: tuple[Message, ...]
    questions: tuple[Message, ...]


def gather_offers(request: MixRequest, terms: MixTerms, inputs: Inputs) -> Offered:
    """Gather the offers that may serve the demand.

    Args:
        request: Files, cards, region. [-]
        terms: Currency, tax side, tiers, interruptions. [-]
        inputs: Catalogue. [-]

    Raises:
        InputError: No file, no offer left, or offers of several cards of which none was chosen.
    """
    if not request.offers:
        raise InputError(Message("offers is missing: give the sellers' offers with --offers FILE"))
    listed = read_offers(request.offers, inputs, currency=terms.currency, rates=terms.rates, as_of=request.as_of)
    named, absent = take_named_cards(listed.offers, request.gpu, inputs.catalogue)
    offers = [offer for offer in named if request.region is None or is_in_region(offer, request.region)]
    offers, left_out = _choose_tiers(offers, terms)
    if not offers and left_out:
        raise InputError(Message("offers: none is left: {reasons}", reasons=left_out))
    if not offers:
        raise InputError(
            Message(
                "offers: none of the offers in {files} is left after --gpu, --region and --tier",
                files=", ".join(map(str, request.offers)),
            )
        )
    found = tuple(dict.fromkeys(offer.accelerator_name for offer in offers))
    notes = [*absent, *listed.assumptions, *listed.not_planned, *left_out]
    notes += _check_cards(found, is_chosen=bool(request.gpu))
    capacities = []
    tax_rates = load_tax_rates(inputs.catalogue)
    for offer in offers:
        capacity, said = _build(offer, terms, tax_rates)
        capacities.append(capacity)
        notes += said
    return Offered(
        capacities=tuple(capacities),
        accelerators=found,
        assumptions=tuple(dict.fromkeys(notes)),
        questions=tuple(dict.fromkeys(question for offer in offers for question in offer.questions)),
    )


def _check_cards(found: Sequence[str], *, is_chosen: bool) -> list[Message]:
    """Check that the offers are of one card, or of several that the user named.

    Raises:
        InputError: They are of several, and none was chosen.
    """
    if len(found) == 1:
        return []
    if not is_chosen:
        raise InputError(
            Message(
                "offers: {accelerators} are different cards, and a demand in cards means one of them; choose with"
                " --gpu",
                accelerators=list(found),
            )
        )
    return [
        Message("{accelerators} stand for each other, card for card, as you name them all", accelerators=list(found))
    ]


def _build(offer: Offer, terms: MixTerms, tax_rates: TaxRates) -> tuple[Capacity, list[Message]]:
    """Put an offer on the basis of the comparison, with what was assumed of it."""
    capacity, note = build_capacity(
        offer.priced_in(terms.currency, terms.rates), terms.tax, tax_rates.of(offer.billing_currency)
    )
    notes = [*capacity.offer.assumptions, *([] if note is None else [note])]
    if not capacity.units:
        notes.append(
            Message(
                "{provider} has {count} cards on hand, fewer than one unit of {unit}: not used",
                provider=offer.provider,
                count=offer.count,
                unit=offer.unit_gpus,
            )
        )
    return capacity, notes


def _choose_tiers(offers: Sequence[Offer], terms: MixTerms) -> tuple[list[Offer], list[Message]]:
    """Leave out what is taken only when asked for: marketplaces, and spot without a rate of interruptions."""
    kept: list[Offer] = []
    notes: list[Message] = []
    for offer in offers:
        if offer.tier == "spot" and terms.interruptions is None and "spot" not in terms.extra_tiers:
            notes.append(
                Message(
                    "spot of {provider} is left out: give --spot-interruptions-per-hour, or --tier spot to count it as"
                    " never taken back",
                    provider=offer.provider,
                )
            )
        elif offer.tier == "marketplace" and "marketplace" not in terms.extra_tiers:
            notes.append(
                Message("the marketplace offer of {provider} is left out: --tier marketplace", provider=offer.provider)
            )
        else:
            kept.append(offer)
    return kept, notes
