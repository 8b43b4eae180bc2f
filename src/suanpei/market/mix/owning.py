"""Buying and hosting a machine beside renting: straight-line depreciation and the host's bill, per month.

::

    per month = (price - residual value) / life + hosting

No interest, insurance, repairs, staff or network: nothing states them, and they are listed as missing. No price is
assumed: without the user's own there is no line.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING

from suanpei.errors import InputError
from suanpei.messages import Message
from suanpei.units import MONTH_HOURS

if TYPE_CHECKING:
    from suanpei.money import Money


@dataclass(frozen=True, kw_only=True)
class Machine:
    """A machine as the user would buy it."""

    gpus: int
    """Accelerators in it. [-]"""
    price: Money
    """Of the machine."""
    residual_fraction: Decimal
    """Share of the price that it still fetches at the end of its life. [-]"""
    life_months: Decimal
    """[month]"""
    hosting_per_month: Money | None
    """What its host bills; None is not stated."""

    def __post_init__(self) -> None:
        """Check the figures.

        Raises:
            InputError: No accelerator, no life, or a residual value outside 0 to 1.
        """
        if self.gpus < 1 or self.life_months <= 0 or not 0 <= self.residual_fraction < 1:
            raise InputError(
                Message("a machine has cards, a life above zero, and a residual value of at least 0 and below 1")
            )

    @property
    def per_month(self) -> Money:
        """Depreciation and hosting."""
        depreciation = self.price * ((1 - self.residual_fraction) / self.life_months)
        return depreciation if self.hosting_per_month is None else depreciation + self.hosting_per_month

    @property
    def per_gpu_hour(self) -> Money:
        """The same over all hours of a month of 730 h, used or not."""
        return self.per_month / (self.gpus * Decimal(int(MONTH_HOURS)))

    def count_for(self, gpus: int) -> int:
        """Count the machines that hold so many accelerators. [-]"""
        return -(-gpus // self.gpus)

    def list_missing(self) -> tuple[Message, ...]:
        """List what owning costs beside, that nothing states."""
        missing = [
            Message("interest on the money tied up"),
            Message("repairs, spares and insurance of your own machines"),
            Message("staff and network of your own machines"),
        ]
        if self.hosting_per_month is None:
            missing.insert(0, Message("hosting of your own machines (--hosting)"))
        return tuple(missing)


def own_for(machine: Machine, gpus: int, hours: float) -> Money:
    """Price owning enough machines for so many accelerators over a time.

    Args:
        machine: The machine. [-]
        gpus: Accelerators needed at a time. [-]
        hours: How long. [h]
    """
    months = Decimal(repr(hours)) / Decimal(int(MONTH_HOURS))
    return (machine.per_month * (machine.count_for(gpus) * months)).rounded()
