"""Layers over stages against a list that is cut by hand."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from suanpei.physics.memory.stages import split_layers
from tests.physics.memory.samples import llama, mixture, operators_of


def test_one_stage_is_the_whole_model_three_times() -> None:
    split = split_layers(operators_of(llama(layers=5)), 1, 1)
    np.testing.assert_array_equal(split.counts[:, 0], [5, 5, 5])
    assert split.is_first.tolist() == [True, True, True]
    assert split.is_last.tolist() == [True, True, True]


def test_earlier_stages_take_the_layers_that_do_not_divide() -> None:
    # 126 layers on 16 stages: 14 stages of 8, the last two of 7
    split = split_layers(operators_of(llama(layers=126)), np.array([16]), np.array([1]))
    assert split.first[0, 0] == 8
    assert split.middle[0, 0] == 8
    assert split.last[0, 0] == 7
    assert split.index[:, 0].tolist() == [0, 1, 15]


def test_dense_layers_at_the_start_lie_on_the_first_stage() -> None:
    # 1 dense + 7 sparse layers on 4 stages of 2
    split = split_layers(operators_of(mixture()), 4, 1)
    assert split.first.tolist() == [1, 1]
    assert split.middle.tolist() == [0, 2]
    assert split.last.tolist() == [0, 2]


def _cut_by_hand(kinds: list[int], pp: int, vpp: int, stage: int) -> list[int]:
    chunks = pp * vpp
    sizes = [len(kinds) // chunks + (chunk < len(kinds) % chunks) for chunk in range(chunks)]
    starts = np.cumsum([0, *sizes])
    layers = [kinds[starts[c] : starts[c + 1]] for c in range(chunks) if c % pp == stage]
    flat = [kind for chunk in layers for kind in chunk]
    return [flat.count(kind) for kind in range(max(kinds) + 1)]


@given(
    layers=st.integers(min_value=2, max_value=40),
    pp=st.integers(min_value=1, max_value=12),
    vpp=st.integers(min_value=1, max_value=4),
)
def test_split_equals_a_list_cut_by_hand(layers: int, pp: int, vpp: int) -> None:
    operators = operators_of(mixture(dense_layers=1, layers=layers))
    split = split_layers(operators, np.array([pp]), np.array([vpp]))
    kinds = operators.order.tolist()
    for position, stage in enumerate((0, min(1, pp - 1), pp - 1)):
        assert split.counts[position, :, 0].tolist() == _cut_by_hand(kinds, pp, vpp, stage)


def test_scalars_and_arrays_agree() -> None:
    operators = operators_of(mixture(layers=10))
    pp, vpp = np.array([1, 2, 5]), np.array([[1], [2]])
    whole = split_layers(operators, pp, vpp).counts
    assert whole.shape == (3, 2, 2, 3)
    for row, chunks in enumerate((1, 2)):
        for column, stages in enumerate((1, 2, 5)):
            np.testing.assert_array_equal(whole[..., row, column], split_layers(operators, stages, chunks).counts)
