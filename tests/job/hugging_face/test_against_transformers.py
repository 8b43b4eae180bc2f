"""Parameter counts against the models that `transformers` builds on the meta device, to the last parameter."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from suanpei.job.hugging_face import parse_config
from suanpei.job.operators import build_operators

transformers = pytest.importorskip("transformers")
torch = pytest.importorskip("torch")

SMALL: dict[str, Any] = {
    "hidden_size": 96,
    "intermediate_size": 136,
    "num_hidden_layers": 3,
    "num_attention_heads": 6,
    "num_key_value_heads": 2,
    "vocab_size": 515,
    "max_position_embeddings": 77,
    "pad_token_id": 0,
}
"""Odd sizes, so that no two terms of a count can be mistaken for each other."""
SMALL_MHA = {**SMALL, "num_key_value_heads": 6}
WITHOUT_KV = {key: value for key, value in SMALL.items() if key != "num_key_value_heads"}
FALCON = {**{key: value for key, value in WITHOUT_KV.items() if key != "intermediate_size"}, "ffn_hidden_size": 136}
GPT = {"n_embd": 96, "n_layer": 3, "n_head": 6, "vocab_size": 515, "n_positions": 77}
MOE = {"num_local_experts": 5, "num_experts_per_tok": 2}
LATENT = {"q_lora_rank": 40, "kv_lora_rank": 24, "qk_nope_head_dim": 16, "qk_rope_head_dim": 8, "v_head_dim": 12}
DEEPSEEK = {
    **SMALL_MHA,
    **LATENT,
    "n_routed_experts": 8,
    "num_experts_per_tok": 2,
    "moe_intermediate_size": 44,
    "n_shared_experts": 2,
    "first_k_dense_replace": 1,
    "n_group": 2,
    "topk_group": 1,
}
QWEN_MOE = {**SMALL, "num_experts": 6, "num_experts_per_tok": 2, "moe_intermediate_size": 44, "decoder_sparse_step": 1}

CASES: list[tuple[str, dict[str, Any]]] = [
    ("llama", SMALL),
    ("llama", {**SMALL, "attention_bias": True, "mlp_bias": True, "tie_word_embeddings": True}),
    ("llama", {**WITHOUT_KV, "head_dim": 20}),
    ("mistral", SMALL),
    ("mistral", {**SMALL, "head_dim": 24, "sliding_window": None}),
    ("ministral", {**SMALL, "head_dim": 16}),
    ("mixtral", {**SMALL, **MOE}),
    ("mixtral", {**SMALL, **MOE, "head_dim": 24, "tie_word_embeddings": True}),
    ("qwen2", SMALL),
    ("qwen2", {**SMALL, "use_sliding_window": True, "sliding_window": 16, "max_window_layers": 1}),
    ("qwen3", SMALL),
    ("qwen3", {**SMALL, "head_dim": 24, "attention_bias": True}),
    ("qwen2_moe", {**QWEN_MOE, "shared_expert_intermediate_size": 72}),
    ("qwen2_moe", {**QWEN_MOE, "shared_expert_intermediate_size": 72, "mlp_only_layers": [1], "qkv_bias": False}),
    ("qwen3_moe", QWEN_MOE),
    ("qwen3_moe", {**QWEN_MOE, "decoder_sparse_step": 2, "attention_bias": True}),
    ("deepseek_v2", DEEPSEEK),
    ("deepseek_v2", {**DEEPSEEK, "q_lora_rank": None, "first_k_dense_replace": 0}),
    ("deepseek_v3", DEEPSEEK),
    ("deepseek_v3", {**DEEPSEEK, "attention_bias": True, "n_shared_experts": 1, "tie_word_embeddings": True}),
    ("deepseek_v3", {**DEEPSEEK, "q_lora_rank": None}),
    ("gemma", SMALL),
    ("gemma", {**SMALL, "head_dim": 24, "tie_word_embeddings": False}),
    ("gemma2", SMALL),
    ("gemma2", {**SMALL, "head_dim": 24, "attention_bias": True}),
    ("gemma3_text", SMALL),
    ("gemma3_text", {**SMALL, "head_dim": 24, "num_hidden_layers": 7}),
    ("phi", SMALL),
    ("phi", {**SMALL, "qk_layernorm": True}),
    ("phi3", SMALL),
    ("phi3", {**SMALL, "tie_word_embeddings": True}),
    ("phimoe", {**SMALL, **MOE}),
    ("phimoe", {**SMALL, **MOE, "attention_bias": True, "lm_head_bias": True}),
    ("glm", SMALL),
    ("glm", {**SMALL, "head_dim": 16, "attention_bias": False}),
    ("glm4", {**SMALL, "head_dim": 24}),
    ("glm4_moe", {key: value for key, value in DEEPSEEK.items() if key not in LATENT}),
    (
        "glm4_moe",
        {
            **{key: value for key, value in DEEPSEEK.items() if key not in LATENT},
            "use_qk_norm": True,
            "attention_bias": True,
            "head_dim": 24,
            "num_key_value_heads": 3,
        },
    ),
    ("gpt2", GPT),
    ("gpt2", {**GPT, "n_inner": 200, "tie_word_embeddings": False}),
    ("gptj", {**GPT, "rotary_dim": 8}),
    ("gpt_neox", WITHOUT_KV),
    ("gpt_neox", {**WITHOUT_KV, "attention_bias": False, "use_parallel_residual": False, "tie_word_embeddings": True}),
    ("opt", {**WITHOUT_KV, "ffn_dim": 136, "word_embed_proj_dim": 96}),
    ("opt", {**WITHOUT_KV, "ffn_dim": 136, "word_embed_proj_dim": 40, "do_layer_norm_before": False}),
    ("opt", {**WITHOUT_KV, "ffn_dim": 136, "word_embed_proj_dim": 96, "enable_bias": False}),
    ("opt", {**WITHOUT_KV, "ffn_dim": 136, "word_embed_proj_dim": 96, "layer_norm_elementwise_affine": False}),
    ("bloom", {"hidden_size": 96, "n_layer": 3, "n_head": 6, "vocab_size": 515}),
    ("falcon", FALCON),
    ("falcon", {**FALCON, "new_decoder_architecture": True, "num_kv_heads": 2}),
    ("falcon", {**FALCON, "new_decoder_architecture": True, "num_kv_heads": 2, "num_ln_in_parallel_attn": 1}),
    ("falcon", {**FALCON, "multi_query": False, "parallel_attn": False, "bias": True, "alibi": True}),
    ("mpt", {"d_model": 96, "n_heads": 6, "n_layers": 3, "vocab_size": 515, "max_seq_len": 77}),
    ("olmo", SMALL),
    ("olmo2", SMALL),
    ("olmo3", {**SMALL, "num_hidden_layers": 5}),
    ("olmoe", {**SMALL, "num_experts": 5, "num_experts_per_tok": 2}),
    ("gpt_bigcode", GPT),
    ("gpt_bigcode", {**GPT, "multi_query": False}),
    ("starcoder2", SMALL),
    ("starcoder2", {**SMALL, "use_bias": False, "tie_word_embeddings": False}),
    ("stablelm", SMALL),
    ("stablelm", {**SMALL, "use_qkv_bias": True}),
    ("gpt_oss", {**SMALL, **MOE, "head_dim": 24}),
    ("gpt_oss", {**SMALL, **MOE, "attention_bias": False}),
    ("minicpm3", {**SMALL_MHA, **LATENT}),
    ("hunyuan_v1_dense", {**SMALL, "head_dim": 16}),
    ("hunyuan_v1_moe", {**SMALL, "num_experts": 5, "moe_topk": 2, "head_dim": 16}),
    (
        "dbrx",
        {
            "d_model": 96,
            "n_heads": 6,
            "n_layers": 3,
            "vocab_size": 515,
            "max_seq_len": 77,
            "attn_config": {"kv_n_heads": 2, "clip_qkv": 8, "rope_theta": 500000},
            "ffn_config": {"ffn_hidden_size": 136, "moe_num_experts": 5, "moe_top_k": 2, "hidden_size": 96},
        },
    ),
    ("cohere", SMALL),
    ("cohere", {**SMALL, "use_qk_norm": True, "attention_bias": True}),
    ("cohere2", {**SMALL, "num_hidden_layers": 5, "head_dim": 16}),
    ("nemotron", {**SMALL, "head_dim": 24}),
    ("nemotron", {**SMALL, "head_dim": 16, "attention_bias": True, "mlp_bias": True}),
    ("seed_oss", {**SMALL, "head_dim": 24}),
    ("seed_oss", {**SMALL, "attention_bias": False, "attention_out_bias": True, "mlp_bias": True}),
    ("minimax", {**SMALL, **MOE}),
    ("minimax", {**SMALL, **MOE, "head_dim": 24, "layer_types": ["linear_attention"] * 2 + ["full_attention"]}),
    ("minimax_m2", {**SMALL, **MOE, "head_dim": 24}),
    ("bert", WITHOUT_KV),
    ("roberta", {**WITHOUT_KV, "type_vocab_size": 1}),
    ("llama4_text", {**SMALL, **MOE, "intermediate_size_mlp": 200, "head_dim": 24}),
    (
        "llama4_text",
        {**SMALL, **MOE, "intermediate_size_mlp": 200, "interleave_moe_layer_step": 2, "attention_bias": True},
    ),
    ("mllama_text_model", {**SMALL, "num_hidden_layers": 4, "cross_attention_layers": [1, 3]}),
    ("granite", SMALL),
    ("granitemoe", {**SMALL, **MOE}),
    ("smollm3", SMALL),
    ("ernie4_5", {**SMALL, "head_dim": 24}),
    ("ernie4_5", {**SMALL, "use_bias": True}),
    ("exaone4", {**SMALL, "num_hidden_layers": 5}),
]
PLAIN_DEFAULTS = sorted(
    {model_type for model_type, _ in CASES}
    # classes without a default for the experts that a token takes, or whose own defaults do not build
    - {"deepseek_v2", "dbrx", "glm4_moe", "hunyuan_v1_dense", "hunyuan_v1_moe", "ministral", "nemotron"}
)


def build(model_type: str, values: dict[str, Any]) -> Any:
    """Build a model on the meta device."""
    config = transformers.AutoConfig.for_model(model_type, **values)
    kind = transformers.AutoModelForMaskedLM if model_type in ("bert", "roberta") else transformers.AutoModelForCausalLM
    if model_type == "mllama_text_model":
        with torch.device("meta"):
            return transformers.MllamaForCausalLM(config)
    with torch.device("meta"):
        return kind.from_config(config)


def count_of(model: Any) -> int:
    """Count the parameters of a module, tied ones once."""
    return sum(parameter.numel() for parameter in model.parameters())


def check_parts(config: dict[str, Any]) -> int:
    """Count with Suanpei, and check that the operators' parts sum to the whole."""
    architecture = parse_config(config, source="config.json", name="case")
    operators = build_operators(architecture)
    layers = sum(
        operators.kinds[kind].tensor_parameters
        + operators.kinds[kind].whole_parameters
        + operators.kinds[kind].expert_parameters
        for kind in operators.order
    )
    parts = layers + operators.embedding_parameters + operators.head_parameters + operators.final_parameters
    assert parts == architecture.total_parameters
    assert architecture.active_parameters <= architecture.total_parameters
    return architecture.total_parameters


