"""The data path: how long the data take to arrive, what training reads, what checkpoints take, what sharing costs.

::

    pull   = (data set + image + weights) / (uplink · share of the line that a download reaches)
    wait   = max(pull - set-up, 0)                       cards that are paid and have nothing to read
    read   = tokens/s · bytes per token                  against what the storage gives
    write  = checkpoint / storage rate
    stall  = saves · block · (tenants - 1) + training · max(read · tenants / storage rate - 1, 0)

A cache node or local NVMe pays where it takes the stall away for less than the rent of the stalled hours. Limits: reads
are sequential, of token ids (what is decoded from images or audio reads far more); storage gives reads and writes the
same rate; tenants share in equal parts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from suanpei.errors import InputError
from suanpei.market.cost.lines import exact
from suanpei.messages import Message
from suanpei.units import BITS_PER_BYTE, GB_BYTES, GIGA, HOUR_S

if TYPE_CHECKING:
    from suanpei.market.cost import RunNeeds
    from suanpei.money import Money

WEIGHT_BYTES = 2
"""Weights are moved in 16 bits. [B]"""
SHORT_ID_VOCABULARY = 65_500
"""Below this size of vocabulary token ids are stored in 2 bytes, else in 4. Source: Megatron-LM, indexed datasets,
`optimal_dtype`. [-]"""
SHORT_ID_BYTES, LONG_ID_BYTES = 2, 4
RAW_TEXT_BYTES_PER_TOKEN = 3.94
"""English text under the Llama 3 tokenizer, in characters of one byte. Source: arXiv 2407.21783, section 3.3. [B]"""


@dataclass(frozen=True, kw_only=True)
class DataAssumptions:
    """What is taken of data, images, links and storage where nobody says. Stated with every plan."""

    image_bytes: float = 20.0e9
    """The container image. A choice: images of training frameworks hold 8 to 25 GB. [B]"""
    checkpoints_kept: int = 3
    """Checkpoints stored at a time. A choice: the last, the one before, and one to go back to. [-]"""
    uplink_bytes_per_s: float = GIGA / BITS_PER_BYTE
    """The line to the machines. A choice: 1 Gb/s. [B/s]"""
    link_fraction: float = 0.9
    """Share of the line that a download in many streams reaches. A choice. [-]"""
    sharing_tenants: int = 4
    """Tenants that may share the storage in equal parts. A choice; one public report names a ninth of the disk's rate
    (pytorch/torchtitan issue 1301: 0.245 of 2.2 GB/s). [-]"""
    storage_full_fraction: float = 0.8
    """Share of a shared file system that can be filled before it slows. Source: S. Bekman, Machine Learning
    Engineering, chapter on storage. [-]"""


@dataclass(frozen=True, kw_only=True)
class StorageUse:
    """What a run asks of the storage, and what the storage gives."""

    tokens_per_s: float
    """Of all cards. [tokens/s]"""
    bytes_per_token: float
    """As stored. [B]"""
    storage_bytes_per_s: float
    """What the storage gives this many nodes. [B/s]"""
    training_s: float
    """Time of all steps. [s]"""
    checkpoint_interval_s: float
    """Useful time between checkpoints. [s]"""
    checkpoint_blocking_s: float
    """Time that one checkpoint blocks training. [s]"""


@dataclass(frozen=True, kw_only=True)
class DataPath:
    """How data reach the cards and checkpoints leave them."""

    currency: str | None
    """Of the amounts; None without a price."""
    data_bytes: float
    """The data set. [B]"""
    moved_in_bytes: float
    """Data set, image and weights. [B]"""
    uplink_bytes_per_s: float
    """The line, as sold. [B/s]"""
    pull_s: float
    """Time to bring it all in. [s]"""
    wait_s: float
    """What of it is longer than set-up: cards wait, unless the data are there before delivery. [s]"""
    wait_rent: Money | None
    """Rent of the cards that wait; None without a price."""
    read_bytes_per_s: float
    """What training reads. [B/s]"""
    storage_bytes_per_s: float
    """What the storage gives. [B/s]"""
    checkpoint_bytes: float
    checkpoint_write_s: float
    """Time to write one checkpoint. [s]"""
    stored_bytes: float
    """Data set and checkpoints kept. [B]"""
    capacity_bytes: float
    """What to rent of a shared file system, so that it is not filled until it slows. [B]"""
    sharing_tenants: int
    """Tenants in `stall_s`, this one included. [-]"""
    stall_s: float
    """Time that training loses where so many tenants share the storage in equal parts. [s]"""
    cache_worth: Money | None
    """What a cache node or local NVMe may cost for the whole run and still pay there: the rent of the stalled hours;
    None without a price."""


def count_id_bytes(vocabulary: int) -> int:
    """Give the bytes of one stored token id. [B]"""
    return SHORT_ID_BYTES if vocabulary < SHORT_ID_VOCABULARY else LONG_ID_BYTES


def estimate_data_path(
    needs: RunNeeds, use: StorageUse, rent_per_hour: Money | None, assumptions: DataAssumptions
) -> DataPath:
    """Estimate the data path of a run.

    Args:
        needs: What is stored and moved, and set-up. [-]
        use: What the run asks of the storage. [-]
        rent_per_hour: Rent of everything paid; None is unknown. [1/h]
        assumptions: Link, tenants, filling. [-]

    Raises:
        InputError: A rate is not above zero.
    """
    rates = (("uplink", assumptions.uplink_bytes_per_s), ("storage_bytes_per_s", use.storage_bytes_per_s))
    for field, rate in rates:
        if not rate > 0:
            raise InputError(Message("{field} must be above {least}, got {given}", field=field, least=0, given=rate))
    pull_s = needs.sizes.moved_in_bytes / (assumptions.uplink_bytes_per_s * assumptions.link_fraction)
    wait_s = max(pull_s - needs.setup_hours * HOUR_S, 0.0)
    read_bytes_per_s = use.tokens_per_s * use.bytes_per_token
    stall_s = _estimate_stall_s(use, read_bytes_per_s, assumptions.sharing_tenants)
    return DataPath(
        currency=None if rent_per_hour is None else rent_per_hour.currency,
        data_bytes=needs.sizes.data_bytes,
        moved_in_bytes=needs.sizes.moved_in_bytes,
        uplink_bytes_per_s=assumptions.uplink_bytes_per_s,
        pull_s=pull_s,
        wait_s=wait_s,
        wait_rent=_rent_of(wait_s, rent_per_hour),
        read_bytes_per_s=read_bytes_per_s,
        storage_bytes_per_s=use.storage_bytes_per_s,
        checkpoint_bytes=needs.checkpoint_bytes,
        checkpoint_write_s=needs.checkpoint_bytes / use.storage_bytes_per_s,
        stored_bytes=needs.stored_bytes,
        capacity_bytes=needs.stored_bytes / assumptions.storage_full_fraction,
        sharing_tenants=assumptions.sharing_tenants,
        stall_s=stall_s,
        cache_worth=_rent_of(stall_s, rent_per_hour),
    )


def _estimate_stall_s(use: StorageUse, read_bytes_per_s: float, tenants: int) -> float:
    """Estimate what training loses where tenants share: longer saves, and reads that fall short. [s]"""
    saves = use.training_s / use.checkpoint_interval_s
    longer_saves_s = saves * use.checkpoint_blocking_s * (tenants - 1)
    shortfall = max(read_bytes_per_s * tenants / use.storage_bytes_per_s - 1.0, 0.0)
    return longer_saves_s + use.training_s * shortfall


def _rent_of(duration_s: float, rent_per_hour: Money | None) -> Money | None:
    if rent_per_hour is None:
        return None
    return (rent_per_hour * exact(duration_s / HOUR_S)).rounded()


def to_gb_text(size_bytes: float) -> str:
    """Write a size in GB of 1e9 bytes, without the unit. [B]"""
    size_gb = size_bytes / GB_BYTES
    return f"{size_gb:.3g}" if size_gb < 999.5 else f"{size_gb:,.0f}"
