"""What every seller is asked for, in words: one requirement per row of the form, each with its reason or source.

Nothing here says what the plan may cost, what is trained or what other sellers ask.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from suanpei.market.rfq.acceptance_words import acceptance_requirements
from suanpei.market.rfq.link_words import link_requirements
from suanpei.market.rfq.requirement import Requirement, to_be_stated, write_bytes, write_rate
from suanpei.messages import Message, name_duration
from suanpei.units import DAY_S, format_gbit

if TYPE_CHECKING:
    from suanpei.market.rfq.specification import Specification, StorageNeed


@dataclass(frozen=True, kw_only=True)
class RequirementGroup:
    """Requirements that stand together under one heading."""

    heading: Message
    requirements: tuple[Requirement, ...]


def list_requirements(need: Specification) -> tuple[RequirementGroup, ...]:
    """List what every seller is asked for.

    Args:
        need: The specification. [-]
    """
    return (
        RequirementGroup(heading=Message("Cards and machines"), requirements=_cards(need)),
        RequirementGroup(heading=Message("Links"), requirements=link_requirements(need)),
        RequirementGroup(heading=Message("Storage"), requirements=_storage(need)),
        RequirementGroup(heading=Message("Host, traffic and software"), requirements=_host(need)),
        RequirementGroup(
            heading=Message("Acceptance before billing starts"), requirements=acceptance_requirements(need)
        ),
        RequirementGroup(heading=Message("Terms"), requirements=_terms(need)),
    )


def _cards(need: Specification) -> tuple[Requirement, ...]:
    return (
        Requirement(
            key="cards",
            need=_say_cards(need),
            basis=Message("The plan that this request was made from"),
        ),
        Requirement(
            key="machines",
            need=_say_machines(need),
            basis=Message("Cards spread over sites or partitions are not one cluster"),
        ),
        Requirement(
            key="unmodified",
            need=Message("A reworked card is asked for: state who reworked it, its warranty and its failures so far")
            if need.is_reworked
            else Message("Board, memory and firmware as the maker shipped them; a modified card is offered as one"),
            basis=Message("Reworked boards have no warranty and fail sooner"),
        ),
        Requirement(
            key="condition",
            need=Message("State new or used, months in service and who bears repairs"),
            basis=to_be_stated(),
        ),
    )


def _say_cards(need: Specification) -> Message:
    figures = {
        "gpus": need.gpus,
        "accelerator": need.accelerator,
        "form_factor": need.form_factor,
        "memory": f"{need.memory_gb:g}",
    }
    if need.gpus == 1:
        return Message("{gpus} × {accelerator} ({form_factor}, {memory} GB)", **figures)
    return Message("{gpus} × {accelerator} ({form_factor}, {memory} GB), all of one model and memory size", **figures)


def _say_machines(need: Specification) -> Message:
    if need.nodes > 1:
        return Message(
            "{nodes} machines of {gpus} cards each, whole and ours alone for the term",
            nodes=need.nodes,
            gpus=need.gpus_per_node,
        )
    if need.gpus == need.gpus_per_node:
        return Message("One machine of {gpus} cards, whole and ours alone for the term", gpus=need.gpus)
    return Message(
        "{gpus} of the cards of one machine (usually {node}); if it is shared, say with whom and how it is isolated",
        gpus=need.gpus,
        node=need.gpus_per_node,
    )


def _storage(need: Specification) -> tuple[Requirement, ...]:
    storage = need.storage
    if storage is None:
        state = Message("State capacity, and read and write rate of all machines together")
        return (Requirement(key="capacity", need=state, basis=to_be_stated()),)
    is_shared = need.nodes > 1
    write, read = write_rate(storage.write_bytes_per_s), write_rate(storage.read_bytes_per_s)
    return (
        Requirement(
            key="capacity",
            need=_say_capacity(storage, is_shared=is_shared),
            basis=Message(
                "Data set {data} and checkpoints of {checkpoint} make {stored}, which may fill {share} of it",
                data=write_bytes(storage.data_bytes),
                checkpoint=write_bytes(storage.checkpoint_bytes),
                stored=write_bytes(storage.stored_bytes),
                share=f"{storage.full_fraction:.0%}",
            ),
        ),
        Requirement(
            key="write_rate",
            need=Message("At least {rate}, all machines writing at once", rate=write)
            if is_shared
            else Message("At least {rate}", rate=write),
            basis=Message(
                "A checkpoint of {checkpoint} every {interval}, which the plan counts as written in {time}",
                checkpoint=write_bytes(storage.checkpoint_bytes),
                interval=name_duration(storage.checkpoint_interval_s),
                time=name_duration(storage.checkpoint_write_s),
            ),
        ),
        Requirement(
            key="read_rate",
            need=Message("At least {rate}, all machines reading at once", rate=read)
            if is_shared
            else Message("At least {rate}", rate=read),
            basis=Message(
                "Training reads {training}; after a stop every machine reads the last checkpoint",
                training=write_rate(storage.training_read_bytes_per_s),
            ),
        ),
    )


def _say_capacity(storage: StorageNeed, *, is_shared: bool) -> Message:
    capacity = write_bytes(storage.capacity_bytes)
    if is_shared:
        return Message("At least {capacity}, seen by all machines under one path", capacity=capacity)
    return Message(
        "At least {capacity}, local or shared; state which, and what is left of it when the machine fails",
        capacity=capacity,
    )


def _host(need: Specification) -> tuple[Requirement, ...]:
    host = (
        Message("State memory, processor and cores of a machine, and its local disks")
        if need.host_bytes is None
        else Message(
            "At least {memory} of memory per machine; state processor and cores, and local disks",
            memory=write_bytes(need.host_bytes),
        )
    )
    return (
        Requirement(
            key="host",
            need=host,
            basis=to_be_stated() if need.host_bytes is None else Message("Parts of the job stand in host memory"),
        ),
        Requirement(
            key="traffic",
            need=_say_pull(need),
            basis=Message("Cards that wait for data are paid for"),
        ),
        Requirement(
            key="image",
            need=Message("State operating system, container runtime, and whether we have root on the machines"),
            basis=to_be_stated(),
        ),
        Requirement(
            key="driver",
            need=_say_driver(need),
            basis=to_be_stated() if need.driver is None else Message("Source: {source}", source=need.driver.source),
        ),
    )


def _say_driver(need: Specification) -> Message:
    if need.driver is not None:
        return Message(
            "Driver {driver} or newer (CUDA {cuda}); state the versions, and whether we may change them",
            driver=need.driver.version,
            cuda=need.driver.cuda,
        )
    if need.stack is None:
        return Message("State driver and toolkit versions, and whether we may change them")
    return Message(
        "State the versions of driver, firmware, {toolkit} and {library}, and whether we may change them",
        toolkit=need.stack.toolkit,
        library=need.stack.library,
    )


def _say_pull(need: Specification) -> Message:
    storage = need.storage
    if storage is None:
        return Message("State the rates in and out")
    return Message(
        "A line of {rate} Gbit/s or more into the storage: {size} are brought in, for which the plan counts {time};"
        " state the rate out",
        rate=format_gbit(storage.uplink_bytes_per_s),
        size=write_bytes(storage.moved_in_bytes),
        time=name_duration(storage.pull_s),
    )


def _terms(need: Specification) -> tuple[Requirement, ...]:
    return (
        Requirement(
            key="duration",
            need=Message(
                "{days}, at most {most}; a shorter shortest rental is an advantage",
                days=name_duration(need.days * DAY_S),
                most=name_duration(need.high_days * DAY_S),
            ),
            basis=Message("Central estimate and upper end of the plan, set-up included"),
        ),
        Requirement(
            key="outages",
            need=Message(
                "State availability, what an hour lost gives back, who measures, and how it is claimed; a lost link or"
                " a throttled card counts as an outage"
            ),
            basis=Message("A card that answers but is slow stops the whole job, and few contracts count it"),
        ),
        Requirement(
            key="replacement",
            need=Message("State hours until a broken machine is replaced by one that has passed acceptance"),
            basis=to_be_stated(),
        ),
        Requirement(
            key="not_included",
            need=Message("List all that is billed beside the price: storage, traffic, power, set-up, support"),
            basis=Message("What is not named is taken as included"),
        ),
    )
