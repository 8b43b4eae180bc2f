"""Memory: each field by the function that answers it.

Whether a job fits is asked of the same estimate that the commands show, with the usable memory of the case. Its verdict
has three values; a case has two. ``fits`` is yes and ``does_not_fit`` is no, and ``at_risk`` is neither: a case that
lands there says by `at_risk_is` how it is read, and why. What a case leaves open is stated where the job is built: the
card, 1,024 tokens and full recomputation (the default of the tools that reported), one sequence per card.
"""

from __future__ import annotations

import json
import tempfile
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from tokenizers import Tokenizer, models, pre_tokenizers

from suanpei.job.architecture import Quantization
from suanpei.job.bundled import load_model
from suanpei.job.job import Job, Lora
from suanpei.job.storage import stored_weight_bytes
from suanpei.machine.cluster import build_cluster
from suanpei.machine.names import resolve_accelerator
from suanpei.physics.evaluate import explain
from suanpei.physics.memory.activations import estimate_layer_kept_bytes
from suanpei.physics.memory.checks import (
    find_data_parallel,
    find_outliers,
    implied_bytes_per_parameter,
    implied_format,
)
from suanpei.physics.memory.formats import (
    estimate_deepspeed_zero3_bytes,
    estimate_initialisation_peak_bytes,
    state_bytes_per_parameter,
)
from suanpei.physics.memory.loss import logits_bytes
from suanpei.physics.rule_of_thumb import gpus_for_state
from suanpei.physics.strategy import Recompute, Sharding, Strategies, Strategy, check_strategy
from suanpei.physics.utilisation import judge_figure, shortfall_factor
from suanpei.physics.workload import build_workload
from suanpei.units import GIB_BYTES, MIB_BYTES
from suanpei.validation.habits import UNSLOTH
from suanpei.verbs.inputs import Inputs, load_inputs
from suanpei.verbs.job_request import JobRequest, build_job

if TYPE_CHECKING:
    from collections.abc import Mapping

    from suanpei.physics.estimate import Estimate
    from suanpei.physics.memory.formats import ParameterBytes
    from suanpei.physics.recipe import Recipe
    from tests.cases.case import Answer

    Fields = Mapping[str, Any]

GB = 1e9
LABEL_80GB = 80 * GB
GPTQ = Quantization(method="gptq", bits=4, group_size=128)


@cache
def inputs() -> Inputs:
    return load_inputs(None)


def flat_fsdp() -> Recipe:
    """FSDP as it was in 2023: flat parameters.

    PyTorch 2.0 takes the multi-tensor Adam, with its temporary of the parameters' size, only where every parameter is
    exactly a ``Tensor`` or ``Parameter`` (``torch/optim/optimizer.py``, ``_foreach_supported_types``), which a
    ``FlatParameter`` is not.
    """
    return replace(inputs().recipe("fsdp"), step_temporary_bytes=0.0)


@dataclass(frozen=True, kw_only=True)
class Setting:
    """One configuration in the words of a case."""

    model: str
    card: str
    gpus: int
    recipe: Recipe
    sharding: Sharding
    usable_gib: float | None = None
    """None takes what the catalogue says of the card."""
    seq_len: int = 1024
    host_memory_bytes: float | None = None
    job: Mapping[str, Any] = field(default_factory=dict)

    def estimate(self) -> Estimate:
        catalogue = inputs().catalogue
        accelerator = resolve_accelerator(catalogue, self.card).accelerator
        if self.usable_gib is not None:
            accelerator = replace(accelerator, memory_bytes=self.usable_gib * GIB_BYTES)
        settings: dict[str, Any] = {"method": "full", **self.job}
        job = Job(
            architecture=load_model(catalogue.table("models"), self.model),
            seq_len=self.seq_len,
            global_batch_seqs=self.gpus,
            **settings,
        )
        strategy = Strategy(dp=self.gpus, sharding=self.sharding, recompute=Recompute.FULL)
        assert check_strategy(job, self.recipe, strategy) == ()
        cluster = build_cluster(
            catalogue, accelerator, gpus_per_node=min(self.gpus, 8), host_memory_bytes=self.host_memory_bytes
        )
        return explain(job, cluster, self.recipe, inputs().calibration, Strategies.of([strategy]))

    def fits(self, *, at_risk_is: bool | None = None) -> bool:
        verdict = self.estimate().memory.verdict
        if verdict == "at_risk":
            assert at_risk_is is not None, "at risk: say how this case reads it"
            return at_risk_is
        return verdict == "fits"


