"""The data path of a plan whose JSON has none, of schema version 1: from the assumptions that plans are made with."""

from __future__ import annotations

from typing import TYPE_CHECKING

from suanpei.market.cost import DataSizes, RunNeeds
from suanpei.market.data_path import LONG_ID_BYTES, WEIGHT_BYTES, DataAssumptions, StorageUse, estimate_data_path
from suanpei.market.rfq.planned import DataPathPart
from suanpei.messages import Message
from suanpei.physics.run import RunAssumptions
from suanpei.units import GB_BYTES, GIGA, format_gbit

if TYPE_CHECKING:
    from suanpei.market.rfq.planned import PlannedRental, PlannedRow


def assume_data_path(plan: PlannedRental, row: PlannedRow) -> DataPathPart | None:
    """Work out a data path from what an older plan says; None where it does not say how many tokens are trained.

    Args:
        plan: The plan's JSON. [-]
        row: One of its plans. [-]
    """
    if plan.job.tokens is None:
        return None
    assumptions = DataAssumptions()
    storage_bytes_per_s = float(RunAssumptions().count_storage_bytes_per_s(row.nodes))
    needs = RunNeeds(
        sizes=DataSizes(
            data_bytes=plan.job.tokens * LONG_ID_BYTES,
            image_bytes=assumptions.image_bytes,
            weights_in_bytes=plan.job.total_parameters * WEIGHT_BYTES,
            weights_out_bytes=0.0,
            checkpoints_kept=assumptions.checkpoints_kept,
        ),
        checkpoint_bytes=row.run.checkpoint_blocking_s * storage_bytes_per_s,
        setup_hours=0.0,
        lost_work_hours=0.0,
        recovery_hours=0.0,
    )
    use = StorageUse(
        tokens_per_s=row.estimate.tokens_per_second_per_gpu * row.gpus,
        bytes_per_token=LONG_ID_BYTES,
        storage_bytes_per_s=storage_bytes_per_s,
        training_s=0.0,  # the form asks for rates and sizes, not for what sharing costs
        checkpoint_interval_s=1.0,
        checkpoint_blocking_s=row.run.checkpoint_blocking_s,
    )
    path = estimate_data_path(needs, use, None, assumptions)
    return DataPathPart(**{name: getattr(path, name) for name in DataPathPart.model_fields})


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
        token=LONG_ID_BYTES,
        image=f"{data.image_bytes / GB_BYTES:g}",
        kept=data.checkpoints_kept,
        share=f"{data.storage_full_fraction:.0%}",
        node=f"{run.storage_bytes_per_s_per_node / GIGA:g}",
        total=f"{run.storage_bytes_per_s / GIGA:g}",
        line=format_gbit(data.uplink_bytes_per_s),
    )
