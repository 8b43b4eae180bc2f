from __future__ import annotations

import json
from dataclasses import replace
from datetime import date, datetime
from decimal import Decimal
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


def test_contracts_have_their_dates() -> None:
    """Months of demand are calendar months: a contract for two from October on ends with November."""
    result = find_mix(ask(demand=DATA / "demand.csv"))
    october = [row for row in result.mix.contracts if row.start_hours == 2 * 730]

    assert october
    for row in october:
        assert row.starts_at == datetime(2026, 10, 1)  # noqa: DTZ001  # demand has no time zone
        months = 9 + round(row.paid_hours / 730)
        assert row.ends_at == datetime(2026 + months // 12, months % 12 + 1, 1)  # noqa: DTZ001
    assert all(row.starts_at is None for row in find_mix(ask(phases="64x730h")).mix.contracts)


def test_phases_stand_with_one_seller_and_a_file_is_a_pool(tmp_path: Path) -> None:
    """Two of the three sellers hold 32 cards: 64 in one fabric has the third alone."""
    run, pool = find_mix(ask(phases="64x730h")), find_mix(ask(phases="64x730h", one_seller=False))
    file, of_runs = (
        find_mix(ask(demand=DATA / "demand.csv")),
        find_mix(ask(demand=DATA / "demand.csv", one_seller=True)),
    )

    assert run.split_phases == of_runs.split_phases == ()
    assert run.mix.total > pool.mix.total
    assert of_runs.mix.total > file.mix.total
    assert pool.split_phases
    assert file.split_phases
    assert any("stands with one seller" in str(note) for note in run.assumptions)
    hours = tmp_path / "hours.csv"
    hours.write_text("hour,gpus\n" + "".join(f"{hour},{1 + hour % 2}\n" for hour in range(60)), encoding="utf-8")
    assert find_mix(ask(demand=hours)).split_phases is None
    with pytest.raises(InputError, match="one-seller: 60 phases are more than 48"):
        find_mix(ask(demand=hours, one_seller=True))


def test_tax_that_was_added_is_not_missing() -> None:
    """乙算力 states 14 without tax at 6 %: 14.84 with it."""
    result = find_mix(ask(phases="64x730h", one_seller=False))
    rows = {row.provider: str(row.price_per_gpu_hour.amount) for row in result.mix.contracts}

    assert rows["乙算力"] == "14.84"
    assert not any("VAT on top" in str(part.name) for part in result.missing)


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


def test_a_seller_whose_contract_runs_on_is_asked_whether_it_may(tmp_path: Path) -> None:
    """Four months on a lease of three at least, billed by the month; three months need no answer."""
    offers = write_offers(tmp_path, "a,H800,9,CNY,64,3 months,card,含税,,server")

    def questions(phases: str) -> list[str]:
        return [str(said) for said in find_mix(ask(phases=phases, offers=offers)).questions if "go on" in str(said)]

    assert len(questions("8x2920h")) == 1
    assert questions("8x2190h") == []


def test_a_real_plan_can_be_checked_by_a_trial() -> None:
    result = find_mix(ask(demand=DATA / "demand.csv", trial="64x7d", ramp="8x14d", plan=DATA / "plan.json"))
    trial, ramp = result.pilots

    assert (trial.kind, trial.gpus, trial.hours) == ("trial", 64, 168)
    assert trial.low_seconds_after is not None
    assert ramp.low_seconds_after is None
    assert ramp.cost is not None


def test_a_pilot_is_billed_by_parts_and_each_of_its_phases_stands_with_one_seller() -> None:
    """8 cards for a week by the hour at 23; 48 for a week fit one seller alone, though two are cheaper together."""
    result = find_mix(ask(demand=DATA / "demand.csv", trial="8", ramp="8x730h, 48x7d"))
    trial, ramp = result.pilots

    assert [(part.quantity, part.price.amount) for part in trial.parts] == [(Decimal(8 * 168), Decimal(23))]
    assert trial.cost is not None
    assert trial.cost.amount == 8 * 168 * 23
    assert ramp.cost is not None
    assert (
        sum(part.amount.amount for part in ramp.parts) == ramp.cost.amount == 8 * 730 * Decimal("14.84") + 48 * 168 * 23
    )


def test_spot_that_is_all_there_is_says_how_to_take_it(tmp_path: Path) -> None:
    offers = write_offers(tmp_path, "a,H800,9,CNY,64,hourly,card,含税,,spot")

    with pytest.raises(InputError, match="none is left: spot of a is left out: give --spot-interruptions-per-hour"):
        find_mix(ask(phases="8x1d", offers=offers))


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
        (
            {"phases": "8x1d", "data_size": "1TB", "data_rate": "1GB/s", "pull_rate": "1GB/s"},
            "pull-rate is given without a size",
        ),
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
        ({"phases": "8x1d", "plan": DATA / "offers.csv"}, "plan: .*offers.csv is not JSON"),
        ({"phases": "8x1d", "plan": DATA / "none.json"}, "none.json cannot be read"),
        ({"phases": "8x1d", "currency": "ounces"}, "currency: cannot read 'ounces'"),
    ],
)
def test_bad_input_is_named(options: dict[str, Any], error: str) -> None:
    with pytest.raises(InputError, match=error):
        find_mix(ask(**options))