def states(recipe: Recipe | str, sharding: Sharding, ranks: int, **settings: Any) -> ParameterBytes:
    chosen = inputs().recipe(recipe) if isinstance(recipe, str) else recipe
    return state_bytes_per_parameter(chosen, sharding, ranks, **settings)


def mixed_adam_bytes(parameters: float) -> float:
    """The states of mixed-precision Adam, undivided."""
    return parameters * float(states("deepspeed", Sharding.NONE, 1).steady)


def deepspeed(given: Fields, model: str, card: str, sharding: Sharding, **job: Any) -> Setting:
    return Setting(
        model=model,
        card=card,
        gpus=given["gpus"],
        recipe=inputs().recipe("deepspeed"),
        sharding=sharding,
        usable_gib=given["gpu_usable_gib"],
        seq_len=given.get("seq") or 1024,
        job=job,
    )


def mem_01(given: Fields) -> Fields:
    # V100 has no flash kernel in use at the time
    settings = {"precision": "fp16", "flash_attention": False}
    zero2, zero3 = (
        deepspeed(given, "Llama-2-7B", "V100-32G", level, **settings) for level in (Sharding.ZERO2, Sharding.ZERO3)
    )
    # what Adam adds over an optimizer that makes no temporary
    adam, plain = (
        states("deepspeed", Sharding.ZERO2, given["gpus"], optimizer=each).step_extra for each in ("adamw", "sgd")
    )
    return {
        # 30.6 of 31.75 GiB before the buckets that the reporter's step still held: no promise
        "fits": zero2.fits(at_risk_is=False),
        "adam_temp_gib": float(adam - plain) * given["params"] / GIB_BYTES,
        "zero3_fits": zero3.fits(),
    }


def mem_02(given: Fields) -> Fields:
    each = states("deepspeed", Sharding.ZERO3, given["gpus"])
    offloaded = deepspeed(
        given, "Llama-3-8B", "RTX 3090", Sharding.ZERO3, precision="fp16", offload=frozenset({"optimizer"})
    )
    return {
        # 23.2 of 23.6 GiB: no promise
        "fits": replace(offloaded, job={"precision": "fp16"}).fits(at_risk_is=False),
        "steady_state_gib": float(each.steady) * given["params"] / GIB_BYTES,
        "step_peak_gib": float(each.step_peak) * given["params"] / GIB_BYTES,
        "with_cpu_offload_fits": offloaded.fits(),
    }


def mem_04(given: Fields) -> Fields:
    setting = deepspeed(given, "Qwen1.5-72B", "A800-80G", Sharding.ZERO3)
    steady = states("deepspeed", Sharding.ZERO3, given["gpus"]).steady
    whole_nodes = range(8, 129, 8)
    return {
        # 76.2 of 79.3 GiB: no promise
        "fits": setting.fits(at_risk_is=False),
        "state16_gib": float(steady) * given["params"] / GIB_BYTES,
        "min_gpus_practical": next(n for n in whole_nodes if replace(setting, gpus=n).fits(at_risk_is=False)),
    }


def mem_05(given: Fields) -> Fields:
    estimate = deepspeed(given, "73.4B", "A800-80G", Sharding.ZERO3).estimate()
    total = mixed_adam_bytes(given["params"])
    return {
        "fits": {"fits": True, "does_not_fit": False}.get(estimate.memory.verdict),
        "state_over_capacity": shortfall_factor(given["gpus"] * estimate.memory.capacity_bytes, total),
        "weights_shard_gib": estimate.memory.parts["weights"] / GIB_BYTES,
    }


def mem_07(given: Fields) -> Fields:
    setting = Setting(
        model="Llama-3-70B",
        card="A10",
        gpus=given["gpus"],
        recipe=inputs().recipe("ddp"),
        sharding=Sharding.NONE,
        usable_gib=given["gpu_usable_gib"],
        job={"method": "qlora", "lora": Lora(), "base_storage": "gptq-int4"},
    )
    architecture = load_model(inputs().catalogue.table("models"), setting.model)
    return {
        "fits": setting.fits(),
        "base_weights_gb": stored_weight_bytes(replace(architecture, quantization=GPTQ)) / GB,
        "fits_8_gpus": replace(setting, gpus=8).fits(),
        # one card of 48 GB, ECC on: 42 of 44.4 GiB, which "one works" does not call comfortable either
        "fits_1x48gb": replace(setting, card="A40", gpus=1, usable_gib=None).fits(at_risk_is=True),
    }


