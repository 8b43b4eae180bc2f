"""Terms as sellers word them. The periods of a bill are tested with the price rows, which carry them."""

from __future__ import annotations

from decimal import Decimal

import pytest

from suanpei.market.terms import Tax, read_tax


@pytest.mark.parametrize(
    ("wording", "state", "rate"),
    [
        ("不含税(6%)", "out", "0.06"),
        ("含税", "in", None),
        ("含税１３％", "in", "0.13"),
        ("未税", "out", None),
        ("pro GPU/Monat zzgl. 19% USt", "out", "0.19"),
        ("excl. 9% VAT", "out", "0.09"),
        ("included", "in", None),
        ("+0%", "out", "0"),
        ("unstated", "unknown", None),
        ("tax not stated, 6% assumed by the page", "unknown", "0.06"),
        ("6%", "unknown", "0.06"),
        ("", "unknown", None),
    ],
)
def test_a_wording_gives_state_and_rate(wording: str, state: str, rate: str | None) -> None:
    tax = read_tax(wording)

    assert (tax.state, tax.rate_fraction) == (state, None if rate is None else Decimal(rate))


def test_tax_goes_in_and_out_where_the_rate_is_known() -> None:
    out, included = Tax(state="out", rate_fraction=Decimal("0.06")), Tax(state="in", rate_fraction=Decimal("0.06"))

    assert (out.factor_in, out.divisor_out) == (Decimal("1.06"), Decimal(1))
    assert (included.factor_in, included.divisor_out) == (Decimal(1), Decimal("1.06"))


@pytest.mark.parametrize("state", ["in", "out", "unknown"])
def test_without_a_rate_only_the_quoted_side_is_known(state: str) -> None:
    tax = Tax(state=state)  # type: ignore[arg-type]

    assert tax.factor_in == (Decimal(1) if state == "in" else None)
    assert tax.divisor_out == (Decimal(1) if state == "out" else None)


@pytest.mark.parametrize("wording", ["不含税 100%", "不含税 106%", "excl. 1234.5% VAT", "不含税 -6%"])
def test_a_rate_that_no_tax_has_is_unknown_and_not_its_last_digits(wording: str) -> None:
    assert read_tax(wording).state == "out"
    assert read_tax(wording).rate_fraction is None
