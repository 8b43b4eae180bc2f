"""torchtitan's TOML job configuration, and the same settings as ``--section.key`` flags.

Names and defaults: pytorch/torchtitan, ``torchtitan/config/job_config.py`` (2025) and ``torchtitan/config_manager.py``
(2024: degrees under ``[training]`` and ``[experimental]``, ``batch_size`` for ``local_batch_size``).
"""

from __future__ import annotations

import tomllib
from typing import TYPE_CHECKING, Any

from suanpei.errors import InputError
from suanpei.messages import Message
from suanpei.physics.strategy import Recompute, Sharding

if TYPE_CHECKING:
    from collections.abc import Mapping

    from suanpei.verbs.launch.settings import Collector

SECTIONS = frozenset({"parallelism", "training", "activation_checkpoint", "experimental"})
"""Tables by which a torchtitan configuration is known."""

_DEGREES = {
    "tp": ("parallelism.tensor_parallel_degree", "training.tensor_parallel_degree"),
    "pp": (
        "parallelism.pipeline_parallel_degree",
        "experimental.pipeline_parallel_degree",
        "training.pipeline_parallel_degree",
    ),
    "cp": ("parallelism.context_parallel_degree", "experimental.context_parallel_degree"),
    "ep": ("parallelism.expert_parallel_degree", "experimental.expert_parallel_degree"),
    "etp": ("parallelism.expert_tensor_parallel_degree",),
}
_LOCAL_BATCH = ("training.local_batch_size", "training.batch_size")
_REPLICATE = ("parallelism.data_parallel_replicate_degree", "training.data_parallel_replicate_degree")
_SHARD = (
    "parallelism.data_parallel_shard_degree",
    "training.data_parallel_shard_degree",
    "training.data_parallel_degree",
)
_DEFAULT_LOCAL_BATCH = 8
_OPTIMIZERS = {"adam": "adamw", "adamw": "adamw", "sgd": "sgd", "muon": "muon"}
_SIZE_CHANGING = (
    "parallelism.pipeline_parallel_split_points",
    "parallelism.module_fqns_per_model_part",
    "experimental.pipeline_parallel_split_points",
    "fault_tolerance.enable",
)


def parse_toml(text: str, file: str) -> dict[str, Any]:
    """Parse TOML and flatten it to ``section.key``.

    Raises:
        InputError: The text is not valid TOML.
    """
    try:
        parsed = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InputError(Message("{file}: not valid TOML: {reason}", file=file, reason=str(error))) from error
    return {
        f"{section}.{key}": value
        for section, table in parsed.items()
        if isinstance(table, dict)
        for key, value in table.items()
    }


def read_torchtitan(values: Mapping[str, Any], file: str, collector: Collector) -> None:
    """Read torchtitan's settings into the collector.

    Args:
        values: Settings by ``section.key``. [-]
        file: Their file, for messages. [-]
        collector: What was read so far. [-]

    Raises:
        InputError: None of torchtitan's tables is there, or a value has the wrong type.
    """
    if not SECTIONS & {key.split(".")[0] for key in values}:
        raise InputError(
            Message("{file}: no table of torchtitan in it; expected [training] and [parallelism]", file=file)
        )
    reader = _Values(values, file)
    collector.add_format("torchtitan")
    collector.put("recipe", "fsdp", file)
    collector.put("method", "pretrain", file)
    degrees = {name: reader.integer(*keys) or 1 for name, keys in _DEGREES.items()}
    for name, keys in _DEGREES.items():
        key = reader.key(*keys)
        if key is not None:
            collector.put(name, degrees[name], f"{file}: {key}")
    collector.put("sp", degrees["tp"] > 1, f"{file}: tensor parallelism of torchtitan includes sequence parallelism")
    _read_data_parallel(reader, collector, degrees)
    _read_batch(reader, collector, degrees)
    _read_recompute(reader, collector)
    _read_precision(reader, collector)
    _read_rest(reader, collector)
    for key in _SIZE_CHANGING:
        if values.get(key):
            collector.warnings.append(
                Message(
                    "{file}: {flag} changes sizes and is not modelled; the result is as if it were absent",
                    file=file,
                    flag=key,
                )
            )


