from __future__ import annotations

from fractions import Fraction

import pytest

from suanpei.market.quotes.clouds.skypilot import is_skypilot, name_cloud, read_skypilot
from tests.market.quotes.quoted_samples import context, table

HEADER = "InstanceType|AcceleratorName|AcceleratorCount|vCPUs|MemoryGiB|Price|Region|GpuInfo|SpotPrice|AvailabilityZone"
INFO = "{'Gpus': [{'Name': 'H100', 'MemoryInfo': {'SizeInMiB': 81920}}]}"
NODE = f"gpu_8x_h100_sxm5|H100|8.0|208|1800|35.92|us-east-1|{INFO}|16|a"


def info(name: str, size_mib: int) -> str:
    return f"{{'Gpus': [{{'Name': '{name}', 'Count': 1, 'MemoryInfo': {{'SizeInMiB': {size_mib}}}}}]}}"


def test_a_node_is_an_offer_on_demand_and_one_as_spot() -> None:
    read = read_skypilot(table(HEADER, NODE), context("USD"))
    on_demand, spot = read.offers
    assert [offer.price_per_accelerator_hour.amount for offer in read.offers] == [Fraction("4.49"), Fraction(2)]
    assert (on_demand.pricing, spot.pricing) == ("on_demand", "spot")
    assert on_demand.flags == ()
    assert spot.flags == ("spot",)
    assert (on_demand.source.row, on_demand.source.cell, spot.source.cell) == (2, "F2", "I2")
    assert on_demand.accelerator == "H100-SXM5-80GB"
    assert (on_demand.accelerators_per_unit, on_demand.count) == (8, None)
    assert (on_demand.seller, on_demand.region, on_demand.quoted_currency) == ("lambda", "us-east-1", "USD")
    assert on_demand.price_per_accelerator_hour.tax == "unknown"
    assert on_demand.confidence == "high"
    assert "a catalogue of SkyPilot" in str(read.assumptions[0])


def test_prices_are_converted_exactly_and_the_rate_is_said() -> None:
    read = read_skypilot(table(HEADER, NODE), context("CNY", "USD=7.1CNY"))
    # 35.92 / 8 · 7.1 = 31.879
    assert read.offers[0].price_per_accelerator_hour.amount == Fraction("31.879")
    assert read.offers[0].flags == ("usd",)
    assert any("1 USD = 7.1 CNY" in str(note) for note in read.assumptions)


def test_zones_of_a_region_at_one_price_are_one_offer() -> None:
    other_zone, other_price = NODE[:-1] + "b", NODE.replace("|35.92|", "|36|")
    read = read_skypilot(table(HEADER, NODE, other_zone, other_price), context("USD"))
    on_demand = [offer for offer in read.offers if offer.pricing == "on_demand"]
    assert [(offer.note, offer.source.row) for offer in on_demand] == [
        ("gpu_8x_h100_sxm5, a, b", 2),
        ("gpu_8x_h100_sxm5, a", 4),
    ]


def test_columns_are_found_by_name_in_any_order() -> None:
    names, cells = HEADER.split("|"), NODE.split("|")
    turned = table("|".join(reversed(names)), "|".join(reversed(cells)))
    straight = read_skypilot(table(HEADER, NODE), context()).offers
    for offer, same in zip(read_skypilot(turned, context()).offers, straight, strict=True):
        assert offer.price_per_accelerator_hour == same.price_per_accelerator_hour
        assert (offer.accelerator, offer.region, offer.note) == (same.accelerator, same.region, same.note)


@pytest.mark.parametrize(
    ("instance", "card", "count", "info", "name"),
    [
        ("1x-A100_SXM4-32", "A100", "1", info("A100", 40960), "A100-SXM4-40GB"),
        ("1x_A100-80GB_SECURE", "A100-80GB", "1.0", info("A100 PCIe", 80), "A100-PCIe-80GB"),  # written in GiB
        ("4x-A100_SXM4-32", "A100", "4", info("A100", 4 * 40960), "A100-SXM4-40GB"),  # the memory of all
        ("p4d.24xlarge", "A100", "8", info("A100", 40960), "A100-SXM4-40GB"),  # the memory of one
        ("1x-RTX_4090-32", "RTX4090", "1", info("RTX4090", 49140), "RTX-4090-48GB-mod"),
        ("1x-H100_NVL-32", "H100", "1", info("H100", 95830), "H100-NVL-94GB"),
        ("2x-A100_SXM4-32", "A100", "2", info("A100", 81920), None),  # two of 40 GiB or one of 80: not settled
        ("g1", "A100", "1", "", None),  # 40 or 80, SXM or PCIe
        ("g1", "K80", "1", info("K80", 12288), None),
    ],
)
def test_the_card_is_found_by_name_form_and_memory(
    instance: str, card: str, count: str, info: str, name: str | None
) -> None:
    (offer,) = read_skypilot(table(HEADER, f"{instance}|{card}|{count}|1|1|9|r|{info}||"), context("USD")).offers
    assert offer.accelerator == name
    assert offer.accelerator_as_written == card
    assert ("unknown_card" in offer.flags) == (name is None)
    assert (offer.confidence == "low") == (name is None)


def test_cards_without_an_instance_are_a_component() -> None:
    (offer,) = read_skypilot(table(HEADER, "|H100|8|||28|us-central1||0.00|b"), context("USD")).offers
    assert offer.flags == ("component_price",)
    assert offer.confidence == "low"


def test_rows_that_are_no_offer_are_counted_by_reason() -> None:
    read = read_skypilot(
        table(
            HEADER,
            "cpu_4x|||4|16|0.2|us-east-1|||",
            "cpu_8x|||8|32|0.4|us-east-1|||",
            "slice|A10|0.5|4|16|0.2|us-east-1|||",
            "sold_out|A10|1|4|16||us-east-1|||",
            "typo|A10|1|4|16|1,5x|us-east-1|||",
        ),
        context("USD"),
    )
    assert read.offers == ()
    assert [(item.cell, str(item.reason)) for item in read.unread] == [
        ("2", "no accelerator: a machine without cards (2 rows, this the first)"),
        ("4", "no whole number of cards from 1 to 64 (1 rows, this the first)"),
        ("5", "no price (2 rows, this the first)"),
    ]


def test_a_host_of_the_public_sets_its_own_price() -> None:
    row = "1x-L40S-32|L40S|1|32|64|0.6|, US, NA||0.00|"
    (offer,) = read_skypilot(table(HEADER, row, file="v8/vast/vms.csv"), context("USD")).offers
    assert (offer.pricing, offer.seller, offer.region) == ("marketplace", "vast", "US, NA")


@pytest.mark.parametrize(
    ("file", "cloud"),
    [("catalogs/v8/aws/vms.csv", "aws"), ("aws.csv", "aws"), (r"C:\sky\gcp\vms.csv", "gcp"), ("vms.csv", "vms")],
)
def test_the_cloud_is_named_by_the_file_or_its_folder(file: str, cloud: str) -> None:
    assert name_cloud(file) == cloud


def test_other_tables_are_none_of_skypilots() -> None:
    assert is_skypilot(table(HEADER))
    assert not is_skypilot(table("供应商|型号|报价"))
    assert not is_skypilot(table())
