"""Layers of `transformers` and layers with fused kernels, and what autograd saves of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch
import transformers
from torch import nn
from torch.multiprocessing.reductions import StorageWeakRef
from torch.nn import functional
from torch.profiler import ProfilerActivity, profile
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.checkpoint import checkpoint

from suanpei.job.hugging_face import parse_config
from suanpei.physics.memory.activations import estimate_layer_kept_bytes
from tests.physics.memory.samples import RECIPES, job_of, knobs, llama, operators_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from suanpei.job.architecture import Architecture

    Forward = Callable[[torch.Tensor], torch.Tensor]

TOKENS = 128
HIDDEN, HEADS, KV_HEADS, DIM, FFN = 64, 4, 2, 16, 176


@dataclass(frozen=True, kw_only=True)
class LibraryLayer:
    """One layer of a model of `transformers`, as users train it."""

    architecture: Architecture
    module: Any
    constants: dict[str, Any]
    """What all layers share and no layer owns: rotary positions."""

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        output = self.module(x, **self.constants)
        return output[0] if isinstance(output, tuple) else output

    @property
    def own(self) -> list[torch.Tensor]:
        """Tensors that are no activations of this layer."""
        return [*self.module.parameters(), *self.constants.get("position_embeddings", ())]


def build_library_layer(family: str, *, attention: str = "sdpa", **config: Any) -> LibraryLayer:
    """Build a model with one layer in 16 bits."""
    chosen = {"attn_implementation": attention, "experts_implementation": "eager"}
    described = transformers.AutoConfig.for_model(family, **config, **chosen)
    model = transformers.AutoModelForCausalLM.from_config(described).to(torch.bfloat16).base_model
    constants: dict[str, Any] = {}
    if hasattr(model, "rotary_emb"):
        positions = torch.arange(TOKENS)[None]
        rotary = model.rotary_emb(torch.zeros(1, dtype=torch.bfloat16), positions)
        constants = {"position_embeddings": rotary, "position_ids": positions, "attention_mask": None}
    return LibraryLayer(
        architecture=parse_config({"model_type": family, **config}, source="config.json", name=family),
        module=model.layers[0] if hasattr(model, "layers") else model.h[0],
        constants=constants,
    )


def fused(kernel: Callable[..., torch.Tensor], *inputs: torch.Tensor) -> torch.Tensor:
    """Keep what a fused kernel keeps, its inputs: as recomputing its separate operations does."""
    return checkpoint(kernel, *inputs, use_reentrant=False, preserve_rng_state=False)


def attend(query: torch.Tensor, key: torch.Tensor, value: torch.Tensor) -> torch.Tensor:
    """Causal flash attention over (batch, tokens, heads, width), each key head for as many query heads as divide."""
    with torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.FLASH_ATTENTION):
        output = functional.scaled_dot_product_attention(
            query.transpose(1, 2), key.transpose(1, 2), value.transpose(1, 2), is_causal=True, enable_gqa=True
        )
    return output.transpose(1, 2).flatten(2)


def multiply_gated(gate_and_up: torch.Tensor, weights: torch.Tensor | None = None) -> torch.Tensor:
    """SwiGLU of two halves of one product's output, its rows weighted where told."""
    gate, up = gate_and_up.chunk(2, dim=-1)
    product = functional.silu(gate) * up
    return product if weights is None else product * weights


def linear(inputs: int, outputs: int) -> nn.Linear:
    return nn.Linear(inputs, outputs, bias=False)