def mem_09(given: Fields) -> Fields:
    setting = Setting(
        model="Llama-2-7B",
        card="A100-40G-SXM",
        gpus=given["gpus"],
        recipe=flat_fsdp(),
        sharding=Sharding.ZERO3,
        usable_gib=given["gpu_usable_gib"],
    )
    eight = replace(setting, card="RTX 3090", gpus=8, usable_gib=None)
    whole = replace(eight, recipe=replace(flat_fsdp(), full_copy_initialisation=True))
    return {
        "fits": setting.fits(),
        "per_gpu_gb": setting.estimate().memory.device_bytes / GB,
        "init_peak_full_fp32_gb": float(estimate_initialisation_peak_bytes(given["params"])) / GB,
        "fits_8x24gb_steady": eight.fits(),
        # 25.9 of 23.6 GiB
        "fits_8x24gb_init_full_copy": whole.fits(at_risk_is=False),
    }


def mem_11(given: Fields) -> Fields:
    offloads = ("optimizer+params", "optimizer", "none")
    estimates = [
        estimate_deepspeed_zero3_bytes(
            given["params"], given["largest_layer_params"], given["gpus_per_node"], given["nodes"], offload=offload
        )
        for offload in offloads
    ]
    real = Setting(
        model="6.8B",
        card="A100-40G-SXM",
        gpus=given["gpus_per_node"],
        recipe=inputs().recipe("deepspeed"),
        sharding=Sharding.ZERO3,
        job={"offload": frozenset({"optimizer", "parameters"})},
    )
    return {
        "gpu_gib": [gpu / GIB_BYTES for gpu, _ in estimates],
        "host_gib": [host / GIB_BYTES for _, host in estimates[:2]],
        "real_peak_above_estimate": real.estimate().memory.device_bytes > estimates[0][0],
    }


def mem_13(given: Fields) -> Fields:
    memory = (
        Setting(
            model="Llama-2-7B",
            card="A100-80G-SXM",
            gpus=given["gpus"],
            recipe=inputs().recipe("deepspeed"),
            sharding=Sharding.ZERO3,
            host_memory_bytes=given["host_free_gb"] * GB,
            job={"offload": frozenset({"optimizer", "parameters"})},
        )
        .estimate()
        .memory
    )
    assert memory.device_bytes < memory.capacity_bytes, "the cards are not what is short"
    return {"host_fits": memory.verdict != "does_not_fit", "host_needed_gb": memory.host_bytes / GB}


def mem_14(given: Fields) -> Fields:
    each = [implied_bytes_per_parameter(row["gb"] * GB, row["params"]) for row in given["rows"]]
    (outlier,) = find_outliers(each)
    return {
        "outlier_index": outlier,
        "bytes_per_param": each,
        "mixed_adam_gb_70b": mixed_adam_bytes(given["rows"][1]["params"]) / GB,
    }


def mem_15(given: Fields) -> Fields:
    setting = Setting(
        model="Qwen2.5-32B",
        card="H100-SXM",
        gpus=given["gpus"],
        recipe=inputs().recipe("fsdp"),
        sharding=Sharding.ZERO3,
        usable_gib=given["gpu_usable_gib"],
    )
    steady = states("fsdp", Sharding.ZERO3, given["gpus"]).steady
    return {"fits": setting.fits(), "state_gb_per_gpu": float(steady) * given["params"] / GB}


def mem_16(given: Fields) -> Fields:
    unsloth = replace(inputs().recipe("ddp"), **dict(UNSLOTH), wide_quantised_residual=False)
    setting = Setting(
        model="Llama-3-8B",
        card="A100-80G-SXM",
        gpus=given["gpus"],
        recipe=unsloth,
        sharding=Sharding.NONE,
        usable_gib=given["gpu_usable_gib"],
        job={"method": "qlora", "lora": Lora(), "base_storage": "nf4", "loss": "in-place"},
    )
    return {
        # the shorter one fills the card, as the reporter says: 75 of 79.2 GiB
        "fits": [replace(setting, seq_len=seq_len).fits(at_risk_is=True) for seq_len in given["seq"]],
        "logits_fp32_gib": [float(logits_bytes(seq_len, given["vocab"])) / GIB_BYTES for seq_len in given["seq"]],
    }


