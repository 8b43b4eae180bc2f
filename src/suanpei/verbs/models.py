"""The verb ``models``: what is known of a model, or a list of all."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from suanpei.job.bundled import load_bundled, load_model
from suanpei.job.job import Job, Lora
from suanpei.job.names import normalise
from suanpei.job.operators import build_operators
from suanpei.job.storage import kv_cache_bytes_per_token, stored_weight_bytes
from suanpei.job.vision import find_vision_model, load_vision_models
from suanpei.machine.catalogue import load_catalogue
from suanpei.physics.memory.parameters import hold_frozen_bytes, hold_trained
from suanpei.physics.workload import build_workload
from suanpei.verbs.envelope import VerbResult

if TYPE_CHECKING:
    from pathlib import Path

    from suanpei.job.architecture import Architecture
    from suanpei.job.vision import VisionModel
    from suanpei.messages import Message
    from suanpei.physics.memory.parameters import Holding

LONGEST_FOR_FLOPS = 8_192
"""Sequence length up to which the attention of `flops_per_token` is counted. [tokens]"""
MIXED_STATE_BYTES = 16.0
"""Bytes per trained parameter: 16-bit weight and gradient, fp32 master copy and two Adam moments (Rajbhandari et al.,
arXiv 1910.02054, section 3.1). [B]"""
PURE_STATE_BYTES = 8.0
"""Bytes per trained parameter with everything in 16 bits: weight, gradient and two moments. [B]"""


@dataclass(frozen=True, kw_only=True)
class ExpertFacts:
    """The experts of a mixture."""

    count: int
    """Routed experts of a layer."""
    active: int
    """Routed experts that each token passes."""
    ffn: int
    """Inner width of one."""
    shared_ffn: int
    """Summed inner width of the shared ones; 0 for none."""
    layers: int
    """Layers that hold experts."""
    dense_layers: int
    """Layers that hold none."""


@dataclass(frozen=True, kw_only=True)
class PartFacts:
    """A part of a multimodal model beside the language model."""

    name: str
    parameters: int | None
    """None where it is of a kind that is not counted."""


@dataclass(frozen=True, kw_only=True)
class QuantizationFacts:
    """How the checkpoint's weights are stored."""

    method: str
    bits: float
    group_size: int | None


@dataclass(frozen=True, kw_only=True)
class StateBytes:
    """Weights, gradients and optimizer states of the whole job, not divided over cards, activations apart."""

    full_mixed: float
    """All parameters trained in mixed precision with AdamW: 16 bytes each. [B]"""
    full_pure: float
    """All parameters trained with everything in 16 bits: 8 bytes each. [B]"""
    lora: float
    """A 16-bit base and adapters of rank 16 on all products. [B]"""
    qlora: float
    """An NF4 base with double quantisation and the same adapters. [B]"""


@dataclass(frozen=True, kw_only=True)
class ModelFacts:
    """What follows from a model's description."""

    name: str
    family: str
    total_parameters: int
    active_parameters: int
    """Parameters that one token passes: all but the experts not chosen. [-]"""
    embedding_parameters: int
    """Of the input embedding. [-]"""
    layers: int
    hidden: int
    ffn: int | None
    """Inner width of the dense MLP; None where every layer holds experts."""
    heads: int
    kv_heads: int
    head_dim: int
    vocab: int
    tied_embeddings: bool
    max_context: int | None
    """Longest sequence; None is unknown. [tokens]"""
    sliding_window: int | None
    """Window of the layers that slide; None where none does. [tokens]"""
    is_latent: bool
    """Whether keys and values are compressed (MLA)."""
    experts: ExpertFacts | None
    flops_per_token: float
    """Model FLOPs of training one token, forward and backward, unmasked attention only. [FLOP]"""
    flops_seq_len: int
    """Sequence length that `flops_per_token` is of. [tokens]"""
    state_bytes: StateBytes
    weight_bytes: float
    """The weights as the checkpoint stores them. [B]"""
    kv_cache_bytes_per_token: float
    """Keys and values of one token in 16 bits, all layers. [B]"""
    quantization: QuantizationFacts | None
    full_tuning_possible: bool
    """False where the weights are packed in few bits, on which only adapters can be trained."""
    companions: tuple[PartFacts, ...]
    """Parts of a multimodal model that are not planned."""
    parameters_with_companions: int | None
    """Parameters of the whole multimodal model; None where a part is not counted."""
    source: str
    notes: tuple[Message, ...]


@dataclass(frozen=True, kw_only=True)
class VisionFacts:
    """What is known of a vision or diffusion model."""

    name: str
    family: str
    parameters: float
    input_pixels: int
    """Side of the square input. [pixels]"""
    forward_flops_per_image: float | None
    """None is unknown. [FLOP]"""
    train_flops_per_image: float | None
    """Forward and backward; None is unknown. [FLOP]"""
    activation_bytes_per_image: float | None
    """Estimate of what one image keeps for the backward pass in 16 bits; None is unknown. [B]"""
    state_bytes: float
    """Weights, gradients and optimizer states in mixed precision with AdamW. [B]"""
    source: str
    note: str


@dataclass(frozen=True, kw_only=True)
class ModelsResult(VerbResult):
    """One model, or all of them."""

    model: ModelFacts | None
    """The language model that was asked for."""
    vision_model: VisionFacts | None
    """The vision model that was asked for."""
    models: tuple[ModelFacts, ...]
    """All bundled language models, where none was asked for."""
    vision_models: tuple[VisionFacts, ...]
    """All bundled vision models, where none was asked for."""


