from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from suanpei.errors import InputError
from suanpei.market.mix.closed_form import (
    break_even_hours,
    choose_for_one_run,
    map_saving,
    mix_two_levels,
    most_burst_share,
    reserve_by_level,
)

if TYPE_CHECKING:
    from collections.abc import Callable

shares = st.floats(0.0, 1.0)
ratios = st.floats(1.05, 4.0)


@given(base=shares, burst=shares, ratio=ratios)
def test_the_level_is_the_best_of_all_levels(base: float, burst: float, ratio: float) -> None:
    """At any reserved level x, b is needed always and the rest for a share f of the time."""
    form = mix_two_levels(price_ratio=ratio, base_share=base, burst_share=burst)

    def cost(level: float) -> float:
        return level + ratio * (max(base - level, 0.0) + burst * (1.0 - max(base, level)))

    best = min(cost(step / 50) for step in range(51))
    assert form.cost <= best + 1e-9
    assert cost(form.reserve_level) == pytest.approx(form.cost)
    assert cost(form.highest_level) == pytest.approx(form.cost)


@given(base=st.floats(0.0, 0.99), ratio=ratios)
def test_the_region_of_a_saving_ends_where_the_saving_does(base: float, ratio: float) -> None:
    burst = most_burst_share(0.3, price_ratio=ratio, base_share=base)

    if burst is None:
        assert mix_two_levels(price_ratio=ratio, base_share=base, burst_share=1e-9).save_vs_reserved < 0.3 + 1e-6
    else:
        at_limit = mix_two_levels(price_ratio=ratio, base_share=base, burst_share=burst)
        assert at_limit.save_vs_reserved == pytest.approx(0.3)


def test_uniform_demand_reserves_all_but_the_last_share() -> None:
    """Demand uniform on 0 to P: reserve P (1 - 1/r) at P (1 - 1/(2r)), 36 % less than all on demand at r = 2.5."""
    steps = 1000
    curve = [((index + 1) / steps, 1.0 - (index + 0.5) / steps) for index in range(steps)]

    form = reserve_by_level(curve, 2.5, 1.0)

    assert form.reserve_level == pytest.approx(0.6, abs=0.001)
    assert form.cost == pytest.approx(0.8, abs=0.001)
    assert form.save_vs_on_demand == pytest.approx(0.36, abs=0.001)
    assert form.save_vs_reserved == pytest.approx(0.2, abs=0.001)


def test_flat_demand_is_all_reserved_and_saves_nothing_against_it() -> None:
    form = mix_two_levels(price_ratio=2, base_share=1, burst_share=1)

    assert form.save_vs_reserved == 0
    assert form.save_vs_on_demand == 0.5


def test_one_run_breaks_even_where_its_hours_cost_a_month() -> None:
    assert break_even_hours(period_hours=730, reserved_price=10, on_demand_price=25) == 292
    prices = {"period_hours": 730, "reserved_price": 10, "on_demand_price": 25}
    assert choose_for_one_run(288, **prices) == "on_demand"
    assert choose_for_one_run(292, **prices) == "same"
    assert choose_for_one_run(300, **prices) == "reserved"


@pytest.mark.parametrize(
    "call",
    [
        lambda: mix_two_levels(price_ratio=0, base_share=0.5, burst_share=0.5),
        lambda: mix_two_levels(price_ratio=2, base_share=1.5, burst_share=0.5),
        lambda: mix_two_levels(price_ratio=2, base_share=0.5, burst_share=-0.1),
        lambda: break_even_hours(period_hours=730, reserved_price=0, on_demand_price=1),
        lambda: map_saving(float("inf")),
    ],
)
def test_figures_that_make_no_sense_are_refused(call: Callable[[], object]) -> None:
    with pytest.raises(InputError):
        call()
