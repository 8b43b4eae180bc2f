"""The peak over stages and phases: each phase made to win in turn, and the parts that must sum to it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from suanpei.physics.estimate import PHASES
from suanpei.physics.memory.buffers import Overheads
from suanpei.physics.memory.peak import MemoryTerms, combine_peak, explain_peak
from suanpei.physics.memory.stages import STAGES
from suanpei.physics.parts import MEMORY_PARTS

if TYPE_CHECKING:
    from collections.abc import Iterable

NONE = Overheads(context_bytes=0.0, communicator_bytes=0.0, fragmentation_fraction=0.0, cache_fraction=0.0)
NONE_REUSED = replace(NONE, cache_fraction=1.0)
SOME = Overheads(context_bytes=1000.0, communicator_bytes=10.0, fragmentation_fraction=0.1, cache_fraction=0.2)


def array(*values: float) -> np.ndarray:
    return np.array(values)


def by_stage(first: float, middle: float, last: float) -> list[np.ndarray]:
    return [array(first), array(middle), array(last)]


TERMS = MemoryTerms(
    weights=by_stage(20, 10, 20),
    gradients=by_stage(40, 20, 40),
    optimizer=by_stage(60, 30, 60),
    step_extra=by_stage(0, 0, 0),
    initialisation=by_stage(80, 40, 80),
    kept=by_stage(8, 6, 2),
    working=array(5),
    loss=array(7),
    gathered=by_stage(1, 1, 1),
    buckets=by_stage(3, 3, 3),
    communication=array(11),
    single_stage=np.array([False]),
    gradients_wait=np.array([True]),
)


def where(terms: MemoryTerms, overheads: Overheads = NONE) -> tuple[str, str, float]:
    peak = combine_peak(terms, overheads)
    return PHASES[int(peak.phase[0])], STAGES[int(peak.stage[0])], float(peak.allocated_bytes[0])


def test_backward_of_the_first_stage() -> None:
    # 20 + 60 + 40 + 8 kept + 1 gathered + 5 working + 3 buckets
    assert where(TERMS) == ("backward", "first", 137)


def test_logits_make_the_last_stage_the_fullest_at_the_end_of_forward() -> None:
    # 20 + 60 + 40 + 2 kept + 1 gathered + 50 logits
    assert where(replace(TERMS, loss=array(50))) == ("forward", "last", 173)


def test_step_temporaries() -> None:
    assert where(replace(TERMS, step_extra=by_stage(30, 15, 29))) == ("optimizer_step", "first", 150)


def test_initialisation() -> None:
    assert where(replace(TERMS, initialisation=by_stage(300, 40, 80))) == ("initialisation", "first", 300)


def test_middle_stage_of_uneven_layers() -> None:
    assert where(replace(TERMS, weights=by_stage(20, 90, 20))) == ("backward", "middle", 90 + 30 + 20 + 6 + 1 + 5 + 3)


def test_gradients_made_in_backward_take_the_place_of_activations() -> None:
    terms = replace(TERMS, gradients_wait=np.array([False]))
    # G 40 > K 8: the backward pass ends with 40 instead of 48
    assert where(terms) == ("backward", "first", 20 + 60 + 40 + 1 + 5 + 3)
    # with activations above gradients the start of the pass is the peak
    assert where(replace(terms, kept=by_stage(100, 6, 2))) == ("backward", "first", 20 + 60 + 100 + 1 + 5 + 3)


def test_held_inputs_count_in_backward_only() -> None:
    terms = replace(TERMS, held=by_stage(8, 6, 2))
    assert where(terms) == ("backward", "first", 145)
    assert explain_peak(terms, NONE, 0)["kept_activations"] == 16


def test_the_only_stage_is_called_first_and_has_the_loss() -> None:
    terms = replace(TERMS, single_stage=np.array([True]), kept=by_stage(8, 8, 8), loss=array(50))
    assert where(terms) == ("forward", "first", 20 + 60 + 40 + 8 + 1 + 50)


def test_three_totals() -> None:
    peak = combine_peak(TERMS, SOME)
    fragments = 0.1 * (8 + 1 + 5 + 3)
    assert float(peak.allocated_bytes[0]) == 137
    assert float(peak.device_bytes[0]) == pytest.approx(137 + fragments + 11 + 1000)
    # one phase needs everything: nothing was freed that another could not use
    assert float(peak.reserved_bytes[0]) == pytest.approx(137 + fragments)
    assert float(peak.shown_bytes[0]) == float(peak.device_bytes[0])


def test_the_cache_is_a_share_of_what_the_phases_need_apart() -> None:
    # first stage: 20 + 60 + 40 + 30 in the step, beside them backward's 8 kept + 1 gathered + 5 working + 3 buckets
    terms = replace(TERMS, step_extra=by_stage(30, 15, 29))
    need = 20 + 60 + 40 + 30
    peak = combine_peak(terms, SOME)
    assert float(peak.reserved_bytes[0]) == pytest.approx(need + 0.2 * 17)
    assert float(peak.shown_bytes[0]) == pytest.approx(need + 0.2 * 17 + 11 + 1000)
    # the last stage: its logits are gone when the step needs its temporaries
    logits = replace(terms, loss=array(40))
    assert float(combine_peak(logits, NONE_REUSED).reserved_bytes[0]) == 20 + 60 + 40 + 29 + 2 + 1 + 5 + 3 + 40


def test_flat_buffers_of_the_step_are_cut_for_activations() -> None:
    terms = replace(TERMS, step_extra=by_stage(30, 15, 29), flat_step=True)
    assert float(combine_peak(terms, NONE_REUSED).reserved_bytes[0]) == 20 + 60 + 40 + 30
    # shorter ones leave the rest of 2 kept + 1 gathered + 5 working + 3 buckets + 7 logits of the last stage
    short = replace(terms, step_extra=by_stage(10, 5, 10))
    assert float(combine_peak(short, NONE_REUSED).reserved_bytes[0]) == 20 + 60 + 40 + 18


def test_other_lengths_leave_blocks_of_their_own() -> None:
    terms = replace(
        TERMS, single_stage=np.array([True]), kept=by_stage(8, 8, 8), loss=array(50), other_lengths_kept=3.0
    )
    # forward: 8 kept + 1 gathered + 50 logits, three times more than the equally long batches' 137 + 50
    assert float(combine_peak(terms, NONE_REUSED).reserved_bytes[0]) == 137 + 50 + 3 * 59
    assert float(combine_peak(terms, NONE_REUSED).device_bytes[0]) == 20 + 60 + 40 + 59 + 11


@st.composite
def many_terms(draw: st.DrawFn) -> MemoryTerms:
    random = np.random.default_rng(draw(st.integers(min_value=0, max_value=2**32)))

    def row() -> np.ndarray:
        # from nothing to a terabyte, so that every phase and stage wins somewhere
        return random.choice([0.0, 1.0], 4, p=[0.2, 0.8]) * 10.0 ** random.uniform(0, 12, 4)

    def rows() -> list[np.ndarray]:
        return [row() for _ in STAGES]

    def flags() -> np.ndarray:
        return random.random(4) < 0.5

    return MemoryTerms(
        weights=rows(),
        gradients=rows(),
        optimizer=rows(),
        step_extra=rows(),
        initialisation=rows(),
        kept=rows(),
        working=row(),
        loss=row(),
        gathered=rows(),
        buckets=rows(),
        communication=row(),
        single_stage=flags(),
        gradients_wait=flags(),
    )


@given(terms=many_terms())
def test_parts_sum_to_the_device_and_their_keys_are_registered(terms: MemoryTerms) -> None:
    peak = combine_peak(terms, SOME)
    for row in range(4):
        parts = explain_peak(terms, SOME, row)
        assert set(parts) == {part.key for part in MEMORY_PARTS}
        assert min(parts.values()) >= 0
        assert sum(parts.values()) == pytest.approx(float(peak.device_bytes[row]), rel=1e-9)


@given(terms=many_terms())
def test_totals_are_ordered(terms: MemoryTerms) -> None:
    peak = combine_peak(terms, SOME)
    assert np.all(peak.allocated_bytes <= peak.reserved_bytes * (1 + 1e-12))
    assert np.all(peak.device_bytes <= peak.shown_bytes * (1 + 1e-12))
    assert np.all(peak.allocated_bytes < peak.device_bytes)


def widen(stages: Iterable[np.ndarray]) -> list[np.ndarray]:
    return [np.broadcast_to(stage, 4).copy() for stage in stages]


@given(terms=many_terms())
def test_one_value_stands_for_all(terms: MemoryTerms) -> None:
    narrow = replace(
        terms,
        weights=[stage[:1] for stage in terms.weights],
        optimizer=[stage[:1] for stage in terms.optimizer],
        kept=[stage[:1] for stage in terms.kept],
        gathered=[stage[:1] for stage in terms.gathered],
        initialisation=[stage[:1] for stage in terms.initialisation],
    )
    wide = replace(
        narrow,
        weights=widen(narrow.weights),
        optimizer=widen(narrow.optimizer),
        kept=widen(narrow.kept),
        gathered=widen(narrow.gathered),
        initialisation=widen(narrow.initialisation),
    )
    for name in ("allocated_bytes", "reserved_bytes", "device_bytes", "shown_bytes", "phase", "stage"):
        np.testing.assert_array_equal(
            getattr(combine_peak(narrow, SOME), name), getattr(combine_peak(wide, SOME), name)
        )
    assert explain_peak(narrow, SOME, 3) == explain_peak(wide, SOME, 3)


@given(terms=many_terms())
def test_combining_leaves_its_input_alone(terms: MemoryTerms) -> None:
    before = [np.array(stage) for name in ("weights", "kept", "initialisation") for stage in getattr(terms, name)]
    combine_peak(terms, SOME)
    after = [stage for name in ("weights", "kept", "initialisation") for stage in getattr(terms, name)]
    np.testing.assert_array_equal(before, after)
