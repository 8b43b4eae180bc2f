"""Count a torch module: parameters, buffers, and FLOPs of an example input.

torch is imported inside: Suanpei does not need it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from suanpei.errors import InputError, MissingExtraError
from suanpei.messages import Message
from suanpei.units import format_bytes, format_count

if TYPE_CHECKING:
    from collections.abc import Mapping

TRAIN_OVER_FORWARD = 3.0
"""Forward and backward over forward, for a module all of whose parameters are trained."""


@dataclass(frozen=True, kw_only=True)
class ModuleCount:
    """What a torch module holds and does."""

    total_parameters: int
    """Parameters, shared ones once. [-]"""
    trainable_parameters: int
    parameters_by_dtype: Mapping[str, int] = field(default_factory=dict)
    parameter_bytes: int = 0
    buffer_elements: int = 0
    buffer_bytes: int = 0
    forward_flops_per_sample: float | None = None
    """Matrix products, convolutions and attention of one sample; None without an example. [FLOP]"""

    @property
    def train_flops_per_sample(self) -> float | None:
        """Forward and backward of one sample, all parameters trained; None without an example. [FLOP]"""
        forward = self.forward_flops_per_sample
        return None if forward is None else TRAIN_OVER_FORWARD * forward

    def __str__(self) -> str:
        text = f"{format_count(self.total_parameters)} parameters ({format_bytes(self.parameter_bytes)})"
        if self.forward_flops_per_sample is not None:
            text += f", {self.forward_flops_per_sample:.4g} FLOP forward per sample"
        return text


def count(module: Any, example: Any = None) -> ModuleCount:
    """Count the parameters of a torch module and, with an example input, its FLOPs per sample.

    A product of m × k and k × n counts 2 m n k, as `torch.utils.flop_counter` does; element-wise work counts nothing.
    The first dimension of the first tensor is the batch.

    Args:
        module: A ``torch.nn.Module``, on the meta device too. [-]
        example: Its input: a tensor, a tuple of arguments, or a dict of named arguments; None counts no FLOPs. [-]

    Raises:
        MissingExtraError: torch is not installed.
        InputError: the first argument is no module, or the module does not run on the example.
    """
    try:
        import torch
    except ImportError:
        raise MissingExtraError(package="torch", extra="test") from None
    if not isinstance(module, torch.nn.Module):
        message = Message("count takes a torch.nn.Module, got {given}", given=type(module).__name__)
        raise InputError(message)
    parameters = list(module.parameters())
    buffers = list(module.buffers())
    by_dtype: dict[str, int] = {}
    for parameter in parameters:
        dtype = str(parameter.dtype).removeprefix("torch.")
        by_dtype[dtype] = by_dtype.get(dtype, 0) + parameter.numel()
    return ModuleCount(
        total_parameters=sum(parameter.numel() for parameter in parameters),
        trainable_parameters=sum(parameter.numel() for parameter in parameters if parameter.requires_grad),
        parameters_by_dtype=by_dtype,
        parameter_bytes=sum(parameter.numel() * parameter.element_size() for parameter in parameters),
        buffer_elements=sum(buffer.numel() for buffer in buffers),
        buffer_bytes=sum(buffer.numel() * buffer.element_size() for buffer in buffers),
        forward_flops_per_sample=None if example is None else _count_flops(module, example),
    )


def _count_flops(module: Any, example: Any) -> float:
    import torch
    from torch.utils.flop_counter import FlopCounterMode

    arguments = example if isinstance(example, tuple) else () if isinstance(example, dict) else (example,)
    named = example if isinstance(example, dict) else {}
    tensors = [value for value in (*arguments, *named.values()) if isinstance(value, torch.Tensor)]
    if not tensors or tensors[0].dim() == 0 or tensors[0].shape[0] == 0:
        raise InputError(Message("example must hold a tensor whose first dimension is the batch"))
    counter = FlopCounterMode(display=False)
    try:
        with counter, torch.no_grad():
            module(*arguments, **named)
    except (RuntimeError, TypeError, ValueError, IndexError) as error:
        raise InputError(
            Message("the module does not run on the example: {reason}", reason=" ".join(str(error).split())[:200])
        ) from None
    return float(counter.get_total_flops() / tensors[0].shape[0])