@pytest.mark.parametrize(
    ("change", "place"),
    [
        ({"plans": []}, "plans"),
        ({"schema_version": 99}, "has schema_version 99, this version of Suanpei reads 1 to"),
        ({"accelerator": None}, "plans.0.accelerator"),
        ({"gpus": 0}, "plans.0.gpus"),
        ({"estimate": {"step": {"seconds": 1.0, "low_seconds": 1.0}}}, "plans.0.estimate.step.high_seconds"),
        ({"estimate": {"step": {"seconds": 1e999}}}, "is not JSON"),
        ({"run": {"goodput": 1.5}}, "plans.0.run.goodput"),
    ],
)
def test_a_plan_that_promises_nothing_is_named_by_its_key(change: dict[str, Any], place: str, tmp_path: Path) -> None:
    document = json.loads((DATA / "plan.json").read_text(encoding="utf-8"))
    if change.keys() & {"plans", "schema_version"}:
        document |= change
    else:
        document["plans"][0] |= change
    file = tmp_path / "plan.json"
    file.write_text(json.dumps(document), encoding="utf-8")

    with pytest.raises(InputError, match=place):
        find_mix(ask(phases="8x1d", plan=file))


@pytest.mark.parametrize(("unit", "gpus", "is_asked"), [("card", 8, False), ("card", 16, True), ("node8", 8, False)])
def test_the_network_is_asked_for_where_the_peak_needs_several_nodes(
    tmp_path: Path, unit: str, gpus: int, is_asked: bool
) -> None:
    """Also of cards sold one by one: 16 of them stand in two usual nodes."""
    offers = write_offers(tmp_path, f"a,H800,10,CNY,64,hourly,{unit},含税,,platform")
    named = {str(part.name) for part in find_mix(ask(phases=f"{gpus}x1d", offers=offers)).missing}

    assert any(name.startswith("the network between nodes") for name in named) == is_asked


def test_what_is_missing_has_its_question_and_no_share_of_a_bill() -> None:
    result = find_mix(ask(demand=DATA / "demand.csv", spot_interruptions_per_hour=0.02, checkpoint_every="1h"))
    named = {str(part.name): part for part in result.missing}

    assert len(named) == len(result.missing)
    assert named["storage of data and checkpoints"].worst is None
    assert "price per GB and month" in str(named["storage of data and checkpoints"].question)
    assert str(named["deposit and prepayment (tied up, not spent)"].basis) == "tied up, not spent"
    assert "VAT, not stated whether in the price" not in named  # added at the worst: in the totals already
    assert any("with 13 % tax added to its price; ask for both" in str(note) for note in result.assumptions)


@pytest.mark.parametrize(
    ("side", "note"), [("in", "all rents are with tax"), ("out", "all rents are without"), ("quoted", "as quoted")]
)
def test_the_side_of_tax_is_said_and_an_open_tax_is_missing_where_it_is_not_added(
    tmp_path: Path, side: str, note: str
) -> None:
    offers = write_offers(tmp_path, "a,H800,10,CNY,64,hourly,card,,,platform")
    result = find_mix(ask(phases="8x1d", offers=offers, tax=side))

    assert any(note in str(said) for said in result.assumptions)
    assert result.mix.total.amount == 8 * 24 * (Decimal("11.30") if side == "in" else 10)
    assert any("VAT, not stated" in str(part.name) for part in result.missing) == (side != "in")


TWO_PRICES = ("a,H800,10,CNY,640,monthly,card,含税,,platform", "b,H800,25,CNY,640,hourly,card,含税,,platform")


@pytest.mark.parametrize(("days", "cheaper"), [("12d", "on_demand"), ("292h", "same"), ("13d", "reserved")])
def test_one_run_is_judged_by_the_break_even(days: str, cheaper: str, tmp_path: Path) -> None:
    """292 h at 25 are a month of 730 h at 10: 7,300 per card."""
    result = find_mix(ask(phases=f"8x{days}", offers=write_offers(tmp_path, *TWO_PRICES)))

    assert result.arithmetic is not None
    assert result.arithmetic.break_even.one_run == cheaper
    assert (len(result.mix.contracts) == 0) == (cheaper == "on_demand") or cheaper == "same"


