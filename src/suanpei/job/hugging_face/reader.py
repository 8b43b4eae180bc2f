"""Read a Hugging Face `config.json` into an architecture."""

from __future__ import annotations

import difflib
import json
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from suanpei.errors import InputError
from suanpei.job.hugging_face.decoder import build_decoder
from suanpei.job.hugging_face.dense import DENSE
from suanpei.job.hugging_face.fields import SPELLINGS, Fields, find_spelling
from suanpei.job.hugging_face.harmless import HARMLESS
from suanpei.job.hugging_face.multimodal import find_text
from suanpei.job.hugging_face.quantization import read_quantization, read_stored_bits
from suanpei.job.hugging_face.sparse import SPARSE
from suanpei.job.hugging_face.special import (
    build_bert,
    build_chatglm,
    build_falcon,
    build_gpt_bigcode,
    build_minimax,
    build_mllama,
    build_mpt,
    build_opt,
    build_roberta,
)
from suanpei.messages import Message

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from pathlib import Path

    from suanpei.job.architecture import Architecture
    from suanpei.job.hugging_face.style import Style

    Builder = Callable[[Fields, str], Architecture]


def _build_with_style(fields: Fields, name: str, *, style: Style) -> Architecture:
    return build_decoder(fields, style, name)


BUILDERS: Mapping[str, Builder] = {
    **{key: partial(_build_with_style, style=style) for key, style in {**DENSE, **SPARSE}.items()},
    "falcon": build_falcon,
    "RefinedWeb": build_falcon,
    "RefinedWebModel": build_falcon,
    "mpt": build_mpt,
    "opt": build_opt,
    "chatglm": build_chatglm,
    "gpt_bigcode": build_gpt_bigcode,
    "minimax": build_minimax,
    "minimax_text_01": build_minimax,
    "mllama_text_model": build_mllama,
    "bert": build_bert,
    "roberta": build_roberta,
}
"""What builds each `model_type`."""

_CLASSES: Mapping[str, str] = {
    "LlamaForCausalLM": "llama",
    "LLaMAForCausalLM": "llama",
    "MistralForCausalLM": "mistral",
    "MixtralForCausalLM": "mixtral",
    "GPT2LMHeadModel": "gpt2",
    "OPTForCausalLM": "opt",
    "BloomForCausalLM": "bloom",
    "RWForCausalLM": "RefinedWebModel",
    "FalconForCausalLM": "falcon",
    "MPTForCausalLM": "mpt",
    "QWenLMHeadModel": "qwen",
    "BaiChuanForCausalLM": "baichuan",
    "BaichuanForCausalLM": "baichuan",
    "ChatGLMModel": "chatglm",
}
"""The family by model class, for files without a `model_type`."""

_SIGNS: tuple[tuple[frozenset[str], str], ...] = (
    (frozenset({"n_embed", "n_layer"}), "bloom"),
    (frozenset({"d_model", "n_heads", "n_layers"}), "mpt"),
    (frozenset({"ffn_dim", "num_hidden_layers"}), "opt"),
    (frozenset({"n_head", "multi_query", "hidden_size"}), "RefinedWebModel"),
    (frozenset({"n_embd", "n_layer", "n_head"}), "gpt2"),
)
"""Spellings that only one of the old families uses, the surest first."""


def identify_family(keys: Iterable[str]) -> tuple[str | None, dict[str, str]]:
    """Tell the family of a file without a `model_type` by the spelling of its fields.

    Args:
        keys: The fields of the file. [-]

    Returns:
        The `model_type` (None where the spelling fits several families), and how the file spells each size.
    """
    present = set(keys)
    spelled = {canonical: find_spelling(present, canonical) for canonical in SPELLINGS}
    family = next((family for signs, family in _SIGNS if signs <= present), None)
    return family, {canonical: spelling for canonical, spelling in spelled.items() if spelling is not None}


