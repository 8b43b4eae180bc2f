"""Terms, charges and needs that the cost tests share, by hand and as hypothesis strategies."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from hypothesis import strategies as st

from suanpei.market.cost import Conditions, Cost, DataSizes, RunHours, RunNeeds, price_run
from suanpei.market.offer import UnitPrice
from suanpei.market.terms import Charges, Payment, Tax, Term
from tests.market.price_samples import HOURLY, MONTHLY, cny

MINUTELY = Term(billing_hours=1 / 60)
QUARTER = Term(billing_hours=730.0, minimum_hours=2190.0)


def unit_price(low: str, median: str, high: str, term: Term = HOURLY, *, whole_nodes: bool = False) -> UnitPrice:
    """A price with its band, in yuan."""
    return UnitPrice(low=cny(low), median=cny(median), high=cny(high), term=term, whole_nodes=whole_nodes)


def run_hours(likely: float, low: float | None = None, high: float | None = None) -> RunHours:
    """Hours held; without ends, surely so many."""
    return RunHours(
        likely_hours=likely, low_hours=likely if low is None else low, high_hours=likely if high is None else high
    )


def run_needs(**changes: Any) -> RunNeeds:
    """100 GB of data, 20 GB image, 16 GB weights either way, three checkpoints of 50 GB; 10 h set-up, 2 + 1 h stops."""
    sizes: dict[str, Any] = {
        "data_bytes": 100e9,
        "image_bytes": 20e9,
        "weights_in_bytes": 16e9,
        "weights_out_bytes": 16e9,
        "checkpoints_kept": 3,
    }
    fields: dict[str, Any] = {
        "checkpoint_bytes": 50e9,
        "setup_hours": 10.0,
        "lost_work_hours": 2.0,
        "recovery_hours": 1.0,
    }
    sizes.update({name: changes.pop(name) for name in list(changes) if name in sizes})
    return RunNeeds(sizes=DataSizes(**sizes), **(fields | changes))


def find_part(cost: Cost, name: str) -> Any:
    """The line whose name holds a word, also below another one."""
    lines = [*cost.parts, *(line for part in cost.parts for line in part.parts)]
    (found,) = [line for line in lines if name in str(line.name) and not str(line.name).startswith("rent:")]
    return found


amounts = st.decimals(min_value="0.01", max_value="99", places=4)
unit_prices = st.builds(
    lambda band, term, whole: UnitPrice(
        low=cny(str(band[0])), median=cny(str(band[1])), high=cny(str(band[2])), term=term, whole_nodes=whole
    ),
    st.lists(amounts, min_size=3, max_size=3).map(sorted),
    st.sampled_from([HOURLY, MONTHLY, MINUTELY, QUARTER, Term(billing_hours=24.0), Term(billing_hours=1 / 3600)]),
    st.booleans(),
)
hours_held = st.lists(st.floats(0.1, 2e4), min_size=3, max_size=3).map(
    lambda ends: RunHours(low_hours=min(ends), likely_hours=sorted(ends)[1], high_hours=max(ends))
)
_money = st.none() | st.decimals(min_value=0, max_value=9, places=3).map(lambda amount: cny(str(amount)))
_share = st.none() | st.decimals(min_value=0, max_value=1, places=2)
_months = st.none() | st.integers(0, 6).map(Decimal)
all_charges = st.builds(
    Charges,
    storage_per_gb_month=_money,
    ingress_per_gb=_money,
    egress_per_gb=_money,
    set_up=_money,
    fabric_per_gpu_hour=_money,
    early_exit_fraction=_share,
    bills_outages=st.sampled_from([None, True, False]),
)
all_conditions = st.builds(
    Conditions,
    tax=st.builds(
        Tax,
        state=st.sampled_from(["in", "out", "unknown"]),
        rate_fraction=st.none() | st.sampled_from([Decimal("0.06"), Decimal("0.13"), Decimal("0.19")]),
    ),
    charges=all_charges,
    payment=st.builds(Payment, deposit_months=_months, prepaid_months=_months, prepaid_fraction=_share),
)
all_needs = st.builds(
    lambda data, checkpoint, setup, lost, recovery: run_needs(
        data_bytes=data,
        checkpoint_bytes=checkpoint,
        setup_hours=setup,
        lost_work_hours=lost,
        recovery_hours=recovery,
    ),
    st.floats(0, 1e14),
    st.floats(0, 1e13),
    st.floats(0, 48),
    st.floats(0, 200),
    st.floats(0, 200),
)


def price(price: UnitPrice, hours: RunHours, **values: Any) -> Cost:
    """The bill of a run on 16 cards in nodes of 8, unless said otherwise."""
    return price_run(price, hours=hours, **({"gpus": 16, "gpus_per_node": 8} | values))
