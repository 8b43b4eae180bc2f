"""Each part of a bill by hand arithmetic."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from typing import TYPE_CHECKING

import pytest

from suanpei.errors import InputError
from suanpei.machine.catalogue import load_catalogue
from suanpei.market.cost import Conditions, CostFacts, load_cost_facts, make_bills, price_package
from suanpei.market.cost.facts import ListPrice
from suanpei.market.cost.tax import TaxRates
from suanpei.market.offer import Offer
from suanpei.market.terms import Charges, Payment, Term, read_tax
from suanpei.messages import Message
from tests.market.cost.samples import MINUTELY, QUARTER, find_part, price, run_hours, run_needs, unit_price
from tests.market.price_samples import CATALOGUE, HOURLY, MONTHLY, RATES, cny, usd

if TYPE_CHECKING:
    from pathlib import Path

EVERYTHING = Charges(
    storage_per_gb_month=cny("0.3"),
    ingress_per_gb=cny("0.1"),
    egress_per_gb=cny("0.5"),
    set_up=cny("2000"),
    fabric_per_gpu_hour=cny("0.2"),
    early_exit_fraction=Decimal("0.3"),
    bills_outages=False,
)


def test_the_rent_is_split_into_what_it_is_spent_on() -> None:
    # 12 of 16 paid cards for 100.5 h of a quarter of 2,190 h at 5.00: 16 x 2,190 x 5 = 175,200 in all
    cost = price(unit_price("5", "5", "5", QUARTER, whole_nodes=True), run_hours(100.5), gpus=12, needs=run_needs())
    amounts = {
        "cards at work": 12 * (100.5 - 13) * 5,  # 5,250: ten hours of set-up and three of stops are not work
        "set-up": 12 * 10 * 5,
        "lost to stops": 12 * 3 * 5,
        "beyond the run": 12 * (730 - 100.5) * 5,  # 37,770: the rest of the started month
        "minimum term": 12 * 1460 * 5,  # 87,600: two months more
        "leaves idle": 4 * 2190 * 5,
    }
    assert {name: float(find_part(cost, name).amount.amount) for name in amounts} == amounts
    assert cost.total == cny("175200.00")
    assert sum(amounts.values()) == 175_200


def test_minutes_are_paid_by_the_minute() -> None:
    # 90.5 min are 91 min: 8 x 91/60 x 6 = 72.80; by the hour they are two: 96
    by_minute = price(unit_price("6", "6", "6", MINUTELY), run_hours(90.5 / 60), gpus=8)
    by_hour = price(unit_price("6", "6", "6", HOURLY), run_hours(90.5 / 60), gpus=8)
    assert (by_minute.total, by_hour.total) == (cny("72.80"), cny("96.00"))


def test_every_charge_that_is_stated_is_a_part() -> None:
    cost = price(
        unit_price("5", "5", "5"), run_hours(73.0), needs=run_needs(), conditions=Conditions(charges=EVERYTHING)
    )
    # rent 16 x 73 x 5; a tenth of a month of (100 + 3 x 50) GB; 136 GB in; 66 GB out; one node of 8 down for an hour
    amounts = {
        "the network": (Decimal(1168), Decimal("233.60")),
        "set-up fee": (Decimal(1), Decimal("2000.00")),
        "storage": (Decimal(25), Decimal("7.50")),
        "transfer in": (Decimal(136), Decimal("13.60")),
        "transfer out": (Decimal(66), Decimal("33.00")),
        "credit": (Decimal(-8), Decimal("-40.00")),
    }
    for name, expected in amounts.items():
        part = find_part(cost, name)
        assert (part.quantity, part.amount.amount) == expected
    assert cost.total == cny("8087.70")  # 5,840 + 233.60 + 2,000 + 7.50 + 13.60 + 33 - 40


def test_the_network_is_free_of_charge_inside_one_node() -> None:
    cost = price(unit_price("5", "5", "5"), run_hours(10.0), gpus=8, conditions=Conditions(charges=EVERYTHING))
    assert cost.total == cny("2400.00")  # 8 x 10 x 5 + 2,000; what depends on bytes is not known without needs


def test_an_hour_that_stops_cost_is_credited_for_the_failed_machine_only() -> None:
    lost = run_needs(lost_work_hours=5.0, recovery_hours=0.0)
    credited = Conditions(charges=Charges(bills_outages=False))
    assert price(unit_price("5", "5", "5"), run_hours(73.0), needs=lost, conditions=credited).total == cny("5840.00")
    billed = Conditions(charges=Charges(bills_outages=True))
    assert price(unit_price("5", "5", "5"), run_hours(73.0), needs=run_needs(), conditions=billed).total == cny("5840")


def test_the_interval_goes_from_the_short_cheap_run_to_the_long_dear_one() -> None:
    storage = Conditions(charges=Charges(storage_per_gb_month=cny("0.73")))
    cost = price(unit_price("4", "5", "7"), run_hours(20.0, 10.0, 40.0), needs=run_needs(), conditions=storage)
    # rent 16 x 10 x 4, 16 x 20 x 5, 16 x 40 x 7; storage 250 GB x 10, 20, 40 h / 730 x 0.73
    rent, stored = cost.parts
    assert (rent.low, rent.amount, rent.high) == (cny("640"), cny("1600"), cny("4480"))
    assert (stored.low, stored.amount, stored.high) == (cny("2.50"), cny("5.00"), cny("10.00"))
    assert (cost.low, cost.total, cost.high) == (cny("642.50"), cny("1605.00"), cny("4490.00"))


@pytest.mark.parametrize(
    ("wording", "with_tax", "without"),
    [
        ("含税6%", "1060.00", "1000.00"),
        ("不含税6%", "1123.60", "1060.00"),
        ("含税", "1060.00", None),
        ("不含税", None, "1060.00"),
        ("", None, None),
    ],
)
def test_both_sides_of_tax_stand_where_state_and_rate_are_known(
    wording: str, with_tax: str | None, without: str | None
) -> None:
    cost = price(unit_price("5.3", "5.3", "5.3"), run_hours(25.0), gpus=8, conditions=Conditions(tax=read_tax(wording)))
    assert cost.total == cny("1060.00")
    assert cost.total_tax_in == (None if with_tax is None else cny(with_tax))
    assert cost.total_tax_out == (None if without is None else cny(without))


def test_an_early_exit_pays_its_share_of_the_unused_minimum_term() -> None:
    cost = price(unit_price("5", "5", "5", QUARTER), run_hours(100.0), conditions=Conditions(charges=EVERYTHING))
    leave = cost.early_exit
    assert leave is not None
    # two months of 16 cards at 5.00 + 0.20: 121,472; three tenths of it for leaving
    assert (leave.unused_hours, leave.unused_rent, leave.fee) == (1460.0, cny("121472.00"), cny("36441.60"))
    assert leave.total == cost.total - cny("85030.40")
    full = price(unit_price("5", "5", "5", QUARTER), run_hours(2000.0), conditions=Conditions(charges=EVERYTHING))
    assert full.early_exit is None


def test_deposit_and_payments_ahead_are_dated() -> None:
    # 押一付三: a month of deposit and three months ahead; 16 x 730 x 5 = 58,400 a month
    payment = Payment(deposit_months=Decimal(1), prepaid_months=Decimal(3))
    cost = price(unit_price("5", "5", "5", MONTHLY), run_hours(2500.0), conditions=Conditions(payment=payment))
    paid = [(item.day, item.amount, str(item.what)) for item in cost.cash_flow]
    assert paid == [
        (0.0, cny("58400.00"), "deposit"),
        (0.0, cny("175200.00"), "rent, paid ahead"),
        (91.25, cny("58400.00"), "rent, paid ahead"),
        (121.67, cny("-58400.00"), "deposit given back"),
    ]
    assert cost.peak_cash_out == cny("292000.00")


def test_a_share_on_signing_and_the_rest_month_by_month() -> None:
    payment = Payment(prepaid_fraction=Decimal("0.5"), prepaid_months=Decimal(0))
    cost = price(unit_price("5", "5", "5", MONTHLY), run_hours(1000.0), conditions=Conditions(payment=payment))
    paid = [(item.day, item.amount) for item in cost.cash_flow]
    assert paid == [(0.0, cny("58400.00")), (30.42, cny("29200.00")), (60.83, cny("29200.00"))]


def test_hours_are_paid_as_each_month_ends_where_nothing_is_said() -> None:
    cost = price(unit_price("5", "5", "5"), run_hours(1000.0), conditions=Conditions(charges=EVERYTHING))
    # 16 x 5.2 = 83.2 an hour: 730 h and 270 h, and the fee on signing
    paid = [(item.day, item.amount) for item in cost.cash_flow]
    assert paid == [(0.0, cny("2000.00")), (30.42, cny("60736.00")), (41.67, cny("22464.00"))]


def _offer(**changes: object) -> Offer:
    offer = Offer(
        provider="某云",
        accelerator_name="X",
        tier="server",
        price=cny("5"),
        count=64,
        term=QUARTER,
        unit_gpus=8,
        region="",
        links="",
        date=None,
        source="made for the test",
        note="",
    )
    return replace(offer, **changes)  # type: ignore[arg-type]  # fields of an offer


FACTS = CostFacts(
    storage_per_gb_month=ListPrice(provider="A", price=cny("0.2"), as_of=None),
    egress_per_gb=ListPrice(provider="B", price=cny("0.8"), as_of="2026-10-19"),
    tax_rates=TaxRates(by_currency={"CNY": (Decimal("0.06"), Decimal("0.13"))}),
)


def test_what_nobody_states_is_missing_at_its_worst() -> None:
    (bill,) = make_bills([_offer()], gpus=16, gpus_per_node=8, hours=run_hours(73.0), needs=run_needs(), facts=FACTS)
    worst = {str(part.name): part.worst for part in bill.cost.missing}
    assert worst == {
        "storage of data and checkpoints": cny("5.00"),  # a tenth of a month of 250 GB at 0.20
        "transfer in: data set, image, weights": None,  # no list price on record
        "transfer out: weights and the last checkpoint": cny("52.80"),  # 66 GB at 0.80
        "labour to set up and watch the run": None,
        "power and cabinet, where the server price leaves them out": None,
        "set-up fee of the seller": None,
        "deposit and prepayment (tied up, not spent)": cny("0"),
        "who pays the hours lost to failures": cny("0"),
        "ending before the minimum term": cny("0"),
        "VAT, not stated whether in the price": cny("22776.00"),  # 13 % of 16 x 2,190 x 5 = 175,200
    }
    assert bill.cost.worst_total == cny("198033.80")
    assert all(str(part.question).startswith(("ask", "count")) for part in bill.cost.missing)
    assert all((part.basis is None) == (part.worst is None) for part in bill.cost.missing)


def test_what_an_offer_states_is_not_missing() -> None:
    offer = _offer(
        tier="platform",
        charges=EVERYTHING,
        payment=Payment(deposit_months=Decimal(1)),
        tax=read_tax("不含税6%"),
    )
    (bill,) = make_bills([offer], gpus=16, gpus_per_node=8, hours=run_hours(73.0), needs=run_needs(), facts=FACTS)
    assert [str(part.name) for part in bill.cost.missing] == ["labour to set up and watch the run"]
    assert bill.cost.total_tax_in == bill.cost.worst_total == (bill.cost.total * Decimal("1.06")).rounded()


@pytest.mark.parametrize(("includes_power", "is_asked"), [(True, False), (False, True), (None, True)])
def test_power_is_asked_for_unless_it_is_in_the_price(*, includes_power: bool | None, is_asked: bool) -> None:
    offer = _offer(charges=Charges(includes_power=includes_power))
    (bill,) = make_bills([offer], gpus=16, gpus_per_node=8, hours=run_hours(73.0), needs=run_needs(), facts=FACTS)
    assert any(str(part.name).startswith("power and cabinet") for part in bill.cost.missing) is is_asked


def test_a_stated_rate_of_an_open_tax_is_the_worst_reading() -> None:
    (bill,) = make_bills([_offer(tax=read_tax("6%"))], gpus=16, gpus_per_node=8, hours=run_hours(73.0), facts=FACTS)
    assert bill.cost.missing[-1].worst == cny("10512.00")  # 6 % of 175,200
    (left_out,) = make_bills(
        [_offer(tax=read_tax("不含税"))], gpus=16, gpus_per_node=8, hours=run_hours(73.0), facts=FACTS
    )
    assert str(left_out.cost.missing[-1].name) == "VAT on top of the price"
    assert left_out.cost.missing[-1].worst == cny("22776.00")


def test_without_facts_nothing_but_the_total_itself_has_a_worst_reading() -> None:
    (bill,) = make_bills([_offer()], gpus=16, gpus_per_node=8, hours=run_hours(73.0))
    assert all(part.worst is None or not part.worst.amount for part in bill.cost.missing)
    assert bill.cost.worst_total == bill.cost.total


def test_the_dearest_list_price_and_the_highest_rate_are_read_from_the_catalogue() -> None:
    facts = load_cost_facts(CATALOGUE, "USD", RATES)
    assert facts.storage_per_gb_month is not None
    assert facts.egress_per_gb is not None
    # AWS 0.023 against Google's 0.020 and 0.12 and 0.118 CNY; Google 0.12 against AWS 0.09 and 0.50 CNY
    assert (facts.storage_per_gb_month.provider, facts.storage_per_gb_month.price) == ("AWS", usd("0.023000"))
    assert (facts.egress_per_gb.provider, facts.egress_per_gb.price) == ("Google Cloud", usd("0.120000"))
    assert facts.ingress_per_gb is None
    assert facts.tax_rates.of("USD") == (Decimal("0.06"), Decimal("0.13"))
    assert "0.12 USD (Google Cloud, undated)" in str(facts.egress_per_gb.basis)


@pytest.mark.parametrize(("unit", "said"), [("TB-month", "takes GB-month, got TB-month"), ("", "unit")])
def test_a_list_price_per_another_unit_is_refused(unit: str, said: str, tmp_path: Path) -> None:
    header = "provider,service,unit,price,currency,as_of,confidence,source,note\n"
    row = f"Ours,object storage standard,{unit},23,USD,2026-11-01,high,our contract,\n"
    (tmp_path / "services.csv").write_text(header + row, encoding="utf-8")
    with pytest.raises(InputError, match=said):
        load_cost_facts(load_catalogue(tmp_path), "USD", RATES)


def test_a_package_pays_the_fee_too() -> None:
    fee = Conditions(charges=Charges(set_up=cny("500")))
    assert price_package(unit_price("1", "1", "1", MONTHLY), gpus_per_node=8, conditions=fee).total == cny("6340.00")


def test_an_offer_is_converted_with_its_charges() -> None:
    offer = _offer(charges=EVERYTHING).priced_in("USD", RATES)
    assert offer.price.currency == "USD"
    assert offer.charges.set_up is not None
    assert offer.charges.set_up.currency == "USD"
    assert offer.charges.early_exit_fraction == Decimal("0.3")
    (bill,) = make_bills([offer], gpus=16, gpus_per_node=8, hours=run_hours(73.0), needs=run_needs())
    assert bill.cost.currency == "USD"
    assert isinstance(bill.cost.parts[0].name, Message)


def test_nothing_is_billed_for_no_time() -> None:
    cost = price(unit_price("5", "5", "5", Term(billing_hours=730.0, minimum_hours=730.0)), run_hours(0.0))
    assert (cost.total, cost.cash_flow, cost.peak_cash_out) == (cny("0.00"), (), cny("0"))


def test_power_that_is_not_in_the_price_is_asked_for_what_it_costs() -> None:
    offer = _offer(charges=Charges(includes_power=False))
    (bill,) = make_bills([offer], gpus=16, gpus_per_node=8, hours=run_hours(73.0), needs=run_needs(), facts=FACTS)
    questions = {str(part.question) for part in bill.cost.missing}
    assert "ask what power and cabinet cost, per kWh or per machine and month" in questions
    assert "ask whether power, cabinet and bandwidth are in the price" not in questions
