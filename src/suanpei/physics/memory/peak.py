"""The peak: the largest need over pipeline stages and phases, and what it is made of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from suanpei.physics.memory.stages import STAGES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from suanpei.physics.memory.buffers import Overheads

    FloatArray = NDArray[np.float64]
    ByStage = Sequence[FloatArray] | FloatArray

BUILDING, FORWARD, BACKWARD, STEP = range(4)
"""Positions of the phases in ``physics.estimate.PHASES``."""

_LAST = len(STAGES) - 1


@dataclass(frozen=True, kw_only=True)
class MemoryTerms:
    """Everything that a peak is made of, per candidate.

    Fields *by stage* hold one array (n,) for each of the stage classes, first, middle, last: a (3, n) array or three
    arrays. An array of one value stands for all candidates.
    """

    weights: ByStage
    """By stage. [B]"""
    gradients: ByStage
    """By stage. [B]"""
    optimizer: ByStage
    """By stage. [B]"""
    step_extra: ByStage
    """By stage. [B]"""
    initialisation: ByStage
    """By stage. [B]"""
    kept: ByStage
    """Kept activations of all layers and micro-batches in flight, by stage. [B]"""
    working: FloatArray
    """Working set of one layer's backward pass, shape (n,). [B]"""
    loss: FloatArray
    """Logits and loss, on the last stage, shape (n,). [B]"""
    gathered: ByStage
    """Gathered weights, by stage. [B]"""
    buckets: ByStage
    """Gradient buckets, by stage. [B]"""
    communication: FloatArray
    """Communication buffers, shape (n,). [B]"""
    single_stage: NDArray[np.bool_]
    """Whether there is one stage only, so that the first has the loss too, shape (n,)."""
    held: ByStage | None = None
    """Layer inputs held once more in the backward pass, by stage; None for none. [B]"""
    flat_step: bool = False
    """Whether what the step adds are flat buffers, whose freed blocks forward and backward cut their tensors from."""
    other_lengths_kept: float = 0.0
    """Blocks for batches of other lengths in the allocator's cache, over what comes and goes. [-]"""
    gradients_wait: NDArray[np.bool_]
    """Whether gradients are held from the first forward pass on: a buffer for the whole run, or earlier micro-batches,
    shape (n,)."""


@dataclass(frozen=True, kw_only=True)
class Peak:
    """Peaks of many candidates, arrays of shape (n,)."""

    allocated_bytes: FloatArray
    """What tensors need at most. [B]"""
    reserved_bytes: FloatArray
    """What the allocator holds on a card with room for its cache. [B]"""
    device_bytes: FloatArray
    """What the driver must give, without cache taken only because it is free. [B]"""
    shown_bytes: FloatArray
    """What the driver shows on a card with room for the cache: reserved, communication buffers and context. [B]"""
    by_phase: Sequence[FloatArray]
    """Tensors and fragments of the fullest stage by phase, four arrays (n,). [B]"""
    terms: MemoryTerms
    """What the peak was made of."""
    fragmentation_fraction: float

    @property
    def phase(self) -> NDArray[np.intp]:
        """Index into ``physics.estimate.PHASES`` of the phase of the peak, shape (n,)."""
        return _position_of_largest(self.by_phase)

    @property
    def stage(self) -> NDArray[np.intp]:
        """Index into ``stages.STAGES`` of the stage of the peak, shape (n,); the only stage is the first."""
        by_stage = [
            _largest(_need(_allocate(self.terms, stage), self.fragmentation_fraction)) for stage in range(len(STAGES))
        ]
        return np.where(self.terms.single_stage, 0, _position_of_largest(by_stage))


