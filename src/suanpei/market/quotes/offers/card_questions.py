"""What to ask about a card: unknown, ambiguous, or with a memory that no such card has."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from suanpei.messages import Message

if TYPE_CHECKING:
    from suanpei.market.quotes.offers.price_questions import Asked


def ask_about_card(card: str, candidates: tuple[str, ...], flags: set[str]) -> Asked | None:
    """Ask which card is meant, or how much memory it has; None where both are clear.

    Args:
        card: As written. [-]
        candidates: Cards of the catalogue that the name fits. [-]
        flags: Of the offer. [-]
    """
    if "impossible_memory" in flags:
        return _impossible_memory(card)
    if "memory_label_mismatch" in flags:
        return _label_mismatch(card)
    if "unknown_card" in flags:
        return _unknown_card(card)
    if len(candidates) > 1:
        return _several_cards(card, candidates)
    return _bare_memory(card) if "memory_unit_missing" in flags else None


@lru_cache(maxsize=1_024)
def _impossible_memory(card: str) -> Asked:
    return (
        Message("no card of this kind has that memory: {card}", card=card),
        Message("which card exactly is {card}, and how much memory does one card have?", card=card),
    )


@lru_cache(maxsize=1_024)
def _label_mismatch(card: str) -> Asked:
    return (
        Message("the instance has other cards than its label says: {card}", card=card),
        Message("which card exactly is {card}, and how much memory does one card have?", card=card),
    )


@lru_cache(maxsize=4_096)
def _unknown_card(card: str) -> Asked:
    return (
        Message("the catalogue has no card {card}", card=card),
        Message("which card exactly is {card}, and how much memory does one card have?", card=card),
    )


@lru_cache(maxsize=1_024)
def _several_cards(card: str, candidates: tuple[str, ...]) -> Asked:
    return (
        Message("the name fits several cards: {candidates}", candidates=list(candidates)),
        Message("which card exactly is {card}: {candidates}?", card=card, candidates=list(candidates)),
    )


@lru_cache(maxsize=1_024)
def _bare_memory(card: str) -> Asked:
    return (
        Message("the memory stands without its unit: {card}", card=card),
        Message("please confirm how much memory one card of {card} has, in GB", card=card),
    )
