"""The experts of a mixture, under the several names that files give them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from suanpei.errors import InputError
from suanpei.job.architecture import Experts
from suanpei.job.hugging_face.sizes import count
from suanpei.messages import Message

if TYPE_CHECKING:
    from suanpei.job.hugging_face.fields import Fields
    from suanpei.job.hugging_face.style import ExpertStyle, Style


def find_expert_layers(fields: Fields, style: Style, experts: ExpertStyle, layers: int) -> list[bool]:
    """Tell for each layer whether it holds experts. [-]"""
    if experts.layers == "first_dense":
        first = fields.count("first_k_dense_replace", style.defaults.get("first_k_dense_replace", 0), least=0)
        frequency = fields.optional_count("moe_layer_freq") or 1
        return [index >= first and index % frequency == 0 for index in range(layers)]
    if experts.layers == "step":
        step = fields.optional_count("decoder_sparse_step") or 1
        dense = fields.indices("mlp_only_layers")
        return [(index + 1) % step == 0 and index not in dense for index in range(layers)]
    if experts.layers == "interleave":
        step = fields.optional_count("interleave_moe_layer_step") or 1
        if "moe_layers" in fields:
            chosen = fields.indices("moe_layers")
            return [index in chosen for index in range(layers)]
        return [(index + 1) % step == 0 for index in range(layers)]
    if experts.layers == "range":
        start = fields.optional_count("moe_layer_start_index", least=0) or 0
        end = fields.optional_count("moe_layer_end_index", least=-1)
        last = layers - 1 if end is None or end < 0 else end
        interval = fields.optional_count("moe_layer_interval") or 1
        return [(index + 1) % interval == 0 and start <= index <= last for index in range(layers)]
    return [True] * layers


def read_experts(fields: Fields, style: Style, dense_ffn: int) -> Experts | None:
    """Describe the experts of one layer, None where the file has none."""
    experts = style.experts
    if experts is None:
        return None
    if experts.optional and "num_experts" not in fields:
        return None
    number = count(fields, style, "num_experts")
    if experts.optional and number <= 1:
        return None
    active = count(fields, style, "num_experts_per_tok")
    if active > number:
        raise InputError(
            Message(
                "{source}: num_experts_per_tok = {active} is more than the {number} experts of a layer",
                source=fields.source,
                active=active,
                number=number,
            )
        )
    ffn = count(fields, style, "moe_intermediate_size") if experts.own_width else dense_ffn
    shared_ffn = 0
    if experts.shared == "count":
        default = style.defaults.get("n_shared_experts") if fields.is_absent("n_shared_experts") else None
        if default is not None:
            fields.defaulted["n_shared_experts"] = default
        shared_ffn = ffn * (fields.optional_count("n_shared_experts", least=0) or default or 0)
    elif experts.shared == "width":
        shared_ffn = count(fields, style, "shared_expert_intermediate_size", least=0)
    elif experts.shared == "always":
        shared_ffn = ffn
    return Experts(
        count=number,
        active=active,
        ffn=ffn,
        gated=style.gated,
        bias=experts.bias,
        shared_ffn=shared_ffn,
        shared_gate=experts.shared_gate and shared_ffn > 0,
        router_bias=experts.router_bias,
    )