class _Values:
    """Settings by type, under their older and newer names."""

    def __init__(self, values: Mapping[str, Any], file: str) -> None:
        self.values = values
        self.file = file

    def key(self, *keys: str) -> str | None:
        return next((key for key in keys if key in self.values), None)

    def integer(self, *keys: str, least: int = 1) -> int | None:
        """Give a whole number; -1 is torchtitan's way to leave a value open."""
        key = self.key(*keys)
        if key is None:
            return None
        value = self.values[key]
        if isinstance(value, str) and value.lstrip("-").isdecimal():
            value = int(value)
        if value == -1:
            return None
        if not isinstance(value, int) or isinstance(value, bool) or value < least:
            raise InputError(
                Message(
                    "{file}: {flag} takes a whole number of at least {least}, got {value}",
                    file=self.file,
                    flag=key,
                    least=least,
                    value=value,
                )
            )
        return value

    def text(self, key: str, choices: tuple[str, ...]) -> str | None:
        value = self.values.get(key)
        if value is not None and value not in choices:
            raise InputError(
                Message(
                    "{file}: {flag} takes one of {choices}, got {value}",
                    file=self.file,
                    flag=key,
                    choices=", ".join(choices),
                    value=value,
                )
            )
        return value

    def is_on(self, *keys: str) -> bool:
        return any(str(self.values.get(key, "false")).lower() in ("true", "1") for key in keys)


def _read_data_parallel(reader: _Values, collector: Collector, degrees: Mapping[str, int]) -> None:
    replicate = reader.integer(*_REPLICATE) or 1
    shard = reader.integer(*_SHARD)
    where = f"{reader.file}: {reader.key(*_SHARD) or _SHARD[0]}"
    if shard is not None:
        collector.put("dp", replicate * shard, where)
        world = replicate * shard * degrees["tp"] * degrees["pp"] * degrees["cp"]
        collector.put("world_size", world, f"{reader.file}: product of the degrees")
    if shard == 1 and degrees["cp"] == 1:
        collector.put("sharding", Sharding.NONE, where)
        return
    policy = reader.text("parallelism.fsdp_reshard_after_forward", ("default", "always", "never")) or "default"
    keeps = policy == "never" or (policy == "default" and degrees["pp"] > 1)
    collector.put("sharding", Sharding.ZERO2 if keeps else Sharding.ZERO3, where)
    if keeps:
        collector.notes.append(
            Message("{file}: weights stay gathered after the forward pass, which is zero2", file=reader.file)
        )
    if replicate > 1:
        collector.warnings.append(
            Message(
                "{file}: states are divided within groups and copied {replicate} times; the estimate divides them over "
                "all data-parallel ranks",
                file=reader.file,
                replicate=replicate,
            )
        )


