"""One filled line of a form as an offer."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, cast

from suanpei.errors import InputError
from suanpei.machine.names import resolve_accelerator
from suanpei.market.offer import USUAL_NODE_GPUS
from suanpei.market.quotes.form.price import FormPrice, StatedPrice, read_price
from suanpei.market.quotes.form.values import LineValues, ask_for_blanks, read_values
from suanpei.market.quotes.quoted import Place, QuotedOffer
from suanpei.market.rfq.fields import FIELDS_BY_KEY
from suanpei.market.terms import PERIOD_HOURS, Charges, Payment, Tax, Term
from suanpei.messages import Message, Wording
from suanpei.money import Money
from suanpei.units import DAY_HOURS, GIB_BYTES, MONTH_HOURS, YEAR_HOURS

if TYPE_CHECKING:
    from datetime import date
    from decimal import Decimal

    from suanpei.machine.accelerator import Accelerator
    from suanpei.machine.catalogue import Catalogue
    from suanpei.market.quotes.form.cells import FilledLine
    from suanpei.market.quotes.form.values import ValueReader
    from suanpei.market.quotes.quoted import Pricing
    from suanpei.market.rfq.words import FormWords
    from suanpei.market.terms import TaxState
    from suanpei.money import ExchangeRates
    from suanpei.provenance import Confidence

_NETWORK_WORDS = {"infiniband": "IB", "roce": "RoCE", "ethernet": "Ethernet"}


@dataclass(frozen=True, kw_only=True)
class FormBasis:
    """What the lines of a form are read with."""

    file: str
    catalogue: Catalogue
    currency: str | None
    """Of the amounts per accelerator-hour; None leaves each in the seller's own."""
    rates: ExchangeRates


@dataclass(frozen=True, kw_only=True)
class Head:
    """What holds for every line of a form."""

    seller: str
    contact: str
    quote_date: date | None
    valid_until: date | None
    flags: tuple[str, ...]


def read_line(
    line: FilledLine, head: Head, remarks: tuple[Message, ...], reader: ValueReader, basis: FormBasis
) -> QuotedOffer:
    """Read one filled line.

    Args:
        line: Its cells. [-]
        head: What holds for every line. [-]
        remarks: Answers to the requirements, kept with every offer. [-]
        reader: Reads cells and collects questions. [-]
        basis: Catalogue, currency and rates. [-]
    """
    values = read_values(line, reader)
    ask_for_blanks(line, values, reader)
    accelerator = _find_accelerator(line, values, reader, basis.catalogue)
    unit_gpus = _unit_gpus(values)
    price = read_price(_stated_price(values), line, reader, currency=basis.currency, rates=basis.rates)
    term = _term(values)
    _check_network(line, values, reader)
    return QuotedOffer(
        source=Place(file=basis.file, sheet=line.sheet, row=line.row, cell=price.place),
        seller=head.seller,
        accelerator=accelerator.name if accelerator else None,
        accelerator_as_written=values.texts["accelerator"],
        accelerators_per_unit=unit_gpus,
        price_as_written=price.as_written,
        quoted_currency=values.choices["currency"],
        price_per_accelerator_hour=price.price,
        pricing=cast("Pricing | None", values.choices["pricing"]),
        term=term,
        count=values.counts["count"],
        links=_links(values),
        region=values.texts["region"],
        quote_date=head.quote_date,
        valid_until=head.valid_until,
        readings=price.readings,
        flags=tuple(sorted({*price.flags, *head.flags, *_flags(values, accelerator, unit_gpus, term)})),
        confidence=_confidence(price, accelerator),
        note="; ".join(filter(None, (values.texts["comment"], *line.extra))),
        charges=_charges(values),
        payment=Payment(
            deposit_months=values.numbers["deposit_months"], prepaid_months=values.numbers["prepaid_months"]
        ),
        remarks=(*_list_remarks(values, head, reader.words), *remarks),
    )


def _stated_price(values: LineValues) -> StatedPrice:
    state = values.choices["tax"]
    return StatedPrice(
        per_card_hour=values.numbers["price_card_hour"],
        per_node_month=values.numbers["price_node_month"],
        gpus_per_node=values.counts["gpus_per_node"],
        currency=values.choices["currency"],
        is_month_billed=values.choices["billing"] in ("month", "year"),
        tax=Tax(
            state=cast("TaxState", state) if state else "unknown",
            rate_fraction=values.fractions["tax_rate"],
            wording=state or "",
        ),
    )


def _find_accelerator(
    line: FilledLine, values: LineValues, reader: ValueReader, catalogue: Catalogue
) -> Accelerator | None:
    """Find the card by the seller's name and memory; None, with a question, where they settle none."""
    written, memory = values.texts["accelerator"], values.numbers["memory_gb"]
    if not written:
        return None
    names = [written] if memory is None else [f"{written} {memory:f}GB" if memory == int(memory) else written, written]
    for name in names:
        try:
            resolved = resolve_accelerator(catalogue, name)
        except InputError:
            continue
        found = resolved.accelerator
        if memory is None or round(found.marketed_bytes / GIB_BYTES) == memory:
            for assumed in resolved.assumptions:
                reader.ask(
                    line.cell("accelerator").place,
                    assumed,
                    Message(
                        "Is {given} the {accelerator}? Please give the full product name.",
                        given=written,
                        accelerator=found.name,
                    ),
                )
            return found
    reader.ask(
        line.cell("accelerator").place,
        Message(
            "{given} with {memory} GB is no card of the catalogue, or several",
            given=written,
            memory="?" if memory is None else f"{memory:f}",
        ),
        Message("Which card is {given}? Please give maker, model, form factor and memory.", given=written),
    )
    return None


