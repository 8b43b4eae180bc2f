"""What to ask about what is billed beside the card: storage, traffic, power."""

from __future__ import annotations

from typing import TYPE_CHECKING

from suanpei.messages import Message

if TYPE_CHECKING:
    from suanpei.market.quotes.offers.price_questions import Asked

_BESIDE = frozenset({"storage_extra", "traffic_extra", "storage_billed_when_stopped"})


def ask_charges(flags: set[str], *, has_storage: bool, has_traffic: bool) -> Asked | None:
    """Ask for the prices of storage and outbound traffic that are not stated.

    Args:
        flags: Of the offer. [-]
        has_storage: Whether the price of storage is stated. [-]
        has_traffic: Whether that of outbound traffic is. [-]
    """
    if has_storage:
        return None if has_traffic else _TRAFFIC
    if has_traffic:
        return _STORAGE
    return _CHARGES if flags.isdisjoint(_BESIDE) else _CHARGES_BESIDE


def ask_power(flags: set[str]) -> Asked | None:
    """Ask what power costs where it is said to be billed beside the price."""
    return _POWER if "power_extra" in flags else None


_CHARGES_BESIDE: Asked = (
    Message("disk or traffic is billed beside the price, without its price"),
    Message("what do disk (per GB and month, also while stopped) and outbound traffic (per GB) cost?"),
)
_STORAGE: Asked = (
    Message("the price of storage is not stated"),
    Message("which storage is in the price, and what does more storage cost (per GB and month, also while stopped)?"),
)
_TRAFFIC: Asked = (
    Message("the price of outbound traffic is not stated"),
    Message("is outbound traffic in the price, or what does it cost (per GB)?"),
)
_POWER: Asked = (
    Message("power is billed beside the price, without its price"),
    Message("what does power cost (per kWh or per machine and month), and what does a machine draw?"),
)
_CHARGES: Asked = (
    Message("the prices of storage and traffic are not stated"),
    Message("which storage is in the price, and what do more storage and outbound traffic cost?"),
)
