"""How a throughput row splits its job: degrees, sharding, recomputation, micro-batches."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from suanpei.errors import InputError
from suanpei.messages import Message
from suanpei.physics.strategy import Recompute, Sharding, Strategy

if TYPE_CHECKING:
    from collections.abc import Mapping

    from suanpei.validation.rows import Row

_SHARDINGS: Mapping[str, Sharding] = {
    "none": Sharding.NONE,
    "ddp": Sharding.NONE,
    "zero1": Sharding.ZERO1,
    "zero2": Sharding.ZERO2,
    "zero3": Sharding.ZERO3,
}
_RECOMPUTES: Mapping[str, Recompute] = {
    "none": Recompute.NONE,
    "selective": Recompute.SELECTIVE,
    "full": Recompute.FULL,
}


def read_strategies(row: Row, assumptions: list[Message]) -> tuple[Strategy, ...]:
    """Read the strategy of a row; several, from least to most recomputation, where that is not published.

    Raises:
        InputError: A needed column is blank, a word is unknown, or the degrees contradict the card count.
    """
    tp, pp, dp = row.need_count("tp"), row.need_count("pp"), row.need_count("dp")
    micro_batch = row.need_count("micro_batch_seqs")
    global_batch = row.need_count("global_batch_seqs")
    grad_accum = row.count("grad_accum")
    if grad_accum is None:
        if global_batch % (micro_batch * dp):
            raise InputError(
                Message(
                    "global batch {batch} is no multiple of micro batch {micro} × dp {dp}",
                    batch=global_batch,
                    micro=micro_batch,
                    dp=dp,
                )
            )
        grad_accum = global_batch // (micro_batch * dp)
    if grad_accum < 1:
        raise InputError(Message("{column} must be at least 1, got {given}", column="grad_accum", given=grad_accum))
    vpp = row.count("vpp")
    if vpp is None:
        vpp = 1
        if pp > 1:
            assumptions.append(Message("interleaving not published: none assumed"))
    sharding = _read_sharding(row, assumptions)
    base = Strategy(
        tp=tp,
        sp=_read_sp(row, tp, assumptions),
        pp=pp,
        vpp=vpp,
        cp=row.count("cp") or 1,
        ep=row.count("ep") or 1,
        dp=dp,
        sharding=sharding,
        micro_batch=micro_batch,
        grad_accum=grad_accum,
    )
    gpus = row.count("n_gpus")
    if gpus is not None and gpus != base.gpus:
        raise InputError(
            Message(
                "tp · cp · pp · dp = {product}, but {column} is {given}", product=base.gpus, column="n_gpus", given=gpus
            )
        )
    shard_ranks = row.count("optimizer_shard_ranks")
    if shard_ranks is not None and shard_ranks < dp * base.cp:
        assumptions.append(
            Message(
                "optimizer states are sharded over {ranks} ranks: all data-parallel ranks assumed", ranks=shard_ranks
            )
        )
    return _read_recompute(row, base, assumptions)


def _read_recompute(row: Row, base: Strategy, assumptions: list[Message]) -> tuple[Strategy, ...]:
    text = row.text("recompute")
    if not text:
        # tables of tuned runs state full recomputation, which costs a third more work, where they use it
        assumptions.append(Message("recomputation not published: none assumed for its time, the least for its memory"))
        return tuple(replace(base, recompute=recompute) for recompute in Recompute)
    if text not in _RECOMPUTES:
        raise InputError(
            Message(
                "{column} must be one of {kinds}, got {given!r}",
                column="recompute",
                kinds=", ".join(_RECOMPUTES),
                given=text,
            )
        )
    assumptions += [
        Message(
            "{column} {detail}: the recipe's {policy} recomputation is assumed",
            column=column,
            detail=row.text(column),
            policy=text,
        )
        for column in ("recompute_detail", "recompute_layers")
        if row.text(column)
    ]
    return (replace(base, recompute=_RECOMPUTES[text]),)


def _read_sharding(row: Row, assumptions: list[Message]) -> Sharding:
    text = row.text("sharding")
    if text in _SHARDINGS:
        return _SHARDINGS[text]
    if text:
        raise InputError(Message("no recipe has the sharding {sharding}", sharding=text))
    sharding = Sharding.NONE if "Megatron-DeepSpeed" in row.text("framework") else Sharding.ZERO1
    assumptions.append(
        Message("sharding not published: {sharding} assumed, the framework's habit", sharding=sharding.name.lower())
    )
    return sharding


def _read_sp(row: Row, tp: int, assumptions: list[Message]) -> bool:
    text = row.text("sp")
    if tp == 1 or text:
        return tp > 1 and text == "yes"
    # sequence parallelism came with arXiv 2205.05198 (2022-05); later Megatron recipes switch it on with tp
    released = row.text("software_release")
    early = row.text("framework") == "Megatron-DeepSpeed" or bool(re.match(r"20(21|22)-", released))
    assumptions.append(
        Message("sequence parallelism not published: off assumed")
        if early
        else Message("sequence parallelism not published: on assumed")
    )
    return not early
