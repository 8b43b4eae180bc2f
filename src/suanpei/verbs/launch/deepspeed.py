"""DeepSpeed's JSON configuration, with its ``auto`` values.

Names and defaults: deepspeed.ai/docs/config-json. ``auto`` is filled by the Trainer from its own flags (transformers,
``integrations/deepspeed.py``).
"""

from __future__ import annotations

import json
from math import isfinite
from typing import TYPE_CHECKING, Any

from suanpei.errors import InputError
from suanpei.messages import Message
from suanpei.physics.strategy import Sharding

if TYPE_CHECKING:
    from suanpei.verbs.launch.settings import Collector

SIGNATURE = frozenset(
    {
        "zero_optimization",
        "train_batch_size",
        "train_micro_batch_size_per_gpu",
        "gradient_accumulation_steps",
        "bf16",
        "bfloat16",
        "fp16",
        "zero_allow_untested_optimizer",
    }
)
"""Keys by which a DeepSpeed configuration is known."""

_BATCH = (
    ("train_batch_size", "global_batch_seqs"),
    ("train_micro_batch_size_per_gpu", "micro_batch"),
    ("gradient_accumulation_steps", "grad_accum"),
)
_OPTIMIZERS = {
    "adamw": "adamw",
    "adam": "adamw",
    "fusedadam": "adamw",
    "deepspeedcpuadam": "adamw",
    "sgd": "sgd",
    "muon": "muon",
    "adafactor": "adafactor",
}
_DEFAULT_BUCKET_ELEMENTS = 500_000_000
"""Default of ``reduce_bucket_size``."""
_SIZE_CHANGING = (
    "zero_hpz_partition_size",
    "mics_shard_size",
    "zero_quantized_weights",
    "zero_quantized_gradients",
    "zero_quantized_nontrainable_weights",
)


def parse_json(text: str, file: str) -> dict[str, Any]:
    """Parse a JSON object.

    Raises:
        InputError: The text is no JSON object, or a key stands in it twice (DeepSpeed refuses that too).
    """

    def refuse_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        keys = [key for key, _ in pairs]
        twice = next((key for key in keys if keys.count(key) > 1), None)
        if twice is not None:
            raise InputError(Message("{file}: the key {key} stands twice; keep one", file=file, key=twice))
        return dict(pairs)

    def refuse_constant(name: str) -> Any:
        raise InputError(Message("{file}: {value} is no number that JSON knows", file=file, value=name))

    try:
        parsed = json.loads(text, object_pairs_hook=refuse_duplicates, parse_constant=refuse_constant)
    except json.JSONDecodeError as error:
        raise InputError(
            Message(
                "{file}: not valid JSON at line {line}, column {column}: {reason}",
                file=file,
                line=error.lineno,
                column=error.colno,
                reason=error.msg,
            )
        ) from error
    except RecursionError as error:
        raise InputError(Message("{file}: JSON nested too deeply", file=file)) from error
    if not isinstance(parsed, dict):
        raise InputError(Message("{file}: a DeepSpeed configuration is a JSON object with named settings", file=file))
    return parsed


def read_deepspeed(text: str, file: str, collector: Collector) -> None:
    """Read a DeepSpeed configuration into the collector.

    Raises:
        InputError: Malformed JSON, a value of the wrong type, or no key that DeepSpeed knows.
    """
    parsed = parse_json(text, file)
    if not SIGNATURE & parsed.keys():
        raise InputError(
            Message(
                "{file}: no setting of DeepSpeed in it; expected zero_optimization, train_batch_size or the like",
                file=file,
            )
        )
    collector.add_format("deepspeed")
    collector.put("recipe", "deepspeed", file)
    for key, field in _BATCH:
        number = _integer(parsed, key, key, file)
        if number is not None:
            collector.put(field, number, f"{file}: {key}")
        elif parsed.get(key) == "auto" and field not in collector.values:
            collector.undetermined[field] = Message("{file}: {key} is auto", file=file, key=key)
    _read_zero(_section(parsed, "zero_optimization", file), file, collector)
    _read_precision(parsed, file, collector)
    _read_optimizer(parsed, file, collector)


