"""The data path by hand arithmetic, and what can only make it longer."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from suanpei.errors import InputError
from suanpei.market.data_path import DataAssumptions, DataPath, StorageUse, count_id_bytes, estimate_data_path
from tests.market.cost.samples import run_needs
from tests.market.price_samples import cny

if TYPE_CHECKING:
    from suanpei.money import Money

USE = StorageUse(
    tokens_per_s=50_000.0,
    bytes_per_token=4.0,
    storage_bytes_per_s=2e9,
    training_s=100 * 3600.0,
    checkpoint_interval_s=3600.0,
    checkpoint_blocking_s=25.0,
)
PLAIN = DataAssumptions(uplink_bytes_per_s=125e6, link_fraction=0.8, sharing_tenants=4, storage_full_fraction=0.8)


def _path(reading: StorageUse = USE, rent: Money | None = None, **changes: float) -> DataPath:
    return estimate_data_path(run_needs(**changes), reading, rent, PLAIN)


def test_the_pull_takes_what_the_line_gives() -> None:
    # 100 + 20 + 16 GB over 0.8 of 1 Gb/s, 0.1 GB/s: 1,360 s, within ten hours of set-up
    path = _path(rent=cny("80"))
    assert path.moved_in_bytes == 136e9
    assert path.pull_s == pytest.approx(1360.0)
    assert (path.wait_s, path.wait_rent) == (0.0, cny("0"))


def test_cards_that_wait_for_their_data_are_paid() -> None:
    # 5,400 GB at 0.1 GB/s are 15 h, five more than set-up; 80 an hour
    path = _path(rent=cny("80"), data_bytes=5364e9)
    assert path.wait_s == pytest.approx(5 * 3600.0)
    assert path.wait_rent == cny("400.00")
    assert _path(data_bytes=5364e9).wait_rent is None


def test_training_reads_tokens_times_their_bytes() -> None:
    path = _path()
    assert path.read_bytes_per_s == 200_000.0
    assert path.checkpoint_write_s == pytest.approx(25.0)  # 50 GB at 2 GB/s
    assert path.stored_bytes == 250e9
    assert path.capacity_bytes == pytest.approx(312.5e9)  # filled to 80 %


def test_sharing_makes_saves_longer_and_then_starves_reads() -> None:
    # 100 saves, each 25 s three times over: 7,500 s; reads are far below a quarter of 2 GB/s
    path = _path(rent=cny("80"))
    assert path.stall_s == pytest.approx(7500.0)
    assert path.cache_worth == cny("166.67")  # 7,500 / 3,600 x 80
    # 750 MB/s where a quarter gives 500: training takes half as long again
    starved = _path(replace(USE, bytes_per_token=15_000.0))
    assert starved.stall_s == pytest.approx(7500.0 + 180_000.0)


def test_ids_of_small_vocabularies_take_two_bytes() -> None:
    assert [count_id_bytes(size) for size in (32_000, 65_499, 65_500, 128_256)] == [2, 2, 4, 4]


def test_a_rate_of_nothing_is_refused() -> None:
    with pytest.raises(InputError, match="storage_bytes_per_s must be above 0, got 0"):
        _path(replace(USE, storage_bytes_per_s=0.0))
    with pytest.raises(InputError, match="uplink must be above 0"):
        estimate_data_path(run_needs(), USE, None, replace(PLAIN, uplink_bytes_per_s=0.0))


@given(tenants=st.lists(st.integers(1, 64), min_size=2, max_size=2).map(sorted), rate=st.floats(1e6, 1e12))
def test_more_tenants_never_shorten_the_stall_and_one_has_none_of_it(tenants: list[int], rate: float) -> None:
    reading = replace(USE, storage_bytes_per_s=rate)
    few, many = (
        estimate_data_path(run_needs(), reading, cny("1"), replace(PLAIN, sharing_tenants=count)) for count in tenants
    )
    assert few.stall_s <= many.stall_s
    alone = estimate_data_path(run_needs(), reading, cny("1"), replace(PLAIN, sharing_tenants=1))
    assert alone.stall_s == 0.0 or alone.read_bytes_per_s > rate


def test_the_assumptions_have_the_values_that_the_documentation_names() -> None:
    usual = DataAssumptions()
    assert usual.uplink_bytes_per_s * 8 == 1e9
    assert (usual.image_bytes, usual.checkpoints_kept, usual.link_fraction) == (20e9, 3, 0.9)
    assert Decimal(repr(usual.storage_full_fraction)) == Decimal("0.8")
