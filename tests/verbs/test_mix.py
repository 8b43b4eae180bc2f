from __future__ import annotations

import json
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from suanpei.errors import InputError, NoAnswerError
from suanpei.verbs.envelope import to_envelope
from suanpei.verbs.mix import find_mix
from suanpei.verbs.mix_request import MixRequest
from suanpei.verbs.schema import describe_schema

DATA = Path(__file__).parents[1] / "data" / "mix"
HEADER = "provider,gpu,price_per_hour,currency,count,term,node_or_card,tax,links,tier\n"


def ask(**options: Any) -> MixRequest:
    values: dict[str, Any] = {
        "as_of": date(2026, 11, 30),
        "currency": "CNY",
        "offers": (DATA / "offers.csv",),
    } | options
    return MixRequest(**values)


def write_offers(folder: Path, *lines: str) -> tuple[Path]:
    file = folder / "offers.csv"
    file.write_text(HEADER + "\n".join(lines) + "\n", encoding="utf-8")
    return (file,)


def test_the_parts_sum_to_the_total_and_the_savings_to_the_baselines() -> None:
    result = find_mix(ask(demand=DATA / "demand.csv"))

    assert sum(part.amount.amount for part in result.mix.parts) == result.mix.total.amount
    assert all(part.amount == (part.price * part.quantity).rounded() for part in result.mix.parts)
    for baseline in result.baselines:
        if baseline.way is not None and baseline.saving_fraction is not None:
            saved = float(baseline.way.total.amount) * baseline.saving_fraction
            assert float((baseline.way.total - result.mix.total).amount) == pytest.approx(saved)


def test_the_timeline_holds_what_is_needed() -> None:
    result = find_mix(ask(demand=DATA / "demand.csv"))

    assert [row.peak_gpus for row in result.timeline] == [16, 16, 64, 64, 32, 8, 8, 48]
    for row in result.timeline:
        assert row.reserved_gpus + row.elastic_gpus + row.spot_gpus >= row.mean_gpus
    assert [row.starts_at.month for row in result.timeline if row.starts_at] == [8, 9, 10, 11, 12, 1, 2, 3]


def test_the_result_keeps_to_its_schema() -> None:
    result = find_mix(ask(phases="train:64x20d, tune:8x60d", trial="8", buy="200万元", life="4年"))
    document = json.loads(json.dumps(to_envelope(result)))

    jsonschema.Draft202012Validator(describe_schema("mix")).validate(document)
    assert document["mix"]["solver"]["status"] == "optimal"
    assert document["demand"]["horizon_hours"] == 80 * 24


def test_tax_that_was_added_is_not_missing() -> None:
    """乙算力 states 14 without tax at 6 %: 14.84 with it."""
    result = find_mix(ask(phases="64x730h"))
    rows = {row.provider: str(row.price_per_gpu_hour.amount) for row in result.mix.contracts}

    assert rows["乙算力"] == "14.84"
    assert not any("VAT on top" in str(message) for message in result.missing)


def test_one_price_of_each_kind_gives_the_arithmetic(tmp_path: Path) -> None:
    """64 cards for 20 of 80 days is 25 % of the time, below 10/25: reserve 8 for 3 months, rent 56 by the hour."""
    offers = write_offers(
        tmp_path, "a,H800,10,CNY,640,monthly,card,含税,,platform", "b,H800,25,CNY,640,hourly,card,含税,,platform"
    )
    result = find_mix(ask(phases="64x20d, 8x60d", offers=offers))

    assert result.arithmetic is not None
    assert result.arithmetic.reserve_gpus == 8
    assert result.arithmetic.cost.amount == 8 * 3 * 730 * 10 + 56 * 20 * 24 * 25
    assert result.arithmetic.break_even.days == pytest.approx(292 / 24)
    assert result.quoted_saving is not None
    assert result.quoted_saving.rows[3].most_burst_share == pytest.approx(0.1)
    assert result.mix.total <= result.arithmetic.cost


def test_a_baseline_that_the_offers_cannot_serve_says_why(tmp_path: Path) -> None:
    offers = write_offers(tmp_path, "a,H800,10,CNY,64,monthly,card,含税,,platform")
    result = find_mix(ask(phases="64x20d", offers=offers))

    assert result.baselines[1].way is None
    assert str(result.baselines[1].reason) == "no offer of this kind"
    assert result.arithmetic is None


def test_spot_is_left_out_unless_asked_for() -> None:
    without = find_mix(ask(demand=DATA / "demand.csv"))
    asked = find_mix(ask(demand=DATA / "demand.csv", tier=("spot",)))
    rated = find_mix(ask(demand=DATA / "demand.csv", spot_interruptions_per_hour=0.02, checkpoint_every="1h"))

    assert "spot" not in {row.kind for row in without.mix.usage}
    assert any("spot of 丁竞价 is left out" in str(note) for note in without.assumptions)
    assert any("never taken back" in str(note) for note in asked.assumptions)
    assert asked.mix.total < rated.mix.total < without.mix.total


