"""Time and FLOPs: each field by the function that answers it."""

from __future__ import annotations

from decimal import Decimal
from functools import cache
from typing import TYPE_CHECKING, Any

from suanpei.machine.catalogue import load_catalogue
from suanpei.machine.names import resolve_accelerator
from suanpei.market.cost import find_tie_price
from suanpei.money import Money
from suanpei.physics.card_scaling import CardSet, card_hour_ratio, scale_time
from suanpei.physics.memory.formats import state_bytes_per_parameter
from suanpei.physics.rule_of_thumb import (
    FULL_RECOMPUTE_FACTOR,
    days_at_40_percent,
    flops_6nd,
    flops_of_petaflop_days,
    gpus_for_state,
    gpus_for_time,
    rate_for_time,
    time_at_rate_s,
    time_of_gpu_hours_s,
    tokens_in_time,
    training_time_s,
)
from suanpei.physics.strategy import Sharding
from suanpei.physics.utilisation import (
    SPARSE_PEAK_FACTOR,
    correct_mfu,
    identify_definition,
    judge_figure,
    judge_mfu,
    judge_time,
    mfu_of_gpu_hours,
    mfu_of_hardware_utilisation,
    mfu_of_rate,
    mfu_of_run,
    peak_error_factor,
    shortfall_factor,
    training_flops_per_token,
)
from suanpei.units import DAY_S, HOUR_S
from suanpei.verbs.inputs import load_inputs

if TYPE_CHECKING:
    from collections.abc import Mapping

    from suanpei.machine.accelerator import Accelerator
    from suanpei.physics.utilisation import MfuDefinition
    from tests.cases.case import Answer

    Fields = Mapping[str, Any]


@cache
def accelerator(name: str) -> Accelerator:
    return resolve_accelerator(load_catalogue(), name).accelerator


def peak_of(name: str, precision: str = "bf16") -> float:
    peak = accelerator(name).peak_of(precision)
    assert peak is not None
    return peak


def price_per_gpu_hour(cost: float, gpu_hours: float) -> float:
    total = Money(amount=Decimal(str(cost)), currency="USD")
    return float(find_tie_price(total, gpus=1, hours=gpu_hours).amount)


def run_flops(given: Fields) -> float:
    return flops_6nd(given["params"], given["tokens"])


def stated_days(given: Fields) -> dict[str, Any]:
    """The fields of a claim of the kind "so many cards, so many days"."""
    flops, gpus, peak, seconds = run_flops(given), given["gpus"], given["peak"], given["claim_days"] * DAY_S
    return {
        "flops": flops,
        "days_at_40": days_at_40_percent(flops, gpus, peak),
        "implied_mfu": mfu_of_run(flops, gpus, seconds, peak),
        "days_claim": judge_time(flops, gpus, seconds, peak),
    }


def tim_0a(given: Fields) -> Fields:
    fields = stated_days(given)
    return {**fields, "flops_claim": judge_figure(given["claim_flops"], fields["flops"])}


def tim_0c(given: Fields) -> Fields:
    fields = stated_days(given)
    del fields["implied_mfu"]
    seconds = given["claim_days"] * DAY_S
    return {**fields, "implied_mfu_on_claim_flops": mfu_of_run(given["claim_flops"], 1, seconds, given["peak"])}


def tim_0d(given: Fields) -> Fields:
    flops, gpus, peak = given["flops"], given["gpus"], given["peak"]
    return {
        "days_at_100": training_time_s(flops, gpus, peak, 1.0) / DAY_S,
        "days_at_40": days_at_40_percent(flops, gpus, peak),
        "claim": judge_time(flops, gpus, None, peak),
    }


def tim_0e(given: Fields) -> Fields:
    gpus = gpus_for_time(given["flops"], given["seconds"], given["per_gpu"], 1.0)
    return {
        "gpus": gpus,
        "ratio": shortfall_factor(given["claim"], gpus),
        "claim": judge_figure(given["claim"], gpus),
    }


def tim_0f(given: Fields) -> Fields:
    fields = stated_days(given)
    flops, seconds, peak = fields.pop("flops"), given["claim_days"] * DAY_S, given["peak"]
    return {
        **fields,
        "gpus_for_claim_at_40": gpus_for_time(flops, seconds, peak),
        "tokens_possible_at_40": tokens_in_time(given["params"], given["gpus"], seconds, peak),
    }


def tim_0g(given: Fields) -> Fields:
    flops, peak = run_flops(given), given["peak"]
    claims = [(claim["gpus"], claim["days"] * DAY_S) for claim in given["cases"]]
    verdicts = {judge_time(flops, gpus, seconds, peak) for gpus, seconds in claims}
    assert len(verdicts) == 1
    return {
        "implied_mfu": [mfu_of_run(flops, gpus, seconds, peak) for gpus, seconds in claims],
        "days_claim": verdicts.pop(),
    }


def tim_08(given: Fields) -> Fields:
    fields = stated_days(given)
    floor_s = training_time_s(fields.pop("flops"), given["gpus"], given["peak"], 1.0)
    del fields["days_at_40"]
    return {**fields, "floor_days": floor_s / DAY_S}


