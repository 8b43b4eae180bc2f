"""What PyTorch keeps of a layer written in the test, against the operators' list of kept tensors."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import nn
from torch.nn import functional
from torch.profiler import ProfilerActivity, profile

from suanpei.job.job import Lora
from suanpei.physics.memory.activations import estimate_layer_kept_bytes
from suanpei.physics.memory.loss import estimate_loss_bytes
from tests.physics.memory.samples import RECIPES, gpt, job_of, knobs, llama, operators_of

HIDDEN, HEADS, FFN, TOKENS = 64, 4, 176, 128
KNOBS = ("tp", "sp", "cp", "micro_batch", "recompute")


def attend(query: torch.Tensor, key: torch.Tensor, value: torch.Tensor) -> torch.Tensor:
    """Causal attention by the flash kernel, tokens first."""
    parts = [part.view(1, TOKENS, HEADS, HIDDEN // HEADS).transpose(1, 2) for part in (query, key, value)]
    with torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.FLASH_ATTENTION):
        output = functional.scaled_dot_product_attention(parts[0], parts[1], parts[2], is_causal=True)
    return output.transpose(1, 2).reshape(1, TOKENS, HIDDEN)


class GptLayer(nn.Module):  # type: ignore[misc]  # torch is not followed
    """LayerNorm, attention, GELU MLP four times as wide."""

    def __init__(self) -> None:
        super().__init__()
        self.norm_1, self.norm_2 = nn.LayerNorm(HIDDEN), nn.LayerNorm(HIDDEN)
        self.qkv, self.output = nn.Linear(HIDDEN, 3 * HIDDEN), nn.Linear(HIDDEN, HIDDEN)
        self.up, self.down = nn.Linear(HIDDEN, 4 * HIDDEN), nn.Linear(4 * HIDDEN, HIDDEN)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        query, key, value = (part.contiguous() for part in self.qkv(self.norm_1(x)).chunk(3, dim=-1))
        x = x + self.output(attend(query, key, value))
        return x + self.down(functional.gelu(self.up(self.norm_2(x))))


class EagerRmsNorm(nn.Module):  # type: ignore[misc]  # torch is not followed
    """An RMSNorm in separate operations that computes in fp32, as model libraries write it."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(HIDDEN))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        wide = x.float()
        wide = wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + 1e-6)
        return self.weight * wide.to(x.dtype)


