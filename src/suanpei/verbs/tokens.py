"""The verb ``tokens``: what a user's own data are in tokens, and in training steps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from suanpei.errors import InputError
from suanpei.job.dataset import CountRequest, DatasetStats, count_dataset
from suanpei.machine.catalogue import load_catalogue
from suanpei.messages import Message
from suanpei.quantities import parse_batch, parse_count
from suanpei.verbs.envelope import VerbResult

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path


@dataclass(frozen=True, kw_only=True)
class TokensRequest:
    """What the user asks for, as text where it is a quantity."""

    files: Sequence[str]
    tokenizer: Path
    field: str | None = None
    seq_len: str | None = None
    global_batch: str | None = None
    micro_batch: str | None = None
    exact: bool = False
    seed: int = 0


@dataclass(frozen=True, kw_only=True)
class TokensResult(VerbResult):
    """A data set in tokens."""

    dataset: DatasetStats
    error_fraction: float
    """Half the 90 % interval over the tokens; 0 where everything was counted. [-]"""


def count_tokens(
    request: TokensRequest, report_progress: Callable[[int, int], None] = lambda _done, _total: None
) -> TokensResult:
    """Count the tokens of files and say what they become in training.

    Args:
        request: Files, tokenizer and options. [-]
        report_progress: Called with bytes read and bytes in all. [B]

    Returns:
        Tokens with their error, lengths, packing and steps.

    Raises:
        InputError: A quantity, a file or the tokenizer is wrong.
        MissingExtraError: A parquet file without pyarrow.
    """
    count, assumptions = _read_request(request)
    dataset = count_dataset(request.files, request.tokenizer, count, report_progress)
    return TokensResult(
        catalog_date=load_catalogue().catalog_date,
        calibration_id=None,
        request={
            "files": list(request.files),
            "tokenizer": str(request.tokenizer),
            "field": request.field,
            "seq_len": str(count.seq_len),
            "global_batch": f"{count.global_batch_seqs}seqs",
            "micro_batch": str(count.micro_batch),
            "exact": request.exact,
            "seed": request.seed,
        },
        assumptions=(*assumptions, *dataset.notes),
        dataset=dataset,
        error_fraction=dataset.error_fraction,
    )


def _read_request(request: TokensRequest) -> tuple[CountRequest, list[Message]]:
    assumptions: list[Message] = []
    usual = CountRequest()
    seq_len, batch, micro = usual.seq_len, usual.global_batch_seqs, usual.micro_batch
    if request.seq_len is None:
        assumptions.append(Message("sequence length: {seq_len} tokens", seq_len=seq_len))
    else:
        seq_len = parse_count(request.seq_len, "--seq-len")
    if request.global_batch is None:
        assumptions.append(Message("global batch: {batch} sequences", batch=batch))
    else:
        batch = _read_batch(request.global_batch, seq_len)
    if request.micro_batch is None:
        assumptions.append(Message("records padded together: {micro}", micro=micro))
    else:
        micro = parse_count(request.micro_batch, "--micro-batch")
    count = CountRequest(
        field=request.field,
        exact=request.exact,
        seed=request.seed,
        seq_len=seq_len,
        global_batch_seqs=batch,
        micro_batch=micro,
    )
    return count, assumptions


def _read_batch(text: str, seq_len: int) -> int:
    quantity = parse_batch(text, "--global-batch")
    if quantity.unit == "seqs":
        return int(quantity.amount)
    sequences = round(quantity.amount / seq_len)
    if sequences < 1:
        raise InputError(
            Message("--global-batch {given} is less than one sequence of {seq_len} tokens", given=text, seq_len=seq_len)
        )
    return sequences