class FusedNorm(nn.Module):  # type: ignore[misc]  # torch is not followed
    """An RMSNorm in one kernel, which the CPU does not have."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return fused(lambda y, weight: functional.rms_norm(y, weight.shape, weight), x, self.weight)


class GatedMlp(nn.Module):  # type: ignore[misc]  # torch is not followed
    """SwiGLU: one product and one kernel, or the eager operations."""

    def __init__(self, ffn: int, *, eager: bool = False) -> None:
        super().__init__()
        self.up, self.down, self.eager = linear(HIDDEN, 2 * ffn), linear(ffn, HIDDEN), eager

    def forward(self, x: torch.Tensor, weights: torch.Tensor | None = None) -> torch.Tensor:
        kept = [self.up(x)] if weights is None else [self.up(x), weights]
        return self.down(multiply_gated(*kept) if self.eager else fused(multiply_gated, *kept))


class GroupedAttention(nn.Module):  # type: ignore[misc]  # torch is not followed
    """Grouped-query flash attention; its core recomputed where told."""

    def __init__(self, core: Any = attend) -> None:
        super().__init__()
        self.q, self.k, self.v = (linear(HIDDEN, heads * DIM) for heads in (HEADS, KV_HEADS, KV_HEADS))
        self.o, self.core = linear(HIDDEN, HIDDEN), core

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.o(self.core(*(product(x).unflatten(-1, (-1, DIM)) for product in (self.q, self.k, self.v))))


class Layer(nn.Module):  # type: ignore[misc]  # torch is not followed
    """Norm and attention, norm and MLP."""

    def __init__(self, attention: nn.Module, mlp: nn.Module, norm: Any = FusedNorm) -> None:
        super().__init__()
        self.norm_1, self.norm_2, self.attention, self.mlp = norm(HIDDEN), norm(HIDDEN), attention, mlp

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x + self.attention(self.norm_1(x))
        return x + self.mlp(self.norm_2(x))


class Storages:
    """Distinct storages; holding them keeps their addresses from being given again."""

    def __init__(self, tensors: Iterable[torch.Tensor] = ()) -> None:
        self.by_address: dict[int, torch.UntypedStorage] = {}
        for tensor in tensors:
            self.add(tensor)

    def add(self, tensor: torch.Tensor) -> None:
        """Add a tensor's storage, once."""
        storage = tensor.untyped_storage()
        self.by_address.setdefault(storage._cdata, storage)

    def bytes_beside(self, others: Storages) -> int:
        """Bytes of the storages that are not among others."""
        return sum(storage.nbytes() for address, storage in self.by_address.items() if address not in others.by_address)


def saved_bytes(layer: Forward, own: Iterable[torch.Tensor], x: torch.Tensor) -> int:
    """Bytes that autograd saves of a forward pass, parameters and constants left out."""
    saved = Storages()

    def pack(tensor: torch.Tensor) -> torch.Tensor:
        saved.add(tensor)
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        output = layer(x)
    output.sum().backward()
    return saved.bytes_beside(Storages(own))


class Allocations(TorchDispatchMode):  # type: ignore[misc]  # torch is not followed
    """Every storage that operations return, held weakly."""

    def __init__(self) -> None:
        super().__init__()
        self.returned: dict[int, tuple[StorageWeakRef, int]] = {}

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        for tensor in torch.utils._pytree.tree_leaves(result):
            if isinstance(tensor, torch.Tensor):
                storage = tensor.untyped_storage()
                self.returned[storage._cdata] = StorageWeakRef(storage), storage.nbytes()
        return result


def alive_bytes(layer: Forward, own: Iterable[torch.Tensor], x: torch.Tensor) -> int:
    """Bytes that a forward pass leaves alive whoever holds them: its input too, its output, parameters, constants not.

    Policies of selective recomputation cache what they keep themselves, where no hook of autograd sees it.
    """
    allocations, others = Allocations(), Storages([*own, x])
    with allocations:
        output = layer(x)
    others.add(output)
    held = x.untyped_storage().nbytes()
    for address, (reference, size) in allocations.returned.items():
        if address not in others.by_address and not reference.expired():
            held += size
    return held


def peak_bytes(step: Callable[[], object]) -> int:
    """The most that a second call of a step holds beyond what was there before it."""
    step()
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as profiler:
        step()
    events = [event for event in profiler.profiler.kineto_results.events() if event.name() == "[memory]"]
    held = peak = 0
    for event in sorted(events, key=lambda event: event.start_ns()):
        held += event.nbytes()
        peak = max(peak, held)
    return peak


def grouped_architecture(*, layers: int = 1, vocab: int = 256) -> Architecture:
    """The architecture of layers with `GroupedAttention` and `GatedMlp`."""
    return llama(layers=layers, vocab=vocab, hidden=HIDDEN, ffn=FFN, heads=HEADS, kv_heads=KV_HEADS)


def estimated_bytes(architecture: Architecture, recipe: str, *, recompute: int = 0, **changes: Any) -> float:
    """What we estimate for one layer and one sequence of `TOKENS`."""
    job = job_of(architecture, seq_len=TOKENS, **changes)
    knob_values = knobs("tp", "sp", "cp", "micro_batch", "recompute", recompute=recompute)
    kept = estimate_layer_kept_bytes(job, operators_of(architecture), RECIPES[recipe], **knob_values)
    return float(kept[-1, 0])
