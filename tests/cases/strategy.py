"""Parallel strategies: each field by the function that answers it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from suanpei.job.architecture import Architecture, Attention, Block, Mlp
from suanpei.job.hugging_face import parse_config, read_hugging_face
from suanpei.job.job import Job
from suanpei.physics.memory.checks import gpus_with_node_copy, node_copy_bytes
from suanpei.physics.memory.formats import state_bytes_per_parameter
from suanpei.physics.memory.stages import split_layers
from suanpei.physics.memory.states import estimate_states
from suanpei.physics.pipeline import bubble_fraction, bubble_share_of_total
from suanpei.physics.strategy import Sharding, Strategy, check_strategy, valid_pipeline, valid_tensor_parallel
from suanpei.physics.workload import build_workload
from suanpei.verbs.inputs import load_inputs
from suanpei.verbs.launch import check_batch, complete, find_grad_accum, read_launch
from tests.cases.case import REPOSITORY

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tests.cases.case import Answer

    Fields = Mapping[str, Any]


def zero_state_bytes() -> float:
    """16 B per parameter: 2 + 2 + 12."""
    return float(state_bytes_per_parameter(load_inputs(None).recipe("deepspeed"), Sharding.NONE, 1).steady)


def tensor_parallel(given: Fields) -> Fields:
    valid = valid_tensor_parallel(given["heads"], given["kv_heads"], given["gpus_per_node"])
    return {"valid": given["tp"] in valid, "valid_tp_in_node": valid}


def plain_model(layers: int) -> Architecture:
    """Some model of so many layers; the rest plays no part."""
    attention = Attention(heads=32, kv_heads=32, head_dim=128, value_dim=128)
    block = Block(attention=attention, mlp=Mlp(ffn=11008, gated=True), norm_parameters=8192)
    return Architecture(
        name="plain",
        family="plain",
        hidden=4096,
        vocab=32000,
        layers=(block,) * layers,
        tied_embeddings=False,
        max_context=4096,
    )


def str_03(given: Fields) -> Fields:
    even = valid_pipeline(given["layers"])
    job = Job(architecture=plain_model(given["layers"]), method="full", seq_len=4096, global_batch_seqs=64)
    strategy = Strategy(pp=given["pp"], grad_accum=64)
    broken = check_strategy(job, load_inputs(None).recipe("megatron"), strategy)
    return {"valid_even": given["pp"] in even, "valid_even_pp": even, "uneven_possible": broken == ()}


def str_05(given: Fields) -> Fields:
    micro_batches = [find_grad_accum(given["gbs"], size, given["dp"]) for size in given["mbs"]]
    counts = [count for count in micro_batches if count is not None]
    return {
        "microbatches": micro_batches,
        "bubble_over_ideal": [bubble_fraction(given["pp"], 1, count) for count in counts],
        "bubble_of_total": [bubble_share_of_total(given["pp"], 1, count) for count in counts],
    }


def str_07(given: Fields) -> Fields:
    sizes = {
        "global_batch_seqs": given["train_batch"],
        "micro_batch": given["micro"],
        "grad_accum": given["grad_acc"],
    }
    return {
        "consistent": check_batch(**sizes, dp=given["world"]).consistent,
        "fix_world_8_grad_acc": check_batch(**sizes, dp=8).fixed_grad_accum,
    }


def str_08(given: Fields) -> Fields:
    found = check_batch(
        global_batch_seqs=given["train_batch"],
        micro_batch=given["micro"],
        grad_accum=given["grad_acc"],
        dp=given["world_seen"],
        launched_dp=given["world_real"],
    )
    return {"consistent_for_real_world": found.consistent, "cause": found.cause}


def str_10(given: Fields) -> Fields:
    parameters, per_node = given["params"], given["gpus_per_node"]
    return {
        "extra_gb_per_gpu": node_copy_bytes(parameters, per_node) / 1e9,
        "min_gpus": gpus_with_node_copy(
            parameters,
            per_node,
            given["gpu_gb"] * 1e9,
            state_bytes_each=zero_state_bytes(),
            usable_fraction=given["max_use"],
        ),
    }


def str_11(given: Fields) -> Fields:
    text = {
        "model_type": "qwen2",
        "hidden_size": 8192,
        "intermediate_size": 29568,
        "num_hidden_layers": 80,
        "num_attention_heads": given["text_heads"],
        "num_key_value_heads": 8,
        "vocab_size": 151674,
        "tie_word_embeddings": False,
    }
    vision = {"model_type": "intern_vit_6b", "num_attention_heads": given["vision_heads"], "hidden_size": 3200}
    config = {"model_type": "internvl_chat", "llm_config": text, "vision_config": vision}
    job = Job(
        architecture=parse_config(config, source="config.json", name="InternVL2-78B"),
        method="full",
        seq_len=4096,
        global_batch_seqs=64,
    )
    strategy = Strategy(tp=given["tp"], grad_accum=64)
    return {"valid": check_strategy(job, load_inputs(None).recipe("megatron"), strategy) == ()}


def str_15(given: Fields) -> Fields:
    settings = complete(
        read_launch([REPOSITORY / given["file"]]), {"world_size": given["world"], "vocab": given["vocab"]}
    )
    assert settings.architecture is not None
    assert settings.seq_len is not None
    assert settings.recipe is not None
    assert settings.global_batch_seqs is not None
    job = Job(
        architecture=settings.architecture,
        method="pretrain",
        seq_len=settings.seq_len,
        global_batch_seqs=settings.global_batch_seqs,
    )
    operators = build_workload(job).operators
    states = estimate_states(
        job,
        operators,
        load_inputs(None).recipe(settings.recipe),
        split_layers(operators, settings.pp or 0, settings.vpp or 0),
        tp=settings.tp or 0,
        ep=1,
        etp=1,
        cp=1,
        dp=settings.dp or 0,
        sharding=settings.sharding or 0,
    )
    return {
        "dp": settings.dp,
        "microbatches": settings.grad_accum,
        "bubble_over_ideal": bubble_fraction(settings.pp or 0, settings.vpp or 0, settings.grad_accum or 0),
        # the fullest stage; the case divides the parameters evenly
        "state_gb_per_gpu": float(np.max(states.between_steps_bytes)) / 1e9,
        "valid": settings.contradictions == (),
    }


def str_16(given: Fields) -> Fields:
    settings = read_launch([REPOSITORY / file for file in given["files"]])
    return {
        "world": settings.world_size,
        "global_batch": settings.global_batch_seqs,
        "tokens_per_step": settings.tokens_per_step,
        "tokens_total": settings.tokens_total,
        "gpu_hours_booked": settings.gpu_hours_booked,
        "flags": settings.flags,
    }


def str_18(given: Fields) -> Fields:
    architecture = read_hugging_face(REPOSITORY / given["file"])
    return {
        "total": architecture.total_parameters,
        "active": architecture.active_parameters,
        "state16_tb": zero_state_bytes() * architecture.total_parameters / 1e12,
    }


ANSWERS: dict[str, Answer] = {
    "STR-01": tensor_parallel,
    "STR-02": tensor_parallel,
    "STR-03": str_03,
    "STR-05": str_05,
    "STR-07": str_07,
    "STR-08": str_08,
    "STR-10": str_10,
    "STR-11": str_11,
    "STR-15": str_15,
    "STR-16": str_16,
    "STR-18": str_18,
}
