"""Utilisation: what a stated time or speed means as a share of the peak, and whether that can be.

MFU needs its definition beside it: the speed of one run is 45 %, 51 %, 54 % or 57 % by the four in use. Peaks are
dense; data sheets print twice as much for 2:4 sparsity, which training does not use.

References:
    .. [1] A. Chowdhery et al., "PaLM: scaling language modeling with pathways", arXiv 2204.02311, appendix B.
    .. [2] torchtitan, ``docs/performance.md`` and ``get_num_flop_per_token``: embedding left out, full attention.
    .. [3] T. Dao, "FlashAttention-2", arXiv 2307.08691, section 4.1: causal attention counts half.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from suanpei.physics.rule_of_thumb import FULL_RECOMPUTE_FACTOR, flops_6nd, require_positive
from suanpei.units import HOUR_S

if TYPE_CHECKING:
    from collections.abc import Sequence

MfuDefinition = Literal["6n", "palm", "no_embedding", "causal_half"]
MFU_DEFINITIONS: tuple[MfuDefinition, ...] = ("6n", "palm", "no_embedding", "causal_half")
"""``6n`` parameters alone; ``palm`` with all pairs of attention [1]_; ``no_embedding`` the same without the input
embedding [2]_; ``causal_half`` with the unmasked half of the pairs [3]_."""

Plausibility = Literal["missing_time", "impossible", "implausibly_high", "plausible_high", "plausible", "possible_slow"]

SPARSE_PEAK_FACTOR = 2.0
"""Data-sheet rate with 2:4 structured sparsity over the dense one (NVIDIA Ampere architecture whitepaper). [-]"""

MOST_PLAUSIBLE_MFU = 0.65
"""Above it a warning: step benchmarks are published at 0.40 to 0.64. [-]"""
MOST_USUAL_MFU = 0.55
"""Above it only well-tuned benchmarks; long runs are published at 0.15 to 0.48. [-]"""
LEAST_USUAL_MFU = 0.2
"""Below it a run is possible and poor. [-]"""

LEAST_RIGHT_FRACTION = 0.05
"""A stated figure within this share of the right one is right: rounding. [-]"""
LARGEST_SHORTFALL_FACTOR = 3.0
"""Beyond this factor a figure is a slip of units or arithmetic, not a matter of assumptions. [-]"""


def training_flops_per_token(
    definition: MfuDefinition,
    parameters: float,
    *,
    layers: int = 0,
    hidden: int = 0,
    seq_len: int = 0,
    embedding_parameters: float = 0.0,
) -> float:
    """Count the FLOPs of one token by one of the definitions of MFU.

    With N parameters, E of the input embedding, L layers of width h and sequences of s tokens::

        6n            6 N
        palm          6 N + 12 L h s
        no_embedding  6 (N - E) + 12 L h s
        causal_half   6 N + 6 L h s

    Args:
        definition: Which. [-]
        parameters: Parameters that each token passes, N. [-]
        layers: Layers, L. [-]
        hidden: Summed width of the heads, h. [-]
        seq_len: Tokens of a sequence, s. [tokens]
        embedding_parameters: Parameters of the input embedding, E. [-]

    Returns:
        Forward and backward, no recomputation. [FLOP]

    Example:
        >>> training_flops_per_token("palm", 8.03e9, layers=32, hidden=4096, seq_len=8192) / 1e9
        61.064901888
    """
    counted = parameters - embedding_parameters if definition == "no_embedding" else parameters
    pairs = {"6n": 0.0, "palm": 12.0, "no_embedding": 12.0, "causal_half": 6.0}[definition]
    return flops_6nd(counted, 1.0) + pairs * layers * hidden * seq_len


def identify_definition(
    flops_per_token: float,
    parameters: float,
    *,
    layers: int,
    hidden: int,
    embedding_parameters: float,
    seq_lens: Sequence[int] = (512, 1024, 2048, 4096, 8192, 16384, 32768, 65536, 131072),
) -> tuple[MfuDefinition, int]:
    """Find which definition and sequence length a printed number of FLOPs per token comes from.

    Args:
        flops_per_token: As printed, or TFLOP/s over tokens per second. [FLOP]
        parameters: Parameters that each token passes. [-]
        layers: Layers. [-]
        hidden: Summed width of the heads. [-]
        embedding_parameters: Parameters of the input embedding. [-]
        seq_lens: Lengths that come into question. [tokens]

    Returns:
        The nearest definition and length (the first length where attention is not counted).
    """
    candidates = [(definition, seq_len) for definition in MFU_DEFINITIONS for seq_len in seq_lens]

    def distance(candidate: tuple[MfuDefinition, int]) -> float:
        counted = training_flops_per_token(
            candidate[0],
            parameters,
            layers=layers,
            hidden=hidden,
            seq_len=candidate[1],
            embedding_parameters=embedding_parameters,
        )
        return abs(counted / flops_per_token - 1.0)

    return min(candidates, key=distance)


def mfu_of_run(flops: float, gpus: float, seconds: float, peak_flops_per_s: float) -> float:
    """Give the utilisation that a whole run implies: ``FLOPs / (cards · time · peak)``. [-]

    Args:
        flops: FLOPs of the run, by 6ND or any other count. [FLOP]
        gpus: Accelerators. [-]
        seconds: Time of the run. [s]
        peak_flops_per_s: Dense peak of one. [FLOP/s]

    Raises:
        InputError: cards, time or peak are not above 0.

    Example:
        >>> round(mfu_of_run(8.4e20, 8, 20 * 86400, 312e12), 4)
        0.1948
    """
    require_positive(gpus=gpus, seconds=seconds, peak_flops_per_s=peak_flops_per_s)
    return flops / (gpus * seconds * peak_flops_per_s)


def mfu_of_gpu_hours(flops: float, gpu_hours: float, peak_flops_per_s: float) -> float:
    """Give the utilisation that published card-hours imply. [-]

    Card-hours often hold more than the final run (restarts, evaluations, other stages), so the figure is a lower bound.

    Args:
        flops: FLOPs of the run. [FLOP]
        gpu_hours: Card-hours. [h]
        peak_flops_per_s: Dense peak of one. [FLOP/s]
    """
    return mfu_of_run(flops, gpu_hours, HOUR_S, peak_flops_per_s)


def mfu_of_rate(flops_per_token: float, tokens_per_s_per_gpu: float, peak_flops_per_s: float) -> float:
    """Give the utilisation of a measured speed: ``FLOPs per token · rate / peak``. [-]

    Args:
        flops_per_token: By one of the definitions. [FLOP]
        tokens_per_s_per_gpu: Speed of one card. [tokens/s]
        peak_flops_per_s: Dense peak of one. [FLOP/s]
    """
    require_positive(tokens_per_s_per_gpu=tokens_per_s_per_gpu)
    return mfu_of_run(flops_per_token, 1.0, 1.0 / tokens_per_s_per_gpu, peak_flops_per_s)


def mfu_of_hardware_utilisation(utilisation: float) -> float:
    """Give the MFU of a hardware utilisation that counts full recomputation: ``· 6/8``. [-]"""
    return utilisation / FULL_RECOMPUTE_FACTOR


def peak_error_factor(peak_used_flops_per_s: float, right_peak_flops_per_s: float) -> float:
    """Give how many times too high an MFU is that was taken over the wrong peak: ``right / used``. [-]

    Args:
        peak_used_flops_per_s: The peak that was divided by. [FLOP/s]
        right_peak_flops_per_s: Dense peak of the card in the precision of the products. [FLOP/s]
    """
    require_positive(peak_used_flops_per_s=peak_used_flops_per_s)
    return right_peak_flops_per_s / peak_used_flops_per_s


def correct_mfu(printed: float, peak_used_flops_per_s: float, right_peak_flops_per_s: float) -> float:
    """Give the MFU over the right peak of one that was taken over another. [-]

    Example:
        >>> round(correct_mfu(1.04, 312e12, 989.4e12), 3)
        0.328
    """
    return printed / peak_error_factor(peak_used_flops_per_s, right_peak_flops_per_s)


def judge_mfu(mfu: float) -> Plausibility:
    """Say whether a utilisation can be.

    ``impossible`` above 1, ``implausibly_high`` above 0.65, ``plausible_high`` above 0.55, ``possible_slow`` below 0.2.

    Args:
        mfu: Share of the dense peak, any definition. [-]
    """
    if mfu > 1.0:
        return "impossible"
    if mfu > MOST_PLAUSIBLE_MFU:
        return "implausibly_high"
    if mfu > MOST_USUAL_MFU:
        return "plausible_high"
    return "plausible" if mfu >= LEAST_USUAL_MFU else "possible_slow"


def judge_time(flops: float, gpus: float, seconds: float | None, peak_flops_per_s: float) -> Plausibility:
    """Say whether so many cards can do a run in the time stated; without a time it is no checkable statement.

    Args:
        flops: FLOPs of the run. [FLOP]
        gpus: Accelerators. [-]
        seconds: Time stated; None where the statement names none. [s]
        peak_flops_per_s: Dense peak of one. [FLOP/s]
    """
    return "missing_time" if seconds is None else judge_mfu(mfu_of_run(flops, gpus, seconds, peak_flops_per_s))


def shortfall_factor(stated: float, right: float) -> float:
    """Give how many times too small a stated figure is: ``right / stated``. [-]

    Args:
        stated: As printed, above 0. [any]
        right: As computed, in the same unit. [any]
    """
    require_positive(stated=stated)
    return right / stated


def judge_figure(stated: float, right: float) -> Literal["right", "understated", "overstated", "wrong"]:
    """Say how a stated figure stands to the right one.

    ``right`` within 5 %, ``understated`` or ``overstated`` up to a factor of 3, ``wrong`` beyond it, which no choice of
    assumptions explains.

    Args:
        stated: As printed. [any]
        right: As computed, above 0, in the same unit. [any]
    """
    ratio = stated / right
    if abs(ratio - 1.0) <= LEAST_RIGHT_FRACTION:
        return "right"
    if not 1.0 / LARGEST_SHORTFALL_FACTOR <= ratio <= LARGEST_SHORTFALL_FACTOR:
        return "wrong"
    return "understated" if ratio < 1.0 else "overstated"