def test_a_start_is_paid_for_its_image_data_and_checkpoint() -> None:
    """60 s to boot, 60 s of image, 200 s of data at its own rate, 100 s of checkpoint at the rate of the image."""
    result = find_mix(
        ask(
            phases="8x10d",
            boot_time="60s",
            image_size="30GB",
            pull_rate="500MB/s",
            data_size="200GB",
            data_rate="1GB/s",
            checkpoint_size="50GB",
        )
    )

    assert result.start_up_hours == pytest.approx(420 / 3600)
    assert any(str(note) == "checkpoint: read at --pull-rate, 500MB/s" for note in result.assumptions)


def test_owning_is_one_more_line() -> None:
    result = find_mix(ask(phases="9x730h", buy="2000000CNY", hosting="8000元/月", life="4y", residual="20%"))

    assert result.owning is not None
    assert result.owning.machines == 2
    assert str(result.owning.per_machine_month.amount) == "41333.33"
    assert str(result.owning.total.amount) == "82666.67"


def test_a_real_plan_can_be_checked_by_a_trial() -> None:
    result = find_mix(ask(demand=DATA / "demand.csv", trial="64x7d", ramp="8x14d", plan=DATA / "plan.json"))
    trial, ramp = result.pilots

    assert (trial.kind, trial.gpus, trial.hours) == ("trial", 64, 168)
    assert trial.low_seconds_after is not None
    assert ramp.low_seconds_after is None
    assert ramp.cost is not None


def test_cards_that_differ_are_not_mixed_unless_named(tmp_path: Path) -> None:
    offers = write_offers(
        tmp_path, "a,H800,10,CNY,8,hourly,card,含税,,platform", "b,A800,5,CNY,8,hourly,card,含税,,platform"
    )
    with pytest.raises(InputError, match="are different cards"):
        find_mix(ask(phases="8x10d", offers=offers))

    assert find_mix(ask(phases="8x10d", offers=offers, gpu=("H800",))).accelerators == ("H800-SXM5-80GB",)
    both = find_mix(ask(phases="8x10d", offers=offers, gpu=("H800", "A800")))
    assert any("stand for each other, card for card" in str(note) for note in both.assumptions)


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({}, "demand: give either a CSV file or --phases"),
        ({"phases": "8x1d", "demand": DATA / "demand.csv"}, "one of them"),
        ({"phases": "8x1d", "offers": ()}, "offers is missing"),
        ({"phases": "8x1d", "offers": (DATA / "none.csv",)}, "none.csv is not a file"),
        ({"phases": "8x1d", "gpu": ("4090",)}, "none of the offers in .* is left"),
        ({"phases": "8x1d", "image_size": "30GB"}, "image-size is given without a rate"),
        ({"phases": "8x1d", "pull_rate": "1GB/s"}, "pull-rate is given without a size"),
        ({"phases": "8x1d", "image_size": "30", "pull_rate": "1GB/s"}, "image-size: '30' has no unit"),
        ({"phases": "8x1d", "data_size": "1TB", "data_rate": "1"}, "data-rate: '1' has no unit"),
        ({"phases": "8x1d", "checkpoint_every": "1h"}, "give --spot-interruptions-per-hour beside it"),
        ({"phases": "8x1d", "spot_interruptions_per_hour": -1.0}, "must be between 0 and 60"),
        ({"phases": "8x1d", "tax": "net"}, "tax takes one of in, out, quoted"),
        ({"phases": "8x1d", "tier": ("server",)}, "tier takes one of spot, marketplace"),
        ({"phases": "8x1d", "life": "4y"}, "life says nothing without --buy"),
        ({"phases": "8x1d", "buy": "200万元"}, "life is missing"),
        ({"phases": "8x1d", "buy": "200", "life": "4y"}, "names no currency"),
        ({"phases": "8x1d", "buy": "200万元", "life": "4"}, "life: '4' has no unit"),
        ({"phases": "8x1d", "buy": "200万元", "life": "4y", "residual": "1"}, "residual must be below 1"),
        ({"phases": "8x1d", "buy": "200万元", "life": "4y", "buy_gpus": "0"}, "buy-gpus must be above zero"),
        ({"phases": "8x1d", "time_limit": "20"}, "time-limit: '20' has no unit"),
        ({"phases": "8x1d", "gap": "200%"}, "gap: cannot read '200%'"),
        ({"phases": "8x1d", "trial": "x"}, "trial: cannot read 'x'"),
        ({"phases": "8x1d", "ramp": "8"}, "ramp: cannot read '8'"),
        ({"phases": "8x1d", "plan": DATA / "offers.csv"}, "is no result of suanpei plan --json"),
        ({"phases": "8x1d", "plan": DATA / "none.json"}, "none.json cannot be read"),
        ({"phases": "8x1d", "currency": "ounces"}, "currency: cannot read 'ounces'"),
    ],
)
def test_bad_input_is_named(options: dict[str, Any], error: str) -> None:
    with pytest.raises(InputError, match=error):
        find_mix(ask(**options))


def test_too_few_cards_are_no_answer() -> None:
    with pytest.raises(NoAnswerError, match="peaks at 500 cards"):
        find_mix(ask(phases="500x1d"))


def test_the_request_is_kept_whole() -> None:
    request = ask(phases="8x10d", time_limit="5s")

    assert find_mix(request).request["time_limit"] == "5s"
    assert find_mix(replace(request, currency="USD")).currency == "USD"
