"""A typical dense architecture of a size, for a user who knows nothing but ``7B``.

Layers, hidden width, heads and vocabulary are those of the published model nearest in size; the inner width of the MLP
is then solved for the size asked, and where it would leave the range that published models use, the number of layers
moves.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from math import log

from suanpei.errors import InputError
from suanpei.job.architecture import Architecture, Attention, Block, Mlp
from suanpei.messages import Message
from suanpei.units import format_count

TYPICAL_CONTEXT = 8_192
"""Context of a bare size. [tokens]"""
LEAST_PARAMETERS = 20e6
MOST_PARAMETERS = 2e12
FFN_RATIO = (2.0, 4.6)
"""Inner over hidden width of published gated models: 2.5 (SmolLM2) to 4.0 (Llama 3.2 1B), with some room."""


@dataclass(frozen=True, kw_only=True)
class Shape:
    """Layers and widths of a published dense model."""

    name: str
    parameters: float
    layers: int
    hidden: int
    heads: int
    kv_heads: int
    vocab: int
    tied: bool = False


SHAPES: tuple[Shape, ...] = (
    Shape(name="Pythia-70M", parameters=70e6, layers=6, hidden=512, heads=8, kv_heads=8, vocab=32000, tied=True),
    Shape(name="SmolLM2-135M", parameters=135e6, layers=30, hidden=576, heads=9, kv_heads=3, vocab=49152, tied=True),
    Shape(name="SmolLM2-360M", parameters=362e6, layers=32, hidden=960, heads=15, kv_heads=5, vocab=49152, tied=True),
    Shape(
        name="Llama-3.2-1B", parameters=1.24e9, layers=16, hidden=2048, heads=32, kv_heads=8, vocab=128256, tied=True
    ),
    Shape(name="Llama-3.2-3B", parameters=3.2e9, layers=28, hidden=3072, heads=24, kv_heads=8, vocab=128256, tied=True),
    Shape(name="Llama-3-8B", parameters=8e9, layers=32, hidden=4096, heads=32, kv_heads=8, vocab=128256),
    Shape(name="Qwen2.5-14B", parameters=14.8e9, layers=48, hidden=5120, heads=40, kv_heads=8, vocab=152064),
    Shape(name="Qwen2.5-32B", parameters=32.8e9, layers=64, hidden=5120, heads=40, kv_heads=8, vocab=152064),
    Shape(name="Llama-3-70B", parameters=70.6e9, layers=80, hidden=8192, heads=64, kv_heads=8, vocab=128256),
    Shape(name="Mistral-Large-123B", parameters=123e9, layers=88, hidden=12288, heads=96, kv_heads=8, vocab=32768),
    Shape(name="Llama-3.1-405B", parameters=405e9, layers=126, hidden=16384, heads=128, kv_heads=8, vocab=128256),
    Shape(name="Megatron-1T", parameters=1.008e12, layers=128, hidden=25600, heads=160, kv_heads=160, vocab=51200),
)
"""Sources: the models' config.json (Pythia with a smaller, tied vocabulary); Megatron-1T, arXiv 2104.04473, table 1."""

_MIXTURE = re.compile(r"\s*[\d.]+\s*[bB]?\s*[-_ ]?\s*[aA]\s*\d+(\.\d+)?\s*[bB]|\s*\d+\s*[x×]\s*\d+(\.\d+)?\s*[bB]")


def refuse_mixture(text: str) -> None:
    """Refuse the size of a mixture of experts, which names no shape.

    Raises:
        InputError: the text is such a size (``30B-A3B``, ``8x7B``).
    """
    if _MIXTURE.match(text):
        raise InputError(
            Message(
                "{given} is the size of a mixture of experts, which leaves its layers and experts open; name a model "
                "such as Qwen3-30B-A3B or Mixtral-8x7B, or give its config.json",
                given=repr(text),
            )
        )


def build_typical(parameters: float) -> Architecture:
    """Build a typical dense model of a size.

    Gated MLP, grouped-query attention, RMSNorm, rotary positions; with L layers, width h, K key-value over query heads
    and embeddings E, the inner width is ::

        ffn = ((N - E - h) / L - h² (2 + 2 K) - 2 h) / (3 h)

    rounded to a multiple of 64 (8 below 1B parameters).

    Args:
        parameters: The size asked for, N. [-]

    Raises:
        InputError: outside of 20M to 2T parameters.

    Valid for: the count is within 3 % of the one asked for.
    """
    if not LEAST_PARAMETERS <= parameters <= MOST_PARAMETERS:
        raise InputError(
            Message(
                "MODEL as a bare size takes {least} to {most} parameters, got {given}; give a config.json",
                least=format_count(LEAST_PARAMETERS),
                most=format_count(MOST_PARAMETERS),
                given=format_count(parameters),
            )
        )
    shape = min(SHAPES, key=lambda item: abs(log(item.parameters / parameters)))
    layers, ffn = _solve(shape, parameters)
    head_dim = shape.hidden // shape.heads
    attention = Attention(heads=shape.heads, kv_heads=shape.kv_heads, head_dim=head_dim, value_dim=head_dim)
    block = Block(attention=attention, mlp=Mlp(ffn=ffn, gated=True), norm_parameters=2 * shape.hidden)
    return Architecture(
        name=format_count(parameters),
        family="typical",
        hidden=shape.hidden,
        vocab=shape.vocab,
        layers=(block,) * layers,
        tied_embeddings=shape.tied,
        max_context=TYPICAL_CONTEXT,
        extra_parameters=shape.hidden,
        source="typical",
        notes=(
            Message(
                "{size} alone: a typical dense model is assumed ({layers} layers of width {hidden}, {heads} heads, "
                "inner width {ffn}, after {shape})",
                size=format_count(parameters),
                layers=layers,
                hidden=shape.hidden,
                heads=shape.heads,
                ffn=ffn,
                shape=shape.name,
            ),
        ),
    )


def _solve(shape: Shape, parameters: float) -> tuple[int, int]:
    """Give layers and inner width that hit the size, the layers as near to the shape's as the range of widths lets."""
    hidden = shape.hidden
    step = 64 if parameters >= 1e9 else 8
    embeddings = shape.vocab * hidden * (1 if shape.tied else 2)
    attention = hidden * hidden * (2 + 2 * shape.kv_heads / shape.heads)
    best: tuple[float, int, int] | None = None
    for layers in sorted(range(1, 3 * shape.layers), key=lambda number: abs(number - shape.layers)):
        exact = ((parameters - embeddings - hidden) / layers - attention - 2 * hidden) / (3 * hidden)
        ffn = max(step, round(exact / step) * step)
        if FFN_RATIO[0] <= ffn / hidden <= FFN_RATIO[1]:
            return layers, ffn
        total = embeddings + hidden + layers * (attention + 2 * hidden + 3 * hidden * ffn)
        miss = abs(total / parameters - 1)
        if best is None or miss < best[0]:
            best = miss, layers, ffn
    if best is None:  # the range is never empty
        raise AssertionError
    return best[1], best[2]
