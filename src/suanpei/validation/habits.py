"""What a framework keeps otherwise than the recipe that stands for it: facts of its code, by a part of its name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from suanpei.job.job import Job
    from suanpei.physics.strategy import Strategy
    from suanpei.validation.rows import Row

Habits = tuple[tuple[str, Any], ...]
"""Fields of a recipe with their values."""

MEGATRON_DEEPSPEED: Habits = (("step_temporary_bytes", 4.0), ("bucket_bytes", 2.0e9))
"""DeepSpeed's optimizer around Megatron's layers; figures of the ``deepspeed`` recipe."""

FP16_OPTIMIZER: Habits = (("gradient_bytes", 2.0), ("step_gradient_bytes", 4.0), *MEGATRON_DEEPSPEED)
"""16-bit gradients, copied to fp32 in the step (DeepSpeed ``stage_1_and_2.py``)."""

BF16_OPTIMIZER: Habits = (("bucket_gradient_fraction", 0.5), *MEGATRON_DEEPSPEED)
"""16-bit gradients of a micro-batch beside their fp32 sum, which the step reads (DeepSpeed ``bf16_optimizer.py``)."""

UNSLOTH: Habits = (("unfused_kept", 0.0), ("unfused_activation", 0.0), ("adapter_dropout", False))
"""Fused norms and activations, and adapters whose kernels take no dropout (unsloth ``kernels/fast_lora.py``)."""

HALF_LOSS: Habits = (("plain_loss_bytes", 2.0),)
"""16-bit logits that their gradient is written over (flash-attention ``CrossEntropyLoss`` with ``inplace_backward``,
LLM Foundry's default)."""

COMPILED_LOSS: Habits = (("plain_loss_bytes", 4.0),)
"""16-bit logits and their 16-bit gradient: the compiler keeps nothing in fp32 between (torchtitan compiles the loss
with the model since 2025; before, its training script switched that off)."""

PADDED: Habits = (("other_lengths_kept", 3.0),)
"""Batches as long as their longest sample. Read from ms-swift's benchmark: at length 2,048 it
reserves 36 to 47 bytes per logit where 12 are needed."""

EAGER_HEAD: Habits = (("in_place_loss_bytes", 8.0),)
"""An in-place loss kernel behind the head of a Hugging Face model: 16-bit logits, their fp32 copy that the gradient is
written over, and its 16-bit copy."""

UNPREPARED: tuple[str, ...] = ("litgpt", "torchtune", "accelerated-peft")
"""What, beside unsloth, tunes a quantised base without peft's ``prepare_model_for_kbit_training``: norms stay in 16
bits."""


def read_habits(row: Row, job: Job) -> Habits:
    """Give where the framework of a measured training run differs from its recipe.

    Args:
        row: Gives framework and release.
        job: Gives the precision.
    """
    framework = row.text("framework")
    if framework == "Megatron-DeepSpeed":
        return BF16_OPTIMIZER if job.precision == "bf16" else FP16_OPTIMIZER
    if "Composer" in framework and row.text("fused_loss") == "yes":
        return HALF_LOSS
    if framework == "torchtitan" and row.text("compiled") == "yes" and row.text("software_release") >= "2025":
        return COMPILED_LOSS
    return ()


def read_tuning_habits(row: Row, job: Job, strategy: Strategy) -> Habits:
    """Give where the framework of a measured tuning run and its plug-ins differ from the recipe.

    litgpt wraps a block with its adapters as one FSDP unit and reduces only a step's last micro-batch
    (Lightning-AI/litgpt issue 1417; ``no_backward_sync``).

    Args:
        row: Gives framework, plug-ins, and whether the length is only a maximum.
        job: Gives the method.
        strategy: Gives ranks and micro-batches.
    """
    software = f"{row.text('framework')} {row.text('plugin')}"
    has_unsloth = "unsloth" in (row.text("framework"), row.text("plugin"))
    habits: list[tuple[str, Any]] = [*UNSLOTH] if has_unsloth else []
    if "fused ops" in software:
        habits += EAGER_HEAD
    if has_unsloth or any(name in software for name in UNPREPARED):
        habits.append(("wide_quantised_residual", False))
    if "litgpt" in software and strategy.dp > 1 and strategy.grad_accum > 1 and not job.trains_all:
        habits.append(("mixed_units", True))
    if row.text("length_known") == "max_only" and row.text("packing") != "yes":
        habits += PADDED
    return tuple(habits)
