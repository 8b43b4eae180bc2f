"""What autograd really saves of one layer, against the operators' list of kept tensors, to the last byte.

Eager habits (deepspeed, ddp) are checked on layers of `transformers`; fused ones (megatron, fsdp) on layers written
here, where a fused kernel keeps its inputs. The statistics of norms, one or two numbers a token, and indices are left
out of the list; they and all other differences stand in each test, in bytes per token.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest
import torch
from torch import nn
from torch.nn import functional
from torch.utils.checkpoint import CheckpointPolicy, checkpoint, create_selective_checkpoint_contexts

from suanpei.job.architecture import Architecture, Attention, Block, Experts
from suanpei.job.job import Lora
from suanpei.physics.memory.loss import estimate_loss_bytes
from suanpei.physics.strategy import Recompute
from tests.physics.memory.samples import RECIPES, gpt, job_of, knobs, llama, operators_of
from tests.physics.memory.torch_layers import (
    DIM,
    FFN,
    HEADS,
    HIDDEN,
    KV_HEADS,
    TOKENS,
    FusedNorm,
    GatedMlp,
    GroupedAttention,
    Layer,
    alive_bytes,
    attend,
    build_library_layer,
    estimated_bytes,
    grouped_architecture,
    linear,
    peak_bytes,
    saved_bytes,
)

RANK = 2
SIZES: dict[str, Any] = {"hidden_size": HIDDEN, "intermediate_size": FFN, "num_hidden_layers": 1, "vocab_size": 256}
GROUPED = SIZES | {"num_attention_heads": HEADS, "num_key_value_heads": KV_HEADS, "head_dim": DIM}
LATENT = SIZES | {
    "num_attention_heads": HEADS, "num_key_value_heads": HEADS, "q_lora_rank": 24, "kv_lora_rank": 20,
    "qk_nope_head_dim": 16, "qk_rope_head_dim": 16, "v_head_dim": 32, "first_k_dense_replace": 1,
    "n_routed_experts": 4, "num_experts_per_tok": 2, "n_group": 1, "topk_group": 1, "moe_intermediate_size": 40,
}  # fmt: skip

RMS_STATISTICS = 2 * 4
"""Two norms, a reciprocal root mean square each."""
LAYER_NORM_STATISTICS = 2 * 2 * 2
"""Two norms, mean and deviation each, in 16 bits on the CPU."""


class LatentAttention(nn.Module):  # type: ignore[misc]  # torch is not followed
    """MLA with compressed queries, keys and values; values copied out of the joined product, as megatron does."""

    def __init__(self) -> None:
        super().__init__()
        self.query_compress, self.query_norm = linear(HIDDEN, 24), FusedNorm(24)
        self.query_expand = linear(24, HEADS * 32)
        self.compress, self.norm, self.expand = linear(HIDDEN, 20 + 16), FusedNorm(20), linear(20, HEADS * (16 + 32))
        self.o = linear(HEADS * 32, HIDDEN)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        query = self.query_expand(self.query_norm(self.query_compress(x))).unflatten(-1, (HEADS, 32))
        latent, rotary = self.compress(x).split((20, 16), dim=-1)
        key, value = self.expand(self.norm(latent)).unflatten(-1, (HEADS, 48)).split((16, 32), dim=-1)
        key = torch.cat((key, rotary.unsqueeze(2).expand(-1, -1, HEADS, -1)), dim=-1)
        return self.o(attend(query, key, value.contiguous()))


class RoutedMlp(nn.Module):  # type: ignore[misc]  # torch is not followed
    """Experts whose rows are sorted, weighted inside the activation's kernel and added up, beside a shared expert."""

    def __init__(self, experts: Experts) -> None:
        super().__init__()
        self.active, self.router = experts.active, linear(HIDDEN, experts.count)
        self.experts = nn.ModuleList(GatedMlp(experts.ffn) for _ in range(experts.count))
        self.shared = GatedMlp(experts.shared_ffn)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        rows = x.flatten(0, 1)
        weights, chosen = torch.softmax(self.router(rows).float(), dim=-1).topk(self.active)
        order = chosen.flatten().argsort(stable=True)
        lengths = chosen.flatten().bincount(minlength=len(self.experts)).tolist()
        weights = weights.flatten()[order].unsqueeze(-1).to(x.dtype)
        parts = zip(self.experts, rows[order // self.active].split(lengths), weights.split(lengths), strict=True)
        routed = torch.cat([expert(part, weight) for expert, part, weight in parts])
        combined = routed[order.argsort()].unflatten(0, (-1, self.active)).sum(1)
        return self.shared(x) + combined.view_as(x)


class PlainMlp(nn.Module):  # type: ignore[misc]  # torch is not followed
    """Two products with biases and a GELU."""

    def __init__(self) -> None:
        super().__init__()
        self.up, self.down = nn.Linear(HIDDEN, 4 * HIDDEN), nn.Linear(4 * HIDDEN, HIDDEN)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.down(functional.gelu(self.up(x)))


class JoinedAttention(nn.Module):  # type: ignore[misc]  # torch is not followed
    """Multi-head attention whose queries, keys and values one product makes."""

    def __init__(self) -> None:
        super().__init__()
        self.qkv, self.o = nn.Linear(HIDDEN, 3 * HIDDEN), nn.Linear(HIDDEN, HIDDEN)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.o(attend(*(part.unflatten(-1, (HEADS, DIM)) for part in self.qkv(x).chunk(3, dim=-1))))


class Adapted(nn.Module):  # type: ignore[misc]  # torch is not followed
    """A frozen product with a low-rank adapter behind dropout."""

    def __init__(self, base: Any) -> None:
        super().__init__()
        self.base = base.requires_grad_(requires_grad=False)
        self.inner, self.outer = linear(base.in_features, RANK), linear(RANK, base.out_features)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        # the fused kernel of accelerators: its mask has one byte per element
        dropped, _ = torch.native_dropout(x, 0.1, True)
        return self.base(x) + self.outer(self.inner(dropped))


def one_input() -> torch.Tensor:
    return torch.randn(1, TOKENS, HIDDEN, dtype=torch.bfloat16, requires_grad=True)


def saved_per_token(layer: Any, own: Any = None) -> float:
    own = list(layer.to(torch.bfloat16).parameters()) if own is None else own
    return saved_bytes(layer, own, one_input()) / TOKENS


def ours_per_token(architecture: Architecture, recipe: str, **changes: Any) -> float:
    return estimated_bytes(architecture, recipe, **changes) / TOKENS


def of_block(**parts: Any) -> Architecture:
    return Architecture(
        name="one",
        family="one",
        hidden=HIDDEN,
        vocab=256,
        layers=(Block(norm_parameters=2 * HIDDEN, **parts),),
        tied_embeddings=True,
        max_context=None,
    )


# eager layers of a library


@pytest.mark.parametrize("recipe", ["deepspeed", "ddp"])
def test_eager_grouped_and_gated(recipe: str) -> None:
    layer = build_library_layer("llama", **GROUPED)
    assert saved_per_token(layer, layer.own) == ours_per_token(layer.architecture, recipe) + RMS_STATISTICS


@pytest.mark.parametrize("recipe", ["deepspeed", "ddp"])
def test_eager_layer_norm_and_plain_mlp(recipe: str) -> None:
    config: dict[str, Any] = {
        "n_embd": HIDDEN,
        "n_layer": 1,
        "n_head": HEADS,
        "vocab_size": 256,
        "bos_token_id": 0,
        "eos_token_id": 0,
    }
    dropouts: dict[str, Any] = dict.fromkeys(("resid_pdrop", "embd_pdrop", "attn_pdrop"), 0.0)
    layer = build_library_layer("gpt2", **config, **dropouts, activation_function="gelu")
    assert saved_per_token(layer, layer.own) == ours_per_token(layer.architecture, recipe) + LAYER_NORM_STATISTICS


@pytest.mark.parametrize("active", [1, 2])
def test_eager_experts(active: int) -> None:
    experts: dict[str, Any] = {"num_local_experts": 4, "num_experts_per_tok": active}
    layer = build_library_layer("mixtral", **GROUPED, **experts)
    # index_add keeps the weighted rows once more
    weighted = active * 2 * HIDDEN
    # softmax over 4, chosen weights and their sum; 8-byte indices of the choice; each row's place (two) and weight
    routing = 4 * 4 + 4 * active + 4 + 8 * active + (2 * 8 + 4) * active
    ours = ours_per_token(layer.architecture, "deepspeed") - 2 * 4 * 4
    assert saved_per_token(layer, layer.own) == ours + RMS_STATISTICS + weighted + routing


def test_eager_shared_experts() -> None:
    experts: dict[str, Any] = {"num_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 40}
    layer = build_library_layer("qwen2_moe", **GROUPED, **experts, shared_expert_intermediate_size=72)
    # index_add keeps the weighted rows once more; the gate of the shared expert keeps its output and what it weighs
    more = 2 * 2 * HIDDEN + 2 + 2 * HIDDEN
    # softmax over 4, 8-byte indices of the choice, each row's place (two) and weight
    routing = 4 * 4 + 2 * 8 + 2 * (2 * 8 + 2)
    ours = ours_per_token(layer.architecture, "deepspeed") - 2 * 4 * 4
    assert saved_per_token(layer, layer.own) == ours + RMS_STATISTICS + more + routing


def test_eager_latent_attention() -> None:
    layer = build_library_layer("deepseek_v3", **LATENT)
    # values are a view of the joined product's output, so its half of the keys stays; the kernel's output is copied
    joined, copied = 2 * HEADS * 16, 2 * HEADS * 32
    ours = ours_per_token(layer.architecture, "deepspeed")
    # each of the two more norms has a statistic too
    assert saved_per_token(layer, layer.own) == ours + 2 * RMS_STATISTICS + joined + copied


def test_eager_norms_of_queries_and_keys() -> None:
    layer = build_library_layer("qwen3", **GROUPED)
    # a statistic for each head on top
    statistics = RMS_STATISTICS + 4 * (HEADS + KV_HEADS)
    assert saved_per_token(layer, layer.own) == ours_per_token(layer.architecture, "deepspeed") + statistics


def test_adapters_on_a_frozen_base() -> None:
    layer = build_library_layer("llama", **GROUPED)
    layer.module.requires_grad_(requires_grad=False)
    for name, product in [*layer.module.named_modules()]:
        if isinstance(product, nn.Linear):
            layer.module.set_submodule(name, Adapted(product).to(torch.bfloat16))
    ours = ours_per_token(layer.architecture, "ddp", method="lora", lora=Lora(rank=RANK))
    # seven inner products come on top; frozen norms have no use for their normalised copies
    assert saved_per_token(layer, layer.own) == ours + RMS_STATISTICS + 7 * 2 * RANK - 2 * 2 * HIDDEN


def test_autocast_keeps_more_than_the_list() -> None:
    layer = build_library_layer("llama", **GROUPED)
    layer.module.float()
    x = torch.randn(1, TOKENS, HIDDEN, requires_grad=True)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        saved = saved_bytes(layer, layer.own, x)
    # 16-bit copies of the products' weights, which count as gathered parameters
    copies = 2 * sum(parameter.numel() for parameter in layer.module.parameters() if parameter.dim() == 2)
    # residuals are fp32, so the inputs and the normalised copies of two norms have 8 bytes in place of 6
    residuals = 2 * 2 * HIDDEN
    # q, k, v, gate and up each narrow their input for themselves; the list has one copy for each norm
    inputs = (5 - 2) * 2 * HIDDEN
    ours = ours_per_token(layer.architecture, "ddp")
    assert (saved - copies) / TOKENS == ours + RMS_STATISTICS + residuals + inputs


@pytest.mark.parametrize("recipe", ["deepspeed", "ddp", "fsdp"])
def test_eager_scores(recipe: str) -> None:
    # softmax in fp32 and its narrow copy: 4 + 2 bytes a score
    flash = build_library_layer("llama", **GROUPED | {"num_key_value_heads": HEADS})
    eager = build_library_layer("llama", **GROUPED | {"num_key_value_heads": HEADS}, attention="eager")
    ours = [ours_per_token(flash.architecture, recipe, flash_attention=fast) for fast in (False, True)]
    saved = [saved_per_token(layer, layer.own) for layer in (eager, flash)]
    # without a flash kernel its statistics go, and the products read the output's copy with the tokens first
    assert saved[0] - saved[1] == ours[0] - ours[1] - 4 * HEADS


# fused layers


def test_fused_layer_norm_and_plain_mlp() -> None:
    layer = Layer(JoinedAttention(), PlainMlp(), nn.LayerNorm)
    ours = ours_per_token(gpt(hidden=HIDDEN, heads=HEADS), "megatron")
    assert saved_per_token(layer) == ours + LAYER_NORM_STATISTICS


def test_fused_grouped_and_gated() -> None:
    layer = Layer(GroupedAttention(), GatedMlp(FFN))
    assert saved_per_token(layer) == ours_per_token(grouped_architecture(), "megatron")


def test_fused_norms_and_an_eager_gate() -> None:
    layer = Layer(GroupedAttention(), GatedMlp(FFN, eager=True))
    assert saved_per_token(layer) == ours_per_token(grouped_architecture(), "fsdp")


def test_fused_plain_mlp_keeps_no_copy_where_a_gate_does() -> None:
    layer = Layer(JoinedAttention(), PlainMlp(), nn.LayerNorm)
    assert saved_per_token(layer) == ours_per_token(gpt(hidden=HIDDEN, heads=HEADS), "fsdp") + LAYER_NORM_STATISTICS


def test_fused_latent_attention() -> None:
    attention = Attention(
        heads=HEADS, kv_heads=HEADS, head_dim=32, value_dim=32, query_rank=24, kv_rank=20, rope_dim=16
    )
    architecture = of_block(attention=attention, mlp=grouped_architecture().layers[0].mlp)
    # the latent's norm reads a view of the product that makes the rotary keys too
    rotary = 2 * 16
    saved = saved_per_token(Layer(LatentAttention(), GatedMlp(FFN)))
    assert saved == ours_per_token(architecture, "megatron") + rotary


@pytest.mark.parametrize("active", [1, 2, 3])
def test_fused_experts(active: int) -> None:
    experts = Experts(count=4, active=active, ffn=40, gated=True, shared_ffn=72)
    architecture = of_block(attention=grouped_architecture().layers[0].attention, experts=experts)
    # of routing the list has twice the fp32 scores; here they are kept once, with each row's weight and four 8-byte
    # indices: its expert, its token, its weight's place and its own
    routing = 4 * 4 + active * (2 + 4 * 8) - 2 * 4 * 4
    assert saved_per_token(Layer(GroupedAttention(), RoutedMlp(experts))) == (
        ours_per_token(architecture, "megatron") + routing
    )


# policies of recomputation


@pytest.mark.parametrize("recipe", sorted(RECIPES))
def test_full_recomputation_keeps_the_input(recipe: str) -> None:
    layer = build_library_layer("llama", **GROUPED)
    again = partial(checkpoint, layer, use_reentrant=False)
    ours = ours_per_token(layer.architecture, recipe, recompute=Recompute.FULL)
    assert saved_per_token(again, layer.own) == ours
    assert alive_bytes(again, layer.own, one_input()) / TOKENS == ours


def test_selective_recomputation_of_the_attention_core() -> None:
    def core(*inputs: torch.Tensor) -> torch.Tensor:
        return checkpoint(attend, *inputs, use_reentrant=False)

    layer = Layer(GroupedAttention(core), GatedMlp(FFN))
    assert saved_per_token(layer) == ours_per_token(grouped_architecture(), "megatron", recompute=Recompute.SELECTIVE)


def test_selective_recomputation_of_unfused_scores() -> None:
    def attend_unfused(query: torch.Tensor, key: torch.Tensor, value: torch.Tensor) -> torch.Tensor:
        scores = torch.softmax(query.transpose(1, 2) @ key.permute(0, 2, 3, 1), dim=-1)
        dropped, _ = torch.native_dropout(scores, 0.1, True)
        return (dropped @ value.transpose(1, 2)).transpose(1, 2).flatten(2)

    def core(*inputs: torch.Tensor) -> torch.Tensor:
        return checkpoint(attend_unfused, *inputs, use_reentrant=False)

    architecture = llama(layers=1, hidden=HIDDEN, ffn=FFN, heads=HEADS, kv_heads=HEADS)
    for chosen, level in ((attend_unfused, Recompute.NONE), (core, Recompute.SELECTIVE)):
        attention = GroupedAttention(chosen)
        attention.k, attention.v = linear(HIDDEN, HIDDEN), linear(HIDDEN, HIDDEN)
        saved = saved_per_token(Layer(attention, GatedMlp(FFN)))
        ours = ours_per_token(architecture, "megatron", flash_attention=False, recompute=level)
        # the list has the statistic of a flash kernel, which this one has not
        assert saved == ours - (4 * HEADS if level == Recompute.NONE else 0)


def test_selective_recomputation_of_every_second_product() -> None:
    def build_policy() -> Any:
        """Keep attention's output and the first, third, ... product; compute everything else again."""
        products = {False: 0, True: 0}

        def choose(context: Any, operation: Any, *_: Any, **__: Any) -> CheckpointPolicy:
            if operation is torch.ops.aten.mm.default:
                products[context.is_recompute] += 1
                kept = products[context.is_recompute] % 2 == 1
            else:
                kept = operation is torch.ops.aten._scaled_dot_product_flash_attention_for_cpu.default
            return CheckpointPolicy.MUST_SAVE if kept else CheckpointPolicy.PREFER_RECOMPUTE

        return choose

    layer = build_library_layer("llama", **GROUPED)
    again = partial(
        checkpoint, layer, use_reentrant=False, context_fn=lambda: create_selective_checkpoint_contexts(build_policy())
    )
    alive = alive_bytes(again, layer.own, one_input()) / TOKENS
    # kept are q, v, gate and down, the last as wide as the second norm's input, which the list has instead
    assert alive == ours_per_token(layer.architecture, "fsdp", recompute=Recompute.SELECTIVE)


def test_plain_loss_peaks_at_12_bytes_a_logit() -> None:
    tokens, vocab = 256, 4096
    weight = torch.randn(vocab, HIDDEN, dtype=torch.bfloat16, requires_grad=True)
    x = torch.randn(tokens, HIDDEN, dtype=torch.bfloat16, requires_grad=True)
    labels = torch.randint(0, vocab, (tokens,))

    def step() -> None:
        functional.cross_entropy(functional.linear(x, weight).float(), labels).backward()

    peak = peak_bytes(step)
    architecture = llama(layers=1, hidden=HIDDEN, ffn=FFN, heads=HEADS, kv_heads=HEADS, vocab=vocab)
    job = job_of(architecture, seq_len=tokens)
    ours = estimate_loss_bytes(
        job, operators_of(architecture), RECIPES["ddp"], **knobs("tp", "sp", "cp", "micro_batch")
    )
    norm_and_head_inputs = tokens * HIDDEN * 8
    assert peak == pytest.approx(float(ours[0]) - norm_and_head_inputs, rel=0.01)