def _unit_gpus(values: LineValues) -> int | None:
    sold_by = values.choices["sold_by"]
    if sold_by is None:
        return None
    return 1 if sold_by == "card" else values.counts["gpus_per_node"]


def _term(values: LineValues) -> Term | None:
    """Give for how long the price is paid; None where billing or the shortest rental is open."""
    billing, unit, number = (
        values.choices["billing"],
        values.choices["minimum_term_unit"],
        values.numbers["minimum_term"],
    )
    if billing is None or number is None or (unit is None and number != 0):
        return None
    least_hours = Fraction(number) * PERIOD_HOURS[unit] if unit else Fraction(0)
    return Term(billing_hours=float(PERIOD_HOURS[billing]), minimum_hours=float(least_hours))


def _links(values: LineValues) -> str:
    """Write the network between machines as sellers do: ``8x400G IB``; ``none`` is none."""
    network = values.choices["network"]
    if network is None or network == "none":
        return network or ""
    ports, gbit = values.counts["ports_per_node"], values.numbers["port_gbit"]
    if ports is None or gbit is None:
        return _NETWORK_WORDS[network]
    return f"{ports}x{_plain(gbit)}G {_NETWORK_WORDS[network]}"


def _check_network(line: FilledLine, values: LineValues, reader: ValueReader) -> None:
    ports, gbit = values.counts["ports_per_node"], values.numbers["port_gbit"]
    if values.choices["network"] == "none" and (ports is not None or gbit):
        reader.ask(
            line.cell("network").place,
            Message("no network between machines, yet ports or a rate are given"),
            Message("Is there a network between the machines, and which?"),
        )


def _charges(values: LineValues) -> Charges:
    currency = values.choices["currency"]

    def money(key: str) -> Money | None:
        amount = values.numbers[key]
        return None if amount is None or currency is None else Money(amount=amount, currency=currency)

    bills = values.choices["bills_outages"]
    return Charges(
        storage_per_gb_month=money("storage_price"),
        ingress_per_gb=money("ingress_price"),
        egress_per_gb=money("egress_price"),
        set_up=money("set_up_price"),
        fabric_per_gpu_hour=money("fabric_price"),
        early_exit_fraction=values.fractions["early_exit"],
        bills_outages=None if bills is None else bills == "yes",
        includes_power=None if values.choices["power"] is None else values.choices["power"] == "in",
    )


def _flags(
    values: LineValues, accelerator: Accelerator | None, unit_gpus: int | None, term: Term | None
) -> tuple[str, ...]:
    """Name what to know of an offer, spelt as for any other quote."""
    choices, numbers = values.choices, values.numbers
    least_hours = 0.0 if term is None else term.minimum_hours
    found = (
        ("unknown_card", accelerator is None),
        ("modified_card", choices["modified"] == "yes"),
        ("non_nvidia", accelerator is not None and accelerator.vendor != "NVIDIA"),
        ("pcie", choices["in_node"] == "pcie"),
        ("no_ib", choices["network"] == "none" and (unit_gpus or 1) > 1),
        (f"{unit_gpus}_gpu_node", unit_gpus not in (None, 1, USUAL_NODE_GPUS)),
        ("no_quantity", values.counts["count"] is None),
        ("spot", choices["pricing"] == "spot"),
        ("reserved", choices["pricing"] == "reserved"),
        ("deposit", bool(numbers["deposit_months"])),
        ("prepay", bool(numbers["prepaid_months"])),
        ("includes_power", choices["power"] == "in"),
        ("egress_fee", bool(numbers["egress_price"])),
        ("daily_min", choices["pricing"] == "daily" or DAY_HOURS <= least_hours <= 7 * DAY_HOURS),
        (f"{least_hours / MONTH_HOURS:g}_month_term", least_hours >= YEAR_HOURS),
    )
    return tuple(flag for flag, holds in found if holds)


def _confidence(price: FormPrice, accelerator: Accelerator | None) -> Confidence:
    if price.price.amount is None:
        return "low"
    return "medium" if accelerator is None else "high"


def _list_remarks(values: LineValues, head: Head, words: FormWords) -> tuple[Message, ...]:
    """List what has no field of its own in an offer, each under the label of its cell."""
    memory, gpus, delivery = values.numbers["memory_gb"], values.counts["gpus_per_node"], values.days["delivery"]
    kept: dict[str, str | Wording | None] = {
        "memory_gb": None if memory is None else _plain(memory),
        "gpus_per_node": None if gpus is None else str(gpus),
    }
    for key in ("condition", "modified", "in_node", "invoice", "power"):
        code = values.choices[key]
        kept[key] = None if code is None else words.wording(FIELDS_BY_KEY[key].choices, code)
    kept["delivery"] = None if delivery is None else str(delivery)
    kept["contact"] = head.contact or None
    return tuple(
        Message("{label}: {value}", label=FIELDS_BY_KEY[key].label, value=value)
        for key, value in kept.items()
        if value is not None
    )


def _plain(value: Decimal | int) -> str:
    """Write a number without trailing zeros or powers of ten."""
    text = f"{value:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
