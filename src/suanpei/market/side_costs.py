"""The numbers by which the search ranks what a bill adds to the rent: the charges of an offer for one job."""

from __future__ import annotations

from typing import TYPE_CHECKING

from suanpei.market.terms import NO_CHARGES
from suanpei.planner.side_costs import NO_SIDE_COSTS, SideCosts
from suanpei.units import GB_BYTES, MONTH_HOURS

if TYPE_CHECKING:
    from suanpei.market.cost import DataSizes
    from suanpei.market.terms import Charges
    from suanpei.money import Money


def count_side_costs(charges: Charges, sizes: DataSizes) -> SideCosts:
    """Turn the charges of an offer into what the search adds to the rent; what nobody states adds nothing.

    The bill (`market.cost`) makes the same sums in Decimal, so the search ranks by the bill's total.

    Args:
        charges: What the seller states, in the search's currency. [-]
        sizes: What the job stores and moves. [B]
    """
    storage_per_byte_hour = _number(charges.storage_per_gb_month) / GB_BYTES / MONTH_HOURS
    ingress_per_byte = _number(charges.ingress_per_gb) / GB_BYTES
    egress_per_byte = _number(charges.egress_per_gb) / GB_BYTES
    if charges == NO_CHARGES:
        return NO_SIDE_COSTS
    return SideCosts(
        once=_number(charges.set_up)
        + ingress_per_byte * sizes.moved_in_bytes
        + egress_per_byte * sizes.weights_out_bytes,
        per_hour=storage_per_byte_hour * sizes.data_bytes,
        per_checkpoint_byte=egress_per_byte,
        per_checkpoint_byte_hour=storage_per_byte_hour * sizes.checkpoints_kept,
        per_gpu_hour_between_nodes=_number(charges.fabric_per_gpu_hour),
        credited_fraction=1.0 if charges.bills_outages is False else 0.0,
    )


def _number(price: Money | None) -> float:
    return 0.0 if price is None else float(price.amount)
