from __future__ import annotations

from datetime import date
from decimal import Decimal
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from suanpei.errors import InputError, SuanpeiError
from suanpei.market.offers_file import is_own_format
from suanpei.market.price_rows import load_exchange_rates, load_prices
from suanpei.market.quotes.context import QuoteContext
from suanpei.money import Money
from suanpei.verbs.inputs import load_inputs
from suanpei.verbs.job_request import JobRequest
from suanpei.verbs.mix import find_mix
from suanpei.verbs.mix_request import MixRequest
from suanpei.verbs.offered import OfferedList, read_offers
from suanpei.verbs.plan import plan
from suanpei.verbs.plan_request import PlanRequest
from suanpei.verbs.quote_files import gather_quotes

if TYPE_CHECKING:
    from pathlib import Path

DAY = date(2026, 11, 30)
INPUTS = load_inputs(None)
CONTEXT = QuoteContext(
    catalogue=INPUTS.catalogue,
    prices=load_prices(INPUTS.catalogue),
    rates=load_exchange_rates(INPUTS.catalogue),
    currency="CNY",
    as_of=DAY,
)
OWN = "provider,gpu,price_per_hour,currency,count\nAlpha,A800,6.5,CNY,64\n"
QUOTE = (
    "供应商,型号,配置,数量,报价,单位,起租期,网络,税\n"
    "甲云,A800 80G SXM,8卡整机,4台,40880,元/台/月,1个月,8×200G IB,含税\n"
    "辛科技,A800 80G SXM,8卡整机,,面议,,,,\n"
    "壬云,A800 80G SXM,8卡整机,,面议,,,,\n"
)


@pytest.fixture
def own(tmp_path: Path) -> Path:
    path = tmp_path / "own.csv"
    path.write_text(OWN, encoding="utf-8")
    return path


@pytest.fixture
def quote(tmp_path: Path) -> Path:
    path = tmp_path / "报价.csv"
    path.write_text(QUOTE, encoding="gbk")
    return path


def read(*paths: Path) -> OfferedList:
    return read_offers(paths, INPUTS, currency="CNY", rates=load_exchange_rates(INPUTS.catalogue), as_of=DAY)


def test_our_own_columns_are_read_strictly(own: Path) -> None:
    offered = read(own)
    assert [(offer.provider, offer.accelerator_name, offer.count) for offer in offered.offers] == [
        ("Alpha", "A800-SXM4-80GB", 64)
    ]
    assert (offered.assumptions, offered.not_planned, offered.questions, offered.unread) == ((), (), (), ())
    own.write_text(OWN.replace("6.5", "cheap"), encoding="utf-8")
    with pytest.raises(InputError, match=r"own\.csv, line 2, column price_per_hour: got cheap"):
        read(own)


def test_an_offer_of_our_own_columns_that_is_too_cheap_to_be_true_is_left_out(own: Path) -> None:
    own.write_text(OWN + "\nBeta,H800,0.02,CNY,64\nGamma,A800,0.003,USD,64\n", encoding="utf-8")
    offered = read(own)
    assert [offer.provider for offer in offered.offers] == ["Alpha"]
    assert [(item.seller, item.source.cell) for item in offered.left_out] == [("Beta", "C4"), ("Gamma", "C5")]
    (said,) = map(str, offered.not_planned)
    assert said.startswith("2 quoted offers are not planned: it is too cheap to be true as written")
    own.write_text(OWN.replace("6.5", "0.02"), encoding="utf-8")
    with pytest.raises(InputError, match="can be planned .*too cheap to be true"):
        read(own)


def test_a_quote_gives_what_can_be_planned_and_says_what_cannot(quote: Path) -> None:
    offered = read(quote)
    (offer,) = offered.offers
    # 40,880 / (8 · 730) = 7
    assert offer.price == Money(amount=Decimal("7.000000"), currency="CNY")
    assert (offer.provider, offer.count, offer.unit_gpus, offer.tier) == ("甲云", 32, 8, "server")
    assert offer.tax.state == "in"
    (left_out, *_) = map(str, offered.not_planned)
    assert left_out.startswith("2 quoted offers are not planned: it has no price, or one whose unit is open (辛科技 ")
    assert {question.seller for question in offered.questions} >= {"辛科技", "壬云"}


def test_an_offer_of_a_quote_knows_what_its_seller_bills_in(tmp_path: Path) -> None:
    path = tmp_path / "quote.csv"
    lines = ("seller,gpu,price,unit,stock", "Alpha,H100 SXM,2.1,USD/GPU-hour,64 GPUs", "甲,H100 SXM,16,元/卡/时,64卡")
    path.write_text("\n".join(lines), encoding="utf-8")
    # both are priced in yuan; what a tax left open is read at, and the region, follow the seller's own currency
    offers = {offer.provider: offer for offer in read(path).offers}
    assert offers["Alpha"].price == Money(amount=Decimal("15.12"), currency="CNY")
    assert (offers["Alpha"].billing_currency, offers["Alpha"].market) == ("USD", "world")
    assert (offers["甲"].billing_currency, offers["甲"].market) == ("CNY", "cn")


