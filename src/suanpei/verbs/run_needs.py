"""What a job stores and moves, and what a run asks of storage and site: the needs that costs beside the rent follow."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from suanpei.errors import InputError
from suanpei.market.cost import DataSizes, RunNeeds
from suanpei.market.data_path import (
    RAW_TEXT_BYTES_PER_TOKEN,
    WEIGHT_BYTES,
    DataAssumptions,
    DataPath,
    StorageUse,
    count_id_bytes,
    estimate_data_path,
    to_gb_text,
)
from suanpei.market.offer import Offer
from suanpei.market.placement import (
    PlacementFinding,
    check_one_cluster,
    check_rack_power,
    check_tensor_group,
    estimate_node_draw,
)
from suanpei.market.side_costs import count_side_costs
from suanpei.market.terms import NO_CHARGES
from suanpei.messages import Message
from suanpei.physics.run import RunAssumptions
from suanpei.quantities import parse_bandwidth_bytes_per_s, parse_bytes
from suanpei.units import HOUR_S, KILO, format_gbit

if TYPE_CHECKING:
    from suanpei.job.job import Job
    from suanpei.machine.catalogue import Catalogue
    from suanpei.market.cost import Cost
    from suanpei.physics.run import RunEstimate
    from suanpei.planner.options import Choice
    from suanpei.verbs.plan_request import PlanRequest
    from suanpei.verbs.supply import Supplies, Supply


@dataclass(frozen=True, kw_only=True)
class DataTerms:
    """What the user says of data, line and racks, read and checked, over the assumptions."""

    assumptions: DataAssumptions
    data_bytes: float | None
    """None: from the tokens. [B]"""
    rack_watts: float | None
    """What one rack feeds; None is not known. [W]"""
    notes: tuple[Message, ...]


def read_data_terms(request: PlanRequest) -> DataTerms:
    """Read the options of the data path and the site.

    Args:
        request: What the user said. [-]

    Raises:
        InputError: A value that cannot be read or is out of range, naming the option.
    """
    assumptions = DataAssumptions()
    notes = [
        Message(
            "a container image of {image} GB; weights moved in 16 bits; {kept} checkpoints kept, the last one taken"
            " home with the weights",
            image=to_gb_text(assumptions.image_bytes),
            kept=assumptions.checkpoints_kept,
        )
    ]
    if request.uplink is None:
        notes.append(
            Message(
                "uplink: {rate} Gb/s (default); a download reaches {share} of a line",
                rate=format_gbit(assumptions.uplink_bytes_per_s),
                share=f"{assumptions.link_fraction:.0%}",
            )
        )
    else:
        rate = parse_bandwidth_bytes_per_s(request.uplink, "uplink")
        assumptions = replace(assumptions, uplink_bytes_per_s=rate)
        notes.append(Message("a download reaches {share} of a line", share=f"{assumptions.link_fraction:.0%}"))
    return DataTerms(
        assumptions=assumptions,
        data_bytes=None if request.data_size is None else parse_bytes(request.data_size, "data-size"),
        rack_watts=None if request.rack_kw is None else _read_rack_watts(request.rack_kw),
        notes=tuple(notes),
    )


def note_data_size(job: Job, terms: DataTerms) -> tuple[Message, ...]:
    """Say what the size of the data set rests on, where the user gave none."""
    if terms.data_bytes is not None:
        return terms.notes
    note = Message(
        "data-size: {size} GB, stored as token ids of {each} bytes; raw text is about {raw} bytes per token",
        size=to_gb_text(size_data(job, terms).data_bytes),
        each=count_id_bytes(job.architecture.vocab),
        raw=f"{RAW_TEXT_BYTES_PER_TOKEN:g}",
    )
    return (*terms.notes, note)


def size_data(job: Job, terms: DataTerms) -> DataSizes:
    """Size what a job stores and moves.

    Args:
        job: What is trained, on how many tokens. [-]
        terms: What the user says of the data. [-]
    """
    weights_bytes = float(job.architecture.total_parameters) * WEIGHT_BYTES
    tokens = (job.tokens or 0.0) / job.epochs
    return DataSizes(
        data_bytes=tokens * count_id_bytes(job.architecture.vocab) if terms.data_bytes is None else terms.data_bytes,
        image_bytes=terms.assumptions.image_bytes,
        weights_in_bytes=weights_bytes,
        weights_out_bytes=weights_bytes if job.trains_all else 0.0,
        checkpoints_kept=terms.assumptions.checkpoints_kept,
    )


def need_of(run: RunEstimate, checkpoint_bytes: float, sizes: DataSizes) -> RunNeeds:
    """Give the needs of one run. [-]"""
    return RunNeeds(
        sizes=sizes,
        checkpoint_bytes=checkpoint_bytes,
        setup_hours=run.parts["run_setup"] / HOUR_S,
        lost_work_hours=run.parts["run_lost_work"] / HOUR_S,
        recovery_hours=run.parts["run_recovery"] / HOUR_S,
    )


def with_side_costs(supplies: Supplies, sizes: DataSizes) -> Supplies:
    """Let the search see what the charges of each offer add for a job, with tax, so that it ranks by the whole bill."""
    return replace(supplies, items=tuple(_with_side_costs(item, sizes) for item in supplies.items))


def _with_side_costs(item: Supply, sizes: DataSizes) -> Supply:
    if item.price is None or item.price.charges == NO_CHARGES:
        return item
    side_costs = count_side_costs(item.price.charges, sizes).scaled(float(item.tax_factor))
    return replace(item, option=replace(item.option, side_costs=side_costs))


def trace_data_path(
    job: Job, choice: Choice, needs: RunNeeds, cost: Cost | None, assumptions: DataAssumptions
) -> DataPath:
    """Estimate the data path of a choice.

    Args:
        job: What is trained. [-]
        choice: Cards, strategy and run. [-]
        needs: What is stored and moved. [-]
        cost: For the rent of an hour; None without a price. [-]
        assumptions: Link and tenants. [-]
    """
    run = choice.run
    tokens_per_step = choice.found.tokens_per_step
    use = StorageUse(
        tokens_per_s=tokens_per_step / choice.found.step_s,
        bytes_per_token=needs.sizes.data_bytes / ((job.tokens or 0.0) / job.epochs),
        storage_bytes_per_s=float(RunAssumptions().count_storage_bytes_per_s(choice.nodes)),
        training_s=run.parts["run_steps"],
        checkpoint_interval_s=run.checkpoint_interval_s,
        checkpoint_blocking_s=run.checkpoint_blocking_s,
    )
    rent = None if cost is None else cost.parts[0].price * cost.paid_gpus
    return estimate_data_path(needs, use, rent, assumptions)


def check_placement(
    catalogue: Catalogue, choice: Choice, price: object, rack_watts: float | None
) -> tuple[PlacementFinding, ...]:
    """Check where the cards of a choice stand: one fabric, racks, tensor-parallel groups.

    Args:
        catalogue: Holds the draw of machines. [-]
        choice: Cards and strategy. [-]
        price: An offer says how many cards it has in one fabric. [-]
        rack_watts: What one rack feeds; None is not known. [W]
    """
    cluster = choice.option.cluster
    in_one_node = choice.gpus <= cluster.gpus_per_node
    partitions = (cluster.gpus_per_node,) if in_one_node else (price.count,) if isinstance(price, Offer) else ()
    draw = estimate_node_draw(catalogue, cluster.accelerator, cluster.gpus_per_node)
    return (
        check_one_cluster(choice.gpus, partitions),
        check_rack_power(draw, choice.nodes, rack_watts),
        check_tensor_group(choice.found.strategy.tp, cluster.domain_gpus),
    )


def _read_rack_watts(rack_kw: float) -> float:
    """Check the power of a rack. [W]"""
    if not 1.0 <= rack_kw <= _MOST_RACK_KW:
        raise InputError(
            Message(
                "rack-kw must be from {least} to {most}, got {given}", least=1, most=f"{_MOST_RACK_KW:g}", given=rack_kw
            )
        )
    return rack_kw * KILO


_MOST_RACK_KW = 1000.0
"""Above any rack on sale. [kW]"""
