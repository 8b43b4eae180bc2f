"""Flags of Hugging Face's Trainer and of the tuning frameworks built on it.

Names and defaults: transformers ``TrainingArguments`` (``per_device_train_batch_size`` 8,
``gradient_accumulation_steps`` 1, ``optim`` adamw_torch, fp32 unless ``bf16`` or ``fp16``); LLaMA-Factory, ms-swift,
TRL and OpenRLHF for the names of lengths and adapters.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from suanpei.errors import InputError
from suanpei.job.job import LORA_TARGETS, LoraTarget
from suanpei.messages import Message
from suanpei.physics.strategy import Recompute, Sharding

if TYPE_CHECKING:
    from suanpei.verbs.launch.arguments import Arguments

SIGNATURE = (
    "per_device_train_batch_size",
    "gradient_accumulation_steps",
    "gradient_checkpointing",
    "model_name_or_path",
    "micro_train_batch_size",
    "num_train_epochs",
    "output_dir",
)
"""Flags that mark a command line of the Trainer or a relative."""

_LENGTHS = ("model_max_length", "max_seq_length", "max_seq_len", "max_length", "max_len", "cutoff_len", "block_size")
_MODELS = ("model_name_or_path", "model_name", "pretrain", "model_id_or_path", "model")
_TARGETS: dict[str, LoraTarget] = {
    "q_proj": "q",
    "k_proj": "k",
    "v_proj": "v",
    "o_proj": "o",
    "gate_proj": "gate",
    "up_proj": "up",
    "down_proj": "down",
}
_SIZE_CHANGING = (
    "sequence_parallel_size",
    "ring_attn_size",
    "neftune_noise_alpha",
    "use_galore",
    "use_badam",
    "use_apollo",
    "use_dora",
    "freeze_trainable_layers",
    "freeze_vit",
    "additional_target",
    "modules_to_save",
    "packing_method",
)
_NOT_MODELLED = frozenset({"dpo", "ppo", "grpo", "kto", "orpo", "simpo", "rm", "rloo", "reward", "gkd"})


def read_trainer(arguments: Arguments) -> None:
    """Read the Trainer's flags into the collector.

    Raises:
        InputError: A value has the wrong type, or the training method is not modelled.
    """
    collector = arguments.collector
    collector.add_format("trainer")
    _refuse_methods(arguments)
    arguments.put_integer(
        "micro_batch", "per_device_train_batch_size", "micro_train_batch_size", "per_device_batch_size"
    )
    arguments.put_integer("grad_accum", "gradient_accumulation_steps", "grad_accumulation_steps")
    arguments.put_integer("global_batch_seqs", "train_batch_size")
    arguments.put_integer("seq_len", *_LENGTHS)
    arguments.put_integer("lora_rank", "lora_rank", "lora_r", "lora_dim")
    steps = arguments.integer("max_steps", least=-1)
    if steps is not None and steps > 0:
        collector.put("max_steps", steps, arguments.where("max_steps"))
    epochs = arguments.number("num_train_epochs")
    if epochs is not None:
        collector.put("epochs", epochs, arguments.where("num_train_epochs"))
    for name in _MODELS:
        model = arguments.text(name)
        if model is not None:
            collector.put("model", model, arguments.where(name))
            break
    if arguments.switch("gradient_checkpointing"):
        collector.put("recompute", Recompute.FULL, arguments.where("gradient_checkpointing"))
    elif arguments.is_off("gradient_checkpointing"):
        collector.put("recompute", Recompute.NONE, arguments.where("gradient_checkpointing"))
    arguments.put_switch("flash_attention", True, "flash_attn", "use_flash_attn", "use_flash_attention_2")
    _read_precision(arguments)
    _read_optimizer(arguments)
    _read_adapters(arguments)
    _read_fsdp(arguments)
    arguments.warn_of_sizes(_SIZE_CHANGING)


def put_trainer_defaults(arguments: Arguments) -> None:
    """Fill in what the Trainer takes when nobody says otherwise; call it after every file is read."""
    collector = arguments.collector
    defaults: tuple[tuple[str, object, Message], ...] = (
        (
            "micro_batch",
            8,
            Message("{file}: no --per_device_train_batch_size: the Trainer's default of 8", file=arguments.file),
        ),
        (
            "precision",
            "fp32",
            Message("{file}: neither --bf16 nor --fp16: the Trainer computes in fp32", file=arguments.file),
        ),
        ("optimizer", "adamw", Message("{file}: no --optim: the Trainer takes AdamW", file=arguments.file)),
    )
    for name, value, note in defaults:
        if name not in collector.undetermined and not (name == "micro_batch" and _batch_follows(arguments)):
            collector.put_default(name, value, note)
    if "grad_accum" not in collector.undetermined and "global_batch_seqs" not in collector.values:
        collector.put_default(
            "grad_accum",
            1,
            Message("{file}: no --gradient_accumulation_steps: the Trainer's default of 1", file=arguments.file),
        )


def _batch_follows(arguments: Arguments) -> bool:
    return {"grad_accum", "global_batch_seqs"} <= arguments.collector.values.keys()


def _refuse_methods(arguments: Arguments) -> None:
    for name in ("stage", "rlhf_type", "training_stage"):
        method = arguments.text(name)
        if method is not None and method.lower() in _NOT_MODELLED:
            raise InputError(
                Message(
                    "{file}: {flag} {method}: this method is not modelled; pretrain, full, lora and qlora are",
                    file=arguments.file,
                    flag=arguments.flags[name].written,
                    method=method,
                )
            )


def _read_precision(arguments: Arguments) -> None:
    collector = arguments.collector
    if arguments.switch("bf16") and arguments.switch("fp16"):
        collector.contradictions.append(
            Message("{file}: both --bf16 and --fp16 are given; keep one", file=arguments.file)
        )
        return
    pure = arguments.switch("pure_bf16")
    for name in ("bf16", "fp16"):
        if arguments.switch(name):
            collector.put("precision", f"{name}-pure" if pure else name, arguments.where(name))
            return
    if pure:
        collector.put("precision", "bf16-pure", arguments.where("pure_bf16"))


def _read_optimizer(arguments: Arguments) -> None:
    optimizer = arguments.text("optim")
    if optimizer is None:
        return
    name = optimizer.lower()
    where = arguments.where("optim")
    if "8bit" in name and "adamw" in name:
        arguments.collector.put("optimizer", "adamw-8bit", where)
    elif name.startswith(("adamw", "adam", "stable_adamw")) or name == "paged_adamw_32bit":
        arguments.collector.put("optimizer", "adamw", where)
    elif name in ("adafactor", "sgd", "muon"):
        arguments.collector.put("optimizer", name, where)
    else:
        arguments.collector.undetermined["optimizer"] = Message(
            "{where} is {value}, which is not modelled", where=where, value=optimizer
        )


def _read_adapters(arguments: Arguments) -> None:
    collector = arguments.collector
    kind = _adapter_kind(arguments)
    if kind is None:
        collector.put("method", "full", arguments.file)
        return
    method, name = kind
    collector.put("method", method, arguments.where(name))
    collector.put_default(
        "lora_rank",
        8,
        Message("{file}: no --lora_rank: 8, the default of PEFT", file=arguments.file),
    )
    for flag_name in ("lora_target", "lora_target_modules", "target_modules", "lora_modules"):
        if flag_name in arguments.flags and arguments.flags[flag_name].values:
            collector.put("lora_targets", _read_targets(arguments, flag_name), arguments.where(flag_name))


def _adapter_kind(arguments: Arguments) -> tuple[str, str] | None:
    """Say whether adapters are trained (``lora``, ``qlora``), and which flag says so; None for full tuning."""
    name = next((each for each in ("use_lora", "use_peft", "lora_enable", "q_lora") if arguments.switch(each)), None)
    for each in ("finetuning_type", "train_type", "tuner_type", "sft_type"):
        text = arguments.text(each)
        if text is None:
            continue
        if text not in ("full", "lora", "qlora"):
            raise InputError(
                Message(
                    "{file}: {flag} takes full, lora or qlora, got {value}",
                    file=arguments.file,
                    flag=arguments.flags[each].written,
                    value=text,
                )
            )
        name = None if text == "full" else each
        if text == "qlora":
            return "qlora", each
    if name is None and arguments.has("lora_rank", "lora_r") and not arguments.has("finetuning_type", "train_type"):
        name = "lora_rank" if arguments.has("lora_rank") else "lora_r"
    if name is None:
        return None
    four_bits = arguments.switch("load_in_4bit", "q_lora", "use_4bit") or any(
        arguments.text(each) in ("4", "nf4") for each in ("quantization_bit", "quant_bits", "bits")
    )
    return ("qlora" if four_bits else "lora"), name


def _read_targets(arguments: Arguments, name: str) -> tuple[LoraTarget, ...]:
    flag = arguments.flags[name]
    words = [word for value in flag.values for word in value.replace(",", " ").split()]
    if {"all", "all-linear", "ALL"} & set(words):
        return LORA_TARGETS
    unknown = [word for word in words if word not in _TARGETS]
    if unknown:
        raise InputError(
            Message(
                "{file}: {flag} takes {choices} or all, got {value}",
                file=arguments.file,
                flag=flag.written,
                choices=", ".join(_TARGETS),
                value=unknown[0],
            )
        )
    return tuple(target for target in LORA_TARGETS if target in {_TARGETS[word] for word in words})


def _read_fsdp(arguments: Arguments) -> None:
    if not arguments.has("fsdp") or arguments.is_off("fsdp"):
        return
    words = arguments.flags["fsdp"].values or ("full_shard",)
    kind = words[0].split()[0] if words[0].split() else ""
    where = arguments.where("fsdp")
    arguments.collector.put("recipe", "fsdp", where)
    sharding = {
        "full_shard": Sharding.ZERO3,
        "hybrid_shard": Sharding.ZERO3,
        "shard_grad_op": Sharding.ZERO2,
        "hybrid_shard_zero2": Sharding.ZERO2,
        "no_shard": Sharding.NONE,
    }.get(kind)
    arguments.collector.put("sharding", Sharding.ZERO3 if sharding is None else sharding, where)
    if any("offload" in word for word in words):
        arguments.collector.put("offload", frozenset({"optimizer", "parameters"}), where)