def mem_18(given: Fields) -> Fields:
    levels = [Sharding.ZERO1 if divided else Sharding.NONE for divided in given["distributed_optimizer"]]
    each = [float(states("megatron", level, given["dp"]).steady) for level in levels]
    return {
        "bytes_per_param": each,
        "gb": [bytes_each * given["params"] / GB for bytes_each in each],
        "fits_80gb": [gpus_for_state(bytes_each * given["params"], LABEL_80GB) == 1 for bytes_each in each],
    }


def mem_19(given: Fields) -> Fields:
    each = implied_bytes_per_parameter(given["measured_mib"] * MIB_BYTES, given["params"])
    return {"implied_bytes_per_param": each, "implied_dtype": implied_format(each)}


def mem_21(given: Fields) -> Fields:
    precisions = {"fp32": "fp32", "bf16": "bf16-pure"}
    sizes = [
        given["params"]
        * float(
            states(
                "ddp",
                Sharding.NONE,
                1,
                precision=precisions[recipe["dtype"]],
                optimizer=recipe["optimizer"],
                optimizer_in_backward=recipe.get("optimizer_in_backward", False),
            ).steady
        )
        for recipe in given["recipes"]
    ]
    return {
        "gb": [size / GB for size in sizes],
        "fits_80gb": [gpus_for_state(size, LABEL_80GB) == 1 for size in sizes],
    }


def mem_24(given: Fields) -> Fields:
    setting = Setting(
        model="Llama-2-7B",
        card="A100-40G-SXM",
        gpus=given["gpus"],
        recipe=flat_fsdp(),
        sharding=Sharding.ZERO3,
        usable_gib=given["gpu_usable_gib"],
    )
    each = states("fsdp", Sharding.NONE, 1)
    return {
        "fits": setting.fits(),
        "state_gb_total": [given["params"] * float(size) / GB for size in (each.steady, each.step_peak)],
    }


def mem_25(given: Fields) -> Fields:
    each = states("deepspeed", Sharding.ZERO2, given["gpus"])
    frozen = given["params"] - given["trainable"]
    size = float(each.steady) * given["trainable"] + float(each.weights) * frozen
    return {
        "state_gb_per_gpu": size / GB,
        "state_fits": gpus_for_state(size, given["gpu_usable_gib"] * GIB_BYTES) == 1,
    }


def plan_by_data(lengths: list[int]) -> int:
    """Give the sequence length that a tuning job takes from samples of so many words."""
    with tempfile.TemporaryDirectory() as folder:
        tokenizer = Tokenizer(models.WordLevel({"a": 0}))
        tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
        tokenizer.save(str(Path(folder, "tokenizer.json")))
        data = Path(folder, "data.jsonl")
        rows = [json.dumps({"text": " ".join("a" * length)}) for length in lengths]
        data.write_text("\n".join(rows), encoding="utf-8")
        request = JobRequest(
            model="Qwen2.5-14B", data=(str(data),), tokenizer=str(Path(folder, "tokenizer.json")), method="full"
        )
        return build_job(request, inputs().catalogue, needs_data=True).seq_len


def mem_26(given: Fields) -> Fields:
    steady = states("deepspeed", Sharding.ZERO3, given["gpus"]).steady
    lengths = [100] * 20 + [given["seq"]]
    return {
        "state_gb_per_gpu": float(steady) * given["params"] / GB,
        "logits_fp32_gib": float(logits_bytes(given["micro_batch"] * given["seq"], given["vocab"])) / GIB_BYTES,
        "size_for": "longest_sample" if plan_by_data(lengths) >= max(lengths) else None,
    }


def mem_29(given: Fields) -> Fields:
    job = Job(
        # 32 layers of 4096, vocabulary of 32,000, as the case says
        architecture=load_model(inputs().catalogue.table("models"), "Llama-2-7B"),
        method="full",
        seq_len=given["seq"],
        global_batch_seqs=given["batch"],
        flash_attention=given["flash_attention"],
    )
    operators = build_workload(job).operators
    assert (operators.hidden, operators.vocab) == (given["hidden"], given["vocab"])
    kept = [
        # all layers are of one kind
        given["layers"]
        * float(
            np.sum(
                estimate_layer_kept_bytes(
                    job,
                    operators,
                    inputs().recipe("megatron"),
                    tp=1,
                    sp=0,
                    cp=1,
                    micro_batch=given["batch"],
                    recompute=level,
                )
            )
        )
        for level in (Recompute.FULL, Recompute.NONE)
    ]
    right = mixed_adam_bytes(given["params"])
    return {
        "mixed_adam_gb": right / GB,
        "checkpoint_only_act_gb": kept[0] / GB,
        "no_checkpoint_act_gb": kept[1] / GB,
        "claim_verdict": judge_figure(given["claim_fixed_gb"] * GB, right),
    }