def combine_peak(terms: MemoryTerms, overheads: Overheads) -> Peak:
    """Combine the terms into the peak over stages and phases.

    For each stage, with W weights, O optimizer, G gradients, K kept activations, g gathered weights::

        initialisation  initialisation
        forward end     W + O + (G where gradients wait) + K + loss + g
        backward        W + O + max(K, G), or K + G where gradients wait, + inputs held + working + g + buckets
        optimizer step  W + O + G + step extra

    Gradients that are made in the backward pass grow as the kept activations shrink, so the larger of the two counts.
    The device gives the largest of these with fragments of what comes and goes in forward and backward, the
    communication buffers and the context. With one stage the last stage class is the whole model, loss included.

    The allocator keeps more: blocks that one phase freed are cut for other sizes than the next phase asks for. Were
    none used again, it would hold everything that any phase needs::

        all phases  W + O + G + step extra + K + g + inputs held + working + buckets + loss

    (flat buffers of the step are large enough to be cut for the others: the larger of the two counts).
    `cache_fraction` of what this exceeds the need by is its cache.

    Args:
        terms: What it is made of. [B]
        overheads: Context, communicators, fragments, cache. [-]

    Returns:
        Totals and the need by phase and stage.
    """
    fraction = overheads.fragmentation_fraction
    last = _allocate(terms, _LAST)
    by_phase, allocated = _need(last, fraction), _largest(last.allocated)
    held = _hold_everything(terms, _LAST, last)
    for position in range(_LAST):
        stage = _allocate(terms, position)
        by_phase = [_enlarge(*pair) for pair in zip(by_phase, _need(stage, fraction), strict=True)]
        for part in stage.allocated:
            allocated = _enlarge(allocated, part)
        held = _enlarge(held, _hold_everything(terms, position, stage))
    peak = _largest(by_phase)
    reserved = peak + overheads.cache_fraction * np.maximum(held - peak, 0.0)
    if terms.other_lengths_kept:
        reserved = reserved + terms.other_lengths_kept * _largest(last.passing)
    outside = terms.communication + overheads.context_bytes
    return Peak(
        allocated_bytes=allocated,
        reserved_bytes=reserved,
        device_bytes=peak + outside,
        shown_bytes=reserved + outside,
        by_phase=by_phase,
        terms=terms,
        fragmentation_fraction=fraction,
    )


def explain_peak(terms: MemoryTerms, overheads: Overheads, row: int) -> dict[str, float]:
    """Give the parts of one candidate's peak; they sum to its `device_bytes`.

    Args:
        terms: As for `combine_peak`. [B]
        overheads: As for `combine_peak`. [-]
        row: Which candidate. [-]

    Returns:
        Bytes by key of ``physics.parts.MEMORY_PARTS``, parts of zero left in. [B]
    """
    single = _take_row(terms, row)
    stages = [_allocate(single, stage) for stage in range(len(STAGES))]
    fraction = overheads.fragmentation_fraction
    needs = np.array([[float(need[0]) for need in _need(stage, fraction)] for stage in stages])
    stage, phase = (int(index) for index in np.unravel_index(np.argmax(needs), needs.shape))
    parts = {name: float(amount[0]) for name, amount in _parts_at(single, phase, stage).items()}
    parts["fragmentation"] = float(needs[stage, phase] - stages[stage].allocated[phase][0])
    parts["communication_buffers"] = float(single.communication[0])
    parts["context"] = overheads.context_bytes
    return parts


def _take_row(terms: MemoryTerms, row: int) -> MemoryTerms:
    """The terms of one candidate, arrays of shape (1,)."""

    def one(values: ArrayLike) -> FloatArray:
        flat = np.ravel(np.asarray(values))
        return flat[row : row + 1] if flat.size > 1 else flat

    def each(values: ByStage) -> list[FloatArray]:
        return [one(stage) for stage in values]

    return MemoryTerms(
        weights=each(terms.weights),
        gradients=each(terms.gradients),
        optimizer=each(terms.optimizer),
        step_extra=each(terms.step_extra),
        initialisation=each(terms.initialisation),
        kept=each(terms.kept),
        held=None if terms.held is None else each(terms.held),
        gathered=each(terms.gathered),
        buckets=each(terms.buckets),
        working=one(terms.working),
        loss=one(terms.loss),
        communication=one(terms.communication),
        flat_step=terms.flat_step,
        other_lengths_kept=terms.other_lengths_kept,
        single_stage=one(terms.single_stage).astype(np.bool_),
        gradients_wait=one(terms.gradients_wait).astype(np.bool_),
    )


@dataclass(frozen=True, kw_only=True)
class _Stage:
    """What one stage class allocates by phase, and how much of it comes and goes in forward and backward."""

    allocated: tuple[FloatArray, FloatArray, FloatArray, FloatArray]
    passing: tuple[FloatArray, FloatArray]


def _allocate(terms: MemoryTerms, stage: int) -> _Stage:
    kept, gradients = terms.kept[stage], terms.gradients[stage]
    standing = terms.weights[stage] + terms.optimizer[stage]
    forward = kept + terms.gathered[stage]
    backward = _add(forward + terms.working, terms.buckets[stage])
    if terms.held is not None:
        backward = _add(backward, terms.held[stage])
    if stage == _LAST:
        forward = _add(forward, terms.loss)
    waiting, growing = _split_gradients(gradients, kept, terms.gradients_wait)
    waiting = _add(_add(waiting, standing), forward)
    growing = _add(_add(growing, standing), backward)
    standing = _add(_add(standing, gradients), terms.step_extra[stage])
    return _Stage(
        allocated=(terms.initialisation[stage], waiting, growing, standing),
        passing=(forward, backward),
    )


