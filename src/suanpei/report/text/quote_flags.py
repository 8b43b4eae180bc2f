"""What the flags of quoted offers mean, in words; their stable spelling is explained in docs/quotes.md."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from suanpei.messages import Message

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

PLAIN: Mapping[str, Message] = {
    "component_price": Message("the price is of the card alone: processors and memory are billed beside it"),
    "currency_missing": Message("no currency is written; the price cannot be converted"),
    "currency_missing_inferred": Message("no currency is written; it is inferred from the rest of the file"),
    "currency_suspect": Message("the currency does not fit the other prices of this card"),
    "daily_min": Message("a day at least"),
    "date_in_future": Message("dated in the future"),
    "decimal_comma": Message("the comma is read as the decimal sign"),
    "deposit": Message("a deposit is asked"),
    "egress_fee": Message("traffic out is billed"),
    "from_price": Message("a lowest price ('from'): the real one may be higher"),
    "up_to_price": Message("a highest price ('up to'): the real one may be lower"),
    "fullwidth_digits": Message("written in full-width digits"),
    "impossible_memory": Message("no such card has this memory"),
    "includes_power": Message("power and cabinet are in the price"),
    "memory_label_mismatch": Message("the instance has other cards than its label says"),
    "memory_unit_missing": Message("the memory is written without a unit and read as GB"),
    "modified_card": Message("a modified card: not as its maker built it"),
    "no_ib": Message("no InfiniBand"),
    "no_quantity": Message("the cards on hand are not stated"),
    "no_warranty": Message("no warranty"),
    "node_price_mislabelled": Message("a node's price labelled per card: it is read per node"),
    "node_size_inferred": Message("how many cards the node has is not written; it is inferred"),
    "non_nvidia": Message("not an Nvidia card: check that your code runs on it"),
    "none_on_hand": Message("nothing is on hand"),
    "nvl_variant": Message("the NVL variant: pairs of cards joined by bridges, on PCIe"),
    "p_per_card_wrong": Message("P is not counted as dense 16-bit computing power of the data sheet"),
    "pcie": Message("a PCIe card: slower links than SXM in the node"),
    "per_PFLOPS": Message("priced per P of computing power, converted by the dense 16-bit peak of the card"),
    "pflops_of_card_unknown": Message("priced per P, and how many P the card has is not published"),
    "power_extra": Message("power is billed beside it"),
    "prepaid": Message("the whole term is paid ahead"),
    "prepay": Message("part of the rent is paid ahead"),
    "price_expired": Message("no longer valid"),
    "price_far_from_band": Message("far from what others ask for this card"),
    "price_from_total": Message("only a total is written; the price is the total by cards and hours"),
    "price_missing": Message("no price"),
    "prices_disagree": Message("two prices of it that should be the same, or its price and its total, are not"),
    "quantity_unit_missing": Message("the quantity does not say whether it counts cards or machines"),
    "reserved": Message("for a committed term"),
    "spot": Message("may be taken back by the seller"),
    "spread_over_sites": Message("a total over several sites or partitions: not known to be in one fabric"),
    "stopped_not_billed": Message("a stopped machine is not billed"),
    "storage_billed_when_stopped": Message("storage is billed while the machine is stopped"),
    "storage_extra": Message("storage is billed beside it"),
    "tax_excluded": Message("tax comes on top, at a rate that is not stated"),
    "quantity_tier": Message("the price holds for a quantity; other prices hold for fewer or more"),
    "tax_notes_contradict": Message("notes below it contradict each other on whether tax is in the price"),
    "tax_sides_differ": Message("its prices with and without tax do not fit one rate of tax"),
    "too_cheap_unit_suspect": Message("too cheap to be true: the unit is suspicious"),
    "too_dear_unit_suspect": Message("too dear to be true: the unit is suspicious"),
    "traffic_extra": Message("traffic is billed beside it"),
    "unit_missing": Message("the unit is not written and stays open"),
    "unit_missing_inferred": Message("no unit is written; it is inferred from the usual price"),
    "unknown_card": Message("the card is none of the catalogue, or fits several"),
    "yearly_node": Message("priced per node and year"),
}
"""Flags without a figure in them."""

_CURRENCY = re.compile(r"[a-z]{3}")
"""The code of a currency, in small letters."""
_PARAMETRIC: tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], Message]], ...] = (
    (
        re.compile(r"tax_excluded_(\d+(?:\.\d+)?)pct"),
        lambda found: Message("tax of {rate} % comes on top", rate=found[1]),
    ),
    (re.compile(r"(\d+(?:\.\d+)?)_month_term"), lambda found: Message("bound for {months} months", months=found[1])),
    (re.compile(r"(\d+)_gpu_node"), lambda found: Message("a machine of {gpus} cards", gpus=found[1])),
    (
        re.compile(r"two_tiers:([\d.]+)/([\d.]+)"),
        lambda found: Message(
            "two prices, {low} and {high}; the lower is shown, a plan takes the higher", low=found[1], high=found[2]
        ),
    ),
    (
        re.compile(r"discount_(\d+(?:\.\d+)?)pct_not_applied"),
        lambda found: Message("a discount of {share} % for a longer term is not in the amount", share=found[1]),
    ),
    (
        re.compile(r"discount_(\d+(?:\.\d+)?)pct_applied"),
        lambda found: Message("a discount of {share} % is in the amount", share=found[1]),
    ),
)


def say_flag(flag: str) -> Message | str:
    """Say a flag in words; one that has none is shown as it is.

    Args:
        flag: As `QuotedOffer.flags` spells it. [-]
    """
    if flag in PLAIN:
        return PLAIN[flag]
    if _CURRENCY.fullmatch(flag):
        return Message("quoted in {currency}", currency=flag.upper())
    for pattern, say in _PARAMETRIC:
        if found := pattern.fullmatch(flag):
            return say(found)
    return flag