def describe_models(model: str | None = None, *, catalog: Path | None = None) -> ModelsResult:
    """Describe a model, or list all that are bundled.

    Args:
        model: A bundled name, a path to a `config.json`, its folder or `.safetensors`, a bare size, or the name of a
            vision model; None lists all. [-]
        catalog: Folder with the user's own tables over the bundled ones. [-]

    Raises:
        InputError: the name is ambiguous or unknown, or the file is not understood.
    """
    catalogue = load_catalogue(catalog)
    rows = catalogue.table("models")
    vision_rows = tuple(row.cells for row in catalogue.table("models_vision"))
    found: ModelFacts | None = None
    vision: VisionFacts | None = None
    everything: tuple[ModelFacts, ...] = ()
    all_vision: tuple[VisionFacts, ...] = ()
    if model is None:
        everything = tuple(describe_architecture(one) for one in load_bundled(rows))
        all_vision = tuple(_describe_vision(one) for one in load_vision_models(vision_rows))
    elif normalise(model) in {normalise(row["name"]) for row in vision_rows}:
        vision = _describe_vision(find_vision_model(vision_rows, model))
    else:
        found = describe_architecture(load_model(rows, model))
    return ModelsResult(
        catalog_date=catalogue.catalog_date,
        calibration_id=None,
        request={"model": model, "catalog": catalog},
        assumptions=found.notes if found is not None else (),
        model=found,
        vision_model=vision,
        models=everything,
        vision_models=all_vision,
    )


def describe_architecture(architecture: Architecture) -> ModelFacts:
    """Give all that follows from an architecture.

    Args:
        architecture: The model. [-]
    """
    first = architecture.layers[0]
    sparse = [block.experts for block in architecture.layers if block.experts is not None]
    dense = next((block.mlp for block in architecture.layers if block.mlp is not None), None)
    stored = architecture.quantization
    seq_len = min(architecture.max_context or LONGEST_FOR_FLOPS, LONGEST_FOR_FLOPS)
    full = Job(architecture=architecture, method="pretrain", seq_len=seq_len, global_batch_seqs=1)
    experts = None
    if sparse:
        experts = ExpertFacts(
            count=sparse[0].count,
            active=sparse[0].active,
            ffn=sparse[0].ffn,
            shared_ffn=sparse[0].shared_ffn,
            layers=len(sparse),
            dense_layers=architecture.layer_count - len(sparse),
        )
    attention = next(block.attention for block in reversed(architecture.layers))
    return ModelFacts(
        name=architecture.name,
        family=architecture.family,
        total_parameters=architecture.total_parameters,
        active_parameters=architecture.active_parameters,
        embedding_parameters=architecture.embedding_parameters,
        layers=architecture.layer_count,
        hidden=architecture.hidden,
        ffn=dense.ffn if dense is not None else None,
        heads=first.attention.heads,
        kv_heads=attention.kv_heads,
        head_dim=first.attention.head_dim,
        vocab=architecture.vocab,
        tied_embeddings=architecture.tied_embeddings,
        max_context=architecture.max_context,
        sliding_window=next((block.attention.window for block in architecture.layers if block.attention.window), None),
        is_latent=first.attention.is_latent,
        experts=experts,
        flops_per_token=build_workload(full).model_flops_per_token(),
        flops_seq_len=seq_len,
        state_bytes=_count_states(full),
        weight_bytes=stored_weight_bytes(architecture),
        kv_cache_bytes_per_token=kv_cache_bytes_per_token(architecture),
        quantization=None
        if stored is None
        else QuantizationFacts(method=stored.method, bits=stored.bits, group_size=stored.group_size),
        full_tuning_possible=stored is None or stored.bits >= 8,
        companions=tuple(PartFacts(name=part.name, parameters=part.parameters) for part in architecture.companions),
        parameters_with_companions=architecture.parameters_with_companions,
        source=architecture.source,
        notes=architecture.notes,
    )


def _count_states(full: Job) -> StateBytes:
    """Count what lives between two steps, by method."""
    parameters = full.architecture.total_parameters
    bases = {"lora": None, "qlora": "nf4-dq"}
    tuned: dict[str, float] = {}
    operators = build_operators(full.architecture)
    for method, storage in bases.items():
        job = Job(
            architecture=full.architecture,
            method=method,  # type: ignore[arg-type]  # the literals above
            seq_len=full.seq_len,
            global_batch_seqs=1,
            lora=Lora(),
            base_storage=storage,  # type: ignore[arg-type]
        )
        layers = np.bincount(operators.order, minlength=len(operators.kinds))
        base = _sum_holding(hold_frozen_bytes(job, operators), layers)
        tuned[method] = base + MIXED_STATE_BYTES * _sum_holding(hold_trained(job, operators), layers)
    return StateBytes(
        full_mixed=MIXED_STATE_BYTES * parameters,
        full_pure=PURE_STATE_BYTES * parameters,
        lora=tuned["lora"],
        qlora=tuned["qlora"],
    )


def _sum_holding(holding: Holding, layers: np.ndarray) -> float:
    """Sum an amount over all layers and the ends of the model, on one card."""
    per_layer = holding.tensor + holding.whole + holding.expert
    return float(layers @ per_layer) + holding.first + holding.last + holding.final


def _describe_vision(model: VisionModel) -> VisionFacts:
    return VisionFacts(
        name=model.name,
        family=model.family,
        parameters=model.parameters,
        input_pixels=model.input_pixels,
        forward_flops_per_image=model.forward_flops_per_image,
        train_flops_per_image=model.train_flops_per_image,
        activation_bytes_per_image=model.activation_bytes_per_image,
        state_bytes=MIXED_STATE_BYTES * model.parameters,
        source=model.source,
        note=model.note,
    )
