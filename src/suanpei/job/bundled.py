"""The bundled models, and the one door for whatever a user calls MODEL.

A row of the catalogue is turned into the fields of its family's `config.json` and read like any other, so a bundled
model and the same model's own file give the same architecture.
"""

from __future__ import annotations

import contextlib
import csv
import io
import re
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from suanpei.errors import InputError
from suanpei.job.hugging_face import parse_config, read_hugging_face
from suanpei.job.names import find_name, normalise
from suanpei.job.safetensors import read_safetensors
from suanpei.job.typical import build_typical, refuse_mixture
from suanpei.messages import Message
from suanpei.quantities import parse_parameters

if TYPE_CHECKING:
    from collections.abc import Iterable

    from suanpei.job.architecture import Architecture


class CatalogueRow(Protocol):
    """A row of a catalogue's table."""

    @property
    def cells(self) -> Mapping[str, str]:
        """Text by column."""


MODEL_TYPES: Mapping[str, str] = {
    "llama": "llama", "llama4": "llama4_text", "qwen1.5": "qwen2", "qwen2": "qwen2", "qwen2.5": "qwen2",
    "qwen3": "qwen3", "qwen1.5-moe": "qwen2_moe", "qwen2-moe": "qwen2_moe", "qwen3-moe": "qwen3_moe",
    "deepseek": "llama", "deepseek-moe": "deepseek", "deepseek-v2": "deepseek_v2", "deepseek-v3": "deepseek_v3",
    "kimi": "kimi_k2", "mistral": "mistral", "mixtral": "mixtral", "gemma": "gemma", "gemma2": "gemma2",
    "gemma3": "gemma3_text", "phi": "phi", "phi3": "phi3", "phi4": "phi3", "phi3.5-moe": "phimoe", "yi": "Yi",
    "baichuan": "baichuan", "glm4-moe": "glm4_moe", "internlm2": "internlm2", "gpt2": "gpt2", "gpt3": "gpt2",
    "megatron": "gpt2", "gptj": "gptj", "gpt-neox": "gpt_neox", "opt": "opt", "bloom": "bloom", "falcon": "falcon",
    "mpt": "mpt", "olmo2": "olmo2", "starcoder": "gpt_bigcode", "starcoder2": "starcoder2", "gpt-oss": "gpt_oss",
    "minicpm": "minicpm", "hunyuan": "hunyuan_v1_moe", "dbrx": "dbrx", "grok": "grok-1", "cohere": "cohere",
    "nemotron": "nemotron", "seed": "seed_oss", "minimax": "minimax", "bert": "bert", "glm": "chatglm",
}  # fmt: skip
"""The family of a catalogue row as a `model_type`."""

BARE_SIZE = re.compile(r"\s*[-+]?[\d０-９]")


def load_bundled(rows: Iterable[CatalogueRow | Mapping[str, str]] | None = None) -> tuple[Architecture, ...]:
    """Give every model of the catalogue.

    Args:
        rows: Rows of ``models.csv``; None reads the bundled file. [-]

    Raises:
        InputError: A row of the user's own has an unknown family or an impossible size.
    """
    return tuple(build_row(_cells(row)) for row in (load_rows("models") if rows is None else rows))


def _cells(row: CatalogueRow | Mapping[str, str]) -> Mapping[str, str]:
    return row if isinstance(row, Mapping) else row.cells


@cache
def load_rows(table: str) -> tuple[Mapping[str, str], ...]:
    """Read a bundled table of the catalogue.

    Args:
        table: Its name without ending. [-]
    """
    text = resources.files("suanpei").joinpath("catalog", f"{table}.csv").read_text(encoding="utf-8-sig")
    return tuple(csv.DictReader(io.StringIO(text)))


def build_row(row: Mapping[str, str]) -> Architecture:
    """Turn a row of ``models.csv`` into an architecture.

    Raises:
        InputError: the family is unknown or a size is missing or impossible.
    """
    name = row.get("name", "")
    architecture = parse_config(_row_config(row), source=f"models.csv: {name}", name=name)
    return replace(architecture, family=row["family"], source=row.get("source", ""))