class Adapted(nn.Module):  # type: ignore[misc]  # torch is not followed
    """A frozen product with a low-rank adapter behind dropout."""

    def __init__(self, inputs: int, outputs: int, rank: int = 2) -> None:
        super().__init__()
        self.base = nn.Linear(inputs, outputs, bias=False).requires_grad_(requires_grad=False)
        self.inner, self.outer = nn.Linear(inputs, rank, bias=False), nn.Linear(rank, outputs, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        # the fused kernel of accelerators: its mask has one byte per element
        dropped, _ = torch.native_dropout(x, 0.1, True)
        return self.base(x) + self.outer(self.inner(dropped))


class LlamaLayer(nn.Module):  # type: ignore[misc]  # torch is not followed
    """RMSNorm, attention, gated MLP, all eager; products trained or frozen with adapters."""

    def __init__(self, product: Any) -> None:
        super().__init__()
        self.norm_1, self.norm_2 = EagerRmsNorm(), EagerRmsNorm()
        self.q, self.k, self.v, self.o = (product(HIDDEN, HIDDEN) for _ in range(4))
        self.gate, self.up, self.down = product(HIDDEN, FFN), product(HIDDEN, FFN), product(FFN, HIDDEN)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.norm_1(x)
        x = x + self.o(attend(self.q(y), self.k(y), self.v(y)))
        y = self.norm_2(x)
        return x + self.down(functional.silu(self.gate(y)) * self.up(y))


def kept_by_torch(layer: nn.Module) -> int:
    """Bytes of the distinct storages that the layer's forward pass saves, its parameters apart."""
    layer = layer.to(torch.bfloat16)
    own = {parameter.untyped_storage().data_ptr() for parameter in layer.parameters()}
    saved: dict[int, torch.UntypedStorage] = {}

    def pack(tensor: torch.Tensor) -> torch.Tensor:
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in own:
            saved[storage.data_ptr()] = storage
        return tensor

    x = torch.randn(1, TOKENS, HIDDEN, dtype=torch.bfloat16, requires_grad=True)
    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        output = layer(x)
    output.sum().backward()
    return sum(storage.nbytes() for storage in saved.values())


def kept_by_us(architecture: Any, recipe: str, **changes: Any) -> float:
    job = job_of(architecture, seq_len=TOKENS, **changes)
    return float(estimate_layer_kept_bytes(job, operators_of(architecture), RECIPES[recipe], **knobs(*KNOBS))[0, 0])


def test_gpt_layer_with_fused_norms() -> None:
    # what remains are the norms' means and deviations, 16 bytes a token of 2,064
    ours = kept_by_us(gpt(hidden=HIDDEN, heads=HEADS), "megatron")
    assert kept_by_torch(GptLayer()) == pytest.approx(ours, rel=0.01)
    # an eager framework keeps no more of a layer norm and of an activation without a gate
    assert kept_by_us(gpt(hidden=HIDDEN, heads=HEADS), "ddp") == ours


def test_llama_layer_with_eager_norms_and_activation() -> None:
    architecture = llama(layers=1, hidden=HIDDEN, ffn=FFN, heads=HEADS, kv_heads=HEADS)
    layer = LlamaLayer(lambda inputs, outputs: nn.Linear(inputs, outputs, bias=False))
    assert kept_by_torch(layer) == pytest.approx(kept_by_us(architecture, "ddp"), rel=0.01)


def test_llama_layer_with_adapters_on_a_frozen_base() -> None:
    architecture = llama(layers=1, hidden=HIDDEN, ffn=FFN, heads=HEADS, kv_heads=HEADS)
    layer = LlamaLayer(Adapted)
    for norm in (layer.norm_1, layer.norm_2):
        norm.requires_grad_(requires_grad=False)
    ours = kept_by_us(architecture, "ddp", method="lora", lora=Lora(rank=2))
    # torch also keeps seven inner products of rank 2 and drops the frozen norms' normalised inputs (2 x 2 h)
    expected = ours + TOKENS * (7 * 2 * 2 - 2 * 2 * HIDDEN)
    assert kept_by_torch(layer) == pytest.approx(expected, rel=0.01)


def test_plain_loss_peaks_at_12_bytes_a_logit() -> None:
    tokens, vocab = 256, 4096
    weight = torch.randn(vocab, HIDDEN, dtype=torch.bfloat16, requires_grad=True)
    x = torch.randn(tokens, HIDDEN, dtype=torch.bfloat16, requires_grad=True)
    labels = torch.randint(0, vocab, (tokens,))

    def step() -> None:
        functional.cross_entropy(functional.linear(x, weight).float(), labels).backward()

    step()
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as profiler:
        step()
    events = [event for event in profiler.profiler.kineto_results.events() if event.name() == "[memory]"]
    held = peak = 0
    for event in sorted(events, key=lambda event: event.start_ns()):
        held += event.nbytes()
        peak = max(peak, held)
    architecture = llama(layers=1, hidden=HIDDEN, ffn=FFN, heads=HEADS, kv_heads=HEADS, vocab=vocab)
    job = job_of(architecture, seq_len=tokens)
    ours = estimate_loss_bytes(
        job, operators_of(architecture), RECIPES["ddp"], **knobs("tp", "sp", "cp", "micro_batch")
    )
    norm_and_head_inputs = tokens * HIDDEN * 8
    assert peak == pytest.approx(float(ours[0]) - norm_and_head_inputs, rel=0.01)
