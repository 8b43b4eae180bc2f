"""Quotes: each field by what the reader makes of a table or a piece of text.

Rows of a file are counted among its offers, from one. Cases without a file are written as the table they speak of.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from suanpei.machine.catalogue import load_catalogue
from suanpei.market.price_rows import load_exchange_rates
from suanpei.market.quotes.prices.cross_checks import exact_multiple
from suanpei.market.quotes.prices.pflops import claim_factor
from suanpei.market.quotes.prices.plausible import compare_amounts
from tests.market.quotes.samples import bundled, read, table, text

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from suanpei.market.quotes.quoted import QuotedOffer, Quotes
    from tests.cases.case import Answer

    Fields = Mapping[str, Any]


@cache
def read_file(name: str, currency: str) -> Quotes:
    return read(bundled(PurePath(name).name), currency)


def number(amount: Fraction | None) -> float | None:
    return None if amount is None else float(amount)


def amounts(offers: Iterable[QuotedOffer]) -> list[float | None]:
    return [number(offer.price_per_accelerator_hour.amount) for offer in offers]


def flagged(offers: Iterable[QuotedOffer], flag: str) -> list[int]:
    return [place for place, offer in enumerate(offers) if flag in offer.flags]


def row_of_file(given: Fields) -> Fields:
    """One row of a fixture; the reader's month and rates are those of the case."""
    currency = "USD" if "fx" in given else "CNY"
    rates = load_exchange_rates(load_catalogue())
    wanted = given["fx"] if "fx" in given else {"USD": given["fx_usd"]}
    assert {code: float(rates.route(code, "CNY")[0].rate) for code in wanted} == wanted
    offer = read_file(given["file"], currency).offers[given["row"] - 1]
    price, unit = offer.price_per_accelerator_hour, f"{currency.lower()}_gpu_hour"
    fields: dict[str, Any] = {unit: number(price.amount), "flags": offer.flags}
    if price.tax == "out" and price.tax_rate:
        fields[f"{unit}_tax_in"] = number(price.amount_tax_in)
    return fields


def cn_all(given: Fields) -> Fields:
    offers = read_file(given["file"], "CNY").offers
    return {"offers": len(offers), "priced": sum(amount is not None for amount in amounts(offers))}


def quo_01(given: Fields) -> Fields:
    rows = [["H100", str(row["qty"]), str(row["price"])] for row in given["rows"]]
    single, node = amounts(read(table([["GPU", "Qty", "Price (USD/hr)"], *rows]), "USD").offers)
    assert single == node
    ratio = compare_amounts(Fraction(str(given["rows"][0]["price"])), Fraction(str(given["site"])))
    return {"per_gpu": single, "stale_ratio": float(ratio)}


def quo_02(given: Fields) -> Fields:
    names = ("A100 80GB SXM", "H100 SXM", "H100 PCIe")
    rows = [[name, f"${spot}", f"${other}"] for name, (spot, other) in zip(names, given["rows"], strict=True)]
    offers = read(table([["GPU", "Spot ($/GPU/hr)", "On-demand ($/GPU/hr)"], *rows]), "USD").offers
    ratios = {exact_multiple(Fraction(str(other)), Fraction(str(spot))) for spot, other in given["rows"]}
    assert flagged(offers, "node_price_mislabelled") == [1, 3, 5]
    return {"ratio": ratios.pop(), "flag": "node_price_mislabelled"}


def quo_03(given: Fields) -> Fields:
    rows = [["P40", str(row["gpus"]), str(row["p"]), row["cur"]] for row in given["rows"]]
    offers = read(table([["GPU", "Cards", "Price per instance per hour", "Currency"], *rows]), "USD").offers
    return {
        "per_gpu_usd": amounts(offers),
        "flag_rows": flagged(offers, "currency_suspect"),
        "flag": next(flag for flag in offers[-1].flags if flag == "currency_suspect"),
    }


def quo_04(given: Fields) -> Fields:
    rows = [
        [
            row["cloud"],
            "V100 16GB",
            row["kind"],
            f"${row['price']}",
            f"host ${row['host_extra']}" if "host_extra" in row else "",
        ]
        for row in given["rows"]
    ]
    header = ["Cloud", "GPU", "Kind", "Price per GPU hour", "Host extra"]
    offers = read(table([header, *rows]), "USD").offers
    return {
        "comparable": [number(offer.price_per_accelerator_hour.high) for offer in offers],
        "flag": next(flag for flag in offers[1].flags if flag == "component_price"),
    }


def quo_06(given: Fields) -> Fields:
    low, high = (f"{price / 10_000:g}" for price in given["price_per_p_year"])
    claimed = given["claimed_p_per_card"]
    row = ["H800", f"{low}-{high}", "万元/P/年", f"单卡约{claimed}P"]
    (offer,) = read(table([["型号", "价格", "单位", "备注"], row])).offers
    price = offer.price_per_accelerator_hour
    return {
        "cny_gpu_hour": [number(price.low), number(price.high)],
        "claim_factor": float(claim_factor(Fraction(str(claimed)), Fraction(str(given["true_p_fp16_dense"])))),
        "flag": next(flag for flag in offer.flags if flag == "p_per_card_wrong"),
    }


def quo_07(given: Fields) -> Fields:
    row = ["H100", f"{given['gpus']}卡整机", str(given["price"]), "元/台/月"]
    header = ["型号", "配置", "价格", "单位", "备注"]
    (usual,) = amounts(read(table([header, [*row, ""]])).offers)
    (thirty,) = amounts(read(table([header, [*row, "按30天计"]])).offers)
    return {"cny_gpu_hour_730": usual, "cny_gpu_hour_720": thirty}


def quo_10(given: Fields) -> Fields:
    rows = [["A100 80G", str(row["hour_price"]), str(row["gpu_num"]), str(row["idle"])] for row in given["rows"]]
    offers = read(table([["型号", "hour_price(元/台/时)", "gpu_num", "idle"], *rows])).offers
    usable = [offer for offer in offers if offer.count]
    return {"cny_gpu_hour": amounts(usable)[0], "rows_used": len(usable)}


def quo_13(given: Fields) -> Fields:
    (offer,) = read(text(f"4090 2元/卡时 关机后磁盘继续计费，云盘{given['disk_price_gb_month']}元/GB/月")).offers
    per_gb_month = offer.charges.storage_per_gb_month
    assert per_gb_month is not None
    return {
        "cost": float(per_gb_month.amount * given["disk_gb"] * given["months"]),
        "flag": next(flag for flag in offer.flags if flag == "storage_billed_when_stopped"),
    }


def quo_14(given: Fields) -> Fields:
    rows = [[row["sku"], row.get("label", ""), f"${row['price']}", str(row["gpus"])] for row in given["rows"]]
    offers = read(table([["SKU", "Label", "Price/hr", "GPUs"], *rows]), "USD").offers
    return {
        "per_gpu": amounts(offers),
        "flag": next(flag for flag in offers[0].flags if flag == "memory_label_mismatch"),
        "flag_rows": flagged(offers, "memory_label_mismatch"),
    }


ANSWERS: dict[str, Answer] = {
    "QUO-01": quo_01,
    "QUO-02": quo_02,
    "QUO-03": quo_03,
    "QUO-04": quo_04,
    "QUO-06": quo_06,
    "QUO-07": quo_07,
    "QUO-10": quo_10,
    "QUO-13": quo_13,
    "QUO-14": quo_14,
    "QUO-CN-ALL": cn_all,
    **{f"QUO-CN{row:02}": row_of_file for row in range(1, 16)},
    **{f"QUO-EN{row:02}": row_of_file for row in range(1, 13)},
}
