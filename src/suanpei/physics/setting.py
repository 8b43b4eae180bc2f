"""The setting of a step time: what decides which measurements speak for it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from suanpei.job.job import Job
    from suanpei.machine.cluster import Cluster

    FloatArray = NDArray[np.float64]

ERROR_CLASSES = ("A", "B", "C")
"""Classes of step times by how much of a run is known; see `classify_step`."""

Size = Literal["hidden", "gpus", "micro_batch_tokens"]
SIZES: tuple[Size, ...] = ("hidden", "gpus", "micro_batch_tokens")
"""Sizes of a setting that can lie beyond everything measured."""


@dataclass(frozen=True, kw_only=True)
class Setting:
    """Where a step was measured, or is asked for."""

    error_class: str = field(metadata={"json": "class"})
    """Class of the validation: ``A``, ``B`` or ``C``."""
    card: str
    """Name of the accelerator."""
    generation: str
    """Of the accelerator."""
    recipe: str
    fabric: str
    """Technology of the widest link that the job spans; blank where that one is assumed."""
    hidden: int
    """Hidden width of the model. [-]"""
    gpus: int
    """Accelerators of the job. [-]"""
    micro_batch_tokens: int
    """Tokens of one micro-batch of a data-parallel rank. [-]"""
    pretrains: bool
    """Whether the job is pretraining: tuning was timed by few sources, and its errors are not those of pretraining."""
    waiting_share: float
    """Share of the step in which the fullest stage does not compute: bare communication, bubble, fixed time. [-]"""

    @property
    def place(self) -> tuple[str, str, str, str]:
        """Class, card, recipe and fabric: what counts as measured or not."""
        return self.error_class, self.card, self.recipe, self.fabric


def describe_setting(
    job: Job,
    cluster: Cluster,
    recipe: str,
    *,
    gpus: int,
    micro_batch_seqs: int,
    step_s: float,
    compute_s: float,
    error_class: str | None = None,
) -> Setting:
    """Describe what decides how sure a predicted step time is.

    Args:
        job: What is trained. [-]
        cluster: On what. [-]
        recipe: Name of the framework's recipe. [-]
        gpus: Accelerators of the job. [-]
        micro_batch_seqs: Sequences of one micro-batch. [-]
        step_s: Predicted time of a step. [s]
        compute_s: Of it, work of the fullest stage. [s]
        error_class: Class of the validation; None classifies the job on the cluster. [-]
    """
    spans_nodes = gpus > cluster.domain_gpus
    link = cluster.scale_out if spans_nodes else cluster.scale_up
    return Setting(
        error_class=error_class or classify_step(job, cluster, gpus),
        card=cluster.accelerator.name,
        generation=cluster.accelerator.generation,
        recipe=recipe,
        fabric="" if spans_nodes and uses_assumed_fabric(cluster, gpus) else link.technology,
        hidden=job.architecture.hidden,
        gpus=gpus,
        micro_batch_tokens=micro_batch_seqs * job.seq_len,
        pretrains=job.method == "pretrain",
        waiting_share=float(share_waiting(step_s, compute_s)),
    )


def share_waiting(step_s: ArrayLike, compute_s: ArrayLike) -> FloatArray:
    """Give the share of a step in which the fullest stage does not compute.

    Args:
        step_s: Time of a step, any shape. [s]
        compute_s: Of it, work of the fullest stage with both ends of a pipeline, of which it has one. [s]

    Returns:
        ``1 - compute / step``, not below 0, broadcast shape. [-]
    """
    step, compute = np.asarray(step_s, dtype=np.float64), np.asarray(compute_s, dtype=np.float64)
    return np.asarray(np.maximum(1.0 - compute / step, 0.0))


def uses_assumed_fabric(cluster: Cluster, gpus: int) -> bool:
    """Tell whether a job spans nodes over a fabric that nobody named."""
    return cluster.fabric_is_assumed and gpus > max(cluster.gpus_per_node, cluster.domain_gpus)


def classify_step(job: Job, cluster: Cluster, gpus: int, *, is_complete: bool = True) -> str:
    """Name the class of the validation whose residuals a step time reads.

    C: experts, 8-bit or narrower products on Blackwell, accelerators of other stacks than CUDA. B: dense, but the
    fabric between nodes or other settings are assumed. A: dense and everything stated.

    Args:
        job: Gives experts and precision. [-]
        cluster: Gives accelerator and fabric. [-]
        gpus: Accelerators of the job: the fabric between nodes plays no part within one. [-]
        is_complete: Whether every setting of the strategy is stated rather than guessed. [-]

    Returns:
        ``A``, ``B`` or ``C``.
    """
    has_experts = any(kind.experts is not None for kind in job.architecture.kinds)
    narrow = job.precision in ("fp8", "mxfp8", "nvfp4") and "blackwell" in cluster.accelerator.generation
    if has_experts or narrow or cluster.accelerator.stack != "cuda":
        return "C"
    return "B" if uses_assumed_fabric(cluster, gpus) or not is_complete else "A"
