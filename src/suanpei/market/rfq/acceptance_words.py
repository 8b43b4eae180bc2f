"""What a delivery must show before it is paid for, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from suanpei.market.rfq.requirement import Requirement, to_be_stated, write_rate
from suanpei.messages import Message
from suanpei.units import GIB_BYTES, TERA

if TYPE_CHECKING:
    from suanpei.market.rfq.acceptance import AllReduceMark, MatmulMark
    from suanpei.market.rfq.specification import Specification


def acceptance_requirements(need: Specification) -> tuple[Requirement, ...]:
    """List what is tested on delivery, from one card to all machines.

    Args:
        need: The specification. [-]
    """
    marks = need.acceptance
    rows = [
        Requirement(
            key="inventory",
            need=Message(
                "Count, model, memory, firmware and serial numbers as ordered; no uncorrectable memory errors, no"
                " pending row remaps, no lost links, no foreign processes; the list of serial numbers is handed over"
            ),
            basis=Message("A machine that was returned comes back under the same serial number"),
        )
    ]
    if marks.matmul is not None:
        rows.append(_matmul(marks.matmul))
    if marks.memory_bytes_per_s is not None:
        rows.append(
            Requirement(
                key="memory_rate",
                need=Message("A large copy on each card at {rate} or more", rate=write_rate(marks.memory_bytes_per_s)),
                basis=Message("Source: {source}", source=marks.memory_source),
            )
        )
    rows.append(
        Requirement(
            key="load",
            need=_say_load(marks.first_load_minutes, marks.soak_hours),
            basis=Message("Source: {source}", source=marks.load_source),
        )
    )
    if marks.in_node is not None:
        rows.append(_in_node(marks.in_node))
    if need.nodes > 1:
        rows.append(_between_nodes(marks.between_nodes))
    return (*rows, _storage_test(need), _reference_job(need))


def _say_load(minutes: int, hours: int) -> Message:
    if hours < 1:
        return Message(
            "Every card {minutes} minutes at full load without an error or throttling by heat or power", minutes=minutes
        )
    return Message(
        "Every card {minutes} minutes at full load without an error or throttling by heat or power, then {hours} hours"
        " of all machines together",
        minutes=minutes,
        hours=hours,
    )


def _matmul(mark: MatmulMark) -> Requirement:
    peak = f"{mark.peak_flops_per_s / TERA:g}"
    spread = f"{mark.spread_fraction * 100:g}"
    if mark.pass_flops_per_s is None or mark.reference_flops_per_s is None:
        return Requirement(
            key="matmul",
            need=Message(
                "State the {precision} TFLOP/s that large dense products reach on each card (dense peak {peak}), and"
                " guarantee it; no card over {spread} % below the median",
                precision=mark.precision,
                peak=peak,
                spread=spread,
            ),
            basis=Message("No measurement of this very card is published; spread after {source}", source=mark.source),
        )
    return Requirement(
        key="matmul",
        need=Message(
            "Large dense {precision} products at {rate} TFLOP/s or more on each card (best published {reference},"
            " dense peak {peak}); no card over {spread} % below the median",
            precision=mark.precision,
            rate=f"{mark.pass_flops_per_s / TERA:.0f}",
            reference=f"{mark.reference_flops_per_s / TERA:g}",
            peak=peak,
            spread=spread,
        ),
        basis=Message("Source: {source}", source=mark.source),
    )


def _in_node(mark: AllReduceMark) -> Requirement:
    common = {
        "rate": write_rate(mark.pass_bytes_per_s),
        "gpus": mark.gpus,
        "size": f"{mark.least_message_bytes / GIB_BYTES:g}",
    }
    if mark.ring_pass_bytes_per_s is None:
        need = Message(
            "nccl-tests all_reduce, or its like, on {gpus} cards, {size} GiB and more: bus bandwidth of {rate} or"
            " more, no wrong value",
            **common,
        )
    else:
        need = Message(
            "nccl-tests all_reduce, or its like, on {gpus} cards, {size} GiB and more: bus bandwidth of {rate} or more"
            " with NVLS, {ring} or more by ring, no wrong value; state which",
            ring=write_rate(mark.ring_pass_bytes_per_s),
            **common,
        )
    reference = write_rate(mark.reference_bytes_per_s)
    basis = (
        Message("Reference {rate}, derived rather than measured: {source}", rate=reference, source=mark.source)
        if mark.confidence == "low"
        else Message("Reference {rate}: {source}", rate=reference, source=mark.source)
    )
    return Requirement(key="in_node_all_reduce", need=need, basis=basis)


def _between_nodes(mark: AllReduceMark | None) -> Requirement:
    if mark is None or mark.explain_bytes_per_s is None:
        return Requirement(
            key="cluster_all_reduce",
            need=Message(
                "State the bus bandwidth of all_reduce (nccl-tests or its like) over all machines, and guarantee it"
            ),
            basis=to_be_stated(),
        )
    return Requirement(
        key="cluster_all_reduce",
        need=Message(
            "nccl-tests all_reduce, or its like, on all {gpus} cards, {size} GiB and more: state the bus bandwidth and"
            " guarantee it; below {explain} say why, below {rate} the delivery fails",
            gpus=mark.gpus,
            size=f"{mark.least_message_bytes / GIB_BYTES:g}",
            explain=write_rate(mark.explain_bytes_per_s),
            rate=write_rate(mark.pass_bytes_per_s),
        ),
        basis=Message(
            "Links and network allow {ceiling} at most; the marks are our own proposal below published good runs:"
            " {source}",
            ceiling=write_rate(mark.reference_bytes_per_s),
            source=mark.source,
        ),
    )


def _storage_test(need: Specification) -> Requirement:
    basis = Message("Storage that holds for a few machines may collapse for all of them")
    if need.storage is None:
        state = Message(
            "fio on all machines at once, direct, new files of over twice the memory: the rates stated above"
        )
        return Requirement(key="storage_test", need=state, basis=basis)
    return Requirement(
        key="storage_test",
        need=Message(
            "fio on all machines at once, direct, new files of over twice the memory: {write} written and {read} read,"
            " or more",
            write=write_rate(need.storage.write_bytes_per_s),
            read=write_rate(need.storage.read_bytes_per_s),
        ),
        basis=basis,
    )


def _reference_job(need: Specification) -> Requirement:
    return Requirement(
        key="reference_job",
        need=Message(
            "Our own job on all cards, at most an hour: {rate} tokens/s per card or more, its loss as in our reference",
            rate=f"{need.trial_tokens_per_second_per_gpu:,.0f}",
        ),
        basis=Message("Slow end of the plan's interval; billing starts when this is signed"),
    )
