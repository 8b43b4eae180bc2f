"""What stands below a mix: the arithmetic, where a saving of 30 % is true, what is missing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from suanpei.messages import Message, name_duration
from suanpei.report.locale import translate
from suanpei.report.text.layout import Paragraph, heading
from suanpei.report.text.quote_notes import say_length
from suanpei.units import HOUR_S

if TYPE_CHECKING:
    from rich.console import RenderableType

    from suanpei.market.cost import MissingPart
    from suanpei.market.mix.closed_form import SavingRegion
    from suanpei.report.locale import Language
    from suanpei.verbs.mix import MixResult
    from suanpei.verbs.mix_arithmetic import ArithmeticCheck, BreakEven, TwoLevels
    from suanpei.verbs.mix_rows import SolverNote


SAME_COST_FRACTION = 5e-5
"""Two costs that differ by less are the same to the tenth of a percent that is shown. [-]"""


def render_arithmetic(result: MixResult, lang: Language) -> list[RenderableType]:
    """Render the solver's word, the card-by-card check, the break-even and the region of the quoted saving."""
    messages = [_say_solver(result.mix.solver, result)]
    if result.arithmetic is not None:
        messages += [*_say_arithmetic(result.arithmetic), *_say_break_even(result.arithmetic.break_even)]
    parts: list[RenderableType] = [heading(translate("How sure, and by arithmetic", lang))]
    parts += [Paragraph(translate(message, lang), bullet="  - ") for message in messages]
    if result.quoted_saving is not None:
        parts.append(heading(translate("Is the often-quoted saving of 30 % true?", lang)))
        parts += [
            Paragraph(translate(message, lang), bullet="  - ") for message in _say_region(result.quoted_saving, result)
        ]
    return parts


def _say_solver(solver: SolverNote, result: MixResult) -> Message:
    values = {
        "offers": solver.offers,
        "starts": solver.contract_starts,
        "bound": solver.bound,
        "gap": f"{solver.gap_fraction:.2%}",
        "limit": name_duration(solver.time_limit_s),
    }
    if solver.status == "optimal":
        return Message(
            "Solver: optimal; no mix of these {offers} offers and {starts} moments to sign is cheaper than {bound} (gap"
            " {gap}, time limit {limit}).",
            **values,
        )
    if solver.cuts_leases:
        return Message(
            "Solver: the best found, not proved the cheapest: {total}, and none is cheaper than {bound} (gap {gap}). It"
            " is open how much is saved by keeping machines that are paid by the day or for a least time where"
            " contracts or phases begin or end; more time does not tell.",
            total=result.mix.total,
            **{name: values[name] for name in ("bound", "gap")},
        )
    return Message(
        "Solver: the best found when its time of {limit} was over, not proved the cheapest: {total}, and none is"
        " cheaper than {bound} (gap {gap}). A longer --time-limit may narrow it.",
        total=result.mix.total,
        **{name: values[name] for name in ("limit", "bound", "gap")},
    )


def _say_arithmetic(check: ArithmeticCheck) -> list[Message]:
    values = {
        "share": f"{check.busy_share_to_reserve:.1%}",
        "ratio": f"{check.price_ratio:.3g}",
        "elastic": check.elastic_price_per_gpu_hour,
        "elastic_provider": check.elastic_provider,
        "reserved": check.reserved_price_per_gpu_hour,
        "reserved_provider": check.reserved_provider,
    }
    rule = Message(
        "Card by card: {elastic} ({elastic_provider}) is {ratio} times {reserved} ({reserved_provider}), so a card is"
        " reserved when it is busy for more than {share} of what is paid.",
        **values,
    )
    return [rule, _say_level(check)]


def _say_level(check: ArithmeticCheck) -> Message:
    """Say what is reserved card by card, and how its cost lies to that of the program."""
    gpus = str(check.reserve_gpus)
    if check.most_reserve_gpus > check.reserve_gpus:
        gpus = f"{check.reserve_gpus}–{check.most_reserve_gpus}"
    over = check.cost_over_mix - 1.0
    values = {
        "gpus": gpus,
        "cost": check.cost,
        "against_reserved": f"{check.saving_vs_reserved_fraction:.1%}",
        "against_demand": f"{check.saving_vs_on_demand_fraction:.1%}",
        "share": f"{abs(over):.1%}",
    }
    if abs(over) < SAME_COST_FRACTION:
        return Message(
            "That is {gpus} cards from start to end at {cost}, the same as the program's mix: {against_reserved} less"
            " than all reserved, {against_demand} less than all on demand.",
            **{name: value for name, value in values.items() if name != "share"},
        )
    if over > 0:
        return Message(
            "That is {gpus} cards from start to end at {cost}, {share} above the program's mix: {against_reserved} less"
            " than all reserved, {against_demand} less than all on demand.",
            **values,
        )
    return Message(
        "That is {gpus} cards from start to end at {cost}, {share} below the program's mix, as cards on hand, whole"
        " nodes, start-ups and one seller per phase do not enter it: {against_reserved} less than all reserved,"
        " {against_demand} less than all on demand.",
        **values,
    )


