"""Recipes: what a training framework keeps in memory and overlaps. Data, not branches in formulas.

The data are TOML, ``catalog/recipes.toml``: one table per recipe, its keys the fields of `Recipe`. Whoever reads the
file passes its tables here.
"""

from __future__ import annotations

from dataclasses import MISSING, dataclass, fields
from math import inf, isfinite
from typing import TYPE_CHECKING, Any

from suanpei.errors import InputError
from suanpei.messages import Message
from suanpei.physics.strategy import Sharding

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """One framework's habits, read from ``catalog/recipes.toml``."""

    name: str
    """``megatron``, ``fsdp``, ``deepspeed``, ``ddp``; ``megatron-2021`` is historic."""
    stacks: tuple[str, ...]
    """Software stacks that it runs on (``cuda``, ``rocm``, ``cann``)."""
    axes: tuple[str, ...]
    """Parallel axes that it offers beside dp: ``tp sp pp vpp cp ep``."""
    shardings: tuple[Sharding, ...]
    adapters: bool
    """Whether LoRA and QLoRA run on it."""
    weight_bytes: float
    """Bytes per parameter of the weights that products read, mixed precision. [B]"""
    master_bytes: float
    """Bytes per parameter of the fp32 copy beside them (0 where the weights themselves are fp32). [B]"""
    gradient_bytes: float
    """Bytes per parameter of the gradients between micro-batches. [B]"""
    step_gradient_bytes: float
    """Bytes per parameter of this rank's shard that the optimizer step adds: fp32 gradients. [B]"""
    step_temporary_bytes: float
    """Bytes per parameter of the shard that an unfused optimizer adds at its peak. [B]"""
    bucket_bytes: float
    """Fixed communication buckets while gradients are reduced. [B]"""
    gathered_layers: float
    """Layers whose weights are whole at the same time under zero3: the one in use and those prefetched. [-]"""
    gather_bytes: float
    """Bytes per parameter of a gathered layer. [B]"""
    unfused_kept: float
    """Extra kept bytes of norms that upcast to fp32, over the fused size of norm inputs. [-]"""
    kernels_per_layer: float
    """Kernels launched per layer and forward pass. [-]"""
    selective: tuple[str, ...]
    """What its selective recomputation drops: ``attention`` (scores and statistics), ``cheap`` (norm and activation
    outputs), ``half_products`` (every second product's output)."""
    full_copy_initialisation: bool
    """Whether each rank may hold all weights in fp32 before they are divided."""
    overlaps_gradients: bool
    """Whether gradient reduction runs beside the backward pass."""
    overlaps_gathers: bool
    """Whether weight gathers run beside compute."""
    overlaps_tensor: bool
    """Whether tensor-parallel collectives run beside compute."""
    weights_sharded_from: Sharding = Sharding.ZERO3
    """The lowest sharding under which the kept weights are divided (fully sharded recipes: zero2, where products then
    read a whole copy in `gather_bytes`; the others: zero3)."""
    persistent_gradients: bool = True
    """Whether gradients have a buffer for the whole run; False allocates them in the backward pass of a step's first
    micro-batch and frees them after the step."""
    root_gathered: bool = False
    """Whether the embedding and the output layer stay whole from the forward to the backward pass under zero3."""
    live_parameters: float = 0.0
    """Parameters that may stay whole under zero3 because they are used again soon. [-]"""
    bucket_layer_bytes: float = 0.0
    """Bytes per parameter of the layer whose gradients are being reduced, over the kept gradients, under zero2 and
    zero3. [B]"""
    bucket_gradient_fraction: float = 0.0
    """Share of all gradients that data-parallel buckets hold a second time. [-]"""
    vocabulary_parallel: bool = False
    """Whether the loss works on vocabulary shards, so that tp divides the logits."""
    recompute_stops_early: bool = False
    """Whether recomputation ends at the last tensor that the backward pass reads, so that the layer's last product is
    not repeated."""
    half_gradients_on_wire: bool = False
    """Whether fp16 training reduces its gradients in 16 bits rather than in the format that they are kept in."""
    newest_attention: bool = False
    """Whether attention runs the newest kernels of the card's generation (cuDNN, FlashAttention-3) rather than
    FlashAttention-2."""
    plain_loss_traffic: float = 20.0
    """Memory traffic per logit of the recipe's ordinary loss, forward and backward. [B]"""
    accumulated_bytes: float = 0.0
    """Memory traffic per parameter of adding one micro-batch's gradients to those of the step. [B]"""
    historic: bool = False
    """Whether nobody should start a run with it: it is there to understand old ones, and no plan proposes it."""
    plain_loss_bytes: float = 12.0
    """Bytes per logit at the peak of the recipe's ordinary loss. [B]"""
    in_place_loss_bytes: float = 6.0
    """Bytes per logit of a loss that writes its gradient over the fp32 logits: those and the 16-bit copy. [B]"""
    scores_kept_bytes: float = 5.0
    """Bytes kept per attention score without a flash kernel. [B]"""
    unfused_activation: float = 0.0
    """Extra copies of the MLP's inner width that an eager activation keeps. [-]"""
    weighs_experts_inside: bool = False
    """Whether routing weights multiply the experts' inner activations rather than their outputs, which are then not
    kept."""
    adapter_held_inputs: float = 0.0
    """Times that each layer's input is held once more until the end of the backward pass when adapters are trained on a
    base divided by zero3. [-]"""
    step_group_parameters: float = inf
    """Parameters of a rank that the optimizer steps at a time under zero3, through flat buffers; infinite where its
    temporaries are made tensor by tensor. [-]"""
    other_lengths_kept: float = 0.0
    """Blocks cut for batches of other lengths that the allocator keeps, over what comes and goes at the longest: each
    batch longer than all before finds no block large enough. 0 where all batches are equally long. [-]"""
    adapter_dropout: bool = True
    """Whether adapters drop out of their input, so that each keeps a copy and a mask; without, they share the input of
    the product that they adapt."""
    mixed_units: bool = False
    """Whether one sharding unit holds adapters and frozen base together: every micro-batch then makes gradients of the
    whole base, which stay whole until the last micro-batch of the step is reduced."""
    wide_quantised_residual: bool = False
    """Whether norms are fp32 on a base that bitsandbytes stores in few bits, which makes the residual stream fp32."""
    low_precision_copies: float = 0.0
    """Copies of the products' weights kept in fp8 or fp4 beside the 16-bit ones (row and column form: 2). [-]"""
    host_buffer_factor: float = 1.0
    """Host memory of offloaded states over their size: pinned buffers. [-]"""
    source: str


