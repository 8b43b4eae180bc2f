"""Which of several likely readings is taken where no word settles the unit: the only one, or a machine's in 万."""

from __future__ import annotations

from typing import TYPE_CHECKING

from suanpei.market.terms import PERIOD_HOURS
from suanpei.messages import Message

if TYPE_CHECKING:
    from collections.abc import Sequence

    from suanpei.market.quotes.prices.draft import Draft
    from suanpei.market.quotes.prices.unit_options import Option
    from suanpei.market.quotes.quoted import Reading


def take_likely(
    draft: Draft, options: Sequence[Option], readings: Sequence[Reading], likely: Sequence[int]
) -> tuple[int, Message] | None:
    """Find the one price that likely readings leave, and what speaks for it; None where several or none are left.

    A sum is not taken for a year's rent where no word speaks of time: 230万 may be what the machine is sold for. A
    price in 万 beside the cards of a machine (``8卡 7.2万/月``) is the machine's: a card's own month costs as much only
    on clouds that do not sell it in these words.

    Args:
        draft: The price. [-]
        options: Every way to read its unit. [-]
        readings: What each gives. [-]
        likely: Numbers of those that the price band holds and no word speaks against. [-]
    """
    if likely and len({readings[number].amount for number in likely}) == 1:
        why = Message("the only usual price among the readings that no word speaks against")
        return None if _is_unsaid_year(draft, options[likely[0]]) else (likely[0], why)
    machines = [number for number in likely if options[number].billed == "node"]
    is_in_wan = draft.amount is not None and draft.amount.is_scaled and (draft.stated_gpus or 1) > 1
    if is_in_wan and len(machines) == 1 and len({options[number].period_hours for number in likely}) == 1:
        return machines[0], Message("a price in tens of thousands (万) beside a machine's cards is the machine's")
    return None


def _is_unsaid_year(draft: Draft, option: Option) -> bool:
    """Tell whether an option takes a sum for a year's rent, and nothing speaks of the time."""
    terms = draft.terms
    is_said = draft.unit.period or terms.pricing or terms.minimum_hours or terms.prepaid_term_hours
    return not is_said and option.period_hours >= PERIOD_HOURS["year"]