def tim_10(given: Fields) -> Fields:
    seconds = time_at_rate_s(given["tokens"], given["gpus"], given["tok_s_gpu"])
    return {
        "days": seconds / DAY_S,
        "mfu": mfu_of_rate(flops_6nd(given["params"], 1.0), given["tok_s_gpu"], given["peak"]),
        "usd_per_gpu_hour": price_per_gpu_hour(given["cost"], given["gpus"] * seconds / HOUR_S),
    }


def tim_11(given: Fields) -> Fields:
    return {"mfu": mfu_of_gpu_hours(run_flops(given), given["gpu_hours"], given["peak"])}


def tim_13(given: Fields) -> Fields:
    return {
        "hours": time_of_gpu_hours_s(given["gpu_hours"], given["gpus"]) / HOUR_S,
        "implied_mfu": mfu_of_gpu_hours(run_flops(given), given["gpu_hours"], given["peak"]),
    }


def tim_14(given: Fields) -> Fields:
    fields = stated_days(given)
    del fields["flops"], fields["days_at_40"]
    hours = given["gpus"] * given["claim_days"] * DAY_S / HOUR_S
    return {**fields, "usd_per_gpu_hour": price_per_gpu_hour(given["cost"], hours)}


def tim_15(given: Fields) -> Fields:
    peak, each = peak_of(given["gpu"]), flops_6nd(given["params"], 1.0)
    return {
        "mfu_6n": mfu_of_rate(each, given["tok_s_gpu"], peak),
        "wrong_if_sparse": mfu_of_rate(each, given["tok_s_gpu"], SPARSE_PEAK_FACTOR * peak),
        "peak_used": peak,
    }


def tim_17(given: Fields) -> Fields:
    flags = {"impossible": "mfu_over_1"}
    return {
        "true_mfu": correct_mfu(given["printed_mfu"], given["peak_used"], peak_of(given["gpu"])),
        "flag": flags.get(judge_mfu(given["printed_mfu"])),
    }


def tim_21(given: Fields) -> Fields:
    flops, seconds, peak = run_flops(given), given["claim_days"] * DAY_S, given["peak"]
    each = state_bytes_per_parameter(load_inputs(None).recipe("deepspeed"), Sharding.NONE, 1).steady
    return {
        "implied_mfu": mfu_of_run(flops, given["gpus"], seconds, peak),
        "gpus_30d_at_40": gpus_for_time(flops, seconds, peak),
        "min_gpus_state_80gb": gpus_for_state(float(each) * given["params"], given["gpu_gb"] * 1e9),
    }


def tim_23(given: Fields) -> Fields:
    def cost(tokens: float) -> float:
        # the same cards at the same utilisation and price
        hours = training_time_s(flops_6nd(given["params"], tokens), 1, given["peak"], mfu) / HOUR_S
        return float((Money(amount=Decimal(str(price)), currency="USD") * hours).amount)

    mfu = mfu_of_gpu_hours(run_flops(given), given["gpu_hours"], given["peak"])
    price = price_per_gpu_hour(given["cost"], given["gpu_hours"])
    return {"usd_per_gpu_hour": price, "cost_110b": cost(110e9), "cost_500b": cost(500e9), "mfu": mfu}


def tim_24(given: Fields) -> Fields:
    names: dict[MfuDefinition, str] = {
        "6n": "mfu_6n",
        "palm": "mfu_palm",
        "no_embedding": "mfu_no_embed",
        "causal_half": "mfu_causal_half",
    }
    return {
        field: mfu_of_rate(
            training_flops_per_token(
                definition,
                given["params"],
                layers=given["layers"],
                hidden=given["hidden"],
                seq_len=given["seq"],
                embedding_parameters=given["vocab"] * given["hidden"],
            ),
            given["tok_s_gpu"],
            given["peak"],
        )
        for definition, field in names.items()
    }


def tim_26(given: Fields) -> Fields:
    each = training_flops_per_token(
        "palm", given["params"], layers=given["layers"], hidden=given["hidden"], seq_len=given["seq"]
    )
    return {
        "mfu_palm": mfu_of_rate(each, given["tok_s_gpu"], given["peak"]),
        "days": time_at_rate_s(given["tokens"], given["gpus"], given["tok_s_gpu"]) / DAY_S,
    }


def tim_28(given: Fields) -> Fields:
    mfu = [mfu_of_rate(flops_6nd(given["params"], 1.0), rate, given["peak"]) for rate in given["tok_s_gpu"]]
    return {"mfu_6n": mfu, "verdict": [judge_mfu(each) for each in mfu]}


def tim_29(given: Fields) -> Fields:
    return {
        "mfu": [mfu_of_run(tflops * 1e12, 1, 1.0, peak_of(given["gpu"])) for tflops in given["tflops"]],
        "recompute_penalty_max": FULL_RECOMPUTE_FACTOR,
    }


