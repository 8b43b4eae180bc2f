"""Megatron-LM arguments: the strategy, the batch and a full architecture.

Names and defaults: Megatron-LM, ``megatron/training/arguments.py`` (``parse_args``, ``validate_args``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from suanpei.errors import InputError
from suanpei.messages import Message
from suanpei.physics.strategy import Recompute, Sharding
from suanpei.verbs.launch.megatron_model import read_model_arguments

if TYPE_CHECKING:
    from suanpei.verbs.launch.arguments import Arguments

_T = TypeVar("_T")

SIGNATURE = ("tensor_model_parallel_size", "pipeline_model_parallel_size", "num_layers", "use_distributed_optimizer")
"""Flags that only Megatron has."""

_SIZE_CHANGING = (
    "rampup_batch_size",
    "decoder_first_pipeline_num_layers",
    "decoder_last_pipeline_num_layers",
    "account_for_embedding_in_pipeline_split",
    "account_for_loss_in_pipeline_split",
    "pipeline_model_parallel_layout",
    "num_layer_list",
    "mtp_num_layers",
    "use_precision_aware_optimizer",
    "num_distributed_optimizer_instances",
    "hybrid_layer_pattern",
    "hybrid_override_pattern",
    "encoder_num_layers",
    "fp8_param_gather",
    "moe_pad_expert_input_to_capacity",
    "freeze_lm",
)
"""Flags that change memory or time and that no field stands for."""

_OPTIMIZERS = {"adam": "adamw", "sgd": "sgd", "muon": "muon", "dist_muon": "muon", "adamw": "adamw"}

_SHARDINGS = {
    "no_shard": Sharding.NONE,
    "optim": Sharding.ZERO1,
    "optim_grads": Sharding.ZERO2,
    "optim_grads_params": Sharding.ZERO3,
}


def read_megatron(arguments: Arguments) -> None:
    """Read Megatron's flags into the collector.

    Raises:
        InputError: A value has the wrong type, or a choice is unknown.
    """
    collector = arguments.collector
    collector.add_format("megatron")
    collector.put("recipe", "megatron", arguments.file)
    collector.put("method", "pretrain", arguments.file)
    arguments.put_integer("tp", "tensor_model_parallel_size")
    arguments.put_integer("pp", "pipeline_model_parallel_size")
    arguments.put_integer("cp", "context_parallel_size")
    arguments.put_integer("ep", "expert_model_parallel_size")
    arguments.put_integer("etp", "expert_tensor_parallel_size")
    arguments.put_integer("vpp", "num_virtual_stages_per_pipeline_rank")
    arguments.put_integer("layers_per_virtual_stage", "num_layers_per_virtual_pipeline_stage")
    arguments.put_integer("micro_batch", "micro_batch_size")
    arguments.put_integer("global_batch_seqs", "global_batch_size")
    arguments.put_integer("seq_len", "seq_length")
    arguments.put_integer("max_steps", "train_iters")
    arguments.put_integer("train_samples", "train_samples")
    arguments.put_integer("vocab", "vocab_size")
    arguments.put_integer("world_size", "world_size")
    arguments.put_switch("sp", True, "sequence_parallel")
    arguments.put_switch("offload", frozenset({"optimizer"}), "optimizer_cpu_offload")
    capacity = arguments.number("moe_expert_capacity_factor")
    if capacity is not None:
        collector.put("capacity_factor", capacity, arguments.where("moe_expert_capacity_factor"))
    _read_sharding(arguments)
    _read_recompute(arguments)
    _read_precision(arguments)
    _read_optimizer(arguments)
    model = read_model_arguments(arguments)
    if model is not None:
        collector.put("model_arguments", model, arguments.file)
    arguments.warn_of_sizes(_SIZE_CHANGING)


def _read_sharding(arguments: Arguments) -> None:
    strategy = _choose(arguments, "data_parallel_sharding_strategy", _SHARDINGS)
    if strategy is not None and arguments.switch("use_megatron_fsdp", "use_custom_fsdp"):
        arguments.collector.put("sharding", strategy, arguments.where("data_parallel_sharding_strategy"))
        return
    arguments.put_switch("sharding", Sharding.ZERO3, "use_torch_fsdp2")
    if not arguments.switch("use_torch_fsdp2"):
        arguments.put_switch("sharding", Sharding.ZERO1, "use_distributed_optimizer")


def _read_recompute(arguments: Arguments) -> None:
    granularity = _choose(
        arguments, "recompute_granularity", {"full": Recompute.FULL, "selective": Recompute.SELECTIVE}
    )
    if granularity is not None:
        arguments.collector.put("recompute", granularity, arguments.where("recompute_granularity"))
    else:
        arguments.put_switch("recompute", Recompute.SELECTIVE, "recompute_activations")
    layers = arguments.integer("recompute_num_layers")
    if granularity is Recompute.FULL and arguments.text("recompute_method") == "block" and layers is not None:
        arguments.collector.warnings.append(
            Message(
                "{where}: only {layers} layers of each stage are recomputed; the estimate recomputes all",
                where=arguments.where("recompute_num_layers"),
                layers=layers,
            )
        )


def _read_precision(arguments: Arguments) -> None:
    collector = arguments.collector
    if arguments.switch("bf16") and arguments.switch("fp16"):
        collector.contradictions.append(
            Message("{file}: both --bf16 and --fp16 are given; keep one", file=arguments.file)
        )
    if arguments.has("fp4_format"):
        collector.put("precision", "nvfp4", arguments.where("fp4_format"))
    elif arguments.has("fp8_format"):
        recipe = arguments.text("fp8_recipe")
        collector.put("precision", "mxfp8" if recipe == "mxfp8" else "fp8", arguments.where("fp8_format"))
    elif arguments.switch("bf16"):
        collector.put("precision", "bf16", arguments.where("bf16"))
    elif arguments.switch("fp16"):
        collector.put("precision", "fp16", arguments.where("fp16"))
    else:
        collector.put_default(
            "precision",
            "fp32",
            Message("{file}: neither --bf16 nor --fp16: Megatron trains in fp32", file=arguments.file),
        )


def _read_optimizer(arguments: Arguments) -> None:
    optimizer = _choose(arguments, "optimizer", _OPTIMIZERS)
    if optimizer is not None:
        arguments.collector.put("optimizer", optimizer, arguments.where("optimizer"))
    else:
        arguments.collector.put_default(
            "optimizer", "adamw", Message("{file}: no --optimizer: Megatron takes Adam", file=arguments.file)
        )


def _choose(arguments: Arguments, name: str, choices: dict[str, _T]) -> _T | None:
    text = arguments.text(name)
    if text is None:
        return None
    if text not in choices:
        raise InputError(
            Message(
                "{file}: {flag} takes one of {choices}, got {value}",
                file=arguments.file,
                flag=arguments.flags[name].written,
                choices=", ".join(choices),
                value=text,
            )
        )
    return choices[text]
