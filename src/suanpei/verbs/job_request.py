"""From a user's words about a job to a `Job`, with every default listed as an assumption."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import ceil
from typing import TYPE_CHECKING, cast

from suanpei.errors import InputError
from suanpei.job.bundled import load_model
from suanpei.job.job import (
    LORA_TARGETS,
    LOSS_KERNELS,
    METHODS,
    OFFLOADED,
    OPTIMIZERS,
    PRECISIONS,
    TUNING_BATCH_SEQS,
    TUNING_SEQ_LEN,
    Job,
    Lora,
    choose_pretrain_batch_tokens,
)
from suanpei.messages import Message
from suanpei.quantities import MOST_TOKENS, parse_batch, parse_choice, parse_count, parse_tokens
from suanpei.units import format_count

if TYPE_CHECKING:
    from pathlib import Path

    from suanpei.job.architecture import Architecture
    from suanpei.job.job import BaseStorage, Method, Offloaded, Optimizer, Precision
    from suanpei.machine.catalogue import Catalogue

PRETRAIN_SEQ_LEN = 8_192
"""Longest default sequence of pretraining; longer contexts are usually trained in a later, short stage."""
LEAST_TUNING_STEPS = 100
"""A tuning batch shrinks, by powers of two and not below 8, until the run has this many steps."""
TUNING_EPOCHS = 3

MOST_BATCH_SEQS = 10_000_000
"""A hundred times the largest batches that were ever trained with."""

UNMODELLED_METHODS = ("dpo", "ppo", "grpo", "rlhf", "kto", "orpo", "gkd", "distill", "dora", "galore", "ia3", "prefix")
"""Methods that are refused by name, never sized as something else."""


@dataclass(frozen=True, kw_only=True)
class JobRequest:
    """What the user said about the job; None is not said."""

    model: str | None = None
    tokens: str | None = None
    data: tuple[str, ...] = ()
    tokenizer: str | None = None
    samples: str | None = None
    avg_tokens: str | None = None
    epochs: float | None = None
    method: str = "auto"
    seq_len: int | None = None
    global_batch: str | None = None
    precision: str | None = None
    optimizer: str | None = None
    lora_rank: int | None = None
    lora_targets: str | None = None
    flash_attention: bool = True
    loss: str | None = None
    offload: str | None = None


@dataclass(frozen=True, kw_only=True)
class _Data:
    """How much is trained: tokens of one epoch, and epochs."""

    tokens_per_epoch: float | None
    epochs: float
    longest_sample: int | None = None

    @property
    def tokens(self) -> float | None:
        return None if self.tokens_per_epoch is None else self.tokens_per_epoch * self.epochs


def build_job(
    request: JobRequest, catalogue: Catalogue, *, needs_data: bool, architecture: Architecture | None = None
) -> Job:
    """Fill the defaults of a job and check it.

    Args:
        request: What the user said.
        catalogue: Bundled models and the user's own.
        needs_data: Whether an amount of data must be given (planning) or may be left out (one step).
        architecture: An architecture that launch files spell out; a model named in the request goes before it.

    Returns:
        The job, its assumptions listed.

    Raises:
        InputError: A name, number or combination that is wrong, naming the option.
    """
    if request.model is not None:
        architecture = load_model(catalogue.table("models"), request.model)
    if architecture is None:
        raise InputError(Message("model is missing: name one, a config.json, its folder, or a size such as 7B"))
    notes: list[Message] = list(architecture.notes)
    data = _read_data(request, notes)
    if needs_data and data.tokens is None:
        raise InputError(
            Message(
                "tokens: nothing says how much data is trained; give --tokens 20B, --data FILES with --tokenizer"
                " FILE, or"
                " --samples N with --avg-tokens N"
            )
        )
    method = _choose_method(request, architecture, data, notes)
    data = _with_epochs(data, method, notes)
    _check_total(data)
    seq_len = _choose_seq_len(request, architecture, method, data, notes)
    batch, exact = _choose_batch(request, architecture, method, seq_len, data.tokens, notes)
    precision: Precision = "bf16"
    if request.precision is not None:
        precision = parse_choice(request.precision, "precision", PRECISIONS)
    else:
        notes.append(Message("precision: bf16 with fp32 optimizer states (default)"))
    optimizer: Optimizer = "adamw"
    if request.optimizer is not None:
        optimizer = parse_choice(request.optimizer, "optimizer", OPTIMIZERS)
    else:
        notes.append(Message("optimizer: AdamW (default)"))
    return Job(
        architecture=architecture,
        method=method,
        seq_len=seq_len,
        global_batch_seqs=batch,
        batch_is_exact=exact,
        tokens=data.tokens,
        epochs=data.epochs,
        precision=precision,
        optimizer=optimizer,
        lora=_read_lora(request, method, notes),
        base_storage=_choose_storage(architecture, method, notes),
        flash_attention=request.flash_attention,
        loss="plain" if request.loss is None else parse_choice(request.loss, "loss", LOSS_KERNELS),
        offload=_read_offload(request.offload),
        assumptions=tuple(notes),
    )


def with_method(job: Job, method: Method) -> Job:
    """Give the same job under another tuning method, for the alternatives of a plan."""
    notes: list[Message] = []
    lora = Lora() if method in ("lora", "qlora") else None
    storage = _choose_storage(job.architecture, method, notes)
    return replace(job, method=method, lora=lora, base_storage=storage, assumptions=(*job.assumptions, *notes))


def _read_data(request: JobRequest, notes: list[Message]) -> _Data:
    ways = [
        name
        for name, given in (("--tokens", request.tokens), ("--data", request.data), ("--samples", request.samples))
        if given
    ]
    if len(ways) > 1:
        raise InputError(Message("{ways} say the same thing twice; give one of them", ways=" and ".join(ways)))
    if request.avg_tokens is not None and request.samples is None:
        raise InputError(Message("samples is missing: --avg-tokens needs the number of samples beside it"))
    if request.tokenizer is not None and not request.data:
        raise InputError(Message("data is missing: --tokenizer counts the files of --data"))
    if request.epochs is not None and not 0 < request.epochs <= 10_000:
        raise InputError(
            Message("epochs must be above 0 and at most {most}, got {given}", most=10_000, given=request.epochs)
        )
    if request.tokens is not None:
        return _Data(tokens_per_epoch=parse_tokens(request.tokens, "tokens"), epochs=request.epochs or 1.0)
    if request.samples is not None:
        if request.avg_tokens is None:
            raise InputError(
                Message("avg-tokens is missing: --samples needs the tokens of an average sample beside it")
            )
        samples = parse_count(request.samples, "samples")
        each = parse_count(request.avg_tokens, "avg-tokens")
        return _Data(tokens_per_epoch=float(samples) * each, epochs=request.epochs or 0.0)
    if request.data:
        if request.tokenizer is None:
            raise InputError(Message("tokenizer is missing: --data needs the model's tokenizer.json beside it"))
        return _count_data(request.data, request.tokenizer, request.epochs, notes)
    return _Data(tokens_per_epoch=None, epochs=request.epochs or 1.0)


def _count_data(files: tuple[str, ...], tokenizer: str, epochs: float | None, notes: list[Message]) -> _Data:
    from pathlib import Path

    from suanpei.job.dataset import count_dataset

    paths: list[Path] = [Path(name) for name in files]
    stats = count_dataset(paths, Path(tokenizer))
    if stats.tokens < 1:
        raise InputError(Message("data: no text to train on in {files}", files=", ".join(files)))
    notes.append(
        Message(
            "data: {tokens} tokens in {records} samples, longest {longest}",
            tokens=format_count(stats.tokens),
            records=format_count(stats.records),
            longest=stats.longest.tokens,
        )
    )
    return _Data(tokens_per_epoch=stats.tokens, epochs=epochs or 0.0, longest_sample=stats.longest.tokens)


def _with_epochs(data: _Data, method: Method, notes: list[Message]) -> _Data:
    if data.epochs:
        return data
    epochs = 1.0 if method == "pretrain" else float(TUNING_EPOCHS)
    notes.append(Message("epochs: {epochs} (default for {method})", epochs=f"{epochs:g}", method=method))
    return replace(data, epochs=epochs)


def _check_total(data: _Data) -> None:
    if data.tokens is not None and not 1 <= data.tokens <= MOST_TOKENS:
        raise InputError(
            Message(
                "tokens times epochs must be from 1 to {most}, got {given}",
                most=f"{float(MOST_TOKENS):.0e}".replace("+", ""),
                given=f"{data.tokens:.3g}",
            )
        )


def _choose_method(request: JobRequest, architecture: Architecture, data: _Data, notes: list[Message]) -> Method:
    given = request.method.lower()
    if given in UNMODELLED_METHODS:
        raise InputError(
            Message(
                "method {given} is not modelled, and sizing it as another would be wrong; modelled are {modelled}",
                given=given,
                modelled=", ".join(METHODS),
            )
        )
    stored = architecture.quantization
    is_packed = stored is not None and stored.bits < 8
    if is_packed and stored is not None and given in ("auto", "pretrain", "full", "lora"):
        raise InputError(
            Message(
                "method {given}: {model} is stored in {bits} bits ({scheme}), which only adapters can be trained on;"
                " give"
                " --method qlora, or the 16-bit checkpoint",
                given=given,
                model=architecture.name,
                bits=f"{stored.bits:g}",
                scheme=stored.method,
            )
        )
    if stored is not None and not is_packed:
        notes.append(Message("weights stored as {scheme} are widened to 16 bits before training", scheme=stored.method))
    if given == "auto":
        tokens = data.tokens_per_epoch
        is_large = tokens is None or tokens >= architecture.total_parameters
        notes.append(
            Message("method: pretrain (at least one token per parameter; continued training costs the same)")
            if is_large
            else Message("method: full (fewer tokens than parameters; --method lora or qlora trains adapters instead)")
        )
        return "pretrain" if is_large else "full"
    return cast("Method", parse_choice(given, "method", (*METHODS, "auto")))


def _choose_seq_len(
    request: JobRequest, architecture: Architecture, method: Method, data: _Data, notes: list[Message]
) -> int:
    context = architecture.max_context
    if request.seq_len is not None:
        if request.seq_len < 1:
            raise InputError(Message("seq-len must be at least 1 token, got {given}", given=request.seq_len))
        if context is not None and request.seq_len > context:
            raise InputError(
                Message(
                    "seq-len {given} is longer than the {context} tokens that {model} takes",
                    given=request.seq_len,
                    context=context,
                    model=architecture.name,
                )
            )
        return request.seq_len
    if method == "pretrain":
        length = min(context or PRETRAIN_SEQ_LEN, PRETRAIN_SEQ_LEN)
        notes.append(Message("seq-len: {length} (the model's context, at most 8192)", length=length))
        return length
    longest = data.longest_sample
    if longest is not None:
        # samples are sized by the longest one, rounded up to what kernels like, as the peak follows it
        length = min(max(ceil(longest / 128) * 128, 512), context or TUNING_SEQ_LEN, max(TUNING_SEQ_LEN, longest))
        notes.append(Message("seq-len: {length} (the longest sample, packed)", length=length))
        return length
    length = min(context or TUNING_SEQ_LEN, TUNING_SEQ_LEN)
    notes.append(Message("seq-len: {length}, samples packed (default for tuning)", length=length))
    return length


def _choose_batch(
    request: JobRequest,
    architecture: Architecture,
    method: Method,
    seq_len: int,
    tokens: float | None,
    notes: list[Message],
) -> tuple[int, bool]:
    if request.global_batch is not None:
        batch = parse_batch(request.global_batch, "global-batch")
        is_exact = batch.unit == "seqs"
        batch_seqs = batch.amount if is_exact else max(round(batch.amount / seq_len), 1)
        _check_batch(batch_seqs, seq_len, tokens)
        return batch_seqs, is_exact
    if method == "pretrain":
        batch_seqs = max(round(choose_pretrain_batch_tokens(architecture.total_parameters) / seq_len), 1)
        notes.append(
            Message(
                "global-batch: {seqs} sequences, {tokens} tokens (by model size, from published runs)",
                seqs=batch_seqs,
                tokens=format_count(batch_seqs * seq_len),
            )
        )
        return batch_seqs, False
    batch_seqs = TUNING_BATCH_SEQS
    while tokens is not None and batch_seqs > 8 and tokens / (batch_seqs * seq_len) < LEAST_TUNING_STEPS:
        batch_seqs //= 2
    notes.append(Message("global-batch: {seqs} sequences (default for tuning)", seqs=batch_seqs))
    return batch_seqs, False


def _check_batch(batch_seqs: int, seq_len: int, tokens: float | None) -> None:
    """Refuse a batch beyond any optimizer, and one that a single step of which is more than all the data."""
    if batch_seqs > MOST_BATCH_SEQS:
        raise InputError(
            Message(
                "global-batch must be at most {most} sequences, got {given}",
                most=f"{MOST_BATCH_SEQS:,}",
                given=f"{batch_seqs:,}",
            )
        )
    if tokens is not None and batch_seqs > max(tokens / seq_len, 1):
        raise InputError(
            Message(
                "global-batch: {given} sequences of {seq_len} tokens are more than the {tokens} tokens of the whole"
                " run; give at most {most}seqs",
                given=batch_seqs,
                seq_len=seq_len,
                tokens=format_count(tokens),
                most=max(int(tokens / seq_len), 1),
            )
        )


def _read_lora(request: JobRequest, method: Method, notes: list[Message]) -> Lora | None:
    given = [
        name
        for name, value in (("lora-rank", request.lora_rank), ("lora-targets", request.lora_targets))
        if value is not None
    ]
    if method not in ("lora", "qlora"):
        if given:
            raise InputError(
                Message("{options} only mean something with --method lora or qlora", options=", ".join(given))
            )
        return None
    rank = 16 if request.lora_rank is None else request.lora_rank
    if not 1 <= rank <= 4096:
        raise InputError(Message("lora-rank must be between 1 and 4096, got {given}", given=rank))
    if request.lora_rank is None:
        notes.append(Message("lora-rank: {rank} (default)", rank=rank))
    if request.lora_targets is None:
        notes.append(Message("lora-targets: all linear products of the layers (default)"))
        return Lora(rank=rank)
    if request.lora_targets in ("all", "all-linear"):
        return Lora(rank=rank)
    names = [name.strip().removesuffix("_proj") for name in request.lora_targets.split(",") if name.strip()]
    if not names:
        raise InputError(Message("lora-targets names no product; it takes all-linear or names such as q,k,v,o"))
    targets = [parse_choice(name, "lora-targets", LORA_TARGETS) for name in names]
    return Lora(rank=rank, targets=tuple(dict.fromkeys(targets)))


def _choose_storage(architecture: Architecture, method: Method, notes: list[Message]) -> BaseStorage | None:
    if method != "qlora":
        return None
    stored = architecture.quantization
    if stored is not None and stored.method in ("gptq", "awq"):
        return "gptq-int4"
    notes.append(Message("base: NF4 with double quantisation (default of qlora)"))
    return "nf4-dq"


def _read_offload(given: str | None) -> frozenset[Offloaded]:
    if given is None or given == "none":
        return frozenset()
    return frozenset(parse_choice(name, "offload", OFFLOADED) for name in given.split(","))
