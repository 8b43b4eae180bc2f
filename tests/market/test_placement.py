"""Placement checks: each verdict, its right value, and its edges."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from suanpei.errors import InputError
from suanpei.machine.accelerator_table import load_accelerators
from suanpei.market.placement import (
    NodeDraw,
    check_one_cluster,
    check_rack_power,
    check_tensor_group,
    estimate_node_draw,
)
from suanpei.messages import Message
from tests.market.price_samples import CATALOGUE

CARDS = load_accelerators(CATALOGUE)


def test_a_total_over_partitions_is_not_one_cluster() -> None:
    spread = check_one_cluster(128, (64, 48, 16))
    assert spread.holds is False
    assert str(spread.said) == (
        "128 cards in 3 partitions are not one cluster: the largest holds 64, the job needs 128"
    )
    assert check_one_cluster(64, (64, 48, 16)).holds is True
    assert check_one_cluster(65, (64,)).holds is False
    asked = check_one_cluster(64, ())
    assert asked.holds is None
    assert "ask for all 64 cards" in str(asked.said)


@given(gpus=st.integers(1, 4096), partitions=st.lists(st.integers(1, 1024), min_size=1, max_size=9))
def test_only_the_largest_partition_counts(gpus: int, partitions: list[int]) -> None:
    assert check_one_cluster(gpus, partitions).holds == (gpus <= max(partitions))
    assert check_one_cluster(gpus, partitions).holds == check_one_cluster(gpus, partitions[::-1]).holds


@pytest.mark.parametrize(
    ("name", "cards", "kilowatts", "is_published"),
    [
        ("H100-SXM5-80GB", 8, 10.2, True),
        ("A100-SXM4-80GB", 8, 6.5, True),
        # 400 W x 8 x 2.03, the share of the machine with the largest one: 6.5 kW for eight cards of 400 W
        ("A800-SXM4-80GB", 8, 6.5, False),
        # not a printed machine: 700 W x 4 x 2.03
        ("H100-SXM5-80GB", 4, 5.6875, False),
    ],
)
def test_the_draw_is_printed_or_follows_from_the_power_limits(
    name: str, cards: int, kilowatts: float, is_published: bool
) -> None:
    draw = estimate_node_draw(CATALOGUE, CARDS[name], cards)
    assert draw is not None
    assert draw.watts == pytest.approx(kilowatts * 1000)
    assert (str(draw.basis) == "printed for this machine") == is_published


def test_a_card_without_a_power_limit_has_no_draw() -> None:
    assert CARDS["TPU-v5e"].tdp_watts is None
    assert estimate_node_draw(CATALOGUE, CARDS["TPU-v5e"], 8) is None


@pytest.mark.parametrize(
    ("rack_kw", "holds", "said"),
    [
        (10.0, False, "a rack of 10 kW does not feed one machine of 10.2 kW"),
        (20.0, True, "a rack of 20 kW feeds 1 machines of 10.2 kW (printed): 5 machines take 5 racks"),
        (21.0, True, "a rack of 21 kW feeds 2 machines of 10.2 kW (printed): 5 machines take 3 racks"),
        (None, None, "one machine draws up to 10.2 kW (printed): ask for the kW of a rack with redundancy"),
    ],
)
def test_a_rack_feeds_whole_machines_at_their_most(rack_kw: float | None, holds: bool | None, said: str) -> None:
    draw = NodeDraw(watts=10_200.0, basis=Message("printed"))
    finding = check_rack_power(draw, 5, None if rack_kw is None else rack_kw * 1000)
    assert finding.holds is holds
    assert str(finding.said).startswith(said)


def test_an_unknown_draw_is_asked_for_and_a_dead_rack_refused() -> None:
    assert check_rack_power(None, 2, 20_000.0).holds is None
    with pytest.raises(InputError, match="rack-kw must be above 0"):
        check_rack_power(None, 2, 0.0)


@pytest.mark.parametrize(("group", "domain", "holds"), [(1, 1, True), (8, 8, True), (4, 8, True), (16, 8, False)])
def test_a_tensor_group_stays_inside_the_fast_fabric(group: int, domain: int, holds: bool) -> None:
    assert check_tensor_group(group, domain).holds is holds
