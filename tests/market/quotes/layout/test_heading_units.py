"""Bare numbers below a heading that holds their unit."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import pytest

from suanpei.market.quotes.layout.heading_units import complete
from tests.market.quotes.samples import offer_of, read, read_one, table

PRICED = {"型号": "H800", "单价(元/卡/时)": "11.5"}


def test_a_number_takes_the_unit_of_its_heading() -> None:
    row = PRICED | {"起租期(月)": "3", "现货(台)": "16", "押金(月)": "1", "税率(%)": "6"}
    offer = offer_of(row)
    assert offer.term is not None
    assert offer.term.minimum_hours == 3 * 730
    assert offer.count == 16 * 8  # an H800 is rented in machines of 8
    assert "node_size_inferred" in offer.flags
    assert offer.payment.deposit_months == 1
    assert offer.price_per_accelerator_hour.tax_rate == Decimal("0.06")


@pytest.mark.parametrize(
    ("heading", "number", "hours"),
    [
        ("最短租期(天)", "30", 30 * 24),
        ("租期(月)", "6", 6 * 730),
        ("起租月数", "6", 6 * 730),
        ("起租期（月）", "3", 2190),
    ],
)
def test_a_bare_term_is_in_the_unit_of_its_heading(heading: str, number: str, hours: int) -> None:
    offer = offer_of(PRICED | {heading: number})
    assert offer.term is not None
    assert offer.term.minimum_hours == hours


def test_charges_stand_below_their_units() -> None:
    row = PRICED | {"存储(元/GB/月)": "0.5", "出网流量(元/GB)": "0.8", "部署费(元)": "5000", "预付(月)": "3"}
    offer = offer_of(row)
    charges = offer.charges
    assert charges.storage_per_gb_month is not None
    assert charges.egress_per_gb is not None
    assert charges.set_up is not None
    found = (charges.storage_per_gb_month.amount, charges.egress_per_gb.amount, charges.set_up.amount)
    assert found == (Decimal("0.5"), Decimal("0.8"), Decimal(5000))
    assert offer.payment.prepaid_months == 3
    assert offer.price_per_accelerator_hour.amount == Fraction("11.5")


@pytest.mark.parametrize(("word", "hours"), [("分钟", 1 / 60), ("小时", 1), ("按天", 24)])
def test_the_granularity_of_the_bill_is_read(word: str, hours: float) -> None:
    offer = offer_of(PRICED | {"计费粒度": word})
    assert offer.term is not None
    assert offer.term.billing_hours == pytest.approx(hours)


@pytest.mark.parametrize("heading", ["Available (nodes)", "Available nodes", "Nodes"])
def test_an_english_heading_counts_machines(heading: str) -> None:
    rows = [
        ("GPU", "Price ($/GPU/hr)", "Min term (months)", heading, "VAT rate"),
        ("H100 SXM", "2.5", "3", "16", "20%"),
    ]
    offer = read_one(table(rows), "USD")
    assert offer.count == 16 * 8
    assert offer.term is not None
    assert offer.term.minimum_hours == 3 * 730
    assert offer.price_per_accelerator_hour.tax_rate == Decimal("0.2")
    assert offer.price_per_accelerator_hour.amount == Fraction("2.5")


@pytest.mark.parametrize(
    ("role", "cell", "heading"),
    [
        ("term", "3个月", "起租期(月)"),
        ("card", "4090", "型号(卡)"),
        ("term", "3", "起租期"),
        ("tax", "0.06", "税率"),
        ("term", "", "起租期(月)"),
    ],
)
def test_what_states_its_unit_or_has_none_stays(role: str, cell: str, heading: str) -> None:
    assert complete(role, cell, heading) == cell


@pytest.mark.parametrize(("cell", "months"), [("2个月", 2), ("1", None), ("一个月租金", 1), ("无", 0), ("免", 0)])
def test_a_column_of_deposits_says_so_of_its_cells(cell: str, months: int | None) -> None:
    offer = offer_of(PRICED | {"押金": cell})
    assert offer.payment.deposit_months == months
    assert ("deposit" in offer.flags) == bool(months)


def test_a_column_of_early_exits_is_a_charge() -> None:
    assert offer_of(PRICED | {"提前退租": "剩余租金20%"}).charges.early_exit_fraction == Decimal("0.2")


@pytest.mark.parametrize(
    ("vcpu", "ram"),
    [
        ("Per vCPU/hr", "Per GB RAM/hr"),
        ("vCPU price per hour", "RAM price per GB-hr"),
        ("CPU单价(元/核/时)", "内存单价(元/GB/时)"),
    ],
)
def test_columns_of_host_prices_make_the_price_one_of_the_card_alone(vcpu: str, ram: str) -> None:
    offer = offer_of({"GPU": "H100 SXM", "Price (USD/GPU/hr)": "2.40", vcpu: "0.010", ram: "0.005"}, "USD")
    assert offer.price_per_accelerator_hour.amount == Fraction("2.4")
    assert "component_price" in offer.flags


@pytest.mark.parametrize("heading", ["Extra vCPU price/hr", "vCPU加购(元/核/时)", "额外CPU单价(元/核/时)"])
def test_the_price_of_more_processors_than_the_machine_has_takes_nothing_from_it(heading: str) -> None:
    offer = offer_of({"GPU": "H100 SXM", "Price (USD/GPU/hr)": "2.40", heading: "0.010"}, "USD")
    assert "component_price" not in offer.flags


@pytest.mark.parametrize("heading", ["vCPUs", "CPU核数", "内存(GB)", "RAM GB"])
def test_the_size_of_a_host_is_no_price(heading: str) -> None:
    offer = offer_of(PRICED | {heading: "208"})
    assert "component_price" not in offer.flags
    assert offer.price_per_accelerator_hour.amount == Fraction("11.5")


@pytest.mark.parametrize("heading", ["GPUs per rack", "GPUs/rack", "每柜卡数"])
def test_a_rack_has_more_cards_than_a_machine(heading: str) -> None:
    row = {"Platform": "GB200 NVL72", heading: "72", "Price per rack per month": "$198,000"}
    offer = offer_of(row, "USD")
    assert offer.price_per_accelerator_hour.amount == Fraction(198_000, 72 * 730)
    assert offer.accelerators_per_unit == 72


def test_a_cell_of_charges_is_told_by_its_heading() -> None:
    charges = offer_of(PRICED | {"存储": "0.5元/GB/月", "流量": "免费"}).charges
    assert charges.storage_per_gb_month is not None
    assert charges.storage_per_gb_month.amount == Decimal("0.5")
    assert charges.egress_per_gb is not None
    assert charges.egress_per_gb.amount == 0
    assert offer_of(PRICED | {"流量": "0.8元/GB"}).charges.egress_per_gb is not None
    assert offer_of(PRICED | {"存储/流量": "0.8元/GB"}).charges.egress_per_gb is None  # of which of the two is open


def test_power_in_the_price_is_among_the_charges() -> None:
    assert offer_of(PRICED | {"备注": "含机柜电费"}).charges.includes_power is True
    assert offer_of(PRICED | {"备注": "不含电费"}).charges.includes_power is False


@pytest.mark.parametrize(
    ("heading", "cell", "note"),
    [
        ("存储", "免费20TB", "存储免费20TB"),
        ("流量", "50元/Mbps/月", "流量 50元/Mbps/月"),
        ("Storage", "2 TB", "Storage 2 TB"),
        ("存储", "无", ""),
        ("存储", "0.5元/GB/月", ""),
    ],
)
def test_a_charge_without_a_price_stays_among_the_words_of_the_seller(heading: str, cell: str, note: str) -> None:
    offer = offer_of(PRICED | {heading: cell})
    assert offer.note == note
    assert offer.charges.storage_per_gb_month is None or not note


def test_a_line_of_units_below_the_headings_belongs_to_them() -> None:
    rows = [
        ["GPU型号", "显存", "单卡租金", "整机租金", "最短租期", "库存"],
        ["", "GB", "元/小时", "元/月", "天", "台"],
        ["V100", "32", "2.2", "11500", "30", "6"],
    ]
    card, node = read(table(rows)).offers
    assert card.price_per_accelerator_hour.amount == Fraction("2.2")
    assert node.price_per_accelerator_hour.amount == Fraction(11_500, 8 * 730)
    assert {offer.accelerator for offer in (card, node)} == {"V100-SXM2-32GB"}
    assert {offer.term.minimum_hours if offer.term else None for offer in (card, node)} == {30 * 24}
    assert node.count == 6 * 8


def test_most_headings_may_be_unknown_where_card_and_price_are_not() -> None:
    rows = [
        ["算力类型", "芯片", "精度", "规模档", "单价(元/P/月)", "档位", "合同"],
        ["英伟达", "A800", "FP16", "大", "12000", "甲", "1年"],
    ]
    (offer,) = read(table(rows)).offers
    assert offer.price_per_accelerator_hour.amount == Fraction(12_000) * Fraction("0.312") / 730
    assert offer.term is not None
    assert offer.term.minimum_hours == 8760


@pytest.mark.parametrize("heading", ["显存(GB)", "GPU memory (GB)", "单卡显存（GB）"])
def test_a_memory_takes_the_unit_of_its_heading(heading: str) -> None:
    offer = offer_of({"型号": "A100", heading: "40", "单价(元/卡/时)": "4.5"})
    assert offer.accelerator == "A100-SXM4-40GB"
    assert "memory_unit_missing" not in offer.flags
