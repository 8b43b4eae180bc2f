"""What ``suanpei tokens`` prints."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Group
from rich.table import Table
from rich.text import Text

from suanpei.messages import Message
from suanpei.report.locale import translate
from suanpei.report.text.assumptions import render_assumptions
from suanpei.units import format_count

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import RenderableType

    from suanpei.job.dataset import DatasetStats, FileCount, HistogramBin, Packing
    from suanpei.report.locale import Language
    from suanpei.verbs.tokens import TokensResult

FILES_SHOWN = 20
"""Files listed one by one; the largest first."""
BAR_WIDTH = 40
"""Characters of the longest bar of the histogram."""


def render_tokens(result: TokensResult, lang: Language) -> RenderableType:
    """Render the total with its error, the lengths, what packing makes of them, and what was assumed."""
    dataset = result.dataset
    lines = [*_say_total(dataset), *_say_lengths(dataset)]
    parts: list[RenderableType] = [Text(translate(line, lang)) for line in lines]
    parts += [Text(), _render_histogram(dataset.histogram, dataset.records, lang), Text()]
    parts += [Text(translate(line, lang)) for line in _say_packing(dataset.packing, dataset.records)]
    if len(dataset.files) > 1:
        parts += [Text(), _render_files(dataset.files, lang)]
        if len(dataset.files) > FILES_SHOWN:
            more = Message("and {count} more files", count=len(dataset.files) - FILES_SHOWN)
            parts.append(Text(translate(more, lang)))
    parts += render_assumptions(result.assumptions, lang)
    return Group(*parts)


def _say_total(dataset: DatasetStats) -> list[Message]:
    if dataset.is_exact:
        return [
            Message(
                "{tokens} tokens in {records} records, all counted ({exact})",
                tokens=format_count(dataset.tokens),
                records=f"{dataset.records:,}",
                exact=f"{dataset.tokens:,.0f}",
            )
        ]
    return [
        Message(
            "{tokens} tokens in {records} records, estimated from {sampled}: 90 % interval {low} – {high} (± {error})",
            tokens=format_count(dataset.tokens),
            records=f"{dataset.records:,}",
            sampled=f"{dataset.sampled_records:,}",
            low=f"{dataset.low_tokens:,.0f}",
            high=f"{dataset.high_tokens:,.0f}",
            error=f"{dataset.error_fraction:.2%}",
        )
    ]


def _say_lengths(dataset: DatasetStats) -> list[Message]:
    return [
        Message(
            "Tokens per record: mean {mean}, median {median}, 90 % below {p90}, 99 % below {p99}",
            mean=f"{dataset.mean_tokens:,.1f}",
            median=f"{dataset.median_tokens:,.0f}",
            p90=f"{dataset.p90_tokens:,.0f}",
            p99=f"{dataset.p99_tokens:,.0f}",
        ),
        Message(
            "Longest found: {tokens} tokens, {file}, record {record}",
            tokens=f"{dataset.longest.tokens:,}",
            file=dataset.longest.file,
            record=dataset.longest.record,
        ),
    ]


def _say_packing(packing: Packing, records: int) -> list[Message]:
    return [
        Message(
            "At {seq_len} tokens per sequence {records} of the records are too long; cutting them loses {tokens} of "
            "the tokens",
            seq_len=f"{packing.seq_len:,}",
            records=f"{packing.truncated_records_fraction:.2%}",
            tokens=f"{packing.truncated_tokens_fraction:.2%}",
        ),
        Message(
            "Joined and cut (the least possible): {sequences} sequences, {steps} steps of {batch} per epoch",
            sequences=f"{packing.joined_sequences:,}",
            steps=f"{packing.joined_steps:,}",
            batch=packing.global_batch_seqs,
        ),
        Message(
            "Packed whole (best-fit decreasing): {sequences} sequences, {fill} full, {steps} steps per epoch",
            sequences=f"{packing.packed_sequences:,}",
            fill=f"{packing.packed_fill_fraction:.1%}",
            steps=f"{packing.packed_steps:,}",
        ),
        Message(
            "Not packed: {records} sequences, {steps} steps per epoch; padding to the longest of {micro} wastes "
            "{waste} of the computed tokens ({tokens})",
            records=f"{records:,}",
            steps=f"{packing.unpacked_steps:,}",
            micro=packing.micro_batch,
            waste=f"{packing.padding_fraction:.1%}",
            tokens=format_count(packing.padding_tokens),
        ),
    ]


def _render_histogram(bins: Sequence[HistogramBin], records: int, lang: Language) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column(translate("Tokens", lang), justify="right", no_wrap=True)
    table.add_column(translate("Records", lang), justify="right", no_wrap=True)
    table.add_column("", no_wrap=True)
    most = max((one.records for one in bins), default=0.0)
    for one in bins:
        last = one.high_tokens - 1
        span = f"{one.low_tokens:,}" if last == one.low_tokens else f"{one.low_tokens:,}–{last:,}"
        bar = "█" * round(BAR_WIDTH * one.records / most) if most else ""
        table.add_row(span, f"{one.records / records:.1%}", bar)
    return table


def _render_files(files: Sequence[FileCount], lang: Language) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading, is_number in (
        (translate("File", lang), False),
        (translate("Fields", lang), False),
        (translate("Records", lang), True),
        (translate("Sampled", lang), True),
        (translate("Tokens", lang), True),
    ):
        table.add_column(heading, justify="right" if is_number else "left")
    for file in sorted(files, key=lambda each: -each.tokens)[:FILES_SHOWN]:
        table.add_row(
            file.file, file.fields, f"{file.records:,}", f"{file.sampled_records:,}", format_count(file.tokens)
        )
    return table
