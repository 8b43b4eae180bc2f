"""What one accelerator holds of the model's parameters: trained, frozen, quantised, adapters.

Everything is first an amount by how tensor and expert parallelism divide it (`Holding`, plain numbers per kind of
layer), then spread over a strategy by `spread_holding`, the one place that divides.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from suanpei.errors import InputError
from suanpei.messages import Message

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from suanpei.job.job import BaseStorage, Job, Lora
    from suanpei.job.operators import AttentionCore, BlockOperators, MatrixProduct, ModelOperators
    from suanpei.physics.memory.stages import StageLayers

    FloatArray = NDArray[np.float64]

BASE_STORAGE_BYTES: dict[BaseStorage, float] = {
    "nf4": 0.5 + 4 / 64,
    "nf4-dq": 0.5 + 1 / 64 + 4 / (64 * 256),
    "gptq-int4": 0.5 + 2 / 128 + 0.5 / 128,
    "int8": 1.0,
}
"""Bytes per parameter of a quantised weight with its scales. NF4: 4 bits and one fp32 scale per 64 elements; double
quantisation: an 8-bit scale per 64 and an fp32 one per 256 of those (Dettmers et al., arXiv 2305.14314, section 3).
GPTQ: an fp16 scale and a 4-bit zero per 128. int8: one scale per row, negligible."""

_TENSOR, _WHOLE, _EXPERT = range(3)
"""Columns of a layer's amounts: divided by tp, on every tensor-parallel rank, divided as experts."""

HALF_BYTES = 2.0
FULL_BYTES = 4.0


@dataclass(frozen=True, kw_only=True)
class Holding:
    """An amount of the whole model, by how it is divided; parameters or bytes."""

    tensor: FloatArray
    """Of one layer of each kind, divided by tp, shape (kinds,)."""
    whole: FloatArray
    """Of one layer of each kind, on every tensor-parallel rank, shape (kinds,)."""
    expert: FloatArray
    """Of one layer of each kind, divided by ep · etp, shape (kinds,)."""
    first: float
    """Of the embedding, on the first stage, divided by tp."""
    last: float
    """Of the head, on the last stage, divided by tp."""
    copied: float
    """Of the tied embedding: once more on the last of several stages, divided by tp."""
    final: float
    """Of the final norm and the like, whole on the last stage."""


def spread_holding(
    holding: Holding, stage_layers: StageLayers, *, tp: ArrayLike, ep: ArrayLike, etp: ArrayLike
) -> tuple[FloatArray, FloatArray]:
    """Give one rank's amounts by stage class: dense, and of routed experts.

    Args:
        holding: The model's amounts. [-]
        stage_layers: Layers by stage class. [-]
        tp: Tensor-parallel degree. [-]
        ep: Expert-parallel degree. [-]
        etp: Tensor-parallel degree inside an expert. [-]

    Returns:
        Two arrays of shape (3, *broadcast): dense and expert amounts, in the holding's unit.
    """
    counts = stage_layers.counts
    tensor = np.einsum("sk...,k->s...", counts, holding.tensor)
    whole = np.einsum("sk...,k->s...", counts, holding.whole)
    expert = np.einsum("sk...,k->s...", counts, holding.expert)
    # a tied head is a copy only where the last stage does not hold the embedding itself
    tied_copy = np.where(stage_layers.is_last & ~stage_layers.is_first, holding.copied, 0.0)
    ends = stage_layers.is_first * holding.first + stage_layers.is_last * holding.last + tied_copy
    dense = (tensor + ends) / np.asarray(tp) + whole + stage_layers.is_last * holding.final
    return dense, expert / (np.asarray(ep) * np.asarray(etp))


def sum_spread(
    holding: Holding, stage_layers: StageLayers, *, tp: ArrayLike, ep: ArrayLike, etp: ArrayLike
) -> FloatArray:
    """Give one rank's amounts by stage class, dense and experts together, shape (3, *broadcast)."""
    dense, expert = spread_holding(holding, stage_layers, tp=tp, ep=ep, etp=etp)
    return np.asarray(dense + expert)


def hold_parameters(operators: ModelOperators) -> Holding:
    """Give all parameters of the model by how they are divided. [-]"""
    return _hold(
        operators,
        [
            (float(kind.tensor_parameters), float(kind.whole_parameters), float(kind.expert_parameters))
            for kind in operators.kinds
        ],
        ends_scale=1.0,
    )


def hold_trained(job: Job, operators: ModelOperators) -> Holding:
    """Give the trained parameters: all of them, or the adapters. [-]

    Raises:
        InputError: An adapter method without a description of the adapters.
    """
    if job.trains_all:
        return hold_parameters(operators)
    lora = _require_lora(job)
    return _hold(operators, [_count_adapters(kind, lora) for kind in operators.kinds], ends_scale=0.0)


def hold_frozen_bytes(job: Job, operators: ModelOperators) -> Holding:
    """Give the bytes of the frozen base: nothing in full training, 16-bit or quantised weights under adapters. [B]

    Products that a quantised checkpoint stores in few bits count in `BASE_STORAGE_BYTES`; embedding, head, norms,
    routers and biases stay in 16 bits (32 with precision fp32).
    """
    if job.trains_all:
        return _hold(operators, [(0.0, 0.0, 0.0)] * len(operators.kinds), ends_scale=0.0)
    plain_bytes = FULL_BYTES if job.precision == "fp32" else HALF_BYTES
    quantised_bytes = plain_bytes if job.base_storage is None else BASE_STORAGE_BYTES[job.base_storage]
    amounts = []
    for kind in operators.kinds:
        saved = [(plain_bytes - quantised_bytes) * count for count in count_quantisable(kind)]
        plain = (kind.tensor_parameters, kind.whole_parameters, kind.expert_parameters)
        amounts.append(tuple(plain_bytes * whole - less for whole, less in zip(plain, saved, strict=True)))
    return _hold(operators, amounts, ends_scale=plain_bytes)


