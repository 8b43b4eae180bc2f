"""What stands beside a mix: a trial, a small cluster first, and buying the machines."""

from __future__ import annotations

from typing import TYPE_CHECKING

from suanpei.messages import Message, name_duration
from suanpei.report.locale import translate
from suanpei.report.text.layout import Paragraph, heading
from suanpei.units import HOUR_S

if TYPE_CHECKING:
    from rich.console import RenderableType

    from suanpei.market.cost import CostPart
    from suanpei.report.locale import Language
    from suanpei.verbs.mix import MixResult
    from suanpei.verbs.mix_extras import OwningRow, PilotRow


def render_pilots(result: MixResult, lang: Language) -> list[RenderableType]:
    """Render the trial and the ramp: price, when they are passed, what they teach."""
    parts: list[RenderableType] = []
    for pilot in result.pilots:
        parts += [heading(translate(_name_pilot(pilot), lang))]
        lines = [_say_price(pilot), *map(_say_part, pilot.parts), *pilot.criteria]
        lines += [Message("teaches: {lesson}", lesson=lesson) for lesson in pilot.lessons]
        parts += [Paragraph(translate(line, lang), bullet="  - ") for line in lines]
    return parts


def _name_pilot(pilot: PilotRow) -> Message:
    time = name_duration(pilot.hours * HOUR_S)
    if pilot.kind == "trial":
        return Message("Trial: {gpus} cards for {time}", gpus=pilot.gpus, time=time)
    return Message("Small cluster first: up to {gpus} cards over {time}", gpus=pilot.gpus, time=time)


def _say_price(pilot: PilotRow) -> Message:
    if pilot.cost is None:
        return Message("no price: {reason}", reason=pilot.reason)
    if pilot.kind == "trial":
        return Message("costs {cost} on top of the mix", cost=pilot.cost)
    return Message(
        "costs {cost} on top of the mix, and the demand starts {time} later",
        cost=pilot.cost,
        time=name_duration(pilot.hours * HOUR_S),
    )


def _say_part(part: CostPart) -> Message:
    """Write a line of a bill as quantity times price."""
    return Message(
        "{name}: {quantity} card-hours at {price}, {amount}",
        name=part.name,
        quantity=f"{part.quantity:,.0f}",
        price=part.price,
        amount=part.amount,
    )


def render_owning(result: MixResult, lang: Language) -> list[RenderableType]:
    """Render what owning machines would cost."""
    owning = result.owning
    if owning is None:
        return []
    messages = [
        Message(
            "{machines} machines of {gpus} cards hold the peak: {price} at once, {per_month} per machine and month"
            " ({per_hour} per card-hour, used or not).",
            machines=owning.machines,
            gpus=owning.machine_gpus,
            price=owning.price_of_machines,
            per_month=owning.per_machine_month,
            per_hour=owning.per_gpu_hour,
        ),
        _say_month(owning),
        Message(
            "Over these {months} months that is {total}; the mix costs {mix}.",
            months=f"{owning.months:.3g}",
            total=owning.total,
            mix=result.mix.total,
        ),
    ]
    if owning.break_even_hours_per_month is not None and result.arithmetic is not None:
        messages.append(
            Message(
                "A card that is used more than {hours} h in every month of its life is cheaper owned than by the hour"
                " at {elastic} ({provider}).",
                hours=f"{owning.break_even_hours_per_month:,.0f}",
                elastic=result.arithmetic.elastic_price_per_gpu_hour,
                provider=result.arithmetic.elastic_provider,
            )
        )
    messages.append(Message("Not in it: {missing}.", missing=list(owning.missing)))
    return [
        heading(translate("Buying and hosting instead", lang)),
        *(Paragraph(translate(message, lang), bullet="  - ") for message in messages),
    ]


def _say_month(owning: OwningRow) -> Message:
    """Say what the cost of a machine in a month is made of."""
    values = {
        "price": owning.price_of_machines / owning.machines,
        "residual": f"{owning.residual_fraction:.0%}",
        "months": f"{owning.life_months:.4g}",
    }
    if owning.hosting_per_machine_month is None:
        return Message("A month of a machine: {price} less {residual} of it, over {months} months.", **values)
    return Message(
        "A month of a machine: {price} less {residual} of it, over {months} months, and {hosting} of hosting.",
        hosting=owning.hosting_per_machine_month,
        **values,
    )
