"""The parts of an estimate as tables: memory by part, step time by part, the run by part."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from suanpei.messages import Message
from suanpei.physics.parts import PARTS
from suanpei.report.locale import translate
from suanpei.report.text.figures import say_duration, say_share
from suanpei.report.text.layout import Bar, make_table
from suanpei.units import DAY_S, GIB_BYTES

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from rich.console import JustifyMethod, RenderableType
    from rich.table import Table

    from suanpei.physics.estimate import MemoryEstimate, StepEstimate
    from suanpei.physics.run import RunEstimate
    from suanpei.report.locale import Language

LEAST_SHARE = 0.0005
"""Parts below this share of their total are left out of a table, zeros above all. [-]"""


def memory_table(memory: MemoryEstimate, lang: Language, *, with_anchors: bool = False) -> Table:
    """Show memory by part against the usable capacity.

    Args:
        memory: The peak. [B]
        lang: The reader's language.
        with_anchors: Whether each row says where the documentation explains it.
    """
    table = _parts_table(
        memory.parts,
        (translate("Memory per card", lang), "GiB", translate("of usable", lang)),
        memory.capacity_bytes,
        lambda size: f"{size / GIB_BYTES:.2f}",
        lang,
        with_anchors=with_anchors,
    )
    total = (memory.device_bytes, memory.capacity_bytes)
    for label, size in zip((translate("total", lang), translate("usable", lang)), total, strict=True):
        table.add_row(
            Text(label, style="bold"),
            Text(f"{size / GIB_BYTES:.2f}", style="bold"),
            say_share(size / memory.capacity_bytes),
            Bar(size / memory.capacity_bytes),
        )
    return table


def step_table(step: StepEstimate, lang: Language, *, with_anchors: bool = False) -> Table:
    """Show step time by part.

    Args:
        step: One optimizer step. [s]
        lang: The reader's language.
        with_anchors: Whether each row says where the documentation explains it.
    """
    digits = 1 if step.seconds >= 100 else 2 if step.seconds >= 10 else 3
    table = _parts_table(
        step.parts,
        (translate("Step time", lang), "s", translate("share", lang)),
        step.seconds,
        lambda seconds: f"{seconds:,.{digits}f}",
        lang,
        with_anchors=with_anchors,
    )
    table.add_row(Text(translate("total", lang), style="bold"), Text(f"{step.seconds:,.{digits}f}", style="bold"))
    return table


def run_table(run: RunEstimate, lang: Language) -> Table:
    """Show the run by part. [s]"""
    table = _parts_table(
        run.parts,
        (translate("Whole run", lang), translate("time", lang), translate("share", lang)),
        run.days * DAY_S,
        lambda seconds: say_duration(seconds, lang),
        lang,
        with_anchors=False,
    )
    table.add_row(
        Text(translate("total", lang), style="bold"), Text(say_duration(run.days * DAY_S, lang), style="bold")
    )
    return table


def _parts_table(
    parts: Mapping[str, float],
    headings: tuple[str, str, str],
    whole: float,
    write: Callable[[float], str],
    lang: Language,
    *,
    with_anchors: bool,
) -> Table:
    name, amount, share = headings
    columns: list[tuple[str, JustifyMethod]] = [(name, "left"), (amount, "right"), (share, "right"), ("", "left")]
    if with_anchors:
        columns.append((translate("explained under", lang), "left"))
    table = make_table(columns)
    for key, value in sorted(parts.items(), key=lambda item: -item[1]):
        if value < LEAST_SHARE * whole:
            continue
        row: list[RenderableType] = [
            translate(PARTS[key].label, lang),
            write(value),
            say_share(value / whole),
            Bar(value / whole),
        ]
        if with_anchors:
            row.append(Text(f"#{PARTS[key].anchor}", style="dim"))
        table.add_row(*row)
    return table


def say_run(run: RunEstimate, lang: Language) -> str:
    """Say steps, checkpoints and stops of a run in one sentence."""
    values = {
        "steps": f"{run.steps:,}",
        "blocking": say_duration(run.checkpoint_blocking_s, lang),
        "stops": f"{run.expected_stops:.2g}" if run.expected_stops < 10 else f"{run.expected_stops:.0f}",
        "goodput": f"{run.goodput:.1%}",
    }
    if run.checkpoint_interval_s >= run.parts["run_steps"]:
        said = Message(
            "{steps} steps; one checkpoint at the end takes {blocking}; {stops} unplanned stops expected; {goodput} of"
            " the time after set-up is useful",
            **values,
        )
    else:
        said = Message(
            "{steps} steps; a checkpoint every {interval} holds training up for {blocking}; {stops} unplanned stops"
            " expected; {goodput} of the time after set-up is useful",
            interval=say_duration(run.checkpoint_interval_s, lang),
            **values,
        )
    return translate(said, lang)
