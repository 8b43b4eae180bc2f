"""What ``suanpei estimate`` prints: the verdict, memory and step term by term, and what would help."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Group
from rich.text import Text

from suanpei.messages import Message
from suanpei.report.locale import translate
from suanpei.report.text.assumptions import render_assumptions, render_evidence
from suanpei.report.text.figures import (
    UNKNOWN,
    explain_strategy,
    name_method,
    name_place,
    name_verdict,
    say_duration,
    say_gib,
    say_nodes,
    say_seconds,
    say_seconds_span,
    say_span,
)
from suanpei.report.text.layout import ByWidth, Paragraph, heading, make_table
from suanpei.report.text.parts_table import memory_table, run_table, say_run, step_table
from suanpei.units import DAY_S, GIB_BYTES, format_bytes, format_count

if TYPE_CHECKING:
    from rich.console import JustifyMethod, RenderableType
    from rich.table import Table

    from suanpei.physics.estimate import MemoryEstimate
    from suanpei.physics.run import RunEstimate
    from suanpei.report.locale import Language
    from suanpei.verbs.advice import Advice
    from suanpei.verbs.estimate import EstimateResult
    from suanpei.verbs.launch_request import LaunchFindings


def render_estimate(result: EstimateResult, lang: Language) -> RenderableType:
    """Render one configuration: the verdict first, then every term with the place that explains it."""
    estimate = result.estimate
    parts: list[RenderableType] = [
        Paragraph(translate(_verdict(estimate.memory, estimate.strategy.pp), lang), style="bold"),
        Paragraph(_say_step(result, lang), style="bold"),
        Paragraph(translate(_say_job(result), lang)),
        Paragraph(translate(explain_strategy(estimate.recipe, estimate.strategy), lang)),
    ]
    parts += [Paragraph(translate(warning, lang), bullet="! ") for warning in result.warnings]
    if result.launch is not None:
        parts += _render_launch(result.launch, lang)
    wide, narrow = (
        Group(
            Text(),
            memory_table(estimate.memory, lang, with_anchors=with_anchors),
            Text(),
            step_table(estimate.step, lang, with_anchors=with_anchors),
        )
        for with_anchors in (True, False)
    )
    parts.append(ByWidth(wide, narrow))
    parts += [Paragraph(translate(_ANCHORS, lang), style="dim"), *_render_totals(result, lang)]
    if result.run is not None:
        parts += _render_run(result.run, lang)
    parts += _render_advice(result.advice, lang, fits=estimate.memory.verdict == "fits")
    parts += render_evidence(estimate, lang)
    parts += render_assumptions(result.assumptions, lang)
    end = Message(
        "Catalogue of {date}, calibration {calibration}.", date=result.catalog_date, calibration=result.calibration_id
    )
    parts += [Text(), Paragraph(translate(end, lang), style="dim")]
    return Group(*parts)


_ANCHORS = Message(
    "Formula, unit and source of each part: docs/physics.md, at the anchors beside them on a wide console."
)


def _verdict(memory: MemoryEstimate, stages: int) -> Message:
    """Say whether it fits, with the margin and the place where it would fail."""
    values = {
        "device": say_gib(memory.device_bytes),
        "low": say_gib(memory.low_bytes),
        "high": say_gib(memory.high_bytes),
        "capacity": say_gib(memory.capacity_bytes),
        "place": name_place(memory, stages),
    }
    if memory.verdict == "fits":
        return Message(
            "Fits: {device} GiB (90%: {low}–{high}) of {capacity} GiB usable per card, {margin} GiB to spare at the"
            " high end; the peak is {place}.",
            margin=say_gib(memory.capacity_bytes - memory.high_bytes),
            **values,
        )
    if memory.verdict == "at_risk":
        return Message(
            "At risk: {device} GiB (90%: {low}–{high}) of {capacity} GiB usable per card, {excess} GiB too much at the"
            " high end; it would fail {place}.",
            excess=say_gib(memory.high_bytes - memory.capacity_bytes),
            **values,
        )
    if memory.low_bytes <= memory.capacity_bytes:
        return Message(
            "Does not fit: the host needs {host} per machine, more than it has; the card itself needs {device} of"
            " {capacity} GiB.",
            host=format_bytes(memory.host_bytes),
            device=values["device"],
            capacity=values["capacity"],
        )
    return Message(
        "Does not fit: {device} GiB (90%: {low}–{high}) of {capacity} GiB usable per card, {excess} GiB too much; it"
        " would fail {place}.",
        excess=say_gib(memory.device_bytes - memory.capacity_bytes),
        **values,
    )


def _say_step(result: EstimateResult, lang: Language) -> str:
    step, estimate = result.estimate.step, result.estimate
    return translate(
        Message(
            "Step: {seconds} (90%: {span}), {tokens} tokens/s per card, MFU {mfu}.",
            seconds=say_seconds(step.seconds),
            span=say_seconds_span(step.low_seconds, step.high_seconds),
            tokens=f"{estimate.tokens_per_second_per_gpu:,.0f}",
            mfu=f"{estimate.mfu:.1%}",
        ),
        lang,
    )


def _say_job(result: EstimateResult) -> Message:
    job = result.job
    return Message(
        "{model} ({parameters} parameters), {method}, on {gpus} × {accelerator}, {machines}; sequences of"
        " {seq_len}, {batch} per step ({batch_tokens} tokens); {precision}, {optimizer}",
        model=job.model,
        parameters=format_count(job.total_parameters),
        method=name_method(job.method),
        gpus=result.estimate.gpus,
        accelerator=result.accelerator,
        machines=Message("{nodes} joined by {fabric}", nodes=say_nodes(result.nodes), fabric=result.fabric)
        if result.nodes > 1
        else say_nodes(1),
        seq_len=f"{job.seq_len:,}",
        batch=result.estimate.global_batch_seqs,
        batch_tokens=format_count(result.estimate.tokens_per_step),
        precision=job.precision,
        optimizer=job.optimizer,
    )


def _render_totals(result: EstimateResult, lang: Language) -> list[RenderableType]:
    estimate, memory = result.estimate, result.estimate.memory
    table = make_table([("", "left"), ("", "right"), ("", "left")])
    table.show_header = False
    table.columns[-1].no_wrap = False
    for label, value, meaning in (
        ("MFU", f"{estimate.mfu:.1%}", Message("model FLOPs over the dense peak, unmasked half of attention")),
        (Message("MFU, full attention"), f"{estimate.mfu_full_attention:.1%}", Message("as many papers print it")),
        ("HFU", f"{estimate.hfu:.1%}", Message("recomputed FLOPs counted too")),
        (Message("of achievable"), f"{estimate.of_achievable:.1%}", Message("of the rate of large matrix products")),
        (
            Message("bare communication"),
            f"{estimate.exposed_comm_to_compute:.1%}",
            Message("communication that nothing hides, over compute"),
        ),
        (Message("allocated"), format_bytes(memory.allocated_bytes), Message("what tensors need")),
        (Message("reserved"), format_bytes(memory.reserved_bytes), Message("what the allocator holds, cache included")),
        (
            Message("device"),
            format_bytes(memory.device_bytes),
            Message("what the job needs of the card, without that cache; the verdict uses this"),
        ),
        (
            Message("host memory"),
            format_bytes(memory.host_bytes) if memory.host_bytes else UNKNOWN,
            Message("per machine, for what is offloaded"),
        ),
    ):
        table.add_row(translate(label, lang), value, Paragraph(translate(meaning, lang), style="dim"))
    return [Text(), table]


def _render_run(run: RunEstimate, lang: Language) -> list[RenderableType]:
    seconds = run.days * DAY_S
    said = Message(
        "All steps: {time} (90%: {span})",
        time=say_duration(seconds, lang),
        span=say_span(run.low_days * DAY_S, run.high_days * DAY_S, seconds),
    )
    return [heading(translate(said, lang)), run_table(run, lang), Paragraph(say_run(run, lang))]


def _render_advice(advice: tuple[Advice, ...], lang: Language, *, fits: bool) -> list[RenderableType]:
    title = Message("What would make it faster") if fits else Message("What would make it fit")
    if not advice:
        nothing = (
            Message("No single change that fits makes it over 1% faster.")
            if fits
            else Message("No single change needs less memory: take more cards, or adapters instead of full tuning.")
        )
        return [heading(translate(title, lang)), Paragraph(translate(nothing, lang))]
    reasons = [
        Paragraph(translate(Message("{change}: {why}", change=item.change, why=item.why), lang), bullet="  - ")
        for item in advice
    ]
    narrow = Group(_advice_table(advice, lang, with_reasons=False), *reasons)
    return [heading(translate(title, lang)), ByWidth(_advice_table(advice, lang, with_reasons=True), narrow, least=118)]


def _advice_table(advice: tuple[Advice, ...], lang: Language, *, with_reasons: bool) -> Table:
    columns: list[tuple[str, JustifyMethod]] = [
        (translate("Change", lang), "left"),
        (translate("Time per token", lang), "right"),
        (translate("Memory", lang), "right"),
        (translate("Verdict", lang), "left"),
    ]
    if with_reasons:
        columns.append((translate("Why", lang), "left"))
    table = make_table(columns)
    table.columns[-1].no_wrap = not with_reasons
    for item in advice:
        table.add_row(
            translate(item.change, lang),
            f"{item.step_change_fraction:+.1%}",
            f"{item.device_change_bytes / GIB_BYTES:+.1f} GiB",
            translate(name_verdict(item.verdict), lang),
            *([Paragraph(translate(item.why, lang))] if with_reasons else []),
        )
    return table


def _render_launch(launch: LaunchFindings, lang: Language) -> list[RenderableType]:
    said = Message("Read from {files}", files=", ".join(launch.files))
    lines: list[RenderableType] = [heading(translate(said, lang))]
    for title, messages in (
        (Message("contradictory:"), launch.contradictions),
        (Message("missing:"), launch.missing),
        (Message("will hurt:"), launch.warnings),
        (Message("noted:"), launch.notes),
    ):
        if messages:
            lines.append(Text(translate(title, lang)))
            lines += [Paragraph(translate(message, lang), bullet="  - ") for message in messages]
    if launch.gpu_hours_booked is not None:
        booked = Message("booked: {hours} card-hours", hours=f"{launch.gpu_hours_booked:,.0f}")
        lines.append(Text(translate(booked, lang)))
    return lines
