"""Mixture-of-experts families that differ by data alone.

Sizes for absent fields are the defaults of the configuration classes in `transformers` 5; the settings follow the
modelling files of the same library. ``deepseek``, ``kimi_k2``, ``hunyuan`` and ``grok-1`` are remote code: their files
must state the sizes.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from suanpei.job.hugging_face.dense import sizes
from suanpei.job.hugging_face.style import ExpertStyle, Style

if TYPE_CHECKING:
    from collections.abc import Mapping

_DEEPSEEK_V3 = Style(
    family="deepseek_v3",
    defaults=sizes(
        7168, 18432, 61, 128, 128, 129280, 4096,
        q_lora_rank=1536, kv_lora_rank=512, qk_nope_head_dim=128, qk_rope_head_dim=64, v_head_dim=128,
        num_experts=256, num_experts_per_tok=8, moe_intermediate_size=2048, n_shared_experts=1,
        first_k_dense_replace=3,
    ),
    latent=True,
    qkv_bias="attention_bias",
    output_bias="attention_bias",
    experts=ExpertStyle(layers="first_dense", shared="count"),
)  # fmt: skip

_HUNYUAN_MOE = Style(
    family="hunyuan",
    qkv_bias="attention_bias",
    output_bias="attention_bias",
    qk_norm="head",
    qk_norm_key="use_qk_norm",
    switch_defaults={"use_qk_norm": True},
    experts=ExpertStyle(shared="always", own_width=False),
    ignored=(
        "moe_intermediate_size", "num_shared_expert", "n_shared_experts", "use_mixed_mlp_moe", "moe_layer_num_skipped",
        "group_limited_greedy", "add_classification_head", "class_num", "cla_share_factor", "expert_hidden_dim",
        "dense_list", "org_vocab_size", "num_media_embeds", "skip_cls_token", "anyres_pooling_size",
        "anyres_vit_two_views", "vit_add_patchemb_bias", "vit_used_rms_norm", "vit_norm_type", "vit_patch",
        "vit_use_siglip",
        "vit_mapping_type", "vit_remove_prenorm", "vit_token", "mask_init_id", "sep_id", "text_end_id",
        "text_start_id", "im_end_id", "im_newline_id", "im_start_id", "video_end_id", "video_start_id", "use_vit",
    ),
    required={"mlp_bias": False},
)  # fmt: skip

SPARSE: Mapping[str, Style] = {
    "mixtral": Style(
        family="mixtral",
        defaults=sizes(4096, 14336, 32, 32, 8, 32000, 131072, num_experts=8, num_experts_per_tok=2),
        window="all",
        experts=ExpertStyle(own_width=False),
    ),
    "qwen2_moe": Style(
        family="qwen2_moe",
        defaults=sizes(
            2048, 5632, 24, 16, 16, 151936, 32768,
            num_experts=60, num_experts_per_tok=4, moe_intermediate_size=1408, shared_expert_intermediate_size=5632,
        ),
        qkv_bias="qkv_bias",
        switch_defaults={"qkv_bias": True},
        window="qwen",
        experts=ExpertStyle(layers="step", shared="width", shared_gate=True),
    ),
    "qwen3_moe": Style(
        family="qwen3_moe",
        defaults=sizes(
            2048, 6144, 24, 32, 4, 151936, 32768,
            num_experts=128, num_experts_per_tok=8, moe_intermediate_size=768,
        ),
        qkv_bias="attention_bias",
        output_bias="attention_bias",
        qk_norm="head",
        window="qwen",
        experts=ExpertStyle(layers="step"),
    ),
    "deepseek": Style(
        family="deepseek",
        qkv_bias="attention_bias",
        output_bias="attention_bias",
        experts=ExpertStyle(layers="first_dense", shared="count", optional=True),
    ),
    "deepseek_v2": Style(
        family="deepseek_v2",
        defaults=sizes(
            4096, 11008, 32, 32, 32, 102400, 2048,
            q_lora_rank=1536, kv_lora_rank=512, qk_nope_head_dim=128, qk_rope_head_dim=64, v_head_dim=128,
            num_experts=64, moe_intermediate_size=1407, n_shared_experts=2, first_k_dense_replace=0,
        ),
        latent=True,
        qkv_bias="attention_bias",
        output_bias="attention_bias",
        mlp_bias="mlp_bias",
        experts=ExpertStyle(layers="first_dense", shared="count"),
    ),
    "deepseek_v3": _DEEPSEEK_V3,
    "kimi_k2": replace(_DEEPSEEK_V3, family="kimi", defaults={}),
    "glm4_moe": Style(
        family="glm4_moe",
        defaults=sizes(
            4096, 10944, 46, 96, 8, 151552, 131072,
            num_experts=128, num_experts_per_tok=8, moe_intermediate_size=1408, n_shared_experts=1,
            first_k_dense_replace=1,
        ),
        qkv_bias="attention_bias",
        qk_norm="head",
        qk_norm_key="use_qk_norm",
        experts=ExpertStyle(layers="first_dense", shared="count"),
    ),
    "phimoe": Style(
        family="phimoe",
        defaults=sizes(4096, 6400, 32, 32, 8, 32064, 131072, num_experts=16, num_experts_per_tok=2),
        norm_vectors=2,
        qkv_bias="attention_bias",
        output_bias="attention_bias",
        head_bias="lm_head_bias",
        window="all",
        experts=ExpertStyle(own_width=False),
    ),
    "gpt_oss": Style(
        family="gpt_oss",
        defaults=sizes(2880, 2880, 36, 64, 8, 201088, 131072, head_dim=64, num_experts=128, num_experts_per_tok=4),
        qkv_bias="attention_bias",
        output_bias="attention_bias",
        switch_defaults={"attention_bias": True},
        sinks=True,
        window="pattern",
        window_default=128,
        experts=ExpertStyle(own_width=False, bias=True, router_bias=True),
        ignored=("initial_context_length", "experts_per_token"),
    ),
    "olmoe": Style(
        family="olmoe",
        defaults=sizes(2048, 2048, 16, 16, None, 50304, 4096, num_experts=64, num_experts_per_tok=8),
        qkv_bias="attention_bias",
        output_bias="attention_bias",
        qk_norm="full",
        experts=ExpertStyle(own_width=False),
    ),
    "granitemoe": Style(
        family="granitemoe",
        defaults=sizes(4096, 11008, 32, 32, None, 32000, 2048, num_experts=8, num_experts_per_tok=2),
        qkv_bias="attention_bias",
        output_bias="attention_bias",
        experts=ExpertStyle(own_width=False),
    ),
    "dbrx": Style(
        family="dbrx",
        defaults=sizes(2048, 3584, 24, 16, 1, 32000, 2048, num_experts=4, num_experts_per_tok=1),
        experts=ExpertStyle(own_width=False),
        ignored=("ffn_config.hidden_size",),
    ),
    "grok-1": Style(family="grok", tied=True, norms=4, experts=ExpertStyle(own_width=False)),
    "hunyuan_v1_moe": replace(
        _HUNYUAN_MOE,
        defaults=sizes(4096, 11008, 32, 32, None, 290943, 2048, num_experts=1, num_experts_per_tok=1),
        required={"mlp_bias": False, "use_cla": False},
    ),
    "hunyuan": _HUNYUAN_MOE,
    "minimax_m2": Style(
        family="minimax_m2",
        defaults=sizes(
            3072, 1536, 62, 48, 8, 200064, 196608, head_dim=128, num_experts=256, num_experts_per_tok=8
        ),
        qk_norm="full",
        experts=ExpertStyle(own_width=False),
        ignored=("attn_type_list", "use_mtp", "num_mtp_modules", "mtp_transformer_layers", "shared_intermediate_size"),
        required={"qk_norm_type": "per_layer", "use_qk_norm": True, "shared_intermediate_size": 0},
    ),
    "llama4_text": Style(
        family="llama4",
        defaults=sizes(
            5120, 8192, 48, 40, 8, 202048, 131072,
            intermediate_size_mlp=16384, head_dim=128, num_experts=16, num_experts_per_tok=1,
        ),
        qkv_bias="attention_bias",
        output_bias="attention_bias",
        window="pattern",
        window_pattern=4,
        window_default=8192,
        experts=ExpertStyle(
            layers="interleave", shared="always", own_width=False, dense_width="intermediate_size_mlp"
        ),
        ignored=("use_qk_norm", "for_llm_compressor"),
    ),
}  # fmt: skip
"""Mixture-of-experts families by `model_type`."""