def _row_config(row: Mapping[str, str]) -> dict[str, Any]:
    family = row.get("family", "")
    if family not in MODEL_TYPES:
        raise InputError(
            Message(
                "models.csv: {name} has the unknown family {family}; it takes {known}",
                name=row.get("name", ""),
                family=family,
                known=", ".join(MODEL_TYPES),
            )
        )
    model_type = "glm4" if family == "glm" and row["qkv_bias"] == "none" else MODEL_TYPES[family]
    if row.get("mla_kv_lora") and family == "minicpm":
        model_type = "minicpm3"
    config: dict[str, Any] = {
        "model_type": model_type,
        "num_hidden_layers": _number(row, "layers"),
        "hidden_size": _number(row, "hidden"),
        "intermediate_size": _number(row, "ffn"),
        "num_attention_heads": _number(row, "heads"),
        "vocab_size": _number(row, "vocab"),
        "max_position_embeddings": _number(row, "max_context"),
        "tie_word_embeddings": row["tied_embeddings"] == "1",
    }
    if row["heads"] != row["kv_heads"]:
        config["num_key_value_heads"] = _number(row, "kv_heads")
    elif model_type != "bert":
        config["num_key_value_heads"] = None
    if row.get("mla_kv_lora"):
        config |= _latent_fields(row)
    elif int(row["heads"]) * int(row["head_dim"]) != int(row["hidden"]):
        config["head_dim"] = int(row["head_dim"])
    window = re.match(r"\d+", row.get("sliding_window", ""))
    if window:
        config["sliding_window"] = int(window.group())
    elif model_type == "mistral":
        config["sliding_window"] = None
    if row.get("moe_experts"):
        config |= _expert_fields(row, model_type)
    return config | _family_fields(row, model_type)


def _number(row: Mapping[str, str], column: str) -> int | None:
    text = row.get(column, "")
    try:
        return int(text) if text else None
    except ValueError:
        raise InputError(
            Message(
                "models.csv: {name}: {column} must be a whole number, got {given}",
                name=row.get("name", ""),
                column=column,
                given=text,
            )
        ) from None


def _latent_fields(row: Mapping[str, str]) -> dict[str, Any]:
    return {
        "q_lora_rank": _number(row, "mla_q_lora"),
        "kv_lora_rank": _number(row, "mla_kv_lora"),
        "qk_nope_head_dim": _number(row, "mla_qk_nope"),
        "qk_rope_head_dim": _number(row, "mla_qk_rope"),
        "v_head_dim": _number(row, "mla_v_dim"),
    }


def _expert_fields(row: Mapping[str, str], model_type: str) -> dict[str, Any]:
    fields: dict[str, Any] = {
        "num_experts": _number(row, "moe_experts"),
        "num_experts_per_tok": _number(row, "moe_topk"),
    }
    expert_ffn = _number(row, "moe_ffn")
    if model_type == "llama4_text":
        return fields | {
            "intermediate_size": expert_ffn,
            "intermediate_size_mlp": _number(row, "ffn"),
            "interleave_moe_layer_step": _number(row, "moe_layer_freq"),
        }
    if model_type in ("qwen2_moe", "qwen3_moe"):
        fields["moe_intermediate_size"] = expert_ffn
        if model_type == "qwen2_moe":
            fields["shared_expert_intermediate_size"] = _number(row, "shared_ffn_total")
    elif model_type in ("deepseek", "deepseek_v2", "deepseek_v3", "kimi_k2", "glm4_moe"):
        fields["moe_intermediate_size"] = expert_ffn
        fields["n_shared_experts"] = _number(row, "moe_shared") or 0
        fields["first_k_dense_replace"] = _number(row, "first_dense_layers") or 0
        fields["moe_layer_freq"] = _number(row, "moe_layer_freq") or 1
    else:
        fields["intermediate_size"] = expert_ffn
    return fields