def _section(parsed: dict[str, Any], key: str, file: str) -> dict[str, Any]:
    section = parsed.get(key)
    if section is None or section is False:
        return {}
    if not isinstance(section, dict):
        raise InputError(
            Message("{file}: {key} takes an object of settings, got {value}", file=file, key=key, value=section)
        )
    return section


def _integer(section: dict[str, Any], key: str, path: str, file: str, least: int = 1) -> int | None:
    value = section.get(key)
    if value is None or value == "auto":
        return None
    is_number = isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value)
    if not is_number or value != int(value) or value < least:
        raise InputError(
            Message(
                "{file}: {flag} takes a whole number of at least {least} or auto, got {value}",
                file=file,
                flag=path,
                least=least,
                value=value,
            )
        )
    return int(value)


def _read_zero(zero: dict[str, Any], file: str, collector: Collector) -> None:
    stage = _integer(zero, "stage", "zero_optimization.stage", file, least=0) or 0
    if stage > Sharding.ZERO3:
        raise InputError(
            Message("{file}: zero_optimization.stage takes 0, 1, 2 or 3, got {value}", file=file, value=stage)
        )
    collector.put("sharding", Sharding(stage), f"{file}: zero_optimization.stage")
    offload = {
        part
        for part, key, legacy in (
            ("optimizer", "offload_optimizer", "cpu_offload"),
            ("parameters", "offload_param", "cpu_offload_params"),
        )
        if _section(zero, key, file).get("device", "none") not in ("none", None) or zero.get(legacy) is True
    }
    if offload:
        collector.put("offload", frozenset(offload), f"{file}: zero_optimization.offload_*")
    bucket = _integer(zero, "reduce_bucket_size", "zero_optimization.reduce_bucket_size", file)
    if bucket not in (None, _DEFAULT_BUCKET_ELEMENTS):
        _warn_of_size("reduce_bucket_size", file, collector)
    elif zero.get("reduce_bucket_size") == "auto":
        collector.notes.append(
            Message("{file}: reduce_bucket_size is auto: the Trainer sets the square of the hidden size", file=file)
        )
    for key in _SIZE_CHANGING:
        if zero.get(key) not in (None, False, 0, 1, -1):
            _warn_of_size(key, file, collector)


def _warn_of_size(key: str, file: str, collector: Collector) -> None:
    collector.warnings.append(
        Message(
            "{file}: {flag} changes sizes and is not modelled; the result is as if it were absent",
            file=file,
            flag=f"zero_optimization.{key}",
        )
    )


def _read_precision(parsed: dict[str, Any], file: str, collector: Collector) -> None:
    bf16 = _section(parsed, "bf16" if "bf16" in parsed else "bfloat16", file).get("enabled", False)
    fp16 = _section(parsed, "fp16", file).get("enabled", False)
    if bf16 is True and fp16 is True:
        collector.contradictions.append(Message("{file}: bf16 and fp16 are both enabled; keep one", file=file))
    elif bf16 is True:
        collector.put("precision", "bf16", f"{file}: bf16.enabled")
    elif fp16 is True:
        collector.put("precision", "fp16", f"{file}: fp16.enabled")
    elif "auto" in (bf16, fp16):
        if "precision" not in collector.values:
            collector.undetermined["precision"] = Message("{file}: {key} is auto", file=file, key="bf16.enabled")
    else:
        collector.put_default(
            "precision",
            "fp32",
            Message("{file}: neither bf16 nor fp16 is enabled: DeepSpeed computes in fp32", file=file),
        )


def _read_optimizer(parsed: dict[str, Any], file: str, collector: Collector) -> None:
    kind = _section(parsed, "optimizer", file).get("type")
    if kind is None:
        return
    optimizer = _OPTIMIZERS.get(str(kind).lower())
    if optimizer is None:
        collector.undetermined["optimizer"] = Message(
            "{where} is {value}, which is not modelled", where=f"{file}: optimizer.type", value=str(kind)
        )
    else:
        collector.put("optimizer", optimizer, f"{file}: optimizer.type")
