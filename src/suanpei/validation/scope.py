"""Which rows of a measurement file a prediction is owed for, judged by the row alone and not by what the readers take.

Rows of class A to C with a figure, whose method is full, lora, qlora or pretraining and whose sharding a recipe has.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from suanpei.validation.rows import Row

FIGURES = (
    "step_time_s",
    "tokens_per_s_per_gpu",
    "tflops_per_gpu",
    "mfu_pct",
    "tokens_per_s",
    "samples_per_s",
    "it_time_s",
    "peak_mem_gib",
    "peak_alloc_gib",
    "peak_mem_raw",
)
"""Columns of what was measured; that memory ran out is a figure too."""

METHODS = frozenset({"pretrain", "sft", "full", "lora", "qlora"})

OTHER_METHODS = ("galore", "lisa", "dora", "vllm")
"""Plugins that make another method of one in `METHODS`."""

SHARDINGS = re.compile(r"none|ddp|zero[123]|megatron tp\d+ pp\d+ ep\d+")


def is_owed_prediction(row: Row) -> bool:
    """Whether a row must be predicted.

    Args:
        row: Of a throughput or fine-tuning file; whole runs have no class and are owed none.
    """
    has_figure = row.text("outcome") == "oom" or any(row.text(column) for column in FIGURES)
    method = row.text("method") or row.text("task") or "pretrain"
    known_method = method in METHODS and not any(name in row.text("plugin") for name in OTHER_METHODS)
    # where pretraining leaves its sharding out, the framework's habit is taken
    sharding = row.text("sharding") or ("" if row.text("method") else "none")
    return row.text("class") in ("A", "B", "C") and has_figure and known_method and bool(SHARDINGS.fullmatch(sharding))
