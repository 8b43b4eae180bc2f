"""Reading measurement files: a file is known by its header, every row is a case or is skipped with its reason."""

from __future__ import annotations

from typing import TYPE_CHECKING

from suanpei.errors import InputError
from suanpei.messages import Message
from suanpei.validation.case import Case, Kind, LoadedCases, SkippedCase
from suanpei.validation.finetune import read_finetune_case
from suanpei.validation.rows import read_rows
from suanpei.validation.throughput import read_throughput_case
from suanpei.validation.whole_runs import read_whole_run

if TYPE_CHECKING:
    from pathlib import Path

_HEADERS: tuple[tuple[Kind, frozenset[str]], ...] = (
    ("throughput", frozenset({"case_id", "tp", "pp", "dp", "micro_batch_seqs", "global_batch_seqs", "class"})),
    ("finetune", frozenset({"case_id", "method", "micro_batch", "peak_mem_gib", "length_known", "class"})),
    ("whole_runs", frozenset({"case_id", "tokens_b", "gpu_hours", "model"})),
)


def load_cases(path: Path) -> LoadedCases:
    """Read a file of measurements; its header says which kind it is.

    Args:
        path: CSV file with the columns of one of the three kinds (throughput, finetune, whole_runs).

    Raises:
        InputError: The file cannot be read or its header is of no known kind.
    """
    readers = {"throughput": read_throughput_case, "finetune": read_finetune_case, "whole_runs": read_whole_run}
    rows = read_rows(path)
    kind = _find_kind(path, frozenset(rows[0].cells) if rows else frozenset())
    cases: list[Case] = []
    skipped: list[SkippedCase] = []
    for row in rows:
        try:
            cases.append(readers[kind](row, path.stem))
        except InputError as error:
            skipped.append(
                SkippedCase(
                    case_id=row.case_id,
                    file=path.stem,
                    source=row.source,
                    error_class=row.text("class") or "run",
                    reason=error.message,
                )
            )
    return LoadedCases(cases=tuple(cases), skipped=tuple(skipped))


def _find_kind(path: Path, header: frozenset[str]) -> Kind:
    for kind, columns in _HEADERS:
        if columns <= header:
            return kind
    raise InputError(
        Message(
            "{path}: no known header: throughput needs {throughput}; finetune {finetune}; whole_runs {runs}",
            path=str(path),
            throughput=", ".join(sorted(_HEADERS[0][1])),
            finetune=", ".join(sorted(_HEADERS[1][1])),
            runs=", ".join(sorted(_HEADERS[2][1])),
        )
    )
