"""Reading configuration files: right values, several spellings, and every way in which a file can be wrong."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from suanpei.errors import InputError
from suanpei.job.architecture import count_block_parameters
from suanpei.job.hugging_face import identify_family, parse_config, read_hugging_face
from suanpei.job.storage import kv_cache_bytes_per_token, stored_weight_bytes

CONFIGS = Path(__file__).parents[2] / "data" / "config"
LLAMA: dict[str, Any] = {
    "model_type": "llama",
    "hidden_size": 64,
    "intermediate_size": 160,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "vocab_size": 100,
}


def parse(config: Any) -> Any:
    return parse_config(config, source="config.json", name="test")


@pytest.mark.parametrize(
    ("file", "parameters", "kv_bytes"),
    [
        ("gpt2_xl_n_embd", 1_557_611_200, 307_200),
        ("falcon_7b_refinedweb_mqa", 6_921_720_704, 8_192),
        ("bloom_7b1_n_embed", 7_069_016_064, 491_520),
        ("opt_6_7b_ffn_dim", 6_658_473_984, 524_288),
        ("mpt_7b_d_model", 6_649_286_656, 524_288),
        ("llama2_7b_no_kv_heads", 6_738_415_616, 524_288),
        ("llama3_1_70b_rope_llama3", 70_553_706_496, 327_680),
        ("mistral_nemo_12b_head_dim", 12_247_782_400, 163_840),
        ("gemma_7b_head_dim_tie_absent", 8_537_680_896, 458_752),
        ("mixtral_8x22b_head_dim_null", 140_630_071_296, 229_376),
        ("qwen3_30b_a3b_moe", 30_532_122_624, 98_304),
        # 61 layers of (512 + 64) elements; without the multi-token prediction layer and the routers' buffers
        ("deepseek_v3_mla_moe", 671_026_404_352, 70_272),
        ("llava_1_5_7b_sparse_text_config", 6_738_939_904, 524_288),
        ("qwen_7b_v1_doubled_ffn", 7_721_324_544, 524_288),
        ("llama3_70b_gptq_int4", 70_553_706_496, 327_680),
    ],
)
def test_published_models(file: str, parameters: int, kv_bytes: int) -> None:
    architecture = read_hugging_face(CONFIGS / f"{file}.json")
    assert architecture.total_parameters == parameters
    assert kv_cache_bytes_per_token(architecture) == kv_bytes


def test_active_parameters_of_mixtures() -> None:
    mixtral = read_hugging_face(CONFIGS / "mixtral_8x22b_head_dim_null.json")
    # 6 of 8 experts of 3 · 6144 · 16384 in each of 56 layers are idle
    assert mixtral.active_parameters == mixtral.total_parameters - 56 * 6 * 3 * 6144 * 16384 == 39_161_468_928
    assert mixtral.layers[0].attention.head_dim == 128
    assert read_hugging_face(CONFIGS / "qwen3_30b_a3b_moe.json").active_parameters == 3_353_032_704
    deepseek = read_hugging_face(CONFIGS / "deepseek_v3_mla_moe.json")
    assert deepseek.active_parameters == pytest.approx(37_552_297_472, rel=1e-6)
    assert [block.experts is None for block in deepseek.layers[:5]] == [True, True, True, False, False]
    assert deepseek.quantization is not None
    assert (deepseek.quantization.method, deepseek.quantization.bits) == ("fp8", 8)


def test_sparse_text_config_says_that_defaults_were_used() -> None:
    llava = read_hugging_face(CONFIGS / "llava_1_5_7b_sparse_text_config.json")
    note = next(note for note in llava.notes if "defaults of" in note.key)
    assert "hidden_size = 4096" in note.values["sizes"]
    assert [part.name for part in llava.companions] == ["clip_vision_model", "projector"]
    assert llava.parameters_with_companions == 7_063_427_072


def test_first_qwen_states_twice_the_inner_width() -> None:
    qwen = read_hugging_face(CONFIGS / "qwen_7b_v1_doubled_ffn.json")
    assert qwen.layers[0].mlp is not None
    assert qwen.layers[0].mlp.ffn == 11_008


def test_gptq_weights_take_4_156_bits() -> None:
    model = read_hugging_face(CONFIGS / "llama3_70b_gptq_int4.json")
    ends = 2 * 128_256 * 8192 + (2 * 80 + 1) * 8192
    expected = (model.total_parameters - ends) * (4 + 20 / 128) / 8 + 2 * ends
    assert stored_weight_bytes(model) == pytest.approx(expected, rel=1e-12)
    assert stored_weight_bytes(model) / 1e9 == pytest.approx(39.7678, rel=0.02)


@pytest.mark.parametrize(
    ("group", "bits"),
    [
        ({"quant_method": "awq", "bits": 4, "group_size": 64}, 4 + 20 / 64),
        ({"load_in_4bit": True, "bnb_4bit_use_double_quant": True}, 4 + 8 / 64 + 32 / (64 * 256)),
        ({"quant_method": "bitsandbytes", "load_in_8bit": True}, 8),
        ({"quant_method": "fp8", "weight_block_size": [128, 128]}, 8),
        (
            {
                "quant_method": "compressed-tensors",
                "config_groups": {"group_0": {"weights": {"num_bits": 4, "group_size": 32}}},
            },
            4 + 20 / 32,
        ),
    ],
)
def test_quantised_storage(group: dict[str, Any], bits: float) -> None:
    plain = parse(LLAMA)
    stored = parse({**LLAMA, "quantization_config": group})
    linears = 3 * (64 * 64 * 2 + 64 * 32 * 2 + 3 * 64 * 160)
    assert stored.total_parameters == plain.total_parameters
    assert stored_weight_bytes(plain) - stored_weight_bytes(stored) == pytest.approx(linears * (16 - bits) / 8)


def test_mxfp4_stores_the_experts_alone() -> None:
    config = {
        "model_type": "gpt_oss", "hidden_size": 64, "intermediate_size": 96, "num_hidden_layers": 2, "head_dim": 16,
        "num_attention_heads": 4, "num_key_value_heads": 2, "vocab_size": 100, "num_local_experts": 4,
        "quantization_config": {"quant_method": "mxfp4"},
    }  # fmt: skip
    stored = parse(config)
    plain = parse({**config, "quantization_config": None})
    experts = 2 * 4 * 3 * 64 * 96
    assert stored_weight_bytes(plain) - stored_weight_bytes(stored) == experts * (16 - 4 - 8 / 32) / 8


def test_one_size_under_many_names() -> None:
    gpt2 = parse({"model_type": "gpt2", "n_embd": 1024, "n_head": 16, "n_ctx": 1024, "n_inner": None})
    assert gpt2.layers[0].mlp.ffn == 4096
    assert gpt2.max_context == 1024
    family, spelled = identify_family(["n_embed", "n_layer", "num_attention_heads"])
    assert family == "bloom"
    assert spelled["hidden_size"] == "n_embed"
    assert spelled["num_attention_heads"] == "num_attention_heads"
    assert identify_family(["hidden_size", "num_hidden_layers"])[0] is None


def test_family_is_told_without_model_type() -> None:
    bloom = json.loads((CONFIGS / "bloom_7b1_n_embed.json").read_text())
    del bloom["model_type"]
    assert parse(bloom).total_parameters == 7_069_016_064
    del bloom["architectures"]
    assert parse(bloom).total_parameters == 7_069_016_064


def test_head_dim_beside_hidden_over_heads() -> None:
    config = {**LLAMA, "head_dim": 256, "hidden_size": 3584, "num_attention_heads": 16, "num_key_value_heads": 8}
    assert kv_cache_bytes_per_token(parse({**config, "num_hidden_layers": 1})) == 8_192


def test_flat_and_nested_multimodal_files_agree() -> None:
    sizes = {key: value for key, value in LLAMA.items() if key != "model_type"}
    tower = {"vision_config": {"depth": 32, "embed_dim": 1280}}
    flat = parse({"model_type": "qwen2_vl", **sizes, **tower, "vision_start_token_id": 5})
    nested = parse({"model_type": "qwen2_vl", "text_config": {**sizes, "model_type": "qwen2_vl_text"}, **tower})
    assert flat.total_parameters == nested.total_parameters
    assert flat.family == "qwen2"
    assert flat.parameters_with_companions is None


def test_heads_are_those_of_the_text_model() -> None:
    """A vision tower of 25 heads does not keep a language model of 64 from being cut in four."""
    text = {**LLAMA, "hidden_size": 128, "num_attention_heads": 64, "num_key_value_heads": 8}
    model = parse(
        {
            "model_type": "internvl_chat",
            "llm_config": text,
            "vision_config": {"model_type": "intern_vit_6b", "num_attention_heads": 25, "hidden_size": 3200},
        }
    )
    assert model.layers[0].attention.heads == 64
    assert [part.name for part in model.companions] == ["intern_vit_6b"]


def test_windows_follow_the_layer_types() -> None:
    kinds = ["sliding_attention", "full_attention", "sliding_attention"]
    gemma = parse({**LLAMA, "model_type": "gemma2", "sliding_window": 7, "layer_types": kinds})
    assert [block.attention.window for block in gemma.layers] == [7, None, 7]
    derived = parse({**LLAMA, "model_type": "gemma3_text", "sliding_window": 7, "num_hidden_layers": 7})
    assert [block.attention.window for block in derived.layers] == [7, 7, 7, 7, 7, None, 7]
    qwen = {**LLAMA, "model_type": "qwen2", "sliding_window": 7, "max_window_layers": 1}
    assert [block.attention.window for block in parse(qwen).layers] == [None, None, None]
    used = parse({**qwen, "use_sliding_window": True})
    assert [block.attention.window for block in used.layers] == [None, 7, 7]


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"hidden_size": 0}, "hidden_size"),
        ({"hidden_size": -64}, "hidden_size"),
        ({"hidden_size": "64"}, "hidden_size"),
        ({"hidden_size": 64.5}, "hidden_size"),
        ({"hidden_size": True}, "hidden_size"),
        ({"hidden_size": 10**12}, "hidden_size"),
        ({"num_hidden_layers": 10**6}, "num_hidden_layers"),
        ({"num_attention_heads": 7}, "num_attention_heads"),
        ({"num_key_value_heads": 3}, "num_key_value_heads"),
        ({"num_key_value_heads": 8}, "num_key_value_heads"),
        ({"tie_word_embeddings": "yes"}, "tie_word_embeddings"),
        ({"mystery_width": 12}, "mystery_width"),
        ({"use_mystery": True}, "use_mystery"),
        ({"mystery": {"depth": 3}}, "mystery"),
        ({"num_local_experts": 8}, "num_local_experts"),
        ({"is_encoder_decoder": True}, "is_encoder_decoder"),
        ({"n_embd": 128}, "n_embd"),
        ({"layer_types": ["full_attention"]}, "layer_types"),
        ({"layer_types": ["linear_attention"] * 3}, "layer_types"),
        ({"model_type": "mamba"}, "mamba"),
        ({"model_type": "qwen", "no_bias": False}, "no_bias"),
        ({"model_type": "mpt", "attn_config": {"alibi": False}}, "attn_config.alibi"),
        ({"model_type": "baichuan", "vocab_size": None}, "vocab_size"),
        ({"quantization_config": {"quant_method": "magic"}}, "quantization_config.bits"),
        ({"quantization_config": "int4"}, "quantization_config must be an object"),
        ({"model_type": "mixtral", "num_local_experts": 2, "num_experts_per_tok": 3}, "num_experts_per_tok"),
        ({"model_type": "qwen3_moe", "mlp_only_layers": "all"}, "mlp_only_layers"),
    ],
)
def test_wrong_fields_are_named(change: dict[str, Any], field: str) -> None:
    with pytest.raises(InputError) as caught:
        parse({**LLAMA, **change})
    assert field in str(caught.value)
    assert "config.json" in str(caught.value)
    assert caught.value.exit_code == 2


@pytest.mark.parametrize(
    "harmless",
    [
        {"rope_scaling": {"factor": 8.0, "rope_type": "llama3"}},
        {"rms_norm_eps": 1e-5, "initializer_range": 0.02, "attention_dropout": 0.0, "use_cache": True},
        {"bos_token_id": 1, "eos_token_id": [1, 2], "pretraining_tp": 1, "torch_dtype": "bfloat16"},
        {"_name_or_path": "x", "transformers_version": "4.40", "temperature": 0.7, "top_k": 5, "max_length": 20},
    ],
)
def test_harmless_fields_change_nothing(harmless: dict[str, Any]) -> None:
    assert parse({**LLAMA, **harmless}).total_parameters == parse(LLAMA).total_parameters


WRITTEN_IN_FULL: list[tuple[dict[str, Any], int]] = [
    (
        {
            "_name_or_path": "THUDM/chatglm3-6b", "model_type": "chatglm", "architectures": ["ChatGLMModel"],
            "add_bias_linear": False, "add_qkv_bias": True, "apply_query_key_layer_scaling": True,
            "apply_residual_connection_post_layernorm": False, "attention_dropout": 0.0,
            "attention_softmax_in_fp32": True, "bias_dropout_fusion": True, "ffn_hidden_size": 13696,
            "fp32_residual_connection": False, "hidden_dropout": 0.0, "hidden_size": 4096, "kv_channels": 128,
            "layernorm_epsilon": 1e-05, "multi_query_attention": True, "multi_query_group_num": 2,
            "num_attention_heads": 32, "num_layers": 28, "original_rope": True, "padded_vocab_size": 65024,
            "post_layer_norm": True, "rmsnorm": True, "seq_length": 8192, "use_cache": True, "torch_dtype": "float16",
            "tie_word_embeddings": False, "eos_token_id": 2, "pad_token_id": 0,
            "auto_map": {"AutoConfig": "configuration_chatglm.ChatGLMConfig"},
        },
        6_243_584_000,
    ),
    (
        {
            "model_type": "RefinedWeb", "alibi": False, "apply_residual_connection_post_layernorm": False,
            "attention_dropout": 0.0, "bias": False, "bos_token_id": 11, "hidden_dropout": 0.0, "hidden_size": 8192,
            "initializer_range": 0.02, "layer_norm_epsilon": 1e-05, "n_head": 128, "n_head_kv": 8, "n_layer": 60,
            "parallel_attn": True, "use_cache": True, "vocab_size": 65024,
        },
        41_303_293_952,
    ),
    (
        {
            "model_type": "bloom", "apply_residual_connection_post_layernorm": False, "attention_dropout": 0.0,
            "attention_softmax_in_fp32": True, "bias_dropout_fusion": True, "hidden_dropout": 0.0, "n_embed": 14336,
            "initializer_range": 0.02, "layer_norm_epsilon": 1e-05, "masked_softmax_fusion": True, "n_layer": 70,
            "num_attention_heads": 112, "offset_alibi": 100, "pretraining_tp": 4, "seq_length": 2048,
            "skip_bias_add": True, "skip_bias_add_qkv": False, "slow_but_exact": False, "unk_token_id": 0,
            "use_cache": True, "vocab_size": 250880, "n_inner": None,
        },
        176_247_271_424,
    ),
    (
        {
            "model_type": "mpt", "attn_config": {"alibi": True, "alibi_bias_max": 8, "attn_impl": "torch",
            "attn_pdrop": 0, "attn_type": "multihead_attention", "attn_uses_sequence_id": False, "clip_qkv": None,
            "prefix_lm": False, "qk_ln": False, "softmax_scale": None}, "d_model": 4096, "emb_pdrop": 0,
            "embedding_fraction": 1.0, "expansion_ratio": 4, "init_config": {"name": "kaiming_normal_", "verbose": 0},
            "init_device": "cpu", "learned_pos_emb": True, "logit_scale": None, "max_seq_len": 2048, "n_heads": 32,
            "n_layers": 32, "no_bias": True, "norm_type": "low_precision_layernorm", "resid_pdrop": 0, "verbose": 0,
            "tokenizer_name": "EleutherAI/gpt-neox-20b", "use_cache": False, "vocab_size": 50432,
        },
        6_649_286_656,
    ),
    (
        {
            "model_type": "hunyuan_v1_moe", "attention_bias": False, "attention_head_dim": 128, "cla_share_factor": 2,
            "class_num": 0, "group_limited_greedy": False, "hidden_size": 4096, "intermediate_size": 3072,
            "max_position_embeddings": 32768, "mlp_bias": False, "moe_drop_tokens": False, "kv_lora_rank": None,
            "moe_intermediate_size": [3072] * 32, "moe_layer_num_skipped": 0, "moe_topk": [8] * 32, "n_group": False,
            "num_attention_heads": 32, "num_experts": 64, "num_hidden_layers": 32, "num_key_value_heads": 8,
            "num_shared_expert": [1] * 32, "org_vocab_size": 128167, "routed_scaling_factor": False,
            "tie_word_embeddings": True, "topk_group": False, "use_cla": False, "use_mixed_mlp_moe": True,
            "use_qk_norm": True, "use_rotary_pos_emb": True, "vocab_size": 128167, "norm_topk_prob": True,
        },
        # 32 layers of 65 experts of 3 · 4096 · 3072, attention, norms, router; a tied embedding
        32 * (65 * 3 * 4096 * 3072 + 4096 * 4096 * 2 + 2 * 4096 * 1024 + 2 * 128 + 2 * 4096 + 64 * 4096)
        + 128167 * 4096 + 4096,
    ),
]  # fmt: skip


@pytest.mark.parametrize(("config", "parameters"), WRITTEN_IN_FULL, ids=lambda case: str(case)[:30])
def test_files_of_remote_code(config: dict[str, Any], parameters: int) -> None:
    """The complete files as published, with every field that their authors wrote."""
    assert parse(config).total_parameters == parameters


STRANGE: list[Any] = [None, 0, -1, 1.5, "x", True, [], {}, [1, 2], [[1]], {"a": 1}, 10**20, float("inf"), float("nan")]


@pytest.mark.parametrize("path", sorted(CONFIGS.glob("*.json")), ids=lambda path: path.stem)
def test_no_strange_value_breaks_the_reader(path: Path) -> None:
    config = json.loads(path.read_text(encoding="utf-8"))
    extra = ("text_config", "vision_config", "quantization_config", "attn_config", "layer_types", "model_type")
    changed = [{**config, key: value} for key in (*config, *extra, "dtype") for value in STRANGE]
    changed += [{"architectures": value, "hidden_size": 64} for value in STRANGE]
    for key, group in config.items():
        if isinstance(group, dict):
            changed += [{**config, key: {**group, name: value}} for name in group for value in STRANGE]
    refused = 0
    for one in changed:
        try:
            assert parse(one).total_parameters > 0
        except InputError as error:
            refused += 1
            assert "config.json" in str(error)
    assert refused > len(changed) / 10


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        '{"hidden_size": ' + "9" * 5000 + "}",
        '{"model_type": "llama", "hidden_size": 40',
        "[1, 2]",
        "null",
        "{}",
        "﻿",
    ],
)
def test_malformed_files(tmp_path: Path, text: str) -> None:
    file = tmp_path / "config.json"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=r"config\.json"):
        read_hugging_face(file)


def test_unreadable_files(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        read_hugging_face(tmp_path)
    binary = tmp_path / "config.json"
    binary.write_bytes(b"\xff\xfe\x00\x81")
    with pytest.raises(InputError, match="cannot be read"):
        read_hugging_face(tmp_path)


def test_folder_and_byte_order_mark(tmp_path: Path) -> None:
    folder = tmp_path / "我的模型"
    folder.mkdir()
    (folder / "config.json").write_text("\ufeff" + json.dumps(LLAMA), encoding="utf-8")
    architecture = read_hugging_face(folder)
    assert architecture.name == "我的模型"
    assert architecture.total_parameters == parse(LLAMA).total_parameters


sizes = st.fixed_dictionaries(
    {
        "kv": st.integers(1, 4),
        "group": st.integers(1, 4),
        "head_dim": st.integers(1, 8),
        "ffn": st.integers(1, 64),
        "layers": st.integers(1, 6),
        "vocab": st.integers(1, 200),
        "experts": st.integers(1, 6),
        "active": st.integers(1, 6),
        "tied": st.booleans(),
    }
)


def small(drawn: dict[str, Any], layers: int) -> dict[str, Any]:
    heads = drawn["kv"] * drawn["group"]
    return {
        "model_type": "mixtral",
        "hidden_size": heads * 8,
        "num_attention_heads": heads,
        "num_key_value_heads": drawn["kv"],
        "head_dim": drawn["head_dim"],
        "intermediate_size": drawn["ffn"],
        "num_hidden_layers": layers,
        "vocab_size": drawn["vocab"],
        "num_local_experts": drawn["experts"],
        "num_experts_per_tok": min(drawn["active"], drawn["experts"]),
        "tie_word_embeddings": drawn["tied"],
    }


@given(sizes)
def test_twice_the_layers_add_the_layers_parameters(drawn: dict[str, Any]) -> None:
    layers = drawn["layers"]
    once, twice = parse(small(drawn, layers)), parse(small(drawn, 2 * layers))
    added = layers * count_block_parameters(once.layers[0], once.hidden)
    assert twice.total_parameters - once.total_parameters == added


@given(sizes)
def test_active_parameters_never_exceed_all(drawn: dict[str, Any]) -> None:
    architecture = parse(small(drawn, drawn["layers"]))
    assert 0 < architecture.active_parameters <= architecture.total_parameters
    everything = drawn["active"] >= drawn["experts"]
    assert (architecture.active_parameters == architecture.total_parameters) == everything


@given(
    st.dictionaries(st.text(max_size=12), st.none() | st.booleans() | st.integers() | st.text(max_size=5), max_size=6)
)
def test_any_object_is_read_or_refused_with_one_line(extra: dict[str, Any]) -> None:
    try:
        architecture = parse({**LLAMA, **extra})
    except InputError as error:
        assert "config.json" in str(error)
    else:
        assert architecture.total_parameters > 0
