"""Rows of complete training runs: tokens, cards and GPU-hours; how the cards were used is mostly not published.

The prediction is a clean run under the fastest strategy that fits, so it is a lower bound of what a publisher paid:
restarts, long-context stages and post-training are in many published hours and not in the prediction.
"""

from __future__ import annotations

import re
from itertools import product
from typing import TYPE_CHECKING

from suanpei.errors import InputError
from suanpei.job.job import Job, choose_pretrain_batch_tokens
from suanpei.job.typical import build_typical
from suanpei.messages import Message
from suanpei.physics.strategy import Recompute, Sharding, Strategy
from suanpei.units import DAY_HOURS
from suanpei.validation.bundled_names import find_bundled
from suanpei.validation.case import Case, ClusterRequest, Measured

if TYPE_CHECKING:
    from collections.abc import Mapping

    from suanpei.job.architecture import Architecture
    from suanpei.job.job import Precision
    from suanpei.validation.rows import Row

ASSUMED_GPUS = 256
"""Cards where the count is not published; GPU-hours of a clean run hardly depend on it."""

_GPUS: Mapping[str, str] = {
    "A100-80GB": "A100-SXM4-80GB",
    "A100-80GB SXM": "A100-SXM4-80GB",
    "A100": "A100-SXM4-80GB",
    "Ampere (A100)": "A100-SXM4-80GB",
    "A100-40GB": "A100-SXM4-40GB",
    "A800": "A800-SXM4-80GB",
    "H100-80GB": "H100-SXM5-80GB",
    "H100": "H100-SXM5-80GB",
    "V100": "V100-SXM2-32GB",
}
"""Cards as run reports write them, in the form that such runs used."""


def read_whole_run(row: Row, file: str) -> Case:
    """Read one row of a complete run.

    Args:
        row: The row.
        file: Stem of its file.

    Raises:
        InputError: The row cannot be predicted; the message is the reason.
    """
    assumptions: list[Message] = []
    tokens = _leading_number(row, "tokens_b")
    if tokens is None:
        raise InputError(Message("not published: {column}", column="tokens_b"))
    architecture = _read_architecture(row, assumptions)
    hours = _read_gpu_hours(row)
    gpu = _GPUS.get(row.text("gpu"))
    if gpu is None:
        raise InputError(Message("the accelerator {gpu!r} is not one of the catalogue", gpu=row.text("gpu")))
    seq_len = _read_seq_len(row, architecture)
    gpus = _leading_number(row, "n_gpus")
    if gpus is None:
        gpus = ASSUMED_GPUS
        assumptions.append(Message("number of cards not published: {gpus} assumed", gpus=ASSUMED_GPUS))
    strategies = _list_strategies(row, architecture, int(gpus), seq_len)
    assumptions.append(
        Message("strategy not published: the fastest of {count} that fits is taken", count=len(strategies))
    )
    if row.text("includes_restarts") != "no" or row.text("includes_post_training") != "no":
        assumptions.append(Message("published hours may include restarts and other stages: a clean run takes fewer"))
    return Case(
        case_id=row.case_id,
        file=file,
        kind="whole_runs",
        source=row.text("source").split(" ")[0],
        error_class="run",
        job=Job(
            architecture=architecture,
            method="pretrain",
            seq_len=seq_len,
            global_batch_seqs=strategies[0].global_batch_seqs,
            tokens=tokens * 1e9,
            precision=_read_precision(row),
        ),
        cluster=ClusterRequest(gpu=gpu, gpus_per_node=None, internode=""),
        recipe="megatron",
        strategies=strategies,
        choice="fastest_fitting",
        measured=(Measured(metric="gpu_hours", value=hours),),
        assumptions=tuple(assumptions),
    )


def _read_architecture(row: Row, assumptions: list[Message]) -> Architecture:
    """Give the bundled model of the name, else a typical dense one of the published size."""
    model = re.sub(r"\(.*\)", "", row.text("model"))
    known = find_bundled(model)
    if known is not None:
        return known
    billions = _leading_number(row, "params_b")
    if billions is None or row.text("active_params_b") or "/" in row.text("params_b"):
        raise InputError(Message("no bundled model is called {model}", model=row.text("model")))
    assumptions.append(
        Message("no bundled model is called {model}: a typical dense one of its size assumed", model=model)
    )
    return build_typical(round(billions * 1e9))


def _leading_number(row: Row, column: str) -> float | None:
    """Give the number that a cell starts with; reports write ``320256 (from memory)``."""
    found = re.match(r"\d+(?:\.\d+)?(?= |$)", row.text(column))
    return float(found.group()) if found else None


def _read_gpu_hours(row: Row) -> float:
    hours = _leading_number(row, "gpu_hours")
    if hours is not None:
        return hours
    days, gpus = _leading_number(row, "days"), _leading_number(row, "n_gpus")
    if days is None or gpus is None:
        raise InputError(Message("not published: {column}", column="gpu_hours"))
    return days * gpus * DAY_HOURS


def _read_precision(row: Row) -> Precision:
    """Give the precision; bf16 where it is not printed, fp16 on a card without bf16."""
    text = row.text("precision")
    if text.startswith("fp8"):
        return "fp8"
    return "fp16" if text.startswith("fp16") or row.text("gpu") == "V100" else "bf16"


def _read_seq_len(row: Row, architecture: Architecture) -> int:
    published = _leading_number(row, "seq_len")
    return int(published) if published is not None else min(architecture.max_context or 2048, 8192)


def _list_strategies(row: Row, architecture: Architecture, gpus: int, seq_len: int) -> tuple[Strategy, ...]:
    """List the usual strategies of Megatron, with the published degrees where the row prints them."""
    batch = max(1, round(choose_pretrain_batch_tokens(architecture.total_parameters) / seq_len))
    published = row.text("parallelism")
    tps = _published_degree(published, "TP", (1, 2, 4, 8))
    pps = _published_degree(published, "PP", (1, 2, 4, 8, 16, 32))
    strategies = []
    for tp, pp, micro_batch, recompute in product(tps, pps, (1, 2, 4), Recompute):
        dp, remainder = divmod(gpus, tp * pp)
        if (
            remainder
            or dp * micro_batch > batch
            or (len(pps) > 1 and architecture.layer_count % pp)
            or architecture.layers[0].attention.heads % tp
        ):
            continue
        strategies.append(
            Strategy(
                tp=tp,
                sp=tp > 1,
                pp=pp,
                dp=dp,
                sharding=Sharding.ZERO1,
                recompute=recompute,
                micro_batch=micro_batch,
                grad_accum=max(1, round(batch / (dp * micro_batch))),
            )
        )
    if not strategies:
        raise InputError(
            Message("no usual strategy divides {model} over {gpus} cards", model=architecture.name, gpus=gpus)
        )
    return tuple(strategies)


def _published_degree(text: str, axis: str, usual: tuple[int, ...]) -> tuple[int, ...]:
    found = re.search(rf"\b{axis}(\d+)", text)
    return (int(found.group(1)),) if found else usual
