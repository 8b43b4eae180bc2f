"""The language model inside a multimodal configuration, and what stands beside it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from suanpei.job.architecture import Companion

if TYPE_CHECKING:
    from collections.abc import Mapping

NESTED = ("text_config", "llm_config", "language_config")
"""Groups that hold the language model."""

BESIDE = (
    "vision_config",
    "vision",
    "visual",
    "audio_config",
    "audio_encoder_config",
    "projector_config",
    "aligner_config",
)
"""Groups that hold something else."""

TEXT_TYPES: Mapping[str, str] = {
    "llava": "llama",
    "llava_next": "llama",
    "llava_llama": "llama",
    "vipllava": "llama",
    "mllama": "mllama_text_model",
    "gemma3": "gemma3_text",
    "paligemma": "gemma",
    "llama4": "llama4_text",
    "mistral3": "mistral",
    "idefics2": "mistral",
    "idefics3": "llama",
    "smolvlm": "llama",
    "qwen2_vl": "qwen2",
    "qwen2_vl_text": "qwen2",
    "qwen2_5_vl": "qwen2",
    "qwen2_5_vl_text": "qwen2",
    "qwen2_audio": "qwen2",
    "qwen3_vl": "qwen3",
    "qwen3_vl_text": "qwen3",
    "qwen3_vl_moe": "qwen3_moe",
    "qwen3_vl_moe_text": "qwen3_moe",
    "llava_onevision": "qwen2",
    "internvl": "qwen2",
    "internvl_chat": "internlm2",
}
"""The family of the language model where its group does not name one."""


def find_text(config: Mapping[str, Any]) -> tuple[dict[str, Any], tuple[Companion, ...]]:
    """Find the language model of a configuration.

    Args:
        config: The whole file. [-]

    Returns:
        Its own fields with `model_type` set, and the parts beside it (none for a plain language model).
    """
    outer_type = config.get("model_type")
    nested_key = next((key for key in NESTED if isinstance(config.get(key), dict)), None)
    if nested_key is None:
        if not isinstance(outer_type, str) or outer_type not in TEXT_TYPES:
            return dict(config), ()
        inner = {key: value for key, value in config.items() if key not in BESIDE}
    else:
        inner = dict(config[nested_key])
        for shared in ("tie_word_embeddings", "torch_dtype", "dtype", "vocab_size"):
            if shared in config and shared not in inner:
                inner[shared] = config[shared]
    inner_type = inner.get("model_type") or _type_from_class(inner) or outer_type
    inner["model_type"] = TEXT_TYPES.get(str(inner_type), inner_type)
    return inner, _companions(config, inner)


def _type_from_class(inner: Mapping[str, Any]) -> str | None:
    classes = inner.get("architectures") or []
    known = {"LlamaForCausalLM": "llama", "InternLM2ForCausalLM": "internlm2", "Qwen2ForCausalLM": "qwen2"}
    names = [name for name in classes if isinstance(name, str)] if isinstance(classes, list) else []
    return next((known[name] for name in names if name in known), None)


def _companions(config: Mapping[str, Any], inner: Mapping[str, Any]) -> tuple[Companion, ...]:
    parts: list[Companion] = []
    for key in BESIDE:
        group = config.get(key)
        if not isinstance(group, dict):
            continue
        name = str(group.get("model_type") or key.removesuffix("_config"))
        parts.append(Companion(name=name, parameters=count_vision_tower(group)))
    if str(config.get("model_type")) in ("llava", "llava_next", "vipllava") and parts:
        vision = config["vision_config"].get("hidden_size")
        hidden = inner.get("hidden_size", 4096)
        features = config.get("vision_feature_layer", -2)
        width = vision * (len(features) if isinstance(features, list) else 1) if isinstance(vision, int) else None
        known = width is not None and isinstance(hidden, int)
        # two products with biases around an activation
        projector = width * hidden + hidden + hidden * hidden + hidden if known and width is not None else None
        parts.append(Companion(name="projector", parameters=projector))
    return tuple(parts)


def count_vision_tower(group: Mapping[str, Any]) -> int | None:
    """Count the parameters of a CLIP vision tower. [-]

    Patches without bias, a class vector, positions for every patch and the class, a norm before and after, and
    transformer layers with biases (Radford et al., arXiv 2103.00020, as built by `transformers`).

    Args:
        group: The tower's fields. [-]

    Returns:
        The count; None for another kind of tower or missing sizes.
    """
    if group.get("model_type") != "clip_vision_model":
        return None
    keys = ("hidden_size", "intermediate_size", "num_hidden_layers", "image_size", "patch_size")
    values = [group.get(key) for key in keys]
    if not all(isinstance(value, int) and value > 0 for value in values):
        return None
    hidden, ffn, layers, image, patch = (int(value) for value in values if value is not None)
    positions = (image // patch) ** 2 + 1
    block = 4 * (hidden * hidden + hidden) + 2 * hidden * ffn + ffn + hidden + 4 * hidden
    embeddings = hidden + 3 * patch * patch * hidden + positions * hidden
    return embeddings + layers * block + 4 * hidden