UNBOUNDED = ("step_group_parameters",)
"""Fields that may be infinite."""

AXES = ("tp", "sp", "pp", "vpp", "cp", "ep")
"""Axes that a recipe may offer beside dp."""

_SHARDING_NAMES = {sharding.name.lower(): sharding for sharding in Sharding}


def load_recipes(tables: Mapping[str, Any]) -> dict[str, Recipe]:
    """Build the recipes of a catalogue, by name.

    Args:
        tables: One table per recipe; its keys are the fields of `Recipe` but `name`. [-]

    Raises:
        InputError: A field is unknown, missing or of another type.
    """
    return {name: _parse_recipe(name, table) for name, table in tables.items()}


def _parse_recipe(name: str, table: Any) -> Recipe:
    if not isinstance(table, dict):
        raise InputError(Message("recipe {recipe}: expected a table, got {given}", recipe=name, given=repr(table)))
    known = {field.name: field for field in fields(Recipe) if field.name != "name"}
    for key in table:
        if key not in known:
            raise InputError(
                Message(
                    "recipe {recipe}: unknown field {field}; known: {known}",
                    recipe=name,
                    field=key,
                    known=", ".join(known),
                )
            )
    for key, field in known.items():
        if key not in table and field.default is MISSING:
            raise InputError(Message("recipe {recipe}: {field} is missing", recipe=name, field=key))
    return Recipe(
        name=name, **{key: _parse_field(name, key, str(known[key].type), value) for key, value in table.items()}
    )


def _parse_field(recipe: str, field: str, kind: str, value: Any) -> Any:
    if (
        kind == "float"
        and isinstance(value, (int, float))
        and not isinstance(value, bool)
        and value >= 0
        and (isfinite(value) or field in UNBOUNDED)
    ):
        return float(value)
    if kind == "bool" and isinstance(value, bool):
        return value
    if kind == "str" and isinstance(value, str):
        return value
    if kind == "Sharding" and value in _SHARDING_NAMES:
        return _SHARDING_NAMES[value]
    is_words = isinstance(value, list) and all(isinstance(item, str) for item in value)
    if kind == "tuple[str, ...]" and is_words and (field != "axes" or set(value) <= set(AXES)):
        return tuple(value)
    if kind == "tuple[Sharding, ...]" and is_words and set(value) <= set(_SHARDING_NAMES):
        return tuple(_SHARDING_NAMES[item] for item in value)
    raise InputError(
        Message(
            "recipe {recipe}: {field} takes {expected}, got {given}",
            recipe=recipe,
            field=field,
            expected=kind,
            given=repr(value),
        )
    )
