"""The job: an architecture plus data, method, precision, optimizer, sequence length and global batch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from suanpei.job.architecture import Architecture
    from suanpei.messages import Message

Method = Literal["pretrain", "full", "lora", "qlora"]
METHODS: tuple[Method, ...] = ("pretrain", "full", "lora", "qlora")

LoraTarget = Literal["q", "k", "v", "o", "gate", "up", "down"]
LORA_TARGETS: tuple[LoraTarget, ...] = ("q", "k", "v", "o", "gate", "up", "down")

Optimizer = Literal["adamw", "adamw-8bit", "adafactor", "sgd", "muon"]
OPTIMIZERS: tuple[Optimizer, ...] = ("adamw", "adamw-8bit", "adafactor", "sgd", "muon")

Precision = Literal["bf16", "fp16", "fp32", "bf16-pure", "fp16-pure", "fp8", "mxfp8", "nvfp4"]
PRECISIONS: tuple[Precision, ...] = ("bf16", "fp16", "fp32", "bf16-pure", "fp16-pure", "fp8", "mxfp8", "nvfp4")
"""``bf16`` and ``fp16`` are mixed (fp32 states); ``-pure`` keeps weights, gradients and states in 16 bits."""

TUNING_SEQ_LEN = 4_096
"""Sequence of a tuning job that states none. A choice, stated with every result. [tokens]"""
TUNING_BATCH_SEQS = 128
"""Global batch of a tuning job that states none. A choice, stated with every result. [-]"""

PRETRAIN_BATCH_TOKENS: tuple[tuple[float, float], ...] = (
    (1e9, 2**19),
    (3e9, 2**20),
    (6.5e9, 2**21),
    (100e9, 2**22),
    (float("inf"), 2**24),
)
"""Global batch in tokens below each model size; what is sold as 7B may count 6.7e9. Sources: GPT-3 (arXiv 2005.14165,
table 2.1: 0.5M to 3.2M), Llama 2 (arXiv 2307.09288: 4M), Llama 3 405B (arXiv 2407.21783, section 3.4: 16M)."""

BaseStorage = Literal["nf4", "nf4-dq", "gptq-int4", "int8"]
"""How QLoRA stores the frozen base."""

LossKernel = Literal["plain", "in-place", "fused"]
LOSS_KERNELS: tuple[LossKernel, ...] = ("plain", "in-place", "fused")
"""``plain`` keeps fp32 logits and their gradient apart; ``in-place`` writes the gradient over the logits;
``fused`` (chunked, linear and loss together) never holds them whole."""

Offloaded = Literal["optimizer", "parameters", "activations"]
OFFLOADED: tuple[Offloaded, ...] = ("optimizer", "parameters", "activations")
"""What host memory can hold."""


@dataclass(frozen=True, kw_only=True)
class Lora:
    """Low-rank adapters. Source: Hu et al., arXiv 2106.09685."""

    rank: int = 16
    targets: tuple[LoraTarget, ...] = LORA_TARGETS


@dataclass(frozen=True, kw_only=True)
class Job:
    """What is trained, on how much data, and how."""

    architecture: Architecture
    method: Method
    seq_len: int
    """Tokens per packed sequence. [tokens]"""
    global_batch_seqs: int
    """Sequences per optimizer step. [-]"""
    batch_is_exact: bool = False
    """True: candidates must hit the batch exactly; False: the nearest multiple within 10 % is taken."""
    tokens: float | None = None
    """All tokens trained, epochs included; None where only one step is asked for. [tokens]"""
    epochs: float = 1.0
    """Times that the data are read; `tokens` holds all of them. [-]"""
    precision: Precision = "bf16"
    optimizer: Optimizer = "adamw"
    lora: Lora | None = None
    """The adapters of ``lora`` and ``qlora``; None for the others."""
    base_storage: BaseStorage | None = None
    """The frozen base of ``qlora``; None for the others."""
    flash_attention: bool = True
    """False keeps the square of the sequence in memory (unfused attention)."""
    loss: LossKernel = "plain"
    offload: frozenset[Offloaded] = frozenset()
    """What is kept in host memory."""
    capacity_factor: float | None = None
    """MoE: tokens an expert takes at most, over its fair share; None is dropless."""
    optimizer_in_backward: bool = False
    """Gradients are applied and freed layer by layer."""
    assumptions: tuple[Message, ...] = ()
    """What was assumed while the job was put together."""

    @property
    def trains_all(self) -> bool:
        """Whether every parameter is trained (pretraining and full tuning)."""
        return self.method in ("pretrain", "full")

    @property
    def tokens_per_step(self) -> int:
        """Tokens of one optimizer step at the target batch. [tokens]"""
        return self.seq_len * self.global_batch_seqs


def choose_pretrain_batch_tokens(parameters: float) -> float:
    """Give the global batch of pretraining that states none, by model size (`PRETRAIN_BATCH_TOKENS`). [tokens]"""
    return next(batch_tokens for most, batch_tokens in PRETRAIN_BATCH_TOKENS if parameters < most)
