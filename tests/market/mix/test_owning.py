from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

import pytest

from suanpei.errors import InputError
from suanpei.market.mix.owning import Machine, own_for
from tests.market.mix.samples import yuan

if TYPE_CHECKING:
    from suanpei.money import Money


def machine(hosting: Money | None = None, residual: str = "0.2") -> Machine:
    return Machine(
        gpus=8,
        price=yuan(2_000_000),
        residual_fraction=Decimal(residual),
        life_months=Decimal(48),
        hosting_per_month=hosting,
    )


def test_a_month_is_depreciation_and_hosting() -> None:
    """2,000,000 · 0.8 / 48 = 33,333.33 and 8,000 of hosting."""
    owned = machine(yuan(8_000))

    assert owned.per_month.rounded() == yuan("41333.33")
    assert owned.per_gpu_hour.rounded(4) == yuan("7.0776")
    assert own_for(owned, 9, 1460.0) == yuan("165333.33")


def test_what_nothing_states_is_listed() -> None:
    assert len(machine().list_missing()) == len(machine(yuan(1)).list_missing()) + 1


def test_a_machine_that_makes_no_sense_is_refused() -> None:
    with pytest.raises(InputError, match="residual value"):
        machine(residual="1.2")
