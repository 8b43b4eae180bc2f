"""What ``suanpei models`` prints: one model in full, or all in tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Group
from rich.table import Table
from rich.text import Text

from suanpei.messages import Message
from suanpei.report.locale import translate
from suanpei.report.text.assumptions import render_assumptions
from suanpei.report.text.figures import UNKNOWN
from suanpei.units import format_bytes, format_count

if TYPE_CHECKING:
    from rich.console import RenderableType

    from suanpei.report.locale import Language
    from suanpei.verbs.models import ModelFacts, ModelsResult, VisionFacts


def render_models(result: ModelsResult, lang: Language) -> RenderableType:
    """Render one model with its states and notes, or the list of all."""
    if result.model is not None:
        return _render_model(result.model, lang)
    if result.vision_model is not None:
        return _render_vision(result.vision_model, lang)
    return _render_lists(result, lang)


def _grid(title: str) -> Table:
    table = Table(box=None, pad_edge=False, show_header=False, title=title or None, title_justify="left")
    table.add_column(style="bold", no_wrap=True)
    table.add_column()
    return table


def _render_model(model: ModelFacts, lang: Language) -> RenderableType:
    table = _grid(f"{model.name} ({model.family})")
    active = model.active_parameters
    parameters = Message(
        "{total:,} ({short})", total=model.total_parameters, short=format_count(model.total_parameters)
    )
    if active != model.total_parameters:
        parameters = Message(
            "{total:,} ({short}), of which a token passes {active:,} ({active_short})",
            total=model.total_parameters,
            short=format_count(model.total_parameters),
            active=active,
            active_short=format_count(active),
        )
    shape = Message(
        "{layers} of width {hidden}, inner width {ffn}",
        layers=model.layers,
        hidden=model.hidden,
        ffn=model.ffn if model.ffn is not None else UNKNOWN,
    )
    table.add_row(translate("Parameters", lang), translate(parameters, lang))
    table.add_row(translate("Layers", lang), translate(shape, lang))
    if model.experts is not None:
        table.add_row(translate("Experts", lang), translate(_say_experts(model), lang))
    table.add_row(translate("Attention", lang), translate(_say_attention(model), lang))
    tied = translate("tied embeddings", lang) if model.tied_embeddings else translate("untied embeddings", lang)
    table.add_row(translate("Vocabulary", lang), f"{model.vocab:,}, {tied}")
    context = f"{model.max_context:,}" if model.max_context else UNKNOWN
    table.add_row(translate("Context", lang), translate(Message("{tokens} tokens", tokens=context), lang))
    flops = Message(
        "{gflops:.4g} GFLOP per token, forward and backward, at {tokens} tokens (6N alone: {rule:.4g})",
        gflops=model.flops_per_token / 1e9,
        tokens=f"{model.flops_seq_len:,}",
        rule=6 * active / 1e9,
    )
    table.add_row(translate("Training work", lang), translate(flops, lang))
    table.add_row(translate("Checkpoint", lang), translate(_say_storage(model), lang))
    cache = Message("{size} per token in 16 bits", size=format_bytes(model.kv_cache_bytes_per_token))
    table.add_row(translate("Key-value cache", lang), translate(cache, lang))
    parts: list[RenderableType] = [table, Text(), _render_states(model, lang)]
    if model.companions:
        parts += [Text(), *_render_companions(model, lang)]
    parts += render_assumptions(model.notes, lang)
    if model.source:
        parts += [Text(), Text(translate(Message("Source: {source}", source=model.source), lang), style="dim")]
    return Group(*parts)


def _say_experts(model: ModelFacts) -> Message:
    experts = model.experts
    if experts is None:
        return Message("none")
    return Message(
        "{count} of inner width {ffn}, {active} per token, shared {shared}; in {layers} of {all_layers} layers",
        count=experts.count,
        ffn=experts.ffn,
        active=experts.active,
        shared=experts.shared_ffn or Message("none"),
        layers=experts.layers,
        all_layers=model.layers,
    )


def _say_attention(model: ModelFacts) -> Message:
    window = Message("window {tokens}", tokens=model.sliding_window) if model.sliding_window else Message("no window")
    if model.is_latent:
        return Message(
            "{heads} heads of width {head_dim}, latent keys and values (MLA), {window}",
            heads=model.heads,
            head_dim=model.head_dim,
            window=window,
        )
    return Message(
        "{heads} heads of width {head_dim}, {kv_heads} for keys and values, {window}",
        heads=model.heads,
        head_dim=model.head_dim,
        kv_heads=model.kv_heads,
        window=window,
    )


def _say_storage(model: ModelFacts) -> Message:
    size = format_bytes(model.weight_bytes)
    if model.quantization is None:
        return Message("{size} of weights", size=size)
    template = Message(
        "{size} of weights, {method} in {bits:g} bits; widened before full tuning",
        size=size,
        method=model.quantization.method,
        bits=model.quantization.bits,
    )
    if model.full_tuning_possible:
        return template
    return Message(
        "{size} of weights, {method} in {bits:g} bits; only adapters can be trained on it",
        size=size,
        method=model.quantization.method,
        bits=model.quantization.bits,
    )


def _render_states(model: ModelFacts, lang: Language) -> RenderableType:
    title = Text(translate("Weights, gradients and optimizer states, over all cards", lang), style="italic")
    table = _grid("")
    states = model.state_bytes
    for label, size_bytes in (
        (translate("Full, mixed precision (16 B per parameter)", lang), states.full_mixed),
        (translate("Full, all in 16 bits (8 B per parameter)", lang), states.full_pure),
        (translate("LoRA, rank 16, 16-bit base", lang), states.lora),
        (translate("QLoRA, rank 16, NF4 base", lang), states.qlora),
    ):
        table.add_row(label, format_bytes(size_bytes))
    return Group(title, table)


def _render_companions(model: ModelFacts, lang: Language) -> list[RenderableType]:
    said = [
        Message(
            "{name}: {parameters} parameters",
            name=part.name,
            parameters=UNKNOWN if part.parameters is None else f"{part.parameters:,}",
        )
        for part in model.companions
    ]
    heading = Text(translate("Beside the language model (not planned):", lang))
    return [heading, *(Text(f"  - {translate(part, lang)}") for part in said)]


def _render_vision(model: VisionFacts, lang: Language) -> RenderableType:
    table = _grid(f"{model.name} ({model.family})")
    for label, value in (
        (translate("Parameters", lang), format_count(model.parameters)),
        (translate("Input", lang), f"{model.input_pixels} × {model.input_pixels}" if model.input_pixels else UNKNOWN),
        (translate("Forward FLOPs per image", lang), _say_flops(model.forward_flops_per_image)),
        (translate("Training FLOPs per image", lang), _say_flops(model.train_flops_per_image)),
        (translate("Activations per image, 16 bits (estimate)", lang), _say_bytes(model.activation_bytes_per_image)),
        (translate("States, mixed precision (16 B per parameter)", lang), format_bytes(model.state_bytes)),
        (translate("Note", lang), model.note or UNKNOWN),
    ):
        table.add_row(label, value)
    source = Text(translate(Message("Source: {source}", source=model.source), lang), style="dim")
    return Group(table, Text(), source)


def _say_flops(flops: float | None) -> str:
    if flops is None:
        return UNKNOWN
    return f"{flops / 1e12:.3g} TFLOP" if flops >= 1e12 else f"{flops / 1e9:.3g} GFLOP"


def _say_bytes(size_bytes: float | None) -> str:
    return UNKNOWN if size_bytes is None else format_bytes(size_bytes)


def _render_lists(result: ModelsResult, lang: Language) -> RenderableType:
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column(translate("Model", lang), no_wrap=True)
    for heading in (
        translate("Parameters", lang),
        translate("Active", lang),
        translate("Layers", lang),
        translate("Hidden", lang),
        translate("Heads", lang),
        translate("Experts", lang),
        translate("Context", lang),
        translate("Full tuning", lang),
        "QLoRA",
    ):
        table.add_column(heading, justify="right", no_wrap=True)
    for model in result.models:
        experts = model.experts
        is_sparse = model.active_parameters != model.total_parameters
        table.add_row(
            model.name,
            format_count(model.total_parameters),
            format_count(model.active_parameters) if is_sparse else "",
            str(model.layers),
            str(model.hidden),
            f"{model.heads}/{model.kv_heads}" if model.kv_heads != model.heads else str(model.heads),
            f"{experts.active}/{experts.count}" if experts else "",
            f"{model.max_context:,}" if model.max_context else UNKNOWN,
            format_bytes(model.state_bytes.full_mixed),
            format_bytes(model.state_bytes.qlora),
        )
    vision = Table(box=None, pad_edge=False, header_style="bold")
    vision.add_column(translate("Vision model", lang), no_wrap=True)
    for heading in (
        translate("Parameters", lang),
        translate("Input", lang),
        translate("Training FLOPs per image", lang),
        translate("Activations per image", lang),
    ):
        vision.add_column(heading, justify="right", no_wrap=True)
    for one in result.vision_models:
        vision.add_row(
            one.name,
            format_count(one.parameters),
            str(one.input_pixels) if one.input_pixels else UNKNOWN,
            _say_flops(one.train_flops_per_image),
            _say_bytes(one.activation_bytes_per_image),
        )
    legend = Message(
        "Full tuning: weights, gradients and AdamW states at 16 B per parameter; QLoRA: an NF4 base and adapters of "
        "rank 16. Both over all cards and without activations. Heads: of queries / of keys and values."
    )
    return Group(table, Text(), vision, Text(), Text(translate(legend, lang)))
