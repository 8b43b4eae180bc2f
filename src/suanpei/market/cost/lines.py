"""Bill lines before they are a result: each in the three courses that a run can take."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Literal

from suanpei.market.cost.result import CostPart

if TYPE_CHECKING:
    from collections.abc import Iterable

    from suanpei.market.cost.result import CostUnit
    from suanpei.messages import Message
    from suanpei.money import Money

COURSES = 3
"""The short run at the low price, the likely run at the median, the long run at the high price, in this order."""
LIKELY = 1
"""Place of the likely course."""

Due = Literal["with_rent", "start", "month_ends", "end"]
"""When a line is paid."""

Three = tuple[Decimal, Decimal, Decimal]
ThreePrices = tuple["Money", "Money", "Money"]


@dataclass(frozen=True, kw_only=True)
class Line:
    """One line in the three courses."""

    name: Message
    unit: CostUnit
    quantity: Decimal
    """In the likely course."""
    price: Money
    """In the likely course."""
    amounts: ThreePrices
    """Rounded to the cent."""
    parts: tuple[Line, ...] = ()
    due: Due = "with_rent"

    @property
    def amount(self) -> Money:
        """The amount of the likely course."""
        return self.amounts[LIKELY]

    def as_part(self) -> CostPart:
        """Give the line as it is shown."""
        least, *_, most = sorted(self.amounts, key=lambda money: money.amount)
        return CostPart(
            name=self.name,
            currency=self.price.currency,
            quantity=self.quantity,
            unit=self.unit,
            price=self.price,
            amount=self.amount,
            low=least,
            high=most,
            parts=tuple(part.as_part() for part in self.parts),
        )


def sum_course(lines: Iterable[Line], course: int, zero: Money) -> Money:
    """Add up the amounts of one course."""
    return sum((line.amounts[course] for line in lines), start=zero)


def exact(number: float) -> Decimal:
    """Take a float as the shortest decimal that is it, so that the bill shows what it counts."""
    return Decimal(repr(float(number)))
