"""Time of the work that one accelerator does: products, attention, element-wise passes, launches.

Each product is timed by its shape: the library picks the tile shape that finishes first, tiles fill the multiprocessors
in waves, and small products are bound by memory or by their fixed start. Limits: one stream, no contention with
communication kernels, balanced experts.

Sources:
    Roofline: S. Williams et al., CACM 52(4), 2009, doi:10.1145/1498765.1498785.
    Tiles and waves: NVIDIA, "Matrix Multiplication Background User's Guide" (tile and wave quantisation).
    Flash attention's work: T. Dao, arXiv 2307.08691, section 3 (backward = 2.5 × forward).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from suanpei.job.operators import AttentionCore
    from suanpei.physics.rates import Rates

    FloatArray = NDArray[np.float64]

TILES: tuple[tuple[int, int, float], ...] = ((256, 128, 1.0), (128, 128, 0.97), (128, 64, 0.86))
"""Rows, columns and relative rate of the tile shapes that the libraries choose from; the rates are the ordering that
NVIDIA's guide above prints for one GEMM at different tile sizes, rounded."""

FLASH_BLOCK = 128
"""Rows of one flash-attention block: blocks on the diagonal are computed whole. Source: arXiv 2307.08691,
section 3.3."""

FLASH_HEAD_OVERHEAD = 16
"""Head width at which half the flash rate is lost to softmax work, so that 64-wide heads reach 0.9 of the rate of
128-wide ones, as in arXiv 2307.08691, figure 5 (A100, causal: about 165 against 185 TFLOP/s)."""

ALIGNED_ELEMENTS = 8
"""Inner dimensions of 16-bit products must be multiples of this to run on matrix units. Source: NVIDIA, "Matrix
Multiplication Background User's Guide", section 3 (16 bytes)."""

HALF_BYTES = 2.0

UNALIGNED_RATE = 1 / 16
"""What is left of the rate where they are not: general cores instead of matrix units. Source: A100 data sheet, 19.5 of
312 TFLOP/s."""

SOFTMAX_FORWARD_BYTES = 13.0
"""Traffic per score element of unfused attention, forward: scores written (2), read and written by a fused
scale-mask-softmax (2 + 2), read and written by dropout with its mask (2 + 2 + 1), read by the second product (2). The
tensors are those of arXiv 2205.05198, figure 3."""

SOFTMAX_BACKWARD_BYTES = 19.0
"""The same for the backward pass: gradient written (2), read with the mask and written by dropout (2 + 1 + 2), read
with the probabilities and written by softmax (2 + 2 + 2), read by two products (4), the dropped probabilities read by
one (2)."""


def estimate_product_s(
    rows: ArrayLike, columns: ArrayLike, depth: ArrayLike, rates: Rates, *, groups: ArrayLike = 1.0
) -> FloatArray:
    """Estimate the time of ``groups`` equal products of ``rows × depth`` by ``depth × columns``.

    The slower of arithmetic and memory, plus a fixed start::

        t = max(2 · tiles · tile area · depth / rate · waves⁺ / waves, bytes / memory rate) + start

    Args:
        rows: Rows of the result of one product, any shape. [-]
        columns: Columns of the result. [-]
        depth: Summed dimension. [-]
        rates: Rates of the linear products. [-]
        groups: Products that share the launch (experts). [-]

    Returns:
        Time, broadcast shape. [s]

    Valid for: 16-bit and narrower formats on tiled tensor cores; rows of a fraction of a tile count as a whole tile.
    """
    return _product_s(rows, columns, depth, groups, rates, rates.product_flops_per_s, rates.product_bytes)


def estimate_head_product_s(rows: ArrayLike, columns: ArrayLike, depth: ArrayLike, rates: Rates) -> FloatArray:
    """Estimate one product of the output layer, which stays in 16 bits whatever the linear products run in.

    Args:
        rows: Rows of the result. [-]
        columns: Columns of the result. [-]
        depth: Summed dimension. [-]
        rates: Rates of the job on the cluster. [-]

    Returns:
        Time, broadcast shape. [s]
    """
    return _product_s(rows, columns, depth, 1.0, rates, rates.head_flops_per_s, rates.compute_bytes)


def _product_s(
    rows: ArrayLike,
    columns: ArrayLike,
    depth: ArrayLike,
    groups: ArrayLike,
    rates: Rates,
    flops_per_s: float,
    element_bytes: float,
) -> FloatArray:
    rows, columns, depth = (np.asarray(value, dtype=np.float64) for value in (rows, columns, depth))
    groups = np.asarray(groups, dtype=np.float64)
    arithmetic: FloatArray | None = None
    for tile_rows, tile_columns, relative_rate in TILES:
        tiles = groups * np.ceil(rows / tile_rows) * np.ceil(columns / tile_columns)
        waves = np.ceil(tiles / rates.compute_units)
        area = waves * (rates.compute_units * tile_rows * tile_columns)
        candidate = 2.0 * area * depth / (flops_per_s * relative_rate)
        arithmetic = candidate if arithmetic is None else np.minimum(arithmetic, candidate)
    assert arithmetic is not None  # noqa: S101 - TILES is not empty
    traffic = element_bytes * groups * depth * (rows + columns) + rates.compute_bytes * groups * rows * columns
    return np.maximum(arithmetic, traffic / rates.memory_bytes_per_s) + rates.product_start_s


