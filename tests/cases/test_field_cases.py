"""Every case from the field is answered by the product, or stands in unanswered.csv with the reason.

The adapters (``memory``, ``time_flops``, ``strategy``, ``config``, ``quotes``) name the public function that answers
each field and translate inputs; they hold no arithmetic of their own beyond units.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.cases import config, memory, quotes, strategy, time_flops
from tests.cases.case import check, load_cases, load_unanswered

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tests.cases.case import Answer

ANSWERS: Mapping[str, Answer] = memory.ANSWERS | time_flops.ANSWERS | strategy.ANSWERS | config.ANSWERS | quotes.ANSWERS


@pytest.mark.parametrize("case_id", load_cases())
def test_the_product_gives_the_right_value(case_id: str) -> None:
    case = load_cases()[case_id]
    asked = [field for field in case.expected if (case_id, field) not in load_unanswered()]
    answers = ANSWERS[case_id](case.input) if asked else {}

    assert set(answers) == set(asked), "every field is answered or stands in unanswered.csv, and never both"
    for field in asked:
        try:
            check(answers[field], case.expected[field])
        except AssertionError as error:
            pytest.fail(f"{case_id} {field}: expected {case.expected[field]}, got {answers[field]!r}\n{error}")


def test_nothing_unanswered_is_stale() -> None:
    cases = load_cases()

    unknown = [
        entry for entry in load_unanswered() if entry[0] not in cases or entry[1] not in cases[entry[0]].expected
    ]

    assert unknown == []
    assert all(reason.strip() for reason in load_unanswered().values())


def test_no_adapter_answers_a_case_that_is_not_there() -> None:
    assert set(ANSWERS) <= set(load_cases())


@pytest.mark.parametrize(
    ("given", "rule"),
    [
        (1, {"equals": 2}),
        (1.2, {"value": 1.0, "rel_tol": 0.1}),
        ([1.0, 1.2], {"value": [1.0, 1.0], "rel_tol": 0.1}),
        ([1.0], {"value": [1.0, 1.0], "rel_tol": 0.1}),
        (3, {"min": 1, "max": 2}),
        ([1, 3], {"min": 1, "max": 2}),
        (["a"], {"contains": ["a", "b"]}),
    ],
)
def test_the_comparison_can_fail(given: object, rule: dict[str, object]) -> None:
    with pytest.raises(AssertionError):
        check(given, rule)
