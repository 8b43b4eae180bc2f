"""Model FLOPs against what torch's counter sees in models of `transformers`, forward and backward, to the last one.

The counter multiplies every score, masked or not, so the comparison is with our count of full attention.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest
import torch
import transformers
from torch import nn
from torch.utils.checkpoint import checkpoint, set_checkpoint_early_stop
from torch.utils.flop_counter import FlopCounterMode

from suanpei.job.hugging_face import parse_config
from suanpei.job.job import Job, Lora
from suanpei.physics.workload import Workload, build_workload

SEQUENCES, TOKENS, RANK = 2, 32, 4
SIZES = {"hidden_size": 64, "intermediate_size": 176, "num_hidden_layers": 3, "vocab_size": 515}
GROUPED = SIZES | {"num_attention_heads": 8, "num_key_value_heads": 2}
LATENT = {
    "num_attention_heads": 4, "num_key_value_heads": 4, "q_lora_rank": 24, "kv_lora_rank": 20, "qk_nope_head_dim": 16,
    "qk_rope_head_dim": 8, "v_head_dim": 12, "n_routed_experts": 8, "num_experts_per_tok": 2, "n_group": 2,
    "topk_group": 1, "moe_intermediate_size": 40, "n_shared_experts": 2,
}  # fmt: skip

DENSE: dict[str, dict[str, Any]] = {
    "llama": GROUPED,
    "gpt2": {"n_embd": 64, "n_layer": 3, "n_head": 4, "vocab_size": 515, "bos_token_id": 0, "eos_token_id": 0},
    "mistral": GROUPED | {"head_dim": 12, "sliding_window": 8},
    "deepseek_v3": SIZES | LATENT | {"first_k_dense_replace": 3},
}
SPARSE: dict[str, dict[str, Any]] = {
    "mixtral": GROUPED | {"num_local_experts": 5, "num_experts_per_tok": 2},
    "qwen3_moe": GROUPED | {"num_experts": 6, "num_experts_per_tok": 3, "moe_intermediate_size": 40},
    "deepseek_v3": SIZES | LATENT | {"first_k_dense_replace": 1},
}
CASES = [*DENSE.items(), *SPARSE.items()]


class Adapted(nn.Module):  # type: ignore[misc]  # torch is not followed
    """A frozen product with a low-rank adapter."""

    def __init__(self, base: Any) -> None:
        super().__init__()
        self.base = base
        self.inner = nn.Linear(base.in_features, RANK, bias=False)
        self.outer = nn.Linear(RANK, base.out_features, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.base(x) + self.outer(self.inner(x))


def build_model(family: str, config: dict[str, Any]) -> Any:
    """The library's model, its attention and its experts as plain products."""
    plain = {"attn_implementation": "eager", "experts_implementation": "eager"}
    return transformers.AutoModelForCausalLM.from_config(transformers.AutoConfig.for_model(family, **config, **plain))


def workload(family: str, config: dict[str, Any], **changes: Any) -> Workload:
    architecture = parse_config({"model_type": family, **config}, source="config.json", name=family)
    values: dict[str, Any] = {"architecture": architecture, "method": "pretrain", "seq_len": TOKENS}
    return build_workload(Job(**values | {"global_batch_seqs": SEQUENCES} | changes))


def count_passes(model: Any) -> tuple[float, float]:
    """FLOPs per token of the forward and of the backward pass."""
    forward, backward = FlopCounterMode(display=False), FlopCounterMode(display=False)
    with forward:
        logits = model(torch.randint(0, SIZES["vocab_size"], (SEQUENCES, TOKENS)), use_cache=False).logits
    with backward:
        logits.sum().backward()
    tokens = SEQUENCES * TOKENS
    return forward.get_total_flops() / tokens, backward.get_total_flops() / tokens


def freeze_and_adapt(model: Any) -> Any:
    """Freeze a model and put an adapter on every product of its layers."""
    model.requires_grad_(requires_grad=False)
    products = [(name, module) for name, module in model.named_modules() if isinstance(module, nn.Linear)]
    for name, module in products:
        if ".layers." in name:
            model.set_submodule(name, Adapted(module))
    return model


@pytest.mark.parametrize(("family", "config"), CASES, ids=[f"{name}-{i}" for i, (name, _) in enumerate(CASES)])
def test_training_equals_the_counter(family: str, config: dict[str, Any]) -> None:
    work = workload(family, config)
    forward, backward = count_passes(build_model(family, config))
    ours = work.forward_product_flops_per_token + work.forward_attention_flops_per_token(full=True)
    assert forward == ours
    assert forward + backward == work.model_flops_per_token(full_attention=True)


def test_masked_pairs_are_the_difference_between_both_counts() -> None:
    family, config = "mistral", DENSE["mistral"]
    work = workload(family, config)
    forward, _ = count_passes(build_model(family, config))
    # a window of 8 lets 1 + 2 + ... + 7 and then 25 times 8 of 32 x 32 pairs through
    masked = 32 * 32 - (28 + 25 * 8)
    ours = work.forward_product_flops_per_token + work.forward_attention_flops_per_token(full=False)
    # two products over each masked pair, 8 heads of width 12, three layers
    assert forward - ours == 3 * 2 * 2 * masked * 8 * 12 / TOKENS


def test_the_gate_of_shared_experts_is_left_out() -> None:
    family = "qwen2_moe"
    config = SPARSE["qwen3_moe"] | {"shared_expert_intermediate_size": 48}
    forward, backward = count_passes(build_model(family, config))
    # one column of the model's width in each of three layers
    gates = 3 * 3 * 2 * 64
    assert forward + backward == workload(family, config).model_flops_per_token(full_attention=True) + gates


@pytest.mark.parametrize("family", ["llama", "deepseek_v3"])
def test_adapters_equal_the_counter_where_the_embedding_passes_a_gradient(family: str) -> None:
    config = DENSE[family]
    work = workload(family, config, method="lora", lora=Lora(rank=RANK))
    model = freeze_and_adapt(build_model(family, config))
    model.enable_input_require_grads()
    forward, backward = count_passes(model)
    products = work.forward_product_flops_per_token + work.adapter_flops_per_token
    assert forward == products + work.forward_attention_flops_per_token(full=True)
    assert forward + backward == work.model_flops_per_token(full_attention=True)


def test_nothing_reads_the_gradient_of_a_frozen_embedding() -> None:
    family, config = "llama", DENSE["llama"]
    work = workload(family, config, method="lora", lora=Lora(rank=RANK))
    forward, backward = count_passes(freeze_and_adapt(build_model(family, config)))
    # the first layer's q, k, v (64 x (64 + 2 x 16)) and the inner halves of their adapters make no input gradient
    saved = 2 * 64 * (64 + 2 * 16) + 2 * 3 * 64 * RANK
    assert forward + backward == work.model_flops_per_token(full_attention=True) - saved


@pytest.mark.parametrize("early_stop", [False, True])
def test_full_recomputation_repeats_the_layers(early_stop: bool) -> None:
    family, config = "llama", DENSE["llama"]
    work = workload(family, config)
    model = build_model(family, config)
    _, plain = count_passes(model)
    for layer in model.model.layers:
        layer.forward = partial(checkpoint, layer.forward, use_reentrant=False)
    with set_checkpoint_early_stop(early_stop):
        _, repeated = count_passes(model)
    attention = work.forward_attention_flops_per_token(full=True) - work.forward_attention_flops_per_token(full=False)
    # a checkpoint that stops early leaves out the last product of each of three layers
    last = 3 * 2 * 176 * 64 if early_stop else 0
    assert repeated - plain == work.recompute_flops_per_token + attention - last