def mem_30(given: Fields) -> Fields:
    size = given["params"] * float(states("ddp", Sharding.NONE, 1, precision="fp32").weights)
    stated = given["claim_gb"] * GIB_BYTES  # the article divides by 1024³
    return {
        "gib": size / GIB_BYTES,
        "claim_factor": shortfall_factor(stated, size),
        "claim_verdict": judge_figure(stated, size),
    }


def mem_32(given: Fields) -> Fields:
    each = implied_bytes_per_parameter(given["reported_mib"] * MIB_BYTES, given["shard_params"])
    return {
        "bytes_per_param": each,
        "dp": find_data_parallel(inputs().recipe("megatron"), Sharding.ZERO1, each),
    }


def mem_33(given: Fields) -> Fields:
    small, large = given["claims"]
    base = Setting(model="7B", card="A100-80G-SXM", gpus=1, recipe=inputs().recipe("fsdp"), sharding=Sharding.ZERO3)
    divided = [states(recipe, Sharding.NONE, 1).steady for recipe in ("deepspeed", "megatron")]
    (eight,) = large["gpus"]
    return {
        "fits": [
            # two cards: 66 of 79 GiB, sharded and recomputed; three are comfortable
            all(replace(base, gpus=gpus).fits(at_risk_is=True) for gpus in small["gpus"]),
            replace(base, model="70B", gpus=eight).fits(),
        ],
        "state_gb_total": [mixed_adam_bytes(claim["params"]) / GB for claim in given["claims"]],
        "ddp_fits_7b": replace(base, gpus=3, recipe=inputs().recipe("ddp"), sharding=Sharding.NONE).fits(),
        "min_cards_state_70b": [gpus_for_state(large["params"] * float(size), LABEL_80GB) for size in divided],
    }


def mem_35(given: Fields) -> Fields:
    each = states("deepspeed", Sharding.ZERO2, given["gpus"])
    zero2, zero3 = (deepspeed(given, "Qwen2.5-3B", "RTX 3090", level) for level in (Sharding.ZERO2, Sharding.ZERO3))
    return {
        # 22.4 of 23.6 GiB before the buckets: no promise
        "fits": zero2.fits(at_risk_is=False),
        "steady_state_gib": float(each.steady) * given["params"] / GIB_BYTES,
        "step_peak_gib": float(each.step_peak) * given["params"] / GIB_BYTES,
        "zero3_fits": zero3.fits(),
    }


def mem_36(given: Fields) -> Fields:
    setting = Setting(
        model="Qwen2.5-7B",
        card="Ascend 910B2",
        gpus=given["gpus"],
        recipe=inputs().recipe("deepspeed"),
        sharding=Sharding.ZERO3,
        seq_len=given["seq"],
        job={"flash_attention": given["flash_attention"], "offload": frozenset({"optimizer", "parameters"})},
    )
    few, many = (replace(setting, gpus=gpus).estimate().memory for gpus in (given["gpus"], 8 * given["gpus"]))
    steady = states("deepspeed", Sharding.ZERO3, given["gpus"]).steady
    return {
        "state_gb_per_gpu": float(steady) * given["params"] / GB,
        "logits_fp32_gib": float(logits_bytes(given["seq"], given["vocab"])) / GIB_BYTES,
        "more_gpus_help": many.device_bytes < few.device_bytes,
    }


ANSWERS: dict[str, Answer] = {
    "MEM-01": mem_01,
    "MEM-02": mem_02,
    "MEM-04": mem_04,
    "MEM-05": mem_05,
    "MEM-07": mem_07,
    "MEM-09": mem_09,
    "MEM-11": mem_11,
    "MEM-13": mem_13,
    "MEM-14": mem_14,
    "MEM-15": mem_15,
    "MEM-16": mem_16,
    "MEM-18": mem_18,
    "MEM-19": mem_19,
    "MEM-21": mem_21,
    "MEM-24": mem_24,
    "MEM-25": mem_25,
    "MEM-26": mem_26,
    "MEM-29": mem_29,
    "MEM-30": mem_30,
    "MEM-32": mem_32,
    "MEM-33": mem_33,
    "MEM-35": mem_35,
    "MEM-36": mem_36,
}