def count_attention_pairs(seq_len: int, window: int | None, *, causal: bool) -> float:
    """Count the query-key pairs of one sequence that the mask lets through.

    Causal: s (s + 1) / 2; with a window w: w s - w (w - 1) / 2; without a mask: s².

    Args:
        seq_len: Tokens of the sequence. [tokens]
        window: Sliding window; None or longer than the sequence is none. [tokens]
        causal: Whether later tokens are masked. [-]

    Returns:
        Pairs. [-]
    """
    if not causal:
        return float(seq_len) ** 2
    if window is None or window >= seq_len:
        return seq_len * (seq_len + 1) / 2
    return window * seq_len - window * (window - 1) / 2


def count_attention_flops(core: AttentionCore, seq_len: int, *, full: bool = False) -> float:
    """Count the forward FLOPs of one layer's attention core for one sequence.

    Two products over the unmasked pairs, 2 FLOPs each: ``2 · pairs · heads · (d_key + d_value)``.

    Args:
        core: Heads and widths. [-]
        seq_len: Tokens of the sequence. [tokens]
        full: Count masked pairs too (the "full attention" of many papers). [-]

    Returns:
        FLOPs of the forward pass. [FLOP]
    """
    pairs = float(seq_len) ** 2 if full else count_attention_pairs(seq_len, core.window, causal=core.causal)
    return 2.0 * pairs * core.heads * (core.head_dim + core.value_dim)


def estimate_attention_s(
    core: AttentionCore, seq_len: int, sequences: ArrayLike, rates: Rates, *, flash: bool
) -> tuple[FloatArray, FloatArray]:
    """Estimate forward and backward time of one layer's attention core.

    Flash kernels compute the unmasked blocks, the diagonal ones whole, 2.5 times as much in the backward pass; unfused
    attention computes every pair as plain products and moves the score matrix through memory several times.

    Args:
        core: Heads and widths. [-]
        seq_len: Tokens of the sequence. [tokens]
        sequences: Sequences per micro-batch on this rank, divided by tp · cp, any shape. [-]
        rates: Rates of the job on the cluster. [-]
        flash: Whether the kernel is fused. [-]

    Returns:
        Forward and backward time, shape of `sequences`. [s]

    Valid for: flash kernels at 512 tokens or more; shorter sequences are bound by launches.
    """
    sequences = np.asarray(sequences, dtype=np.float64)
    if flash:
        pairs = count_attention_pairs(seq_len, core.window, causal=core.causal)
        if core.causal:
            pairs += seq_len * FLASH_BLOCK / 2
        flops = sequences * 2.0 * pairs * core.heads * (core.head_dim + core.value_dim)
        width = (core.head_dim + core.value_dim) / 2
        width_factor = (width + FLASH_HEAD_OVERHEAD) / width * (128 / (128 + FLASH_HEAD_OVERHEAD))
        forward = flops * width_factor / rates.attention_forward_flops_per_s
        backward = 2.5 * flops * width_factor / rates.attention_backward_flops_per_s
        return forward + rates.product_start_s, backward + rates.product_start_s
    flops = sequences * count_attention_flops(core, seq_len, full=True)
    scores = sequences * core.heads * float(seq_len) ** 2
    widths = (core.head_dim, core.value_dim)
    aligned = rates.compute_bytes > HALF_BYTES or not any(width % ALIGNED_ELEMENTS for width in widths)
    rate = rates.head_flops_per_s * (1.0 if aligned else UNALIGNED_RATE)
    forward = flops / rate + scores * SOFTMAX_FORWARD_BYTES / rates.memory_bytes_per_s
    backward = 2.0 * flops / rate + scores * SOFTMAX_BACKWARD_BYTES / rates.memory_bytes_per_s
    return forward + 3 * rates.product_start_s, backward + 5 * rates.product_start_s


def estimate_pass_s(elements: ArrayLike, rates: Rates) -> FloatArray:
    """Estimate the time of an element-wise pass: bytes over the achievable memory rate.

    Args:
        elements: Elements read and written, any shape. [-]
        rates: Rates of the job on the cluster. [-]

    Returns:
        Time, shape of `elements`. [s]
    """
    return np.asarray(elements, dtype=np.float64) * rates.compute_bytes / rates.memory_bytes_per_s


def estimate_launch_gap_s(busy_s: ArrayLike, kernels: float, launch_s: float) -> FloatArray:
    """Estimate how long the accelerator waits for the host to launch kernels.

    The host issues kernels one after the other; where their work is shorter than their launches, launches set the pace.

    Args:
        busy_s: Time of the kernels' work, any shape. [s]
        kernels: Number of kernels. [-]
        launch_s: Host time per kernel. [s]

    Returns:
        Idle time, shape of `busy_s`. [s]
    """
    return np.maximum(kernels * launch_s - np.asarray(busy_s, dtype=np.float64), 0.0)
