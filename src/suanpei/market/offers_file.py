"""Offers from a user's CSV file: the columns of ``offers_cn.csv`` and ``count``, the cards on hand in one fabric.

Must be given: ``provider``, ``gpu``, ``price_per_hour`` (per card), ``currency`` and ``count``. What else is blank is
unknown, and becomes an assumption or a question on the offer. Charges beside the price and payments ahead have columns
of their own (`market.charge_cells`).
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from suanpei.errors import InputError
from suanpei.machine.table import read_rows, read_text
from suanpei.market.charge_cells import CHARGE_COLUMNS, read_charges, read_payment
from suanpei.market.offer import NODE8_CARDS, TIERS, Offer, Tier
from suanpei.market.price_rows import PriceCells
from suanpei.market.terms import Term, parse_term, read_tax
from suanpei.messages import Message

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

REQUIRED_COLUMNS = ("provider", "gpu", "price_per_hour", "currency", "count")
COLUMNS = (
    *("provider", "region", "gpu", "gpu_name_as_listed", "gpu_count", "price_per_hour", "currency", "pricing", "date"),
    *("source", "confidence", "note", "term", "node_or_card", "tax", "links", "tier", "count"),
    *CHARGE_COLUMNS,
)


def load_offers(path: Path, resolve_name: Callable[[str], str] | None = None) -> tuple[Offer, ...]:
    """Read a file of offers.

    UTF-8 with or without a mark, or GBK; commas, semicolons or tabs. An offer that names no links is to be planned at
    its worst reading: the question stands in its `questions`.

    Args:
        path: The CSV file. [-]
        resolve_name: Turns a seller's name of a card into the catalogue's, or raises `InputError`; None keeps the name.

    Returns:
        The offers, in file order, at least one.

    Raises:
        InputError: The file cannot be read, has no header or no offer, lacks a column, or has a bad cell (file,
            line and column are named).
    """
    rows = read_rows(read_text(path), str(path), known=COLUMNS, required=REQUIRED_COLUMNS)
    offers = tuple(_read_offer(PriceCells(row=row), resolve_name) for row in rows)
    if not offers:
        raise InputError(Message("{file} holds no offer: a header and at least one line are needed", file=str(path)))
    return offers


def _read_offer(cells: PriceCells, resolve_name: Callable[[str], str] | None) -> Offer:
    """Check one line and note what it leaves open."""
    name = cells.row.required("gpu")
    if resolve_name is not None:
        try:
            name = resolve_name(name)
        except InputError as error:
            raise _at(cells, "gpu", error) from error
    provider, unit_sold, links = cells.row.required("provider"), cells.unit_sold(), cells.links("links")
    assumptions: list[Message] = []
    term = _term(cells, provider, assumptions)
    tier = _tier(cells, term, provider, assumptions)
    if not cells.text("node_or_card") and tier != "server":
        assumptions.append(Message("the offer of {provider} is taken as sold by the card", provider=provider))
    is_server_unsaid = tier == "server" and not cells.text("node_or_card")
    offer = Offer(
        provider=provider,
        accelerator_name=name,
        tier=tier,
        price=cells.money("price_per_hour"),
        count=cells.count("count"),
        term=term,
        unit_gpus=NODE8_CARDS if unit_sold == "node8" or is_server_unsaid else 1,
        region=cells.text("region"),
        tax=read_tax(cells.text("tax")),
        links=links,
        date=cells.day("date"),
        source=cells.text("source") or f"{cells.row.file}:{cells.row.line}",
        note=cells.text("note"),
        charges=read_charges(cells),
        payment=read_payment(cells),
        assumptions=tuple(assumptions),
    )
    return _with_questions(offer)


def _term(cells: PriceCells, provider: str, assumptions: list[Message]) -> Term:
    """Read the term; one that nothing states is read as by the hour, and said."""
    if cells.text("term", "pricing"):
        return cells.term()
    monthly = parse_term("monthly", "")
    if cells.text("tier") == "server" and monthly is not None:
        assumptions.append(
            Message("the offer of {provider} names no term and is read as paid by the month", provider=provider)
        )
        return monthly
    assumptions.append(
        Message("the offer of {provider} names no term and is read as paid by the hour", provider=provider)
    )
    return Term(billing_hours=1.0)


def _tier(cells: PriceCells, term: Term, provider: str, assumptions: list[Message]) -> Tier:
    """Read the tier; a blank one follows from the term."""
    if cells.text("tier"):
        tier = cells.tier()
        if tier == "none":
            raise cells.bad(
                column="tier",
                given=tier,
                wanted=Message("a tier that can be rented: {tiers}", tiers=", ".join(TIERS[:-1])),
            )
        return tier
    assumptions.append(Message("the offer of {provider} names no tier: it is read from the term", provider=provider))
    return "server" if term.is_month_billed and cells.text("node_or_card") == "node8" else "platform"


def _with_questions(offer: Offer) -> Offer:
    """List what to ask the seller."""
    provider = offer.provider
    questions: list[Message] = []
    if not offer.names_links:
        questions.append(
            Message(
                "the offer of {provider} names no links and is planned at its worst reading: ask what joins the cards, "
                "in the node and between nodes",
                provider=provider,
            )
        )
    if offer.term.usual_hours:
        questions.append(Message("ask {provider} whether single months are sold", provider=provider))
    return replace(offer, questions=tuple(questions))


def _at(cells: PriceCells, column: str, error: InputError) -> InputError:
    """Put file, line and column before an error."""
    return InputError(
        Message(
            "{file}, line {line}, column {column}: {error}",
            file=cells.row.file,
            line=cells.row.line,
            column=column,
            error=error.message,
        )
    )
