"""From what was given to what follows: world, data-parallel degree, batch, tokens, hours, and what is still missing."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from suanpei.messages import Message
from suanpei.physics.strategy import Recompute, Sharding
from suanpei.units import HOUR_S
from suanpei.verbs.launch.batch import find_grad_accum
from suanpei.verbs.launch.checks import find_contradictions
from suanpei.verbs.launch.settings import LaunchSettings, add_messages

if TYPE_CHECKING:
    from collections.abc import Mapping

_OPTIONS = (
    ("world_size", "--gpus"),
    ("micro_batch", "--micro-batch"),
    ("global_batch_seqs", "--global-batch"),
    ("seq_len", "--seq-len"),
    ("precision", "--precision"),
    ("optimizer", "--optimizer"),
)
"""Fields without which no run can be estimated, with the options that give them."""


def resolve(given: LaunchSettings) -> LaunchSettings:
    """Derive everything that follows from the settings given.

    ``dp = world / (tp x pp x cp)``; of global batch, micro-batch and accumulation two give the third;
    ``tokens_per_step = global batch x sequence length``; ``gpu_hours_booked = reserved accelerators x time limit``.

    Args:
        given: What the files and the command line say, nothing derived. [-]

    Returns:
        The same, completed, with `missing`, `contradictions`, `warnings` and `notes`. [-]
    """
    settings = _fill_degrees(given)
    settings = _fill_world(settings)
    settings = _fill_batch(settings)
    settings = _fill_architecture(settings)
    settings = _fill_totals(settings)
    settings = add_messages(settings, contradictions=find_contradictions(settings), missing=_find_missing(settings))
    return replace(settings, given=given)


def complete(settings: LaunchSettings, values: Mapping[str, Any]) -> LaunchSettings:
    """Set fields from the command line over what the files say, and derive everything again.

    Args:
        settings: What `read_launch` gave. [-]
        values: Fields of `LaunchSettings` by name; they win over the files. [-]

    Returns:
        Settings resolved anew; a field that differs from its file is named in `notes`. [-]
    """
    given = settings.given or settings
    origins = dict(given.origins)
    notes = tuple(
        Message(
            "{field}: the command line's {value} instead of {old} in {where}",
            field=name,
            value=str(value),
            old=str(getattr(given, name)),
            where=origins[name],
        )
        for name, value in values.items()
        if name in origins and getattr(given, name) != value
    )
    changes: dict[str, Any] = {**dict.fromkeys(_find_stale(given, values)), **values}
    return resolve(add_messages(replace(given, **changes), notes=notes))


def _find_stale(given: LaunchSettings, values: Mapping[str, Any]) -> set[str]:
    """Name what the files say that the command line makes meaningless."""
    stale: set[str] = set()
    if "world_size" in values and values["world_size"] != given.world_size:
        stale |= {"nodes", "booked_gpus", "dp"}
        if "gpus_per_node" not in values and given.gpus_per_node and values["world_size"] % given.gpus_per_node:
            stale.add("gpus_per_node")
    if {"tp", "pp", "cp"} & values.keys():
        stale.add("dp")
    if "global_batch_seqs" in values or ("micro_batch" in values and given.global_batch_seqs is not None):
        stale.add("grad_accum")
    if "grad_accum" in values and "global_batch_seqs" not in values and "micro_batch" not in values:
        stale.add("global_batch_seqs")
    return stale - values.keys()


def _fill_degrees(settings: LaunchSettings) -> LaunchSettings:
    if not settings.formats or settings.formats == ("slurm",):
        return settings
    tp, pp = settings.tp or 1, settings.pp or 1
    vpp = settings.vpp
    model = settings.model_arguments
    per_stage = settings.layers_per_virtual_stage
    if vpp is None and per_stage is not None and model is not None:
        vpp = max(1, model.layers // (pp * per_stage))
    warnings: tuple[Message, ...] = ()
    if settings.sp and tp == 1 and "megatron" in settings.formats:
        warnings = (Message("sequence parallelism has no effect with tp 1"),)
    notes: list[Message] = []
    if settings.recompute is None:
        notes.append(Message("no file turns recomputation on: activations are kept"))
    if settings.recipe is None:
        notes.append(Message("no file names a sharding framework: plain data parallelism (ddp)"))
    # Megatron divides the experts' matrices like the others unless told otherwise
    default_etp = tp if model is not None and model.experts is not None else 1
    filled = replace(
        settings,
        tp=tp,
        pp=pp,
        vpp=vpp or 1,
        cp=settings.cp or 1,
        ep=settings.ep or 1,
        etp=settings.etp or default_etp,
        sp=bool(settings.sp) and tp > 1,
        sharding=Sharding.NONE if settings.sharding is None else settings.sharding,
        recompute=Recompute.NONE if settings.recompute is None else settings.recompute,
        offload=settings.offload or frozenset(),
        recipe=settings.recipe or "ddp",
    )
    return add_messages(filled, warnings=warnings, notes=tuple(notes))


def _fill_world(settings: LaunchSettings) -> LaunchSettings:
    world, nodes, per_node = settings.world_size, settings.nodes, settings.gpus_per_node
    if world is None and per_node is not None:
        world = (nodes or 1) * per_node
    if world is None:
        world = settings.booked_gpus
    if nodes is None and world is not None and per_node is not None and world % per_node == 0:
        nodes = world // per_node
    if per_node is None and world is not None and nodes is not None and world % nodes == 0:
        per_node = world // nodes
    model_parallel = (settings.tp or 1) * (settings.pp or 1) * (settings.cp or 1)
    dp = settings.dp
    if dp is None and world is not None and world % model_parallel == 0:
        dp = world // model_parallel
    return replace(settings, world_size=world, nodes=nodes, gpus_per_node=per_node, dp=dp)


def _fill_batch(settings: LaunchSettings) -> LaunchSettings:
    batch, micro, accum, dp = settings.global_batch_seqs, settings.micro_batch, settings.grad_accum, settings.dp
    if dp is None:
        return settings
    notes: tuple[Message, ...] = ()
    if batch is None and micro is not None and accum is None and "megatron" in settings.formats:
        accum = 1
        notes = (Message("no --global-batch-size: Megatron takes micro-batch x data-parallel ranks"),)
    if batch is None and micro is not None and accum is not None:
        batch = micro * accum * dp
    elif batch is not None and micro is not None and accum is None:
        accum = find_grad_accum(batch, micro, dp)
    elif batch is not None and micro is None and accum is not None:
        micro = find_grad_accum(batch, accum, dp)
    filled = replace(settings, global_batch_seqs=batch, micro_batch=micro, grad_accum=accum)
    return add_messages(filled, notes=notes)


def _fill_architecture(settings: LaunchSettings) -> LaunchSettings:
    model = settings.model_arguments
    if model is None or (settings.vocab is None and model.padded_vocab is None):
        return settings
    source = settings.files[0] if settings.files else ""
    vocab = settings.vocab or model.padded_vocab or 0
    architecture = model.build(vocab=vocab, tp=settings.tp or 1, name=settings.model or "megatron", source=source)
    notes: tuple[Message, ...] = ()
    if architecture.vocab != vocab:
        notes = (
            Message("the vocabulary of {vocab} is padded to {padded} rows", vocab=vocab, padded=architecture.vocab),
        )
    return add_messages(replace(settings, architecture=architecture), notes=notes)


def _fill_totals(settings: LaunchSettings) -> LaunchSettings:
    batch, seq_len, steps = settings.global_batch_seqs, settings.seq_len, settings.max_steps
    if steps is None and settings.train_samples is not None and batch is not None:
        steps = settings.train_samples // batch
    per_step = batch * seq_len if batch is not None and seq_len is not None else None
    total = per_step * steps if per_step is not None and steps is not None else None
    booked = settings.booked_gpus or settings.world_size
    hours = None
    if booked is not None and settings.time_limit_s is not None:
        hours = booked * settings.time_limit_s / HOUR_S
    return replace(settings, max_steps=steps, tokens_per_step=per_step, tokens_total=total, gpu_hours_booked=hours)


def _find_missing(settings: LaunchSettings) -> tuple[Message, ...]:
    reasons = dict(settings.undetermined)
    missing: list[Message] = []
    for field, option in _OPTIONS:
        if getattr(settings, field) is not None:
            continue
        if field == "global_batch_seqs" and settings.micro_batch is not None and settings.world_size is None:
            # it follows once the accelerators are known
            continue
        reason = reasons.get(field)
        if reason is None:
            missing.append(Message("{option} must be given: no file says it", option=option))
        else:
            missing.append(Message("{option} must be given: {reason}", option=option, reason=reason))
    if settings.model_arguments is None and settings.model is None:
        missing.append(Message("{option} must be given: no file names the model", option="MODEL"))
    elif settings.model_arguments is not None and settings.architecture is None:
        missing.append(Message("{option} must be given: no file says the size of the vocabulary", option="--vocab"))
    if settings.layers_per_virtual_stage is not None and settings.vpp == 1 and settings.model_arguments is None:
        missing.append(Message("{option} must be given: it follows from the model's layers", option="--vpp"))
    return tuple(missing)