def read_hugging_face(path: Path) -> Architecture:
    """Read a `config.json` or the folder that holds one.

    Args:
        path: The file or its folder. [-]

    Raises:
        InputError: the file cannot be read, is no JSON object, or describes a model that is not understood; the
            message names file and field.
    """
    file = path / "config.json" if path.is_dir() else path
    try:
        text = file.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(
            Message(
                "{source} cannot be read ({reason}); give a config.json or the folder that holds it",
                source=str(file),
                reason=getattr(error, "strerror", None) or "not UTF-8 text",
            )
        ) from None
    try:
        config = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(
            Message(
                "{source} is not valid JSON at line {line}: the file is malformed or cut off; download it again",
                source=str(file),
                line=getattr(error, "lineno", 1),
            )
        ) from None
    name = file.resolve().parent.name if file.name == "config.json" else file.stem
    return parse_config(config, source=str(file), name=name)


def parse_config(config: Any, *, source: str, name: str) -> Architecture:
    """Turn the fields of a `config.json` into an architecture.

    For a multimodal configuration it is the language model; the parts beside it are named in `companions`.

    Args:
        config: The parsed file. [-]
        source: Where it was read, for messages. [-]
        name: What to call the model. [-]

    Raises:
        InputError: the family is unknown, a size is missing or impossible, or a field that may change sizes or FLOPs is
            not understood.
    """
    if not isinstance(config, dict) or not config:
        raise InputError(
            Message(
                "{source} holds no configuration: a JSON object with model_type and sizes is expected", source=source
            )
        )
    inner, companions = find_text(config)
    model_type = _find_type(inner, source)
    fields = Fields(_flatten(inner), source)
    fields.see("quantization_config", "compression_config")
    fields.require("is_encoder_decoder", wanted=False)
    fields.require("add_cross_attention", wanted=False)
    architecture = BUILDERS[model_type](fields, name)
    _refuse_unknown(fields, model_type, skip_media=inner is not config and bool(companions))
    notes = [*architecture.notes]
    if fields.defaulted:
        notes.append(
            Message(
                "{source} leaves out sizes; the defaults of {family} were used: {sizes}",
                source=source,
                family=model_type,
                sizes=", ".join(f"{key} = {value}" for key, value in sorted(fields.defaulted.items())),
            )
        )
    notes += [
        Message("{source}: {part} is not part of the language model and is not planned", source=source, part=part.name)
        for part in companions
    ]
    return replace(
        architecture,
        quantization=read_quantization(config, source) or read_quantization(inner, source),
        stored_bits=read_stored_bits({**config, **inner}),
        companions=companions,
        notes=tuple(notes),
    )


def _find_type(config: Mapping[str, Any], source: str) -> str:
    model_type = config.get("model_type")
    if not model_type:
        classes = config.get("architectures")
        names = [name for name in classes if isinstance(name, str)] if isinstance(classes, list) else []
        model_type = next((_CLASSES[name] for name in names if name in _CLASSES), None) or identify_family(config)[0]
        if model_type is None:
            raise InputError(
                Message(
                    "{source}: model_type is missing, and the spelling of the fields fits no single family; add it",
                    source=source,
                )
            )
    if str(model_type) not in BUILDERS:
        near = difflib.get_close_matches(str(model_type), BUILDERS, n=3, cutoff=0.6)
        raise InputError(
            Message(
                "{source}: model_type {given} is not known (nearest: {nearest}); plan with a model of the same shape, "
                "or with a bare size such as 7B",
                source=source,
                given=repr(model_type),
                nearest=", ".join(near),
            )
            if near
            else Message(
                "{source}: model_type {given} is not known; plan with a model of the same shape, or with a bare size "
                "such as 7B",
                source=source,
                given=repr(model_type),
            )
        )
    return str(model_type)


def _flatten(config: Mapping[str, Any]) -> dict[str, Any]:
    """Bring the fields of nested groups that hold sizes up, under dotted names."""
    flat: dict[str, Any] = {}
    for key, value in config.items():
        if key in ("attn_config", "ffn_config") and isinstance(value, dict):
            flat |= {f"{key}.{inner}": inner_value for inner, inner_value in value.items()}
        else:
            flat[key] = value
    return flat


def _refuse_unknown(fields: Fields, model_type: str, *, skip_media: bool) -> None:
    unknown = fields.unknown(HARMLESS)
    if skip_media:
        unknown = [key for key in unknown if not key.startswith(("vision_", "image_", "video_", "audio_", "mm_"))]
    if unknown:
        raise InputError(
            Message(
                "{source}: {field} is not understood for {family} and may change sizes or FLOPs; if not, remove it",
                source=fields.source,
                field=", ".join(unknown),
                family=model_type,
            )
        )