def test_a_term_is_paid_whole_for_one_run(tmp_path: Path) -> None:
    """40 days by the hour are 24,000 a card; three months at 12 are 26,280, of which two alone would be 17,520."""
    offers = write_offers(tmp_path, TWO_PRICES[1], "c,H800,12,CNY,640,3 months,card,含税,,platform")
    result = find_mix(ask(phases="8x40d", offers=offers))

    assert result.arithmetic is not None
    assert result.arithmetic.break_even.one_run == "on_demand"
    assert result.mix.total.amount == 8 * 40 * 24 * 25


def test_demand_of_two_levels_is_checked_by_formula(tmp_path: Path) -> None:
    """Base 8 of 64, the peak a quarter of the time, r = 2.5: (7/8) (1 - 5/8) = 32.8 % against all reserved."""
    offers = write_offers(tmp_path, *TWO_PRICES)
    result = find_mix(ask(phases="64x20d, 8x60d", offers=offers))
    levels = result.arithmetic.two_levels if result.arithmetic is not None else None

    assert levels is not None
    assert (levels.base_share, levels.burst_share) == (0.125, 0.25)
    assert levels.saving_vs_reserved_fraction == pytest.approx(7 / 8 * 3 / 8)
    assert levels.saving_vs_on_demand_fraction == pytest.approx(0.125 * 1.5 / (2.5 * (0.125 + 0.25 * 0.875)))
    for phases in ("8x10d", "8x10d, 16x10d, 24x10d"):
        other = find_mix(ask(phases=phases, offers=offers))
        assert other.arithmetic is not None
        assert other.arithmetic.two_levels is None


def test_spot_without_checkpoints_says_how_likely_it_runs_through() -> None:
    """Two days without a break at 0.02 an hour: e^-0.96 = 38.29 %."""
    result = find_mix(ask(phases="8x2d, 0x1d, 8x12h", spot_interruptions_per_hour=0.02))

    assert any("the longest, 2 days, has a probability of 38.29%" in str(note) for note in result.assumptions)


def test_too_few_cards_are_no_answer() -> None:
    with pytest.raises(NoAnswerError, match="peaks at 500 cards"):
        find_mix(ask(phases="500x1d"))


def test_the_request_is_kept_whole() -> None:
    request = ask(phases="8x10d", time_limit="5s")

    assert find_mix(request).request["time_limit"] == "5s"
    assert find_mix(replace(request, currency="USD")).currency == "USD"


def test_a_file_that_is_named_twice_or_copied_lends_its_cards_once(tmp_path: Path) -> None:
    offers = write_offers(tmp_path, "E,H800,20,CNY,64,hourly,node8,含税 6%,8x400G IB,platform")[0]
    copy, again = tmp_path / "copy.csv", tmp_path / ".." / tmp_path.name / offers.name
    copy.write_bytes(offers.read_bytes())
    for other in (offers, copy, again):
        with pytest.raises(NoAnswerError, match="the offers hold 64 together"):
            find_mix(ask(phases="65x2d", one_seller=False, offers=(offers, other)))

    said = [str(note) for note in find_mix(ask(phases="64x2d", offers=(offers, copy, again))).assumptions]
    assert f"{copy} holds the same as {offers} and is not read again" in said
    assert f"{again} is named more than once and read once" in said


def test_a_file_of_other_text_is_refused_in_a_few_words(tmp_path: Path) -> None:
    other = tmp_path / "log.csv"
    other.write_text("\n".join(f"line {number}, what" for number in range(60)), encoding="utf-8")

    with pytest.raises(InputError, match="and 55 more") as refused:
        find_mix(ask(phases="64x2d", offers=(other,)))
    assert len(str(refused.value)) < 1_000


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"image_size": "30GB", "pull_rate": "0"}, "pull-rate"),
        ({"data_size": "30GB", "pull_rate": "0"}, "pull-rate"),
        ({"data_size": "30GB", "data_rate": "0"}, "data-rate"),
        ({"trial": "0"}, "trial"),
        ({"ramp": ","}, "ramp"),
        ({"currency": ""}, "currency"),
    ],
)
def test_an_error_names_the_option_that_was_given(options: dict[str, Any], named: str) -> None:
    with pytest.raises(InputError, match=f"^{named}"):
        find_mix(ask(phases="64x2d", **options))


def test_a_card_that_no_offer_has_is_said(tmp_path: Path) -> None:
    file = write_offers(tmp_path, "甲,A800,6.5,CNY,64,hourly,card,含税,8x200G RoCE,platform")
    result = find_mix(ask(phases="train:8x2d", offers=file, gpu=("A800", "4090")))
    assert "gpu: no offer has RTX-4090" in [str(note) for note in result.assumptions]
