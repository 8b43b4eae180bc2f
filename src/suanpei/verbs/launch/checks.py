"""What a framework would refuse at start-up, found before the machines are paid for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from suanpei.messages import Message
from suanpei.verbs.launch.batch import check_batch

if TYPE_CHECKING:
    from collections.abc import Iterator

    from suanpei.verbs.launch.settings import LaunchSettings

_UNEVEN = ("pipeline_num_layers", "pipeline_split", "pipeline_model_parallel_layout", "num_layer_list")


def find_contradictions(settings: LaunchSettings) -> tuple[Message, ...]:
    """List what cannot all be true in resolved settings, or what the framework will refuse. [-]"""
    return (*_check_world(settings), *_check_batch(settings), *_check_sequence(settings), *_check_model(settings))


def _check_world(settings: LaunchSettings) -> Iterator[Message]:
    world, nodes, per_node = settings.world_size, settings.nodes, settings.gpus_per_node
    if world is not None and nodes is not None and per_node is not None and nodes * per_node != world:
        yield Message(
            "{nodes} nodes of {per_node} accelerators are {product}, not the {world} that train",
            nodes=nodes,
            per_node=per_node,
            product=nodes * per_node,
            world=world,
        )
    booked = settings.booked_gpus
    if world is not None and booked is not None and world > booked:
        yield Message("{world} accelerators train, but only {booked} are reserved", world=world, booked=booked)
    model_parallel = (settings.tp or 1) * (settings.pp or 1) * (settings.cp or 1)
    if world is not None and world % model_parallel:
        yield Message(
            "{world} accelerators are no multiple of tp {tp} x pp {pp} x cp {cp} = {product}",
            world=world,
            tp=settings.tp or 1,
            pp=settings.pp or 1,
            cp=settings.cp or 1,
            product=model_parallel,
        )
    ranks = (settings.tp or 1) * (settings.cp or 1) * (settings.dp or 0)
    expert_ranks = (settings.ep or 1) * (settings.etp or 1)
    if ranks and ranks % expert_ranks:
        yield Message(
            "ep {ep} x etp {etp} does not divide the {ranks} ranks of a pipeline stage",
            ep=settings.ep or 1,
            etp=settings.etp or 1,
            ranks=ranks,
        )


def _check_batch(settings: LaunchSettings) -> Iterator[Message]:
    batch, micro, accum, dp = settings.global_batch_seqs, settings.micro_batch, settings.grad_accum, settings.dp
    if batch is None or micro is None or dp is None:
        return
    if accum is not None:
        found = check_batch(global_batch_seqs=batch, micro_batch=micro, grad_accum=accum, dp=dp)
        if found.message is not None:
            yield found.message
    elif batch % (micro * dp):
        yield Message(
            "global batch {batch} is no multiple of micro-batch {micro} x data-parallel {dp} = {product}",
            batch=batch,
            micro=micro,
            dp=dp,
            product=micro * dp,
        )


def _check_sequence(settings: LaunchSettings) -> Iterator[Message]:
    seq_len, tp, cp = settings.seq_len, settings.tp or 1, settings.cp or 1
    if seq_len is None:
        return
    if cp > 1 and seq_len % (2 * cp):
        yield Message("sequence length {seq_len} is no multiple of 2 x cp = {product}", seq_len=seq_len, product=2 * cp)
    if settings.sp and seq_len % (tp * cp):
        yield Message(
            "sequence length {seq_len} is no multiple of tp x cp = {product}, which sequence parallelism needs",
            seq_len=seq_len,
            product=tp * cp,
        )


def _check_model(settings: LaunchSettings) -> Iterator[Message]:
    model = settings.model_arguments
    if model is None:
        return
    tp, pp, vpp = settings.tp or 1, settings.pp or 1, settings.vpp or 1
    if model.heads % tp:
        yield Message("{heads} attention heads cannot be divided by tp {tp}", heads=model.heads, tp=tp)
    if not model.latent and model.kv_heads % tp and tp % model.kv_heads:
        yield Message("{groups} key and value groups cannot be divided by tp {tp}", groups=model.kv_heads, tp=tp)
    if model.ffn % tp:
        yield Message("the feed-forward width {ffn} cannot be divided by tp {tp}", ffn=model.ffn, tp=tp)
    is_uneven = any(
        mark in str(message.values.get("flag", "")).replace("-", "_")
        for message in settings.warnings
        for mark in _UNEVEN
    )
    if model.layers % (pp * vpp) and not is_uneven:
        even = ", ".join(str(size) for size in range(1, model.layers + 1) if model.layers % size == 0)
        yield Message(
            "{layers} layers cannot be divided by pp {pp} x vpp {vpp} = {product}; even splits are {even}",
            layers=model.layers,
            pp=pp,
            vpp=vpp,
            product=pp * vpp,
            even=even,
        )
    ep = settings.ep or 1
    if ep > 1 and model.experts is None:
        yield Message("ep is {ep}, but the model has no experts", ep=ep)
    elif model.experts is not None and model.experts % ep:
        yield Message("{experts} experts cannot be divided by ep {ep}", experts=model.experts, ep=ep)
