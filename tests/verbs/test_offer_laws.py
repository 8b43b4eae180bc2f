"""Laws of `compare` on random offers with all their terms: what every seller's row and bill must keep."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from tests.verbs.test_compare import BASE, Row, by_seller, compare, without_source

if TYPE_CHECKING:
    import pytest

CENT = Decimal("0.01")
MONEY = ("set_up", "storage_per_gb_month", "ingress_per_gb", "egress_per_gb", "fabric_per_gpu_hour")
_amounts = st.sampled_from(["", "", "0", "0.3", "2"])


@st.composite
def offers(draw: st.DrawFn) -> list[Row]:
    """Three to eight offers of at most four sellers, with any terms."""
    return [
        {
            **BASE,
            "provider": draw(st.sampled_from("甲乙丙丁")),
            "gpu": draw(st.sampled_from(["A800", "4090", "H800"])),
            "price_per_hour": str(draw(st.decimals("5.5", "8.5", places=2))),
            "count": draw(st.sampled_from(["2", "7", "8", "16", "64"])),
            "term": draw(st.sampled_from(["hourly", "按分钟", "monthly", "3 months", "daily"])),
            "node_or_card": draw(st.sampled_from(["card", "node8"])),
            "tax": draw(st.sampled_from(["含税 6%", "含税", "不含税(13%)", "不含税", ""])),
            "links": draw(st.sampled_from(["8x200G RoCE", ""])),
            "tier": draw(st.sampled_from(["server", "platform", "spot"])),
            **{column: draw(_amounts) for column in MONEY},
            "bills_outages": draw(st.sampled_from(["", "yes", "no"])),
            "deposit_months": draw(st.sampled_from(["", "1"])),
            "prepaid_months": draw(st.sampled_from(["", "0", "3"])),
        }
        for _ in range(draw(st.integers(3, 5)))
    ]


@given(rows=offers(), pick=st.integers(0, 7), rise=st.sampled_from(["price_per_hour", *MONEY]), data=st.data())
@settings(max_examples=4, deadline=None, phases=[Phase.generate], suppress_health_check=[HealthCheck.too_slow])
def test_rows_and_bills_keep_their_laws(
    tmp_path_factory: pytest.TempPathFactory, rows: list[Row], pick: int, rise: str, data: st.DataObject
) -> None:
    folder = tmp_path_factory.mktemp("laws")
    first = compare(folder, rows)
    planned = {name: row for name, row in by_seller(first).items() if row.cost is not None}
    for row in planned.values():
        cost = row.cost
        assert cost is not None
        assert row.days is not None
        assert row.gpus is not None
        assert sum(part.amount.amount for part in cost.parts) == cost.total.amount
        assert sum(item.amount.amount for item in cost.cash_flow) == cost.total.amount
        assert cost.low <= cost.total <= cost.high
        assert cost.least_total_tax_in <= cost.ranked_total <= cost.worst_total
        assert cost.paid_hours >= row.days * 24 - 1e-6
        assert cost.paid_gpus >= row.gpus
        assert all((part.worst is None) == (part.basis is None) for part in cost.missing)
        if cost.total_tax_in is not None and cost.total_tax_out is not None:
            assert cost.tax_rate_fraction is not None
            taxed = cost.total_tax_out.amount * (1 + cost.tax_rate_fraction)
            assert abs(taxed - cost.total_tax_in.amount) <= CENT
    # the order of the lines says nothing
    shuffled = compare(folder, data.draw(st.permutations(rows)))
    assert [without_source(row) for row in shuffled.sellers] == [without_source(row) for row in first.sellers]
    # no seller gains by raising an amount, and none by one more offer of another
    place = pick % len(rows)
    raised = {**rows[place], rise: str(Decimal(rows[place][rise] or 0) + 1)} if rows[place][rise] else rows[place]
    after = by_seller(compare(folder, [*rows[:place], raised, *rows[place + 1 :]]))
    more = by_seller(compare(folder, [*rows, {**raised, "provider": "戊"}]))
    for name, row in planned.items():
        assert row.ranked_total is not None
        raised_total, joined_total = after[name].ranked_total, more[name].ranked_total
        assert raised_total is not None
        assert joined_total is not None
        assert raised_total.amount >= row.ranked_total.amount - CENT
        assert joined_total == row.ranked_total