@pytest.mark.parametrize(("model_type", "values"), CASES, ids=[f"{kind}-{n}" for n, (kind, _) in enumerate(CASES)])
def test_sizes_as_stated(model_type: str, values: dict[str, Any]) -> None:
    model = build(model_type, values)
    expected = count_of(model)
    assert check_parts({"model_type": model_type, **values}) == expected
    # the complete file that the library writes, every default spelled out
    written = json.loads(model.config.to_json_string(use_diff=False))
    assert check_parts(written) == expected
    # and the short one that it saves, which leaves out what equals a default
    assert check_parts(json.loads(model.config.to_json_string(use_diff=True))) == expected


@pytest.mark.parametrize("model_type", PLAIN_DEFAULTS)
def test_defaults_of_the_class(model_type: str) -> None:
    layers = "n_layer" if model_type in ("gpt2", "gptj", "bloom", "gpt_bigcode") else "num_hidden_layers"
    layers = "n_layers" if model_type in ("mpt", "dbrx") else layers
    values = {layers: 2} if model_type != "mllama_text_model" else {layers: 2, "cross_attention_layers": [1]}
    assert check_parts({"model_type": model_type, **values}) == count_of(build(model_type, values))


FIXTURES = sorted((Path(__file__).parents[2] / "data" / "config").glob("*.json"))
REMOTE = {"falcon_7b_refinedweb_mqa", "qwen_7b_v1_doubled_ffn", "llava_1_5_7b_sparse_text_config"}


@pytest.mark.parametrize("path", [path for path in FIXTURES if path.stem not in REMOTE], ids=lambda path: path.stem)
def test_real_models(path: Path) -> None:
    values = json.loads(path.read_text())
    model_type = values.pop("model_type")
    values.pop("quantization_config", None)
    values.pop("architectures")
    assert check_parts({"model_type": model_type, **values}) == count_of(build(model_type, values))


def test_llava_with_its_vision_tower() -> None:
    path = next(path for path in FIXTURES if path.stem.startswith("llava"))
    config = transformers.LlavaConfig(**json.loads(path.read_text()))
    with torch.device("meta"):
        model = transformers.LlavaForConditionalGeneration(config)
    architecture = parse_config(json.loads(path.read_text()), source=str(path), name="llava")
    assert architecture.parameters_with_companions == count_of(model)
