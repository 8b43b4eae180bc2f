from __future__ import annotations

import json
from datetime import date
from typing import TYPE_CHECKING, Any

import jsonschema
import pytest

from suanpei.errors import InputError, MissingExtraError, SuanpeiError
from suanpei.verbs.envelope import to_envelope
from suanpei.verbs.quotes import QuotesRequest, QuotesResult, read_quote_files
from suanpei.verbs.schema import describe_schema
from tests.golden.quote_samples import handmade
from tests.market.quotes.clouds.test_live import Item, Package

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

DAY = date(2026, 11, 30)
TABLE = (
    "供应商,型号,配置,数量,报价,单位,起租期,网络,税\n"
    "甲云,H800 80G SXM5,8卡整机,16台,78000,元/台/月,3个月,8×400G IB,不含税(6%)\n"
    "辛科技,H800 80G SXM5,8卡整机,,面议,,,,\n"
)
SKYPILOT = (
    "InstanceType,AcceleratorName,AcceleratorCount,Price,Region,SpotPrice\n"
    "gpu_8x_h100_sxm5,H100-80GB,8,35.92,us-east-1,\n"
)


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "报价.csv"
    path.write_text(TABLE, encoding="utf-8")
    return path


def read(*files: Path, **changes: Any) -> QuotesResult:
    values: dict[str, Any] = {"files": files, "as_of": DAY, "currency": "CNY"}
    return read_quote_files(QuotesRequest(**{**values, **changes}))


def test_a_table_becomes_offers_questions_and_an_envelope_of_its_schema(table: Path) -> None:
    result = read(table)
    first, second = result.offers
    assert (first.seller, first.accelerator, first.count) == ("甲云", "H800-SXM5-80GB", 128)
    assert first.source.file == str(table)
    assert float(first.price_per_accelerator_hour.amount or 0) == pytest.approx(78_000 / 8 / 730)
    assert second.price_per_accelerator_hour.amount is None
    assert any(question.seller == "辛科技" for question in result.questions)
    assert result.request["currency"] == "CNY"
    document = json.loads(json.dumps(to_envelope(result)))
    jsonschema.validate(document, describe_schema("quotes"))


def test_the_json_is_named_as_the_schema_says_for_every_kind_of_offer() -> None:
    document = json.loads(json.dumps(to_envelope(handmade())))
    jsonschema.validate(document, describe_schema("quotes"))
    offer = document["offers"][0]
    assert offer["source"] == {"file": "报价汇总.csv", "sheet": None, "row": 4, "cell": "F4"}
    price = offer["price_per_accelerator_hour"]
    assert (price["tax"], price["tax_rate"], price["currency"]) == ("out", 0.06, "CNY")
    assert price["amount_tax_in"] == pytest.approx(78_000 / 5840 * 1.06)
    assert offer["term"]["minimum_hours"] == 2190


def test_a_catalogue_of_clouds_is_known_by_its_header(table: Path, tmp_path: Path) -> None:
    clouds = tmp_path / "lambda.csv"
    clouds.write_text(SKYPILOT, encoding="utf-8")
    result = read(clouds, table, currency="USD")
    assert [offer.seller for offer in result.offers] == ["甲云", "辛科技", "lambda"]
    assert float(result.offers[-1].price_per_accelerator_hour.amount or 0) == pytest.approx(4.49)


def test_a_bad_file_among_others_is_unread_and_alone_an_error(table: Path, tmp_path: Path) -> None:
    absent = tmp_path / "没有.csv"
    result = read(absent, table)
    assert len(result.offers) == 2
    assert [(item.file, item.cell) for item in result.unread if item.file == str(absent)] == [(str(absent), "")]
    with pytest.raises(SuanpeiError, match="没有"):
        read(absent)
    with pytest.raises(InputError, match="none of the files can be read: "):
        read(absent, tmp_path / "nor.csv")


def test_a_file_named_twice_is_read_once(table: Path) -> None:
    assert len(read(table, table).offers) == 2


def test_pasted_text_is_read_beside_files(table: Path) -> None:
    result = read(table, pasted="A800 80G 8卡整机 5.8万/台/月 含税")
    assert len(result.offers) == 3
    assert result.offers[-1].source.file == "-"
    assert len(read(pasted="A800 80G 8卡整机 5.8万/台/月 含税").offers) == 1


def test_the_users_rate_decides(table: Path) -> None:
    in_dollars = read(table, currency="USD", rate=("USD=8CNY",)).offers[0].price_per_accelerator_hour
    assert in_dollars.currency == "USD"
    assert float(in_dollars.amount or 0) == pytest.approx(78_000 / 8 / 730 / 8)


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({}, "name a file of quotes, - for text on standard input, or --live"),
        ({"pasted": "x", "provider": ("aws",)}, "provider goes with --live"),
        ({"pasted": "x", "currency": "GOLD"}, "GOLD"),
        ({"pasted": "x", "rate": ("USD=7CNY", "USD=8CNY")}, "rate: USD to CNY is given twice"),
    ],
)
def test_bad_input_is_refused(changes: dict[str, Any], complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        read(**changes)


def test_live_prices_come_after_the_files(table: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GPUHUNT_CATALOG_DIR", raising=False)
    load: Callable[[], Any] = lambda: Package([Item()])  # noqa: E731
    request = QuotesRequest(files=(table,), as_of=DAY, currency="CNY", live=True)
    result = read_quote_files(request, load)
    assert [offer.seller for offer in result.offers] == ["甲云", "辛科技", "aws"]
    assert read_quote_files(QuotesRequest(as_of=DAY, currency="CNY", live=True), load).offers == result.offers[2:]


def test_live_prices_need_their_extra() -> None:
    def missing() -> Any:
        raise MissingExtraError("gpuhunt", "live")

    with pytest.raises(MissingExtraError, match=r"pip install 'suanpei\[live\]'"):
        read_quote_files(QuotesRequest(as_of=DAY, currency="CNY", live=True), missing)


def test_a_file_that_must_not_be_read_is_named_and_the_others_are_read(
    table: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    locked = tmp_path / "locked.csv"
    locked.write_text("", encoding="utf-8")
    real = type(locked).open

    def refuse(path: Path, *rest: Any, **more: Any) -> Any:
        if path == locked:
            raise PermissionError(13, "Permission denied", str(path))
        return real(path, *rest, **more)

    monkeypatch.setattr(type(locked), "open", refuse)
    result = read(locked, table)
    assert len(result.offers) == 2
    assert [str(item.reason) for item in result.unread if item.file == str(locked)] == [
        f"{locked} cannot be read: Permission denied"
    ]
    with pytest.raises(InputError, match=r"locked\.csv cannot be read: Permission denied"):
        read(locked)
