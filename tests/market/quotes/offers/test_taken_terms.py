"""Terms that a price's own time or total stands for: what is paid at a time, and at least."""

from __future__ import annotations

import pytest

from suanpei.market.quotes.offers.as_offers import make_offers
from tests.market.quotes.samples import context, read, table, text

ROW = {"供应商": "乙", "型号": "A800 80G", "配置": "8卡整机", "数量": "2台"}


@pytest.mark.parametrize(
    ("cells", "billing_hours", "minimum_hours"),
    [
        ({"单价": "1000元/卡/周"}, 168, 168),
        ({"起租期": "14天", "单价": "1000元/卡/周"}, 168, 336),
        ({"起租期": "3个月", "单价": "5元/卡/时"}, 730, 2190),
        ({"租期": "2周", "总价": "34000元"}, 336, 336),
        ({"租期": "30天", "总价": "68000元"}, 720, 720),
        ({"租期": "3个月", "总价": "240000元"}, 730, 2190),
    ],
)
def test_a_price_is_paid_for_its_own_time(cells: dict[str, str], billing_hours: float, minimum_hours: float) -> None:
    rows = ROW | cells
    (offer,) = make_offers(read(table([list(rows), list(rows.values())])), context()).offers
    assert (offer.term.billing_hours, offer.term.minimum_hours) == (billing_hours, minimum_hours)
    assert any("worked out of a total" in str(asked) for asked in offer.questions) == ("总价" in cells)


@pytest.mark.parametrize("least", ["起租1个月", "1个月起租", "最少租1个月"])
def test_closing_terms_with_a_shortest_rental_hold_for_all_offers(least: str) -> None:
    said = [
        "A800 80G SXM 8卡整机，5.5元/卡/时，现货3台",
        "H800 80G SXM 8卡整机，7.8万/台/月，现货2台",
        f"不含税（6%专票），押一付一，{least}",
    ]
    offers = read(text("\n".join(said))).offers
    assert [offer.price_per_accelerator_hour.tax for offer in offers] == ["out", "out"]
    assert [offer.term.minimum_hours if offer.term else None for offer in offers] == [730, 730]
