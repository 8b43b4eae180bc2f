"""Charges and payments from the optional columns of an offer file; a blank cell is not stated, 0 is free."""

from __future__ import annotations

import unicodedata
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING

from suanpei.market.terms import LONGEST_TERM_HOURS, MONEY_CHARGES, NO_CHARGES, NO_PAYMENT, Charges, Payment
from suanpei.messages import Message
from suanpei.money import Money
from suanpei.quantities import parse_currency
from suanpei.units import MONTH_HOURS

if TYPE_CHECKING:
    from suanpei.market.price_rows import PriceCells

PAYMENT_COLUMNS = ("deposit_months", "prepaid_months", "prepaid_fraction")
ANSWER_COLUMNS = ("bills_outages", "includes_power")
CHARGE_COLUMNS = (*MONEY_CHARGES, "early_exit_fraction", *ANSWER_COLUMNS, *PAYMENT_COLUMNS)

_MOST = Decimal(10**9)
"""Above this an amount is a slip of the pen in any currency."""
_MOST_MONTHS = Decimal(int(LONGEST_TERM_HOURS / MONTH_HOURS))
_YES_OR_NO = {"yes": True, "no": False, "是": True, "否": False}


def read_charges(cells: PriceCells) -> Charges:
    """Read what a seller bills beside the accelerator-hour.

    Args:
        cells: One line of the file. [-]

    Raises:
        InputError: A cell that is no amount, share or yes or no, named with file, line and column.
    """
    if not cells.text(*MONEY_CHARGES, "early_exit_fraction", *ANSWER_COLUMNS):
        return NO_CHARGES
    money = {column: _read_money(cells, column) for column in MONEY_CHARGES}
    return Charges(
        storage_per_gb_month=money["storage_per_gb_month"],
        ingress_per_gb=money["ingress_per_gb"],
        egress_per_gb=money["egress_per_gb"],
        set_up=money["set_up"],
        fabric_per_gpu_hour=money["fabric_per_gpu_hour"],
        early_exit_fraction=_read_number(cells, "early_exit_fraction", Decimal(1)),
        bills_outages=_read_answer(cells, "bills_outages"),
        includes_power=_read_answer(cells, "includes_power"),
    )


def read_payment(cells: PriceCells) -> Payment:
    """Read what a seller wants ahead.

    Args:
        cells: One line of the file. [-]

    Raises:
        InputError: A cell that is no number of months or share, named with file, line and column.
    """
    if not cells.text(*PAYMENT_COLUMNS):
        return NO_PAYMENT
    return Payment(
        deposit_months=_read_number(cells, "deposit_months", _MOST_MONTHS),
        prepaid_months=_read_number(cells, "prepaid_months", _MOST_MONTHS),
        prepaid_fraction=_read_number(cells, "prepaid_fraction", Decimal(1)),
    )


def _read_money(cells: PriceCells, column: str) -> Money | None:
    amount = _read_number(cells, column, _MOST)
    if amount is None:
        return None
    place = f"{cells.row.file}:{cells.row.line} currency"
    return Money(amount=amount, currency=parse_currency(cells.row.required("currency"), place))


def _read_answer(cells: PriceCells, column: str) -> bool | None:
    said = cells.text(column).casefold()
    if said and said not in _YES_OR_NO:
        raise cells.bad(column=column, given=said, wanted=Message("yes, no or nothing"))
    return _YES_OR_NO.get(said)


def _read_number(cells: PriceCells, column: str, most: Decimal) -> Decimal | None:
    given = cells.text(column)
    if not given:
        return None
    try:
        number = Decimal(unicodedata.normalize("NFKC", given))
    except InvalidOperation:
        number = Decimal("NaN")
    if number.is_finite() and 0 <= number <= most:
        return number
    raise cells.bad(
        column=column, given=given, wanted=Message("a number from 0 to {most}, or nothing", most=f"{most:,}")
    )