def tim_32(given: Fields) -> Fields:
    seconds = given["days"] * DAY_S
    rate = rate_for_time(given["tokens"], given["gpus"], seconds)
    return {
        "tok_s_gpu_needed": rate,
        "mfu_6n": mfu_of_rate(flops_6nd(given["params"], 1.0), rate, given["peak"]),
        "days_claim": judge_time(run_flops(given), given["gpus"], seconds, given["peak"]),
    }


def tim_33(given: Fields) -> Fields:
    right = flops_6nd(given["formula_inputs"]["P"], given["tokens"])
    return {
        "flops_6nd": right,
        "pf_days_3640": flops_of_petaflop_days(3640),
        "claim": judge_figure(given["claim"], right),
    }


def tim_34(given: Fields) -> Fields:
    fields: dict[str, list[float]] = {"hours": [], "gpus_30d": [], "mfu_equiv": []}
    for case in given["cases"]:
        recompute = case["factor"] == 8
        flops = flops_6nd(case["params"], case["tokens"], recompute=recompute)
        fields["hours"].append(training_time_s(flops, 1, given["peak"], case["util"]) / HOUR_S)
        fields["gpus_30d"].append(gpus_for_time(flops, given["days"] * DAY_S, given["peak"], case["util"]))
        fields["mfu_equiv"].append(mfu_of_hardware_utilisation(case["util"]) if recompute else case["util"])
    return fields


def tim_37(given: Fields) -> Fields:
    source, target = (
        CardSet(gpus=given[side]["gpus"], peak_flops_per_s=given[side]["peak"]) for side in ("from", "to")
    )
    sparse = CardSet(gpus=source.gpus, peak_flops_per_s=SPARSE_PEAK_FACTOR * source.peak_flops_per_s)
    seconds, measured_s = given["from"]["hours"] * HOUR_S, given["measured_hours"] * HOUR_S
    scaled = scale_time(seconds, source, target)
    return {
        "naive_dense_hours": scaled.at_equal_mfu_s / HOUR_S,
        "naive_sparse_hours": scale_time(seconds, sparse, target).at_equal_mfu_s / HOUR_S,
        "card_hour_ratio": card_hour_ratio(source, seconds, target, measured_s),
        "verdict": "peak_scaling_unsafe" if scaled.is_unsafe else None,
    }


def tim_39(given: Fields) -> Fields:
    def cards(side: Fields) -> CardSet:
        return CardSet(
            gpus=side["gpus"],
            peak_flops_per_s=peak_of(side["gpu"]),
            memory_bytes_per_s=accelerator(side["gpu"]).memory_bytes_per_s,
        )

    scaled = scale_time(given["from"]["hours"] * HOUR_S, cards(given["from"]), cards(given["to"]))
    return {
        "hours_equal_mfu": scaled.at_equal_mfu_s / HOUR_S,
        "range_hours": [scaled.low_s / HOUR_S, scaled.high_s / HOUR_S],
    }


def tim_42(given: Fields) -> Fields:
    return {
        "factor": peak_error_factor(peak_of(given["gpu"], given["used"]), peak_of(given["gpu"], given["should"])),
    }


def tim_43(given: Fields) -> Fields:
    mfu = [mfu_of_gpu_hours(run_flops(given), hours, given["peak"]) for hours in given["gpu_hours"]]
    return {"implied_mfu": mfu, "plausible": [judge_mfu(each) in ("plausible", "plausible_high") for each in mfu]}


def tim_44(given: Fields) -> Fields:
    flops_per_s = given["tflops"] * 1e12
    shape = {
        "layers": given["layers"],
        "hidden": given["hidden"],
        "embedding_parameters": given["vocab"] * given["hidden"],
    }
    definition, seq_len = identify_definition(flops_per_s / given["tps"], given["params"], **shape)
    return {
        "flops_per_token": training_flops_per_token(definition, given["params"], seq_len=seq_len, **shape),
        "seq": seq_len,
        "mfu": mfu_of_run(flops_per_s, 1, 1.0, given["peak"]),
    }


ANSWERS: dict[str, Answer] = {
    "TIM-0a": tim_0a,
    "TIM-0b": stated_days,
    "TIM-0c": tim_0c,
    "TIM-0d": tim_0d,
    "TIM-0e": tim_0e,
    "TIM-0f": tim_0f,
    "TIM-0g": tim_0g,
    "TIM-08": tim_08,
    "TIM-10": tim_10,
    "TIM-11": tim_11,
    "TIM-13": tim_13,
    "TIM-14": tim_14,
    "TIM-15": tim_15,
    "TIM-17": tim_17,
    "TIM-21": tim_21,
    "TIM-23": tim_23,
    "TIM-24": tim_24,
    "TIM-26": tim_26,
    "TIM-28": tim_28,
    "TIM-29": tim_29,
    "TIM-32": tim_32,
    "TIM-33": tim_33,
    "TIM-34": tim_34,
    "TIM-37": tim_37,
    "TIM-39": tim_39,
    "TIM-42": tim_42,
    "TIM-43": tim_43,
    "TIM-44": tim_44,
}