def _family_fields(row: Mapping[str, str], model_type: str) -> dict[str, Any]:
    """Give what a family's file says beside the sizes."""
    has_qkv_bias = row["qkv_bias"] in ("qkv", "qkvo", "all")
    kv_heads = int(row["kv_heads"])
    special: Mapping[str, dict[str, Any]] = {
        "falcon": {"multi_query": kv_heads == 1, "new_decoder_architecture": kv_heads > 1},
        "chatglm": {
            "multi_query_attention": row["heads"] != row["kv_heads"],
            "multi_query_group_num": kv_heads,
            "add_qkv_bias": has_qkv_bias,
        },
        "gpt_bigcode": {"multi_query": kv_heads == 1},
        "glm4": {"attention_bias": has_qkv_bias},
        "glm4_moe": {"attention_bias": has_qkv_bias},
        "phimoe": {"attention_bias": has_qkv_bias, "lm_head_bias": has_qkv_bias},
    }
    if model_type == "minimax":
        # one full attention after seven linear ones, MiniMax-01, arXiv 2501.08313, section 2
        return {"attn_type_list": [int((index + 1) % 8 == 0) for index in range(int(row["layers"]))]}
    return special.get(model_type, {})


def load_model(rows: Iterable[CatalogueRow | Mapping[str, str]], text: str) -> Architecture:
    """Find or read the model that a user means.

    Args:
        rows: Rows of ``models.csv``, the user's own overlaid. [-]
        text: A bundled name as people write it, a path to a `config.json`, its folder or `.safetensors` files, or a
            bare size such as ``7B`` or ``70亿``. [-]

    Raises:
        InputError: nothing, or more than one model, is meant; or the file is not understood.
    """
    wanted = text.strip()
    if not wanted:
        raise InputError(Message("MODEL is empty; give a name, a path or a size such as 7B"))
    from_path = _load_path(wanted)
    if from_path is not None:
        return from_path
    if BARE_SIZE.match(wanted):
        refuse_mixture(wanted)
        return build_typical(parse_parameters(wanted, "MODEL"))
    by_name = {cells["name"]: cells for cells in map(_cells, rows)}
    aliases = {row["alias"]: row for row in load_rows("model_aliases")}
    found = find_name(wanted, tuple(by_name), aliases, kind="model")
    alias = aliases.get(found)
    architecture = build_row(by_name[alias["name"] if alias else found])
    if normalise(wanted) != normalise(found):
        note = Message("model {given} is read as {name}", given=wanted, name=found)
        architecture = replace(architecture, notes=(*architecture.notes, note))
    if alias is None:
        return architecture
    context = int(alias["max_context"]) if alias["max_context"] else architecture.max_context
    note = Message("{given} has the shape of {name} in the catalogue", given=found, name=architecture.name)
    return replace(architecture, name=found, max_context=context, notes=(*architecture.notes, note))


def _load_path(text: str) -> Architecture | None:
    """Read the model where the text names a file or folder; None where it is a name."""
    path = Path(text)
    with contextlib.suppress(RuntimeError):  # nobody of that name
        path = path.expanduser()
    is_pathlike = text.startswith((".", "/", "~")) or path.suffix in (".json", ".safetensors") or "\\" in text
    try:
        is_file, is_folder = path.is_file(), path.is_dir()
    except (OSError, ValueError):
        is_file = is_folder = False
    if is_file and path.suffix == ".safetensors":
        return read_safetensors(path)
    if is_file and (path.suffix == ".json" or is_pathlike):
        if path.name.endswith(".safetensors.index.json"):
            return read_safetensors(path.parent)
        return read_hugging_face(path)
    if is_folder and (path / "config.json").is_file():
        return read_hugging_face(path)
    if is_folder and any(path.glob("*.safetensors")):
        return read_safetensors(path)
    if is_folder and is_pathlike:
        raise InputError(
            Message("{path} holds neither a config.json nor .safetensors files; give a model's folder", path=text)
        )
    if is_pathlike:
        raise InputError(
            Message("{path} does not exist; give a config.json, its folder, or the name of a model", path=text)
        )
    return None
