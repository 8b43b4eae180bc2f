"""The bundled models, and what a user may call MODEL."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from suanpei.errors import InputError
from suanpei.job.bundled import load_bundled, load_model, load_rows
from suanpei.job.operators import build_operators
from suanpei.job.typical import LEAST_PARAMETERS, MOST_PARAMETERS, build_typical

if TYPE_CHECKING:
    from pathlib import Path

    from suanpei.job.architecture import Architecture

ROWS = load_rows("models")
MODELS = {model.name: model for model in load_bundled()}


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["name"])
def test_counts_agree_with_the_catalogue(row: dict[str, str]) -> None:
    model = MODELS[row["name"]]
    # within 0.05 % of the columns' plain formula; BERT has its head, MiniMax its linear layers (456.0B published)
    margin = {"BERT-Large": 0.004, "MiniMax-Text-01": 0.022, "Hunyuan-Large": 0.001}.get(model.name, 0.0005)
    assert model.total_parameters == pytest.approx(float(row["computed_total_b"]) * 1e9, rel=margin)
    assert model.total_parameters == pytest.approx(float(row["total_params_b"]) * 1e9, rel=0.015)
    if model.name != "MiniMax-Text-01":
        assert model.active_parameters == pytest.approx(float(row["computed_active_b"]) * 1e9, rel=0.006)


def test_minimax_counts_its_linear_layers() -> None:
    model = MODELS["MiniMax-Text-01"]
    assert model.total_parameters == pytest.approx(456.0e9, rel=0.001)
    # 45.9B are published without the two embedding matrices
    assert model.active_parameters - 2 * 200_064 * 6144 == pytest.approx(45.9e9, rel=0.002)
    assert sum(block.attention.output_gate for block in model.layers) == 70


@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS.keys())
def test_parts_of_the_operators_sum_to_the_model(model: Architecture) -> None:
    operators = build_operators(model)
    layers = sum(
        operators.kinds[kind].tensor_parameters
        + operators.kinds[kind].whole_parameters
        + operators.kinds[kind].expert_parameters
        for kind in operators.order
    )
    ends = operators.embedding_parameters + operators.head_parameters + operators.final_parameters
    assert layers + ends == model.total_parameters
    assert 0 < model.active_parameters <= model.total_parameters
    assert all(min(k.tensor_parameters, k.whole_parameters, k.expert_parameters) >= 0 for k in operators.kinds)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("llama-3-8b", "Llama-3-8B"),
        ("Llama 3 8B", "Llama-3-8B"),
        ("llama3_8b", "Llama-3-8B"),
        ("meta-llama/Meta-Llama-3-8B", "Llama-3-8B"),
        ("meta-llama/Meta-Llama-3-8B-Instruct", "Llama-3-8B"),
        ("Llama-3.1-8B", "Llama-3.1-8B"),
        ("qwen2.5-7b", "Qwen2.5-7B"),
        ("Qwen/Qwen2.5-7B-Instruct", "Qwen2.5-7B"),
        ("通义千问2.5-7B", "Qwen2.5-7B"),
        ("DeepSeek V3", "DeepSeek-V3"),
        ("deepseek-r1", "DeepSeek-R1"),
        ("ｑｗｅｎ３－８ｂ", "Qwen3-8B"),
        ("mixtral 8x7b", "Mixtral-8x7B"),
        ("gpt-oss-20b", "gpt-oss-20b"),
        ("mistral-7b", "Mistral-7B"),
    ],
)
def test_names_as_people_write_them(text: str, name: str) -> None:
    assert load_model(ROWS, text).name == name


def test_every_bundled_name_means_itself() -> None:
    for name, model in MODELS.items():
        assert load_model(ROWS, name).layers == model.layers


def test_every_alias_names_a_model() -> None:
    for row in load_rows("model_aliases"):
        assert row["name"] in MODELS
        assert load_model(ROWS, row["alias"]).total_parameters == MODELS[row["name"]].total_parameters
    assert load_model(ROWS, "llama-3.1-8b").max_context == 131_072


def test_another_reading_of_a_name_is_said() -> None:
    model = load_model(ROWS, "Qwen/Qwen2.5-7B-Instruct")
    assert any("is read as" in note.key for note in model.notes)
    assert not load_model(ROWS, "qwen2.5-7b").notes


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("", "empty"),
        ("llama", "Llama-3.1-8B"),
        ("gpt-oss", "gpt-oss-20b, gpt-oss-120b"),
        ("llamma-3-8b", "Llama-3-8B"),
        ("no such model at all", "not in the catalogue"),
        ("30B-A3B", "mixture of experts"),
        ("8x7B", "mixture of experts"),
        ("0B", "above zero"),
        ("-7B", "above zero"),
        ("7", "no unit"),
        ("5000T", "2T"),
        ("1M", "20M"),
        ("./missing/config.json", "does not exist"),
        ("missing.json", "does not exist"),
    ],
)
def test_unknown_or_ambiguous_models(text: str, part: str) -> None:
    with pytest.raises(InputError) as caught:
        load_model(ROWS, text)
    assert part in str(caught.value)


def test_paths(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text(json.dumps({"model_type": "gpt2"}))
    assert load_model(ROWS, str(tmp_path)).total_parameters == 124_439_808
    assert load_model(ROWS, str(tmp_path / "config.json")).total_parameters == 124_439_808
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match=r"neither a config\.json nor"):
        load_model(ROWS, str(tmp_path / "empty"))


def test_rows_of_the_user() -> None:
    row = dict(next(row for row in ROWS if row["name"] == "Llama-3-8B"))
    own = {**row, "name": "House-1", "layers": "2"}
    model = load_model([own], "house-1")
    assert model.layer_count == 2
    with pytest.raises(InputError, match="unknown family"):
        load_model([{**own, "family": "novel"}], "house-1")
    with pytest.raises(InputError, match="layers"):
        load_model([{**own, "layers": "two"}], "house-1")


@given(st.floats(LEAST_PARAMETERS, MOST_PARAMETERS) | st.sampled_from([0.5e9, 1e9, 3e9, 7e9, 13e9, 34e9, 70e9, 175e9]))
def test_typical_model_has_the_size_asked_for(parameters: float) -> None:
    model = build_typical(parameters)
    assert model.total_parameters == pytest.approx(parameters, rel=0.03)
    assert model.hidden % model.layers[0].attention.heads == 0
    assert model.max_context == 8192


def test_bare_sizes() -> None:
    assert load_model(ROWS, "7B").total_parameters == load_model(ROWS, "70亿").total_parameters
    model = load_model(ROWS, "70B")
    assert (model.layer_count, model.hidden) == (80, 8192)
    assert "typical" in model.notes[0].key