def _read_batch(reader: _Values, collector: Collector, degrees: Mapping[str, int]) -> None:
    local = reader.integer(*_LOCAL_BATCH)
    key = reader.key(*_LOCAL_BATCH)
    if local is None:
        local = _DEFAULT_LOCAL_BATCH
        collector.notes.append(
            Message("{file}: no training.local_batch_size: torchtitan's default of 8", file=reader.file)
        )
    where = f"{reader.file}: {key or _LOCAL_BATCH[0]}"
    micro = local
    if degrees["pp"] > 1:
        micro = reader.integer("parallelism.pipeline_parallel_microbatch_size") or 1
        microbatches = reader.integer("experimental.pipeline_parallel_microbatches")
        if microbatches is not None:
            micro = max(1, local // microbatches)
        if local % micro:
            collector.contradictions.append(
                Message(
                    "{file}: the local batch of {local} is no multiple of the pipeline's micro-batch of {micro}",
                    file=reader.file,
                    local=local,
                    micro=micro,
                )
            )
    collector.put("micro_batch", micro, where)
    global_batch = reader.integer("training.global_batch_size")
    if global_batch is not None:
        collector.put("global_batch_seqs", global_batch, f"{reader.file}: training.global_batch_size")
    else:
        collector.put("grad_accum", max(1, local // micro), where)
    for name, field in (("training.seq_len", "seq_len"), ("training.steps", "max_steps")):
        number = reader.integer(name)
        if number is not None:
            collector.put(field, number, f"{reader.file}: {name}")


def _read_recompute(reader: _Values, collector: Collector) -> None:
    mode = reader.text("activation_checkpoint.mode", ("none", "selective", "full", "memory_budget"))
    where = f"{reader.file}: activation_checkpoint.mode"
    if mode is None:
        collector.put_default(
            "recompute",
            Recompute.SELECTIVE,
            Message("{file}: no activation_checkpoint.mode: torchtitan's default, selective", file=reader.file),
        )
        return
    modes = {"none": Recompute.NONE, "full": Recompute.FULL}
    collector.put("recompute", modes.get(mode, Recompute.SELECTIVE), where)
    option = str(reader.values.get("activation_checkpoint.selective_ac_option", "2"))
    if mode == "memory_budget" or (mode == "selective" and option != "op"):
        collector.warnings.append(
            Message(
                "{where} = {mode} with option {option} recomputes some layers whole; the estimate takes the selective "
                "policy for all",
                where=where,
                mode=mode,
                option=option,
            )
        )


def _read_precision(reader: _Values, collector: Collector) -> None:
    converters = reader.values.get("model.converters", [])
    words = converters if isinstance(converters, list) else str(converters).split(",")
    if any("mx" in str(word) for word in words):
        collector.put("precision", "mxfp8", f"{reader.file}: model.converters")
    elif any("float8" in str(word) for word in words) or reader.is_on("float8.enable_float8_linear"):
        collector.put("precision", "fp8", f"{reader.file}: model.converters")
    elif reader.values.get("training.dtype") == "bfloat16":
        collector.put("precision", "bf16-pure", f"{reader.file}: training.dtype")
    elif reader.values.get("training.mixed_precision_param") == "float32":
        collector.put("precision", "fp32", f"{reader.file}: training.mixed_precision_param")
    else:
        collector.put("precision", "bf16", f"{reader.file}: training.mixed_precision_param")


def _read_rest(reader: _Values, collector: Collector) -> None:
    name = str(reader.values.get("optimizer.name", "AdamW"))
    optimizer = _OPTIMIZERS.get(name.lower())
    if optimizer is None:
        collector.undetermined["optimizer"] = Message(
            "{where} is {value}, which is not modelled", where=f"{reader.file}: optimizer.name", value=name
        )
    else:
        collector.put("optimizer", optimizer, f"{reader.file}: optimizer.name")
    if reader.is_on("training.enable_cpu_offload", "experimental.enable_cpu_offload"):
        collector.put("offload", frozenset({"optimizer", "parameters"}), f"{reader.file}: training.enable_cpu_offload")
    if reader.is_on("optimizer.early_step_in_backward"):
        collector.put("optimizer_in_backward", True, f"{reader.file}: optimizer.early_step_in_backward")
    _read_stages(reader, collector)
    model, flavor = reader.values.get("model.name"), reader.values.get("model.flavor")
    if model is not None:
        collector.put("model", f"{model}-{flavor}" if flavor else str(model), f"{reader.file}: model.name")


def _read_stages(reader: _Values, collector: Collector) -> None:
    layers = reader.integer("parallelism.pipeline_parallel_layers_per_stage")
    if layers is not None:
        collector.put(
            "layers_per_virtual_stage", layers, f"{reader.file}: parallelism.pipeline_parallel_layers_per_stage"
        )
        return
    key = reader.key("parallelism.pipeline_parallel_schedule", "experimental.pipeline_parallel_schedule")
    if key is not None and "interleaved" in str(reader.values[key]).lower():
        collector.put_default(
            "vpp",
            2,
            Message("{file}: an interleaved schedule without layers per stage: two stages per rank", file=reader.file),
        )
