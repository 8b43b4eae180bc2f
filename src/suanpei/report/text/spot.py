"""What is said where the first plan stands on machines that may be taken back."""

from __future__ import annotations

from suanpei.messages import Message


def say_spot(otherwise: tuple[Message | str, str] | None) -> Message:
    """Warn that a first plan is on spot machines.

    Args:
        otherwise: The cheapest that is not: of whom, and its total with tax; None where there is none. [-]
    """
    if otherwise is None:
        return Message("Spot machines: they may be taken back at any time, which neither time nor cost counts.")
    return Message(
        "Spot machines: they may be taken back at any time, which neither time nor cost counts; cheapest otherwise:"
        " {seller}, {total} with tax.",
        seller=otherwise[0],
        total=otherwise[1],
    )
