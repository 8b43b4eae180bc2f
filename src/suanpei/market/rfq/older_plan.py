"""The data path of a plan whose JSON has none, of schema version 1: from the assumptions that plans are made with."""

from __future__ import annotations

from typing import TYPE_CHECKING

from suanpei.market.data_path import BITS_PER_BYTE, DataAssumptions
from suanpei.market.rfq.planned import DataPathPart
from suanpei.messages import Message
from suanpei.physics.run import RunAssumptions
from suanpei.units import GB_BYTES, GIGA

if TYPE_CHECKING:
    from suanpei.market.rfq.planned import PlannedRental, PlannedRow

WEIGHT_BYTES = 2.0
"""Weights are brought in with 16 bits. [B]"""
TOKEN_BYTES = 4.0
"""One token number as stored at most. [B]"""


def assume_data_path(plan: PlannedRental, row: PlannedRow) -> DataPathPart | None:
    """Work out a data path from what an older plan says; None where it does not say how many tokens are trained.

    Args:
        plan: The plan's JSON. [-]
        row: One of its plans. [-]
    """
    if plan.job.tokens is None:
        return None
    data, run = DataAssumptions(), RunAssumptions()
    data_bytes = plan.job.tokens * TOKEN_BYTES
    moved_in_bytes = data_bytes + data.image_bytes + plan.job.total_parameters * WEIGHT_BYTES
    write_bytes_per_s = min(row.nodes * run.storage_bytes_per_s_per_node, run.storage_bytes_per_s)
    checkpoint_bytes = row.run.checkpoint_blocking_s * write_bytes_per_s
    stored_bytes = data_bytes + data.checkpoints_kept * checkpoint_bytes
    return DataPathPart(
        data_bytes=data_bytes,
        moved_in_bytes=moved_in_bytes,
        uplink_bytes_per_s=data.uplink_bytes_per_s,
        pull_s=moved_in_bytes / (data.uplink_bytes_per_s * data.link_fraction),
        read_bytes_per_s=row.estimate.tokens_per_second_per_gpu * row.gpus * TOKEN_BYTES,
        checkpoint_bytes=checkpoint_bytes,
        checkpoint_write_s=row.run.checkpoint_blocking_s,
        stored_bytes=stored_bytes,
        capacity_bytes=stored_bytes / data.storage_full_fraction,
    )


def say_assumed(path: DataPathPart | None) -> Message:
    """Say what the data path of an older plan rests on."""
    if path is None:
        return Message(
            "the plan is of an older version and does not say how many tokens are trained: storage and traffic are"
            " left to the seller to state"
        )
    data, run = DataAssumptions(), RunAssumptions()
    return Message(
        "the plan is of an older version, without data path; assumed: {token} bytes per token of all passes together,"
        " an image of {image} GB, weights in 16 bits, {kept} checkpoints kept, storage filled to {share},"
        " checkpoints written at {node} GB/s per node and at most {total} GB/s, a line of {line} Gb/s",
        token=f"{TOKEN_BYTES:g}",
        image=f"{data.image_bytes / GB_BYTES:g}",
        kept=data.checkpoints_kept,
        share=f"{data.storage_full_fraction:.0%}",
        node=f"{run.storage_bytes_per_s_per_node / GIGA:g}",
        total=f"{run.storage_bytes_per_s / GIGA:g}",
        line=f"{data.uplink_bytes_per_s * BITS_PER_BYTE / GIGA:g}",
    )