def _hold_everything(terms: MemoryTerms, stage: int, allocated: _Stage) -> FloatArray:
    """What the allocator would hold if no phase used another's blocks, flat buffers of the step apart."""
    passing = allocated.passing[1] + terms.loss if stage == _LAST else allocated.passing[1]
    if terms.flat_step:
        passing = np.maximum(passing - terms.step_extra[stage], 0.0)
    return allocated.allocated[STEP] + passing


def _need(stage: _Stage, fragmentation_fraction: float) -> list[FloatArray]:
    """Tensors and fragments by phase."""
    building, forward, backward, step = stage.allocated
    forward_lost, backward_lost = (fragmentation_fraction * part for part in stage.passing)
    return [np.array(building), _add(forward_lost, forward), _add(backward_lost, backward), np.array(step)]


def _add(total: FloatArray, term: FloatArray) -> FloatArray:
    """Add, in place where `total` is wide enough; the caller owns `total`."""
    if total.shape == term.shape or term.size == 1:
        total += term
        return total
    return np.asarray(total + term)


def _enlarge(largest: FloatArray, other: FloatArray) -> FloatArray:
    """The larger of both, in place where `largest` is wide enough; the caller owns `largest`."""
    if largest.shape == other.shape or other.size == 1:
        np.maximum(largest, other, out=largest)
        return largest
    return np.maximum(largest, other)


def _split_gradients(gradients: FloatArray, kept: FloatArray, wait: NDArray[np.bool_]) -> tuple[FloatArray, FloatArray]:
    """Gradients held at the end of the forward pass, and those in the backward pass beyond the freed activations."""
    waiting = gradients * wait
    return waiting, np.maximum(waiting, gradients - kept)


def _largest(arrays: Sequence[FloatArray]) -> FloatArray:
    largest = np.maximum(arrays[0], arrays[1])
    for array in arrays[2:]:
        largest = _enlarge(largest, array)
    return largest


def _position_of_largest(arrays: Sequence[FloatArray]) -> NDArray[np.intp]:
    """Index of the array that holds the largest value, the first of equals."""
    largest = _largest(arrays)
    position = np.zeros(largest.shape, dtype=np.intp)
    for index in range(len(arrays) - 1, 0, -1):
        position = np.where(arrays[index] == largest, index, position)
    return np.where(arrays[0] == largest, 0, position)


def _parts_at(terms: MemoryTerms, phase: int, stage: int) -> dict[str, FloatArray]:
    """Allocated bytes by part in one phase of one stage."""
    zero = np.zeros_like(np.asarray(terms.weights[stage], dtype=np.float64))
    parts = {
        "weights": np.asarray(terms.weights[stage], dtype=np.float64),
        "gradients": zero,
        "optimizer_states": np.asarray(terms.optimizer[stage], dtype=np.float64),
        "kept_activations": zero,
        "working_activations": zero,
        "logits_and_loss": zero,
        "gathered_parameters": zero,
        "gradient_buckets": zero,
        "step_temporaries": zero,
    }
    gradients, kept = terms.gradients[stage], terms.kept[stage]
    if phase == BUILDING:
        # what loading holds beyond the optimizer states made so far counts as weights
        parts["optimizer_states"] = np.minimum(terms.optimizer[stage], terms.initialisation[stage])
        parts["weights"] = terms.initialisation[stage] - parts["optimizer_states"]
    elif phase == STEP:
        parts |= {"gradients": gradients, "step_temporaries": terms.step_extra[stage]}
    else:
        parts |= {"kept_activations": kept, "gathered_parameters": terms.gathered[stage]}
        waiting, growing = _split_gradients(gradients, kept, terms.gradients_wait)
        if phase == FORWARD:
            parts |= {"gradients": waiting, "logits_and_loss": terms.loss if stage == _LAST else zero}
        else:
            parts |= {
                "gradients": growing,
                "kept_activations": kept if terms.held is None else kept + terms.held[stage],
                "working_activations": terms.working,
                "gradient_buckets": terms.buckets[stage],
            }
    return parts
