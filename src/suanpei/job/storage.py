"""Bytes of a model's weights as its checkpoint stores them, and of its key-value cache."""

from __future__ import annotations

from typing import TYPE_CHECKING

from suanpei.job.operators import build_operators

if TYPE_CHECKING:
    from suanpei.job.architecture import Architecture, Quantization

FP16_BITS = 16.0
FP32_BITS = 32.0
UNGROUPED_METHODS = ("fp8", "fbgemm_fp8", "eetq")
DOUBLE_QUANTISED_GROUP = 256
"""Scales that share one fp32 scale under double quantisation."""


def stored_bits_per_weight(quantization: Quantization) -> float:
    """Give the bits that one quantised weight takes with its scales and zero points.

    ============== =====================================================================================
    GPTQ, AWQ, …   bits + (16 + bits) / group: an fp16 scale and a zero of the weights' width per group
    bitsandbytes   bits + 32 / 64; with double quantisation bits + 8 / 64 + 32 / (64 · 256)
    MXFP4, NVFP4   bits + 8 / group
    FP8            bits: one scale per block of 128 × 128 or per row, below a thousandth
    ============== =====================================================================================

    Args:
        quantization: How the checkpoint is stored. [-]

    References:
        Frantar et al., arXiv 2210.17323 (GPTQ); Dettmers et al., arXiv 2305.14314, section 3 (NF4); OCP Microscaling
        Formats specification 1.0 (MXFP4).
    """
    bits, group = quantization.bits, quantization.group_size
    if group is None or quantization.method in UNGROUPED_METHODS:
        return bits
    if quantization.method in ("mxfp4", "nvfp4"):
        return bits + 8.0 / group
    if quantization.method == "bitsandbytes":
        if quantization.double:
            return bits + 8.0 / group + FP32_BITS / (group * DOUBLE_QUANTISED_GROUP)
        return bits + FP32_BITS / group
    return bits + (FP16_BITS + bits) / group


def count_quantised_parameters(architecture: Architecture) -> int:
    """Count the parameters that a quantised checkpoint stores in few bits: the layers' products, not routers. [-]"""
    if architecture.quantization is None:
        return 0
    operators = build_operators(architecture)
    only_experts = architecture.quantization.covers == "experts"
    per_kind = [
        sum(
            product.parameters
            for product in kind.products
            if product.quantizable and (not only_experts or product.name.startswith("expert_"))
        )
        for kind in operators.kinds
    ]
    return sum(per_kind[kind] for kind in operators.order)


def stored_weight_bytes(architecture: Architecture) -> float:
    """Give the size of the weights as the checkpoint stores them. [B]

    Quantised products take `stored_bits_per_weight`; embedding, head, norms, routers and biases stay in the format that
    the file names (16 bits where it names none).
    """
    plain = architecture.total_parameters
    quantised = count_quantised_parameters(architecture)
    size_bits = float(plain - quantised) * architecture.stored_bits
    if architecture.quantization is not None:
        size_bits += quantised * stored_bits_per_weight(architecture.quantization)
    return size_bits / 8


def kv_cache_bytes_per_token(architecture: Architecture, bytes_per_element: float = 2.0) -> float:
    """Give the key-value cache that one token adds over all layers.

    Args:
        architecture: The model. [-]
        bytes_per_element: 2 for 16-bit formats. [B]

    Valid for: layers that cache every token; a sliding window stops growing at its width.
    """
    return bytes_per_element * sum(block.attention.kv_cache_width for block in architecture.layers)
