"""The cells of the form: each field once, with its key, label, kind and unit, for its writer and its reader."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from suanpei.messages import Message

if TYPE_CHECKING:
    from collections.abc import Mapping

Kind = Literal["text", "choice", "money", "number", "count", "percent", "date"]
"""``money`` and ``number`` are at least 0, ``count`` a whole number of at least 1, ``percent`` from 0 to 100."""


@dataclass(frozen=True, kw_only=True)
class Field:
    """One thing that a seller fills in."""

    key: str
    label: Message
    """With its unit; heads the column."""
    kind: Kind
    choices: str = ""
    """Name of the list of words, for a choice."""
    is_mandatory: bool = True
    example: str = ""
    """What the example line shows; the code of a choice."""
    width: int = 12
    """Of the column. [characters]"""


@dataclass(frozen=True, kw_only=True)
class FieldGroup:
    """Fields that stand together under one heading."""

    heading: Message
    fields: tuple[Field, ...]


HEAD_FIELDS: tuple[Field, ...] = (
    Field(key="seller", label=Message("Name of the seller"), kind="text"),
    Field(key="contact", label=Message("Contact"), kind="text", is_mandatory=False),
    Field(key="quote_date", label=Message("Date of the quote (YYYY-MM-DD)"), kind="date"),
    Field(key="valid_until", label=Message("Valid until (YYYY-MM-DD)"), kind="date"),
)
"""Filled once per form."""

BUYER_FIELDS: tuple[Field, ...] = (
    Field(key="buyer", label=Message("Buyer"), kind="text"),
    Field(key="buyer_contact", label=Message("Contact of the buyer"), kind="text"),
    Field(key="reply_by", label=Message("Reply by (YYYY-MM-DD)"), kind="date"),
    Field(key="start", label=Message("Needed from (YYYY-MM-DD)"), kind="date"),
    Field(key="valid_at_least", label=Message("Quote valid at least until (YYYY-MM-DD)"), kind="date"),
    Field(key="wanted_invoice", label=Message("Invoice wanted"), kind="choice", choices="invoice"),
)
"""Filled by the buyer before the form is sent."""

LINE_GROUPS: tuple[FieldGroup, ...] = (
    FieldGroup(
        heading=Message("Cards and machines"),
        fields=(
            Field(
                key="accelerator",
                label=Message("Card, full product name"),
                kind="text",
                example="A800-SXM4-80GB",
                width=22,
            ),
            Field(key="memory_gb", label=Message("Memory [GB per card]"), kind="number", example="80", width=9),
            Field(
                key="condition",
                label=Message("New or used"),
                kind="choice",
                choices="condition",
                example="new",
                width=9,
            ),
            Field(
                key="modified",
                label=Message("Modified card or memory?"),
                kind="choice",
                choices="yes_no",
                example="no",
                width=10,
            ),
            Field(key="sold_by", label=Message("Sold by"), kind="choice", choices="unit", example="node", width=12),
            Field(key="gpus_per_node", label=Message("Cards per machine"), kind="count", example="8", width=9),
            Field(
                key="count",
                label=Message("Cards on hand in one fabric"),
                kind="count",
                example="128",
                width=11,
            ),
            Field(key="region", label=Message("Place of the machines"), kind="text", width=14),
        ),
    ),
    FieldGroup(
        heading=Message("Links"),
        fields=(
            Field(
                key="in_node",
                label=Message("Links between the cards of a machine"),
                kind="choice",
                choices="in_node",
                example="nvlink_switch",
                width=16,
            ),
            Field(
                key="network",
                label=Message("Network between machines"),
                kind="choice",
                choices="network",
                example="infiniband",
                width=16,
            ),
            Field(
                key="ports_per_node",
                label=Message("Network ports per machine (blank without network)"),
                kind="count",
                is_mandatory=False,
                example="8",
                width=10,
            ),
            Field(
                key="port_gbit",
                label=Message("Rate per port [Gbit/s] (blank without network)"),
                kind="number",
                is_mandatory=False,
                example="200",
                width=10,
            ),
        ),
    ),
    FieldGroup(
        heading=Message("Price: the same price in both units"),
        fields=(
            Field(
                key="pricing", label=Message("Pricing"), kind="choice", choices="pricing", example="monthly", width=16
            ),
            Field(
                key="currency", label=Message("Currency"), kind="choice", choices="currency", example="CNY", width=12
            ),
            Field(
                key="price_card_hour",
                label=Message("Price per card and hour [currency per card-hour]"),
                kind="money",
                example="1",
                width=14,
            ),
            Field(
                key="price_node_month",
                label=Message("Price per machine and month of 730 h [currency per machine-month]"),
                kind="money",
                example="5840",
                width=16,
            ),
            Field(
                key="tax",
                label=Message("Tax in the prices of this line?"),
                kind="choice",
                choices="tax",
                example="out",
                width=13,
            ),
            Field(key="tax_rate", label=Message("Tax rate [%] (such as 6)"), kind="percent", example="6", width=8),
            Field(
                key="invoice",
                label=Message("Invoice"),
                kind="choice",
                choices="invoice",
                example="special",
                width=16,
            ),
        ),
    ),
    FieldGroup(
        heading=Message("Term and payment"),
        fields=(
            Field(
                key="billing",
                label=Message("Billed in whole units of"),
                kind="choice",
                choices="billing",
                example="month",
                width=10,
            ),
            Field(key="minimum_term", label=Message("Shortest rental: number"), kind="number", example="1", width=9),
            Field(
                key="minimum_term_unit",
                label=Message("Shortest rental: unit"),
                kind="choice",
                choices="period",
                example="month",
                width=9,
            ),
            Field(
                key="deposit_months", label=Message("Deposit [months of rent]"), kind="number", example="1", width=10
            ),
            Field(
                key="prepaid_months",
                label=Message("Paid ahead at a time [months of rent]"),
                kind="number",
                example="1",
                width=11,
            ),
            Field(
                key="early_exit",
                label=Message("Early exit: share of the unused rent that is owed [%]"),
                kind="percent",
                example="30",
                width=14,
            ),
            Field(
                key="bills_outages",
                label=Message("Are hours lost to your machines billed?"),
                kind="choice",
                choices="yes_no",
                example="no",
                width=13,
            ),
            Field(
                key="delivery",
                label=Message("Delivery date (YYYY-MM-DD)"),
                kind="date",
                example="2026-12-15",
                width=13,
            ),
        ),
    ),
    FieldGroup(
        heading=Message("Billed beside the price: 0 where it is included"),
        fields=(
            Field(key="power", label=Message("Power and rack"), kind="choice", choices="power", example="in", width=14),
            Field(
                key="storage_price",
                label=Message("Storage [currency/(GB·month)]"),
                kind="money",
                example="0.12",
                width=14,
            ),
            Field(key="ingress_price", label=Message("Traffic in [currency/GB]"), kind="money", example="0", width=12),
            Field(
                key="egress_price", label=Message("Traffic out [currency/GB]"), kind="money", example="0.5", width=12
            ),
            Field(key="set_up_price", label=Message("Set-up, once [currency]"), kind="money", example="0", width=12),
            Field(
                key="fabric_price",
                label=Message("Network between machines [currency per card-hour]"),
                kind="money",
                example="0",
                width=15,
            ),
            Field(key="comment", label=Message("Comment"), kind="text", is_mandatory=False, width=30),
        ),
    ),
)
"""Filled once per offered configuration."""

LINE_FIELDS: tuple[Field, ...] = tuple(field for group in LINE_GROUPS for field in group.fields)
FIELDS_BY_KEY: Mapping[str, Field] = {field.key: field for field in (*HEAD_FIELDS, *BUYER_FIELDS, *LINE_FIELDS)}
NUMBER_KEY = "line"
"""Heads the column that numbers the lines, which nobody need fill."""
