from __future__ import annotations

import json
from typing import TYPE_CHECKING

import jsonschema
import pytest

from suanpei.errors import InputError
from suanpei.verbs.envelope import to_envelope
from suanpei.verbs.gpus import describe_gpus
from suanpei.verbs.schema import describe_schema

if TYPE_CHECKING:
    from pathlib import Path


def test_one_accelerator_has_every_key_of_the_contract() -> None:
    document = to_envelope(describe_gpus("A800", currency="CNY"))
    card = document["accelerator"]
    assert {
        "name", "memory_bytes", "peak_flops_per_s", "achievable_flops_per_s", "memory_bytes_per_s", "links", "price",
        "source", "as_of", "confidence",
    } <= set(card)  # fmt: skip
    assert card["name"] == "A800-SXM4-80GB"
    assert card["memory_bytes"] == 79.15 * 2**30
    assert card["peak_flops_per_s"]["bf16"] == 312e12
    assert 0.5 * 312e12 < card["achievable_flops_per_s"] < 312e12
    assert card["links"]["scale_up"]["achievable_bytes_per_s"] == pytest.approx(157e9)
    assert card["price"]["currency"] == "CNY"
    assert card["price"]["low"] <= card["price"]["median"] <= card["price"]["high"]
    assert document["assumptions"][0]["text"] == "A800 is read as A800-SXM4-80GB: form factor SXM4 assumed"


@pytest.mark.parametrize("name", [None, "H800", "910C", "B100", "THead-PPU", "TPU v4"])
def test_results_keep_to_their_schema(name: str | None) -> None:
    document = json.loads(json.dumps(to_envelope(describe_gpus(name)), allow_nan=False))
    jsonschema.validate(document, describe_schema("gpus"))


def test_without_a_name_all_are_listed() -> None:
    result = describe_gpus()
    assert result.accelerator is None
    assert len(result.accelerators) == 91
    assert len({card.name for card in result.accelerators}) == 91


def test_unknown_figures_are_none_not_numbers() -> None:
    card = describe_gpus("THead-PPU").accelerator
    assert card is not None
    assert card.memory_bytes_per_s is None
    assert card.achievable_flops_per_s is None
    assert card.price is None


def test_a_volta_rate_is_of_fp16_since_it_has_no_bf16() -> None:
    card = describe_gpus("V100 32G").accelerator
    assert card is not None
    assert "bf16" not in card.peak_flops_per_s
    assert card.achievable_flops_per_s is not None
    assert 0.5 * 125e12 < card.achievable_flops_per_s < 125e12


def test_the_same_price_in_two_currencies_differs_by_the_rate() -> None:
    yuan, dollars = describe_gpus("H800", currency="CNY").accelerator, describe_gpus("H800").accelerator
    assert yuan is not None
    assert dollars is not None
    assert yuan.price is not None
    assert dollars.price is not None
    assert float(yuan.price.median) == pytest.approx(7.2 * float(dollars.price.median), rel=1e-3)
    assert "converted" in str(dollars.price.substitutes[0])


def test_the_users_own_figures_win(tmp_path: Path) -> None:
    (tmp_path / "accelerators.csv").write_text("name,memory_gib_usable\nH800-SXM5-80GB,70\n", encoding="utf-8")
    card = describe_gpus("H800", catalog=tmp_path).accelerator
    assert card is not None
    assert card.memory_bytes == 70 * 2**30


def test_bad_input_is_refused() -> None:
    with pytest.raises(InputError, match="ambiguous"):
        describe_gpus("昇腾910B")
    with pytest.raises(InputError, match="XYZ"):
        describe_gpus("H800", currency="XYZ")


def test_several_machines_have_a_price_of_their_own() -> None:
    card = describe_gpus("H800").accelerator
    assert card is not None
    assert card.price is not None
    assert card.cluster_price is not None
    assert (card.price.tier, card.cluster_price.tier) == ("platform", "server")
