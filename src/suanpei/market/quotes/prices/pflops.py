"""Prices per P: what a P is, and what a seller counts as the P of one card.

A P is one PFLOP/s of dense 16-bit products unless the row says otherwise. Sellers also count it with 2:4 sparsity
(twice the dense rate), in another number format, or with a figure of their own for a card.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from suanpei.market.quotes.prices.plausible import compare_amounts
from suanpei.messages import Message

if TYPE_CHECKING:
    from suanpei.machine.accelerator import Accelerator

SPARSE_FACTOR = 2
"""A rate with 2:4 sparsity is twice the dense one. [-]"""
CLAIM_TOLERANCE = Fraction(1, 10)
"""A claimed rate of a card within a tenth of the data sheet's counts as the data sheet's. [-]"""
_PFLOPS = 10**15
_FORMATS = ("fp8", "int8", "fp4", "tf32", "fp32")


def dense_pflops(product: Accelerator) -> Fraction | None:
    """Give what one card does in dense 16-bit products; None where it is not known. [PFLOP/s]"""
    peak = product.peak_of("bf16") or product.peak_of("fp16")
    return Fraction(int(peak), _PFLOPS) if peak else None


def claim_factor(claimed_pflops: Fraction, true_pflops: Fraction) -> Fraction:
    """Give how many times a claimed rate of a card the dense 16-bit one is. [-]

    Example:
        >>> round(float(claim_factor(Fraction("0.2"), Fraction("0.9894"))), 2)
        4.95
    """
    return compare_amounts(true_pflops, claimed_pflops)


def count_pflops(
    product: Accelerator, claimed: Fraction | None, words: frozenset[str]
) -> tuple[Fraction, Message, bool] | None:
    """Give the rate of a card as the seller counts it, where that is not the dense 16-bit one.

    Args:
        product: The card. [-]
        claimed: A figure that the seller names for one card; None is none. [PFLOP/s]
        words: Groups of the vocabulary ``pflops`` in the seller's words. [-]

    Returns:
        The rate [PFLOP/s], why, and whether it is a claimed figure; None where the seller counts as the data sheet.
    """
    dense = dense_pflops(product)
    if dense is None:
        return None
    if claimed is not None:
        if abs(claim_factor(claimed, dense) - 1) <= CLAIM_TOLERANCE:
            return None
        why = Message(
            "the seller counts {claimed} P per card; the data sheet's dense figure is {pflops}",
            claimed=f"{float(claimed):g}",
            pflops=f"{float(dense):.4g}",
        )
        return claimed, why, True
    others = [name for name in _FORMATS if name in words]
    counted = dense
    if others and "fp16" not in words:
        peak = product.peak_of(others[0])
        if not peak:
            return None
        counted = Fraction(int(peak), _PFLOPS)
    if "sparse" in words and "dense" not in words:
        counted *= SPARSE_FACTOR
    if counted == dense:
        return None
    why = Message(
        "P counted as the words say ({words}): {pflops} per card",
        words=", ".join(sorted(words - {"dense"})),
        pflops=f"{float(counted):.4g}",
    )
    return counted, why, False