def test_both_kinds_are_read_together(own: Path, quote: Path) -> None:
    assert [offer.provider for offer in read(quote, own).offers] == ["Alpha", "甲云"]


def test_quotes_of_which_nothing_can_be_planned_are_an_error_that_says_why(quote: Path) -> None:
    lines = QUOTE.splitlines(keepends=True)
    quote.write_text(lines[0] + lines[2], encoding="utf-8")
    with pytest.raises(
        InputError, match=r"nothing in .*报价\.csv can be planned \(1 quoted offers are not planned: it"
    ):
        read(quote)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"offers: .*absent\.csv is not a file"):
        read(tmp_path / "absent.csv")


@pytest.mark.parametrize(
    ("data", "is_own"),
    [
        (OWN.encode(), True),
        (OWN.upper().encode("utf-16"), True),
        (("备注," + OWN).encode("gbk"), True),
        ("\ufeff".encode() + OWN.encode(), True),
        (OWN.replace(",", ";").encode("gbk"), True),
        (OWN.replace(",", "\t").encode(), True),
        (b"\n\n" + OWN.encode(), True),
        (OWN.replace("count", "idle").encode(), False),
        (QUOTE.encode(), False),
        (b"", False),
        (bytes(range(256)), False),
        (b'PK\x03\x04,\rab"c,\r"', False),
    ],
)
def test_our_own_columns_are_known_by_the_header(tmp_path: Path, data: bytes, is_own: bool) -> None:
    path = tmp_path / "any.bin"
    path.write_bytes(data)
    assert is_own_format(path) == is_own


def test_a_plan_is_made_of_a_quote(quote: Path) -> None:
    result = plan(
        PlanRequest(
            job=JobRequest(model="llama-3-8b", tokens="200M"),
            as_of=DAY,
            currency="CNY",
            gpus="8-32",
            offers=(quote,),
        )
    )
    assert {row.accelerator for row in result.plans} == {"A800-SXM4-80GB"}
    assert {row.gpus for row in result.plans} <= {8, 16, 24, 32}
    said = [str(note) for note in result.assumptions]
    assert any(note.startswith("2 quoted offers are not planned") for note in said)


def test_a_node_is_as_large_as_it_is_sold(tmp_path: Path) -> None:
    file = tmp_path / "four.csv"
    file.write_text(
        "供应商,型号,配置,数量,报价,单位,起租期,网络,税\n"
        "戊云,A100 40G PCIe,4卡整机,4台,0.9万,元/台/月,1个月,无IB,含税\n",
        encoding="utf-8",
    )
    asked = PlanRequest(
        job=JobRequest(model="llama-3.2-1b", tokens="20M"), as_of=DAY, currency="CNY", gpus="8", offers=(file,)
    )
    assert {(row.gpus, row.nodes) for row in plan(asked).plans} == {(8, 2)}


@given(st.binary(max_size=300))
def test_any_bytes_are_our_own_format_or_not(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    path = tmp_path_factory.getbasetemp() / "any.bin"
    path.write_bytes(data)
    assert not is_own_format(path)


HEADS = (
    b"",
    OWN.encode(),
    OWN.partition("\n")[0].encode() + b"\n",
    b"PK\x03\x04",
    b"%PDF-1.7\n",
    b"<table><tr><td>",
    QUOTE.encode(),
)


@given(
    head=st.sampled_from(HEADS),
    data=st.binary(max_size=200),
    end=st.sampled_from(["csv", "tsv", "txt", "md", "html", "xlsx", "docx", "pdf", "bin"]),
)
@settings(max_examples=150, deadline=None)
def test_any_bytes_are_read_or_refused_in_a_message(
    tmp_path_factory: pytest.TempPathFactory, head: bytes, data: bytes, end: str
) -> None:
    path = tmp_path_factory.getbasetemp() / f"fuzz.{end}"
    path.write_bytes(head + data)
    for read_file in (read, lambda file: gather_quotes([file], None, CONTEXT)):
        try:
            found = read_file(path)
        except SuanpeiError as error:
            assert str(error.message)
        else:
            assert all(offer.source for offer in found.offers)


def test_links_that_no_network_is_named_by_are_refused_at_their_line(tmp_path: Path) -> None:
    path = tmp_path / "own.csv"
    lines = ["Alpha,A800,6.5,CNY,64,8x200G RoCE", "Beta,A800,6.4,CNY,64,", "Gamma,A800,6.3,CNY,64,bogus"]
    path.write_text("\n".join([f"{OWN.splitlines()[0]},links", *lines]), encoding="utf-8")
    with pytest.raises(InputError, match=r"own\.csv, line 4, column links: fabric takes .*; got bogus"):
        read(path)
    # whatever is made of the offers: a mix needs no network, and refuses them as well
    with pytest.raises(InputError, match="line 4, column links"):
        find_mix(MixRequest(as_of=DAY, currency="CNY", offers=(path,), phases="train:8x2d"))
