"""What a delivery must show before it is paid for, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from suanpei.market.rfq.requirement import Requirement, to_be_stated, write_rate
from suanpei.messages import Message
from suanpei.units import GIB_BYTES, TERA

if TYPE_CHECKING:
    from collections.abc import Mapping

    from suanpei.market.rfq.acceptance import AllReduceMark, MatmulMark
    from suanpei.market.rfq.software import MemoryCheck, Stack
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
                "Count, model, memory, firmware and serial numbers as ordered; {memory}, no lost links, no foreign"
                " processes; the list of serial numbers is handed over",
                memory=_MEMORY_CHECKS[need.memory_check],
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
        rows.append(_in_node(marks.in_node, need.stack))
    if need.nodes > 1:
        rows.append(_between_nodes(marks.between_nodes, need.stack))
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


def _in_node(mark: AllReduceMark, stack: Stack | None) -> Requirement:
    common = {
        "test": _say_test(stack),
        "gpus": mark.gpus,
        "size": f"{mark.least_message_bytes / GIB_BYTES:g}",
    }
    reference = _say_bandwidth(mark.reference_bytes_per_s, mark.gpus, stack)
    if mark.pass_bytes_per_s is None:
        return Requirement(
            key="in_node_all_reduce",
            need=Message(
                "{test} on {gpus} cards, {size} GiB and more, no wrong value: state the bandwidth and guarantee it;"
                " about {rate} is expected",
                rate=reference,
                **common,
            ),
            basis=Message("The figure is derived, not measured: {source}", source=mark.source),
        )
    rate = _say_bandwidth(mark.pass_bytes_per_s, mark.gpus, stack)
    if mark.ring_pass_bytes_per_s is None:
        need = Message(
            "{test} on {gpus} cards, {size} GiB and more: {rate} or more, no wrong value", rate=rate, **common
        )
    else:
        need = Message(
            "{test} on {gpus} cards, {size} GiB and more: {rate} or more with NVLS, {ring} or more by ring, no wrong"
            " value; state which",
            rate=rate,
            ring=write_rate(mark.ring_pass_bytes_per_s),
            **common,
        )
    basis = Message("Reference {rate}: {source}", rate=write_rate(mark.reference_bytes_per_s), source=mark.source)
    return Requirement(key="in_node_all_reduce", need=need, basis=basis)


def _between_nodes(mark: AllReduceMark | None, stack: Stack | None) -> Requirement:
    if mark is None:
        return Requirement(
            key="cluster_all_reduce",
            need=Message("{test} over all machines: state the bandwidth and guarantee it", test=_say_test(stack)),
            basis=to_be_stated(),
        )
    common = {
        "test": _say_test(stack),
        "gpus": mark.gpus,
        "size": f"{mark.least_message_bytes / GIB_BYTES:g}",
    }
    ceiling = write_rate(mark.reference_bytes_per_s)
    if mark.pass_bytes_per_s is None or mark.explain_bytes_per_s is None:
        return Requirement(
            key="cluster_all_reduce",
            need=Message(
                "{test} on all {gpus} cards, {size} GiB and more, no wrong value: state the bandwidth and guarantee it",
                **common,
            ),
            basis=Message(
                "Links and network allow about {ceiling} of bus bandwidth; nothing comparable is published",
                ceiling=ceiling,
            ),
        )
    return Requirement(
        key="cluster_all_reduce",
        need=Message(
            "{test} on all {gpus} cards, {size} GiB and more, no wrong value: state the bandwidth and guarantee it;"
            " below {explain} say why, below {rate} the delivery fails",
            explain=_say_bandwidth(mark.explain_bytes_per_s, mark.gpus, stack),
            rate=_say_bandwidth(mark.pass_bytes_per_s, mark.gpus, stack),
            **common,
        ),
        basis=Message(
            "Links and network allow about {ceiling} of bus bandwidth; the marks are our own proposal below published"
            " good runs: {source}",
            ceiling=ceiling,
            source=mark.source,
        ),
    )


def _say_test(stack: Stack | None) -> Message:
    """Name the test of collectives."""
    if stack is None:
        return Message("All-reduce of the card's own library of collectives")
    return Message("{tool} or its like", tool=stack.test)


def _say_bandwidth(bytes_per_s: float, gpus: int, stack: Stack | None) -> Message:
    """Write a bus bandwidth, and what a test prints that divides it by ``2 (n - 1) / n``."""
    if stack is None or not stack.prints_algorithm_bandwidth:
        return Message("{rate} of bus bandwidth", rate=write_rate(bytes_per_s))
    return Message(
        "{rate} of bus bandwidth ({algorithm} of algorithm bandwidth, which the test prints)",
        rate=write_rate(bytes_per_s),
        algorithm=write_rate(bytes_per_s * gpus / (2 * (gpus - 1))),
    )


_MEMORY_CHECKS: Mapping[MemoryCheck, Message] = {
    "row_remapping": Message("no uncorrectable memory errors, no pending row remaps"),
    "page_retirement": Message("no uncorrectable memory errors, no pages waiting to be retired"),
    "system_log": Message("no Xid errors in the system log"),
    "makers_tool": Message("no uncorrectable memory errors by the maker's own tool"),
}
"""How it is seen that memory is sound."""


def _storage_test(need: Specification) -> Requirement:
    return Requirement(
        key="storage_test",
        need=_say_storage_test(need),
        basis=Message("Storage that holds for a few machines may collapse for all of them")
        if need.nodes > 1
        else Message("What is read from the machine's own memory says nothing of its storage"),
    )


def _say_storage_test(need: Specification) -> Message:
    if need.storage is None:
        return Message(
            "fio on all machines at once, direct, new files of over twice the memory: the rates stated above"
        )
    rates = {
        "write": write_rate(need.storage.write_bytes_per_s),
        "read": write_rate(need.storage.read_bytes_per_s),
    }
    if need.nodes == 1:
        return Message(
            "fio, direct, new files of over twice the memory: {write} written and {read} read, or more", **rates
        )
    return Message(
        "fio on all machines at once, direct, new files of over twice the memory: {write} written and {read} read,"
        " or more",
        **rates,
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
