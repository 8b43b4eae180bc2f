"""How a checkpoint stores its weights."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from suanpei.errors import InputError
from suanpei.job.architecture import Quantization
from suanpei.messages import Message

if TYPE_CHECKING:
    from collections.abc import Mapping

_BITS: Mapping[str, float] = {"fp8": 8, "fbgemm_fp8": 8, "mxfp4": 4, "nvfp4": 4, "gptq": 4, "awq": 4, "eetq": 8}
_DTYPE_BITS: Mapping[str, int] = {"float32": 32, "float16": 16, "bfloat16": 16, "half": 16, "float": 32}


def read_stored_bits(config: Mapping[str, Any]) -> int:
    """Give the bits of a weight that is not quantised; 16 where the file does not say. [bits]"""
    dtype = config.get("dtype") or config.get("torch_dtype")
    return _DTYPE_BITS.get(str(dtype).removeprefix("torch."), 16)


def read_quantization(config: Mapping[str, Any], source: str) -> Quantization | None:
    """Read the quantisation of a checkpoint.

    Args:
        config: The file's fields. [-]
        source: The file, for messages. [-]

    Returns:
        None for a checkpoint in ordinary formats.

    Raises:
        InputError: the number of bits cannot be told.
    """
    group = config.get("quantization_config") or config.get("compression_config")
    if not group:
        return None
    if not isinstance(group, dict):
        raise InputError(
            Message(
                "{source}: quantization_config must be an object that names quant_method and bits, got {given}",
                source=source,
                given=repr(group),
            )
        )
    method = str(group.get("quant_method") or group.get("quantization_method") or "bitsandbytes").lower()
    size = group.get("group_size", group.get("q_group_size"))
    bits: Any = group.get("bits", group.get("w_bit"))
    double = bool(group.get("bnb_4bit_use_double_quant", False))
    if method == "bitsandbytes":
        bits, size = (4, 64) if group.get("load_in_4bit") else (8, None)
    elif method == "compressed-tensors":
        bits, size = _read_compressed(group)
    bits = bits if bits is not None else _BITS.get(method)
    if method in ("mxfp4", "nvfp4"):
        size = 32 if method == "mxfp4" else 16
    is_number = isinstance(bits, int | float) and not isinstance(bits, bool)
    if not is_number or not 1 <= bits <= 32:
        raise InputError(
            Message(
                "{source}: quantization_config.bits must say how many bits a weight takes under {method}, got {given}",
                source=source,
                method=method,
                given=repr(bits),
            )
        )
    return Quantization(
        method=method,
        bits=float(bits),
        group_size=size if isinstance(size, int) and size > 0 else None,
        covers="experts" if method == "mxfp4" else "linears",
        double=double,
    )


def _read_compressed(group: Mapping[str, Any]) -> tuple[Any, Any]:
    """Find bits and group of the first set of weights of `compressed-tensors`."""
    for part in (group.get("config_groups") or {}).values():
        weights = part.get("weights") if isinstance(part, dict) else None
        if isinstance(weights, dict):
            return weights.get("num_bits"), weights.get("group_size")
    return None, None