def hold_low_precision_copies(operators: ModelOperators, bytes_per_parameter: float) -> Holding:
    """Give the bytes of fp8 or fp4 copies of the products' weights kept beside the 16-bit ones. [B]"""
    return _hold(
        operators,
        [tuple(bytes_per_parameter * count for count in count_quantisable(kind)) for kind in operators.kinds],
        ends_scale=0.0,
    )


def hold_matrices(operators: ModelOperators) -> Holding:
    """Give the parameters of the layers' matrices, which Muon updates (not embedding, head, norms). [-]"""
    return _hold(operators, [_sum_products(kind.products) for kind in operators.kinds], ends_scale=0.0)


def hold_factors(job: Job, operators: ModelOperators) -> Holding:
    """Give the elements of Adafactor's second moment: rows + columns of each trained matrix, vectors whole. [-]

    Source: Shazeer and Stern, arXiv 1804.04235, algorithms 4 and 5 (vectors), no first moment.
    """
    lora = None if job.trains_all else _require_lora(job)

    def factors(product: MatrixProduct, attention: AttentionCore) -> float:
        copies = product.experts
        if lora is None:
            return float((product.k + product.n) * copies)
        adapters = list_adapter_widths(product, attention, lora)
        return float(sum(product.k + 2 * lora.rank + width for width in adapters) * copies)

    amounts = []
    for kind in operators.kinds:
        by_cut = [0.0, 0.0, 0.0] if lora is not None else _count_vectors(kind)
        for product in kind.products:
            by_cut[_divided_as(product)] += factors(product, kind.attention)
        amounts.append(tuple(by_cut))
    ends = 0.0 if lora is not None else (operators.vocab + operators.hidden) / max(operators.embedding_parameters, 1)
    holding = _hold(operators, amounts, ends_scale=ends)
    return holding if lora is not None else replace(holding, final=operators.final_parameters)


def _count_vectors(kind: BlockOperators) -> list[float]:
    """Count one layer's parameters outside matrices (norms, biases): divided by tp, whole, experts. [-]"""
    parameters = (kind.tensor_parameters, kind.whole_parameters, kind.expert_parameters)
    return [float(every - matrix) for every, matrix in zip(parameters, _sum_products(kind.products), strict=True)]


def count_quantisable(kind: BlockOperators) -> tuple[float, float, float]:
    """Count one layer's parameters in quantisable products: divided by tp, whole, experts. [-]"""
    return _sum_products([product for product in kind.products if product.quantizable])


def _require_lora(job: Job) -> Lora:
    if job.lora is None:
        raise InputError(Message("method {method} needs adapters: give their rank and targets", method=job.method))
    return job.lora


def _divided_as(product: MatrixProduct) -> int:
    if product.name.startswith("expert_"):
        return _EXPERT
    return _WHOLE if product.cut == "none" else _TENSOR


def _sum_products(products: Sequence[MatrixProduct]) -> tuple[float, float, float]:
    totals = [0.0, 0.0, 0.0]
    for product in products:
        totals[_divided_as(product)] += product.parameters
    return (totals[0], totals[1], totals[2])


def list_adapter_widths(product: MatrixProduct, attention: AttentionCore, lora: Lora) -> list[float]:
    """Give the output widths of the adapters on one product: one per targeted part of a joined product. [-]"""
    if product.target is None:
        return []
    chosen = [part in lora.targets for part in product.target.split("+")]
    if product.target == "q+k+v":
        key, value = attention.kv_heads * attention.head_dim, attention.kv_heads * attention.value_dim
        widths = (attention.heads * attention.head_dim, key, value)
        return [float(width) for width, taken in zip(widths, chosen, strict=True) if taken]
    if product.target == "gate+up":
        return [product.n / 2 for taken in chosen if taken]
    # one matrix that answers to several names (MLA's compressed keys and values) has one adapter
    return [float(product.n)] if any(chosen) else []


def _count_adapters(kind: BlockOperators, lora: Lora) -> tuple[float, float, float]:
    """Count one layer's adapter parameters: divided by tp, whole, experts.

    rank · (k + n) per adapted matrix; tensor parallelism divides the side that the matrix is cut along.
    """
    tensor = whole = expert = 0.0
    for product in kind.products:
        for width in list_adapter_widths(product, kind.attention, lora):
            inner, outer = lora.rank * product.k, lora.rank * width
            if _divided_as(product) == _EXPERT:
                expert += (inner + outer) * product.experts
            elif product.cut == "column":
                whole, tensor = whole + inner, tensor + outer
            elif product.cut == "row":
                whole, tensor = whole + outer, tensor + inner
            else:
                whole += inner + outer
    return (tensor, whole, expert)


def _hold(operators: ModelOperators, layers: Sequence[Sequence[float]], *, ends_scale: float) -> Holding:
    columns = np.asarray(layers, dtype=np.float64).reshape(len(operators.kinds), 3)
    return Holding(
        tensor=columns[:, 0],
        whole=columns[:, 1],
        expert=columns[:, 2],
        first=operators.embedding_parameters * ends_scale,
        last=operators.head_parameters * ends_scale,
        copied=(operators.vocab * operators.embedding_width * ends_scale)
        if operators.tied and operators.has_head
        else 0.0,
        final=operators.final_parameters * ends_scale,
    )
