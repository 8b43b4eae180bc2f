"""The tables of accuracy: statistics beside their targets, as rows for the console and for docs/accuracy.md."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.text import Text

from suanpei.messages import Message
from suanpei.report.locale import translate
from suanpei.report.text.figures import UNKNOWN
from suanpei.report.text.layout import Paragraph, make_table
from suanpei.validation.regret import LEAST_STRATEGIES, NO_REGRET
from suanpei.validation.summary import SMALL_SOURCE_ROWS
from suanpei.validation.targets import ALL, SMALLEST_CLASS_ROWS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from rich.console import RenderableType
    from rich.table import Table as RichTable

    from suanpei.report.locale import Language
    from suanpei.validation.residuals import Split
    from suanpei.validation.scorecard import Score
    from suanpei.validation.targets import Statistic, Table

STATISTICS: Mapping[Table, tuple[Statistic, ...]] = {
    "step_time": ("median", "p90", "mean"),
    "memory": ("median", "p90", "mean"),
    "bounds": ("share",),
    "verdicts": ("share",),
    "intervals": ("share", "share_of_n", "width"),
    "regret": ("mean", "mean_of_n"),
    "predicted": ("share",),
}
"""Columns of each table."""


@dataclass(frozen=True, kw_only=True)
class ScoreRow:
    """One group of one file under one split."""

    file: str
    split: Split | None
    label: str
    """What is scored, and of which group."""
    n: int
    cells: tuple[str, ...]
    """Statistics with their targets, in the order of `STATISTICS`."""
    verdict: str
    """Whether all targets of the row are met; a dash without one."""


def tabulate_scores(scores: Iterable[Score], table: Table, lang: Language) -> tuple[ScoreRow, ...]:
    """Make the rows of one table, in the order of the scores.

    Args:
        scores: Of any tables.
        table: Which to make.
        lang: Language of labels and verdicts.
    """
    groups: dict[tuple[str, Split | None, str, str], dict[Statistic, Score]] = {}
    for one in scores:
        if one.table == table:
            groups.setdefault((one.file, one.split, one.figure, one.group), {})[one.statistic] = one
    return tuple(
        ScoreRow(
            file=file,
            split=split,
            label=_name_row(table, figure, group, lang),
            n=next(iter(cells.values())).n,
            cells=tuple(_write(cells[name]) if name in cells else UNKNOWN for name in STATISTICS[table]),
            verdict=_judge(list(cells.values()), lang),
        )
        for (file, split, figure, group), cells in groups.items()
    )


def head_table(table: Table, lang: Language) -> tuple[str, ...]:
    """Give the headings of a table: label, count, statistics, verdict."""
    counted: dict[Table, Message] = {"regret": Message("Groups"), "predicted": Message("Rows")}
    statistics: dict[Statistic, Message] = {
        "median": Message("Median error"),
        "p90": Message("90 % below"),
        "mean": Message("Mean regret") if table == "regret" else Message("Mean error"),
        "mean_of_n": Message("Groups equal"),
        "share": {
            "bounds": Message("Kept"),
            "verdicts": Message("Share called so"),
            "predicted": Message("Share predicted"),
        }.get(table, Message("Held")),
        "share_of_n": Message("Of n"),
        "width": Message("Width"),
    }
    headings = (
        Message("Group"),
        counted.get(table, Message("n")),
        *(statistics[name] for name in STATISTICS[table]),
        Message("Target"),
    )
    return tuple(translate(heading, lang) for heading in headings)


def name_table(table: Table) -> Message:
    """Name a table."""
    return {
        "step_time": Message("Error of step time or speed"),
        "memory": Message("Error of peak memory"),
        "bounds": Message("One-sided memory figures"),
        "verdicts": Message("Does it fit?"),
        "intervals": Message("90 % intervals"),
        "regret": Message("Regret of the strategy ranked first"),
        "predicted": Message("Rows predicted"),
    }[table]


def explain_table(table: Table) -> Message:
    """Say how a table is to be read."""
    return {
        "step_time": Message(
            "Size of predicted over measured less one. Repeats of one configuration count once, sources weigh equally,"
            " files are never pooled. Class A: dense, everything needed published; B: dense, recomputation or network"
            " not published; C: mixtures of experts, 8 and 4 bits on Blackwell, other stacks. In fine-tuning files"
            " classes are about memory."
        ),
        "memory": Message(
            "The same for peaks: allocated is tensors, reserved has the allocator's cache, device is what the driver"
            " shows."
        ),
        "bounds": Message(
            "Where the length is only a maximum the peak must not be above the prediction; where the card was full the"
            " need must not be above the card. Share of figures that keep to it."
        ),
        "verdicts": Message(
            "Sources of {rows} rows or more weigh equally, smaller ones together as one. An at-risk call has the limit"
            " inside its 90 % interval.",
            rows=SMALL_SOURCE_ROWS,
        ),
        "intervals": Message(
            "Held: share of measurements inside, sources weighing equally. Of n: the same with configurations weighing"
            " equally; its target is the binomial 90 % band of that n around 90 %, for classes of {rows} rows or more."
            " Width: high end over low end.",
            rows=SMALLEST_CLASS_ROWS,
        ),
        "regret": Message(
            "Groups of {strategies} or more measured strategies of one job on the same cards: best measured speed over"
            " that of the strategy with the best predicted speed, less one; within {least:.0%} of the best is none."
            " Sources weigh equally in the mean, groups in the column beside it.",
            strategies=LEAST_STRATEGIES,
            least=NO_REGRET,
        ),
        "predicted": Message(
            "Of the rows of class A to C with a figure whose method is full, lora, qlora or pretraining and whose"
            " sharding a recipe has."
        ),
    }[table]


def name_split(split: Split | None) -> Message:
    """Name what the fit behind a prediction did not see."""
    if split is None:
        return Message("any fit")
    return {
        "as_fitted": Message("as fitted"),
        "grouped": Message("grouped cross-validation"),
        "source_left_out": Message("source left out"),
        "hidden_size_left_out": Message("one hidden size left out"),
    }[split]


def render_scores(scores: Sequence[Score], lang: Language) -> list[RenderableType]:
    """Render all tables, one part per file and split."""
    parts: list[RenderableType] = []
    for table in STATISTICS:
        rows = tabulate_scores(scores, table, lang)
        if not rows:
            continue
        parts += [
            Text(translate(name_table(table), lang), style="bold"),
            Paragraph(translate(explain_table(table), lang)),
        ]
        for file, split in dict.fromkeys((row.file, row.split) for row in rows):
            title = Message("{file}, {split}", file=file, split=name_split(split)) if split else file
            members = [row for row in rows if (row.file, row.split) == (file, split)]
            parts += [Text(), Paragraph(translate(title, lang), style="bold")]
            parts.append(_render_table(members, head_table(table, lang)))
        parts.append(Text())
    return parts


def _render_table(rows: Sequence[ScoreRow], headings: Sequence[str]) -> RichTable:
    last = len(headings) - 1
    made = make_table([(one, "left" if at in (0, last) else "right") for at, one in enumerate(headings)])
    for row in rows:
        made.add_row(row.label, f"{row.n:,}", *row.cells, row.verdict)
    return made


def count_met(scores: Iterable[Score]) -> Message:
    """Say how many targets are met."""
    judged = [one.is_met for one in scores if one.is_met is not None]
    if not judged:
        return Message("no target applies to these files")
    return Message("{met} of {count} targets met", met=sum(judged), count=len(judged))


def _name_row(table: Table, figure: str, group: str, lang: Language) -> str:
    """Name the figure where a table has several, and the group where it has several."""
    groups: dict[str, Message | str] = {ALL: Message("all"), "megatron_a100": Message("Megatron A100 tables")}
    figures: dict[str, Message | str] = {
        "step_time": Message("step time"),
        "memory": Message("memory"),
        "allocated_bytes": Message("allocated"),
        "reserved_bytes": Message("reserved"),
        "device_bytes": Message("device"),
        "at_most_predicted": Message("measured ≤ predicted"),
        "at_least_predicted": Message("need ≤ full card"),
        "oom_caught": Message("out of memory: does not fit or at risk"),
        "fitting_refused": Message("ran: does not fit"),
        "fitting_at_risk": Message("ran: at risk"),
    }
    names = [figures[figure]] if figure in figures and table != "step_time" else []
    names += [] if table == "verdicts" else [groups.get(group, group)]
    return " ".join(translate(name, lang) for name in names)


def _write(one: Score) -> str:
    """Write a value and its target: ``4.1% (≤3%)``."""
    if one.statistic == "width":
        value, least, most = f"{one.value:.2f}", None, f"{one.most:g}" if one.most else None
    else:
        value = f"{one.value:.1%}"
        least, most = (None if limit is None else f"{limit * 100:.3g}%" for limit in (one.least, one.most))
    if least and most:
        return f"{value} ({least.rstrip('%')}–{most})"
    if least or most:
        return f"{value} ({'≥' if least else '≤'}{least or most})"
    return value


def _judge(scores: Sequence[Score], lang: Language) -> str:
    judged = [one.is_met for one in scores if one.is_met is not None]
    if not judged:
        return UNKNOWN
    return translate("met", lang) if all(judged) else translate("missed", lang)
