"""The price at which one seller's bill comes to a given total."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

PRICE_STEP = Decimal("0.0001")
"""Of a price per accelerator-hour that is proposed to a seller. [currency/card-hour]"""
_DOUBLINGS = 64


def find_price_for_total(total_at: Callable[[Decimal], Decimal], limit: Decimal, *, start: Decimal) -> Decimal | None:
    """Find the highest price at which a bill does not exceed a total.

    The bill is made again at each price that is tried, so whole billing periods, whole nodes, charges beside the rent
    and tax are in it; nothing is solved in closed form. The bill at the price found is the total to the cent, or below
    it by less than what one step of the price, 0.0001, adds to the bill.

    Args:
        total_at: Makes the bill at a price per accelerator-hour; never falls as the price rises. [-]
        limit: The total to tie with. [-]
        start: A price to begin at, above zero. [currency/card-hour]

    Returns:
        A price in steps of 0.0001; None where even the lowest step exceeds the total, or no price reaches it.

    Example:
        >>> find_price_for_total(lambda price: 730 * 8 * price, Decimal(36208), start=Decimal("6.5"))
        Decimal('6.2000')
    """
    low, high = 0, max(int(start / PRICE_STEP), 1)

    def exceeds(steps: int) -> bool:
        return total_at(steps * PRICE_STEP) > limit

    for _ in range(_DOUBLINGS):
        if exceeds(high):
            break
        low, high = high, 2 * high
    else:
        return None
    while high - low > 1:
        middle = (low + high) // 2
        if exceeds(middle):
            high = middle
        else:
            low = middle
    return low * PRICE_STEP if low else None