def _say_break_even(even: BreakEven) -> list[Message]:
    """Say from how much use on the shortest contract pays, and how one run is cheaper where demand is one."""
    messages = [
        Message(
            "Break-even: a card that is used more than {hours} h ({days} days) in the shortest contract of {provider}"
            " ({period}, {price} per card-hour) is cheaper reserved.",
            hours=f"{even.hours:,.0f}",
            days=f"{even.days:.2f}",
            period=say_length(even.period_hours) or name_duration(even.period_hours * HOUR_S),
            provider=even.provider,
            price=even.price_per_gpu_hour,
        )
    ]
    if even.one_run_hours is None:
        return messages
    run = {"time": name_duration(even.one_run_hours * HOUR_S), "provider": even.provider}
    if even.one_run == "reserved":
        messages.append(Message("This demand is one run of {time}: cheaper on the contract of {provider}.", **run))
    elif even.one_run == "on_demand":
        messages.append(
            Message("This demand is one run of {time}: cheaper by the hour than on the contract of {provider}.", **run)
        )
    else:
        messages.append(
            Message(
                "This demand is one run of {time}: by the hour or on the contract of {provider} is the same.", **run
            )
        )
    return messages


def _say_region(region: SavingRegion, result: MixResult) -> list[Message]:
    """Say for which demand the saving is true, and whether for this one."""
    ratio = f"{region.price_ratio:.3g}"
    limits = [
        Message(
            "base {base}: peak for at most {burst} of the time",
            base=f"{row.base_share:.0%}",
            burst=f"{row.most_burst_share:.0%}",
        )
        for row in region.rows
        if row.most_burst_share is not None and row.most_burst_share >= 0.005
    ]
    messages = [
        Message(
            "Against all reserved, at your ratio of {ratio}, it is true of a demand with a base and short peaks:"
            " {limits}.",
            ratio=ratio,
            limits=limits,
        ),
        Message(
            "It is false where {base} or more of the peak is always needed, where the peak lasts {share} of the time or"
            " longer (then reserve everything), and for one run shorter than the break-even.",
            base=f"{region.highest_base_share:.0%}",
            share=f"{region.break_even_share:.0%}",
        ),
    ]
    if result.arithmetic is not None and result.arithmetic.two_levels is not None:
        messages.append(_say_two_levels(result.arithmetic.two_levels))
    return [*messages, *_say_holds(region, result)]


def _say_two_levels(levels: TwoLevels) -> Message:
    return Message(
        "Your demand has two levels, base {base} and the peak for {burst} of the time: with a contract as long as the"
        " demand a mix saves {vs_reserved} against all reserved, {vs_on_demand} against all on demand.",
        base=f"{levels.base_share:.1%}",
        burst=f"{levels.burst_share:.1%}",
        vs_reserved=f"{levels.saving_vs_reserved_fraction:.1%}",
        vs_on_demand=f"{levels.saving_vs_on_demand_fraction:.1%}",
    )


def _say_holds(region: SavingRegion, result: MixResult) -> list[Message]:
    """Say whether the saving is true of this demand."""
    messages = []
    for item in result.baselines:
        if item.saving_fraction is None:
            continue
        saving, holds = f"{max(item.saving_fraction, 0.0):.1%}", item.saving_fraction >= region.saving
        if item.kind == "reserved_at_peak":
            messages.append(
                Message("Here it is true against all reserved at the peak: {saving}.", saving=saving)
                if holds
                else Message("Here it is not true against all reserved at the peak: {saving}.", saving=saving)
            )
        else:
            messages.append(
                Message("Here it is true against all on demand: {saving}.", saving=saving)
                if holds
                else Message("Here it is not true against all on demand: {saving}.", saving=saving)
            )
    return messages


def say_missing(part: MissingPart) -> Message:
    """Say what nothing states, and what to ask; the name of what is only tied up says that it is."""
    if part.basis is None:
        return Message("{part}: unknown; {question}", part=part.name, question=part.question)
    return Message("{part}; {question}", part=part.name, question=part.question)
