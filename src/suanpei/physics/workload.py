"""A job as physics sees it: its operators and the FLOPs that count as model FLOPs."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from suanpei.job.operators import build_operators
from suanpei.physics.compute import count_attention_flops
from suanpei.physics.memory.parameters import hold_trained

if TYPE_CHECKING:
    from suanpei.job.job import Job
    from suanpei.job.operators import BlockOperators, MatrixProduct, ModelOperators


@dataclass(frozen=True, kw_only=True)
class Workload:
    """A job with its operators."""

    job: Job
    operators: ModelOperators

    @cached_property
    def forward_product_flops_per_token(self) -> float:
        """Forward FLOPs of all products that one token passes, output layer included. [FLOP]"""
        total = 0.0
        for kind in self.operators.order:
            total += sum(product.flops_per_token for product in self.operators.kinds[kind].products)
        return total + (self.operators.head.flops_per_token if self.operators.head is not None else 0.0)

    def forward_attention_flops_per_token(self, *, full: bool) -> float:
        """Forward FLOPs of all attention cores per token, over the unmasked pairs or all of them. [FLOP]"""
        return (
            sum(
                count_attention_flops(self.operators.kinds[kind].attention, self.job.seq_len, full=full)
                for kind in self.operators.order
            )
            / self.job.seq_len
        )

    @cached_property
    def adapter_flops_per_token(self) -> float:
        """Forward FLOPs of the adapters per token. [FLOP]"""
        if self.job.trains_all:
            return 0.0
        adapters = hold_trained(self.job, self.operators)
        shares = np.array([_active_share(kind) for kind in self.operators.kinds])
        each = 2.0 * (adapters.tensor + adapters.whole + adapters.expert * shares)
        return float(each[self.operators.order].sum())

    def model_flops_per_token(self, *, full_attention: bool = False) -> float:
        """Count the FLOPs that a training step must do per token: forward and backward, no recomputation.

        Full training: three times the forward pass (one product forward, two backward). Frozen base: its products
        twice (no gradient of the weights), attention and adapters three times.

        Args:
            full_attention: Count masked pairs too, as many papers do. [-]

        Returns:
            FLOPs per token. [FLOP]
        """
        weights_ratio = 3.0 if self.job.trains_all else 2.0
        attention = self.forward_attention_flops_per_token(full=full_attention)
        return (
            weights_ratio * self.forward_product_flops_per_token + 3.0 * attention + 3.0 * self.adapter_flops_per_token
        )

    @property
    def recompute_flops_per_token(self) -> float:
        """FLOPs per token that full recomputation repeats: the layers' forward pass, not the output layer's. [FLOP]"""
        head = self.operators.head
        layers = self.forward_product_flops_per_token - (head.flops_per_token if head is not None else 0.0)
        return layers + self.forward_attention_flops_per_token(full=False) + self.adapter_flops_per_token


def build_workload(job: Job) -> Workload:
    """Turn a job into operators."""
    return Workload(job=job, operators=build_operators(job.architecture))


def count_targets(product: MatrixProduct, targets: tuple[str, ...]) -> int:
    """Count the adapters that one (possibly fused) product carries."""
    if product.target is None:
        return 0
    return sum(1 for part in product.target.split("+") if part in targets)


def _active_share(kind: BlockOperators) -> float:
    """Share of the routed experts that one token passes."""
    return next((product.active / product.experts for product in kind.products if product.experts > 1), 0.0)
