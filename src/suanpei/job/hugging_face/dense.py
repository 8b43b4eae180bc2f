"""Dense families that differ from Llama by data alone.

Sizes for absent fields are the defaults of the configuration classes in `transformers` 5; the settings follow the
modelling files of the same library (facts: which products have biases, which norms exist).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from suanpei.job.hugging_face.style import Style

if TYPE_CHECKING:
    from collections.abc import Mapping


def sizes(
    hidden: int, ffn: int, layers: int, heads: int, kv_heads: int | None, vocab: int, context: int, **more: int | None
) -> dict[str, int | None]:
    """Name a family's default sizes. [-]"""
    return {
        "hidden_size": hidden,
        "intermediate_size": ffn,
        "num_hidden_layers": layers,
        "num_attention_heads": heads,
        "num_key_value_heads": kv_heads,
        "vocab_size": vocab,
        "max_position_embeddings": context,
        **more,
    }


_LLAMA = sizes(4096, 11008, 32, 32, None, 32000, 2048)
_LLAMA_BIASES = {"qkv_bias": "attention_bias", "output_bias": "attention_bias", "mlp_bias": "mlp_bias"}


def _llama(family: str, **changes: object) -> Style:
    return Style(family=family, **{**_LLAMA_BIASES, **changes})  # type: ignore[arg-type]


