"""The verb ``models``, its JSON and its text in both languages."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from suanpei.errors import InputError
from suanpei.report.text.models import render_models
from suanpei.verbs.envelope import to_envelope
from suanpei.verbs.json_schema import build_schema
from suanpei.verbs.models import ModelsResult, describe_models

CONFIGS = Path(__file__).parents[1] / "data" / "config"


def text_of(result: ModelsResult, lang: str) -> str:
    console = Console(file=StringIO(), width=160, highlight=False)
    console.print(render_models(result, lang))  # type: ignore[arg-type]
    return console.file.getvalue()  # type: ignore[attr-defined]


def test_llama_3_8b() -> None:
    model = describe_models("llama-3-8b").model
    assert model is not None
    assert model.total_parameters == model.active_parameters == 8_030_261_248
    assert (model.layers, model.hidden, model.ffn, model.heads, model.kv_heads) == (32, 4096, 14336, 32, 8)
    assert (model.head_dim, model.vocab, model.tied_embeddings, model.max_context) == (128, 128_256, False, 8192)
    # products: all parameters but the input embedding and the norms, six FLOPs each; attention: 32 layers of 32 heads,
    # scores and weighted sum, 2 · 2 · 128 each for the mean of 4096.5 visible tokens, three passes
    products = 6 * (8_030_261_248 - 128_256 * 4096 - 65 * 4096)
    attention = 3 * 32 * 32 * 4 * 128 * 8193 / 2
    assert model.flops_per_token == pytest.approx(products + attention, rel=1e-3)
    assert model.state_bytes.full_mixed == 16 * 8_030_261_248
    assert model.state_bytes.full_pure == 8 * 8_030_261_248
    # adapters of rank 16: query 8192, key and value 5120 each, output 8192, three products of the MLP 18432 each
    adapters = 32 * 16 * (8192 + 2 * 5120 + 8192 + 3 * 18432)
    assert model.state_bytes.lora == pytest.approx(2 * 8_030_261_248 + 16 * adapters)
    linears = 32 * (4096 * 4096 * 2 + 2 * 4096 * 1024 + 3 * 4096 * 14336)
    base = 2 * (8_030_261_248 - linears) + linears * (0.5 + 1 / 64 + 4 / (64 * 256))
    assert model.state_bytes.qlora == pytest.approx(base + 16 * adapters)
    assert model.weight_bytes == 2 * 8_030_261_248
    assert model.kv_cache_bytes_per_token == 2 * 2 * 32 * 8 * 128
    assert model.experts is None


def test_flops_stop_at_8192_tokens() -> None:
    short, long = describe_models("llama-3-8b").model, describe_models("llama-3.1-8b").model
    assert short is not None
    assert long is not None
    assert long.flops_seq_len == 8192
    assert short.flops_per_token == long.flops_per_token


def test_mixture_of_experts() -> None:
    model = describe_models(str(CONFIGS / "deepseek_v3_mla_moe.json")).model
    assert model is not None
    assert model.experts is not None
    assert (model.experts.count, model.experts.active, model.experts.layers, model.experts.dense_layers) == (
        256,
        8,
        58,
        3,
    )
    assert model.is_latent
    assert model.full_tuning_possible
    mixtral = describe_models(str(CONFIGS / "mixtral_8x22b_head_dim_null.json")).model
    assert mixtral is not None
    assert mixtral.state_bytes.full_mixed / 1e12 == pytest.approx(2.25008, rel=1e-4)
    assert mixtral.ffn is None


def test_quantised_checkpoint() -> None:
    model = describe_models(str(CONFIGS / "llama3_70b_gptq_int4.json")).model
    assert model is not None
    assert not model.full_tuning_possible
    assert model.weight_bytes / 1e9 == pytest.approx(39.7678, rel=0.005)


def test_json_keys() -> None:
    envelope = to_envelope(describe_models("qwen3-30b-a3b"))
    assert json.loads(json.dumps(envelope))["model"]["experts"]["count"] == 128
    wanted = {
        "name", "total_parameters", "active_parameters", "layers", "hidden", "ffn", "heads", "kv_heads", "head_dim",
        "vocab", "tied_embeddings", "experts", "flops_per_token", "state_bytes",
    }  # fmt: skip
    assert wanted <= envelope["model"].keys()
    assert envelope["request"] == {"model": "qwen3-30b-a3b", "catalog": None}
    assert build_schema(ModelsResult, "suanpei models")["properties"]["model"]


def test_list_holds_every_model() -> None:
    result = describe_models()
    assert len(result.models) >= 139
    assert len(result.vision_models) >= 22
    text = text_of(result, "zh")
    assert "Megatron-1T" in text
    assert "FLUX.1-dev" in text
    assert "全量微调" in text


def test_vision_model_by_name() -> None:
    result = describe_models("vit-b/16")
    assert result.model is None
    assert result.vision_model is not None
    assert result.vision_model.state_bytes == 16 * 86.568e6
    assert "105 GFLOP" in text_of(result, "en")
    assert "–" in text_of(describe_models("FLUX.1-dev"), "zh")


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize(
    "model", ["deepseek-v3", "llava_1_5_7b_sparse_text_config.json", "llama3_70b_gptq_int4.json", "7B"]
)
def test_text(model: str, lang: str) -> None:
    result = describe_models(str(CONFIGS / model) if model.endswith("json") else model)
    text = text_of(result, lang)
    assert result.model is not None
    assert f"{result.model.total_parameters:,}" in text
    assert ("参数量" in text) == (lang == "zh")
    assert ("Parameters" in text) == (lang == "en")
    if "llava" in model:
        assert "303,507,456" in text
    if "gptq" in model:
        assert ("只能在其上训练适配器" if lang == "zh" else "only adapters") in text


def test_unknown_model() -> None:
    with pytest.raises(InputError):
        describe_models("no such model")
    with pytest.raises(InputError):
        describe_models("llama-3-8b", catalog=Path("/nonexistent"))