DENSE: Mapping[str, Style] = {
    "llama": _llama("llama", defaults=_LLAMA),
    "Yi": _llama("yi"),
    "aquila": _llama("aquila"),
    "mistral": Style(
        family="mistral",
        defaults=sizes(4096, 14336, 32, 32, 8, 32000, 131072),
        window="all",
        window_default=4096,
    ),
    "ministral": Style(
        family="mistral",
        defaults=sizes(4096, 14336, 32, 32, 8, 32000, 131072),
        window="all",
        window_default=4096,
    ),
    "qwen": Style(
        family="qwen",
        qkv_bias=True,
        ffn_divisor=2,
        required={"no_bias": True},
    ),
    "qwen2": Style(
        family="qwen2",
        defaults=sizes(4096, 22016, 32, 32, 32, 151936, 32768),
        qkv_bias=True,
        window="qwen",
    ),
    "qwen3": Style(
        family="qwen3",
        defaults=sizes(4096, 22016, 32, 32, 32, 151936, 32768, head_dim=128),
        qkv_bias="attention_bias",
        output_bias="attention_bias",
        qk_norm="head",
        window="qwen",
    ),
    "gemma": Style(
        family="gemma",
        defaults=sizes(3072, 24576, 28, 16, 16, 256000, 8192, head_dim=256),
        tied=True,
        qkv_bias="attention_bias",
        output_bias="attention_bias",
        ignored=("use_bidirectional_attention",),
    ),
    "gemma2": Style(
        family="gemma2",
        defaults=sizes(2304, 9216, 26, 8, 4, 256000, 8192, head_dim=256),
        tied=True,
        norms=4,
        qkv_bias="attention_bias",
        output_bias="attention_bias",
        window="pattern",
        window_default=4096,
        ignored=("use_bidirectional_attention",),
    ),
    "gemma3_text": Style(
        family="gemma3",
        defaults=sizes(2304, 9216, 26, 8, 4, 262208, 131072, head_dim=256),
        tied=True,
        norms=4,
        qkv_bias="attention_bias",
        output_bias="attention_bias",
        qk_norm="head",
        window="pattern",
        window_pattern=6,
        window_default=4096,
        ignored=("use_bidirectional_attention",),
    ),
    "phi": Style(
        family="phi",
        defaults=sizes(2048, 8192, 24, 32, None, 51200, 2048),
        norm_vectors=2,
        norms=1,
        gated=False,
        qkv_bias=True,
        output_bias=True,
        mlp_bias=True,
        head_bias=True,
        qk_norm="head",
        qk_norm_key="qk_layernorm",
        parallel=True,
    ),
    "phi3": Style(
        family="phi3",
        defaults=sizes(3072, 8192, 32, 32, None, 32064, 4096),
        window="all",
        required={"attention_bias": False},
    ),
    "baichuan": Style(family="baichuan"),
    "internlm": Style(family="internlm", qkv_bias="bias", output_bias="bias", switch_defaults={"bias": True}),
    "internlm2": Style(family="internlm2", qkv_bias="bias", output_bias="bias"),
    "glm": Style(
        family="glm",
        defaults=sizes(4096, 13696, 40, 32, 2, 151552, 131072, head_dim=128),
        qkv_bias="attention_bias",
        switch_defaults={"attention_bias": True},
    ),
    "glm4": Style(
        family="glm4",
        defaults=sizes(4096, 13696, 40, 32, 2, 151552, 131072, head_dim=128),
        norms=4,
        qkv_bias="attention_bias",
        switch_defaults={"attention_bias": True},
    ),
    "gpt2": Style(
        family="gpt2",
        defaults=sizes(768, 3072, 12, 12, None, 50257, 1024),
        tied=True,
        norm_vectors=2,
        gated=False,
        qkv_bias=True,
        output_bias=True,
        mlp_bias=True,
        learned_positions=0,
        ffn_ratio=4,
        required={"add_cross_attention": False},
    ),
    "gptj": Style(
        family="gptj",
        defaults=sizes(4096, 16384, 28, 16, None, 50400, 2048),
        norm_vectors=2,
        norms=1,
        gated=False,
        mlp_bias=True,
        head_bias=True,
        parallel=True,
        ffn_ratio=4,
    ),
    "gpt_neox": Style(
        family="gpt_neox",
        defaults=sizes(6144, 24576, 44, 64, None, 50432, 2048),
        norm_vectors=2,
        gated=False,
        qkv_bias="attention_bias",
        output_bias="attention_bias",
        mlp_bias=True,
        parallel="use_parallel_residual",
        switch_defaults={"attention_bias": True, "use_parallel_residual": True},
    ),
    "bloom": Style(
        family="bloom",
        defaults=sizes(64, 256, 2, 8, None, 250880, 2048),
        tied=True,
        norm_vectors=2,
        gated=False,
        qkv_bias=True,
        output_bias=True,
        mlp_bias=True,
        embedding_norms=2,
        ffn_ratio=4,
    ),
    "olmo": Style(
        family="olmo",
        defaults=sizes(4096, 11008, 32, 32, None, 50304, 2048),
        norm_vectors=0,
        qkv_bias="attention_bias",
        output_bias="attention_bias",
    ),
    "olmo2": Style(
        family="olmo2",
        defaults=sizes(4096, 11008, 32, 32, None, 50304, 2048),
        qkv_bias="attention_bias",
        output_bias="attention_bias",
        qk_norm="full",
    ),
    "olmo3": Style(
        family="olmo3",
        defaults=sizes(4096, 11008, 32, 32, None, 50304, 2048),
        qkv_bias="attention_bias",
        output_bias="attention_bias",
        qk_norm="full",
        window="pattern",
        window_pattern=4,
        window_default=4096,
    ),
    "starcoder2": Style(
        family="starcoder2",
        defaults=sizes(3072, 12288, 30, 24, 2, 49152, 4096),
        tied=True,
        norm_vectors=2,
        gated=False,
        qkv_bias="use_bias",
        output_bias="use_bias",
        mlp_bias="use_bias",
        switch_defaults={"use_bias": True},
        window="all",
    ),
    "stablelm": Style(
        family="stablelm",
        defaults=sizes(2560, 6912, 32, 32, 32, 50304, 4096),
        norm_vectors=2,
        qkv_bias="use_qkv_bias",
        required={"qk_layernorm": False, "use_parallel_residual": False},
    ),
    "cohere": Style(
        family="cohere",
        defaults=sizes(8192, 22528, 40, 64, None, 256000, 8192),
        tied=True,
        norms=1,
        qkv_bias="attention_bias",
        output_bias="attention_bias",
        qk_norm="full",
        qk_norm_key="use_qk_norm",
        parallel=True,
    ),
    "cohere2": Style(
        family="cohere2",
        defaults=sizes(8192, 22528, 40, 64, None, 256000, 8192),
        tied=True,
        norms=1,
        qkv_bias="attention_bias",
        output_bias="attention_bias",
        parallel=True,
        window="pattern",
        window_pattern=4,
        window_default=4096,
    ),
    "nemotron": _llama(
        "nemotron",
        defaults=sizes(6144, 24576, 32, 48, None, 256000, 4096),
        norm_vectors=2,
        gated=False,
    ),
    "seed_oss": Style(
        family="seed_oss",
        defaults=sizes(4096, 27648, 64, 80, 8, 155136, 524288, head_dim=128),
        qkv_bias="attention_bias",
        output_bias="attention_out_bias",
        mlp_bias="mlp_bias",
        switch_defaults={"attention_bias": True},
    ),
    "granite": _llama("granite", defaults=_LLAMA),
    "smollm3": _llama(
        "smollm3",
        defaults=sizes(2048, 11008, 36, 16, 4, 128256, 32768),
        tied=True,
        window="qwen",
    ),
    "ernie4_5": Style(
        family="ernie4_5",
        defaults=sizes(1024, 3072, 18, 16, 2, 103424, 131072, head_dim=128),
        tied=True,
        qkv_bias="use_bias",
        output_bias="use_bias",
        mlp_bias="use_bias",
    ),
    "exaone4": Style(
        family="exaone4",
        defaults=sizes(4096, 16384, 32, 32, 32, 102400, 2048),
        qk_norm="head",
        window="pattern",
        window_pattern=4,
        window_default=4096,
    ),
    "minicpm": _llama("minicpm", tied=True, mlp_bias=False),
    "minicpm3": Style(
        family="minicpm3",
        defaults=sizes(
            2560, 6400, 62, 40, 40, 73448, 32768,
            q_lora_rank=768, kv_lora_rank=256, qk_nope_head_dim=64, qk_rope_head_dim=32, v_head_dim=64,
        ),
        tied=True,
        latent=True,
        qkv_bias="attention_bias",
        output_bias="attention_bias",
        mlp_bias="mlp_bias",
    ),
    "hunyuan_v1_dense": Style(
        family="hunyuan",
        defaults=sizes(4096, 11008, 32, 32, None, 290943, 2048),
        qkv_bias="attention_bias",
        output_bias="attention_bias",
        qk_norm="head",
        qk_norm_key="use_qk_norm",
        switch_defaults={"use_qk_norm": True},
        required={"use_cla": False},
    ),
}  # fmt: skip
"""Dense families by `model_type`."""
