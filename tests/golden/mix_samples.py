"""What the golden files of the mix show: months of demand, too few cards by the month, spot, a trial and a ramp."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path

from suanpei.verbs.mix import MixResult, find_mix
from suanpei.verbs.mix_request import MixRequest
from tests.golden.plan_samples import DAY

DATA = Path(__file__).parents[1] / "data" / "mix"


@cache
def mixed(currency: str = "CNY") -> MixResult:
    """Eight months between 8 and 64 cards, with everything that stands beside the mix."""
    result = find_mix(
        MixRequest(
            as_of=DAY,
            currency=currency,
            demand=DATA / "demand.csv",
            offers=(DATA / "offers.csv",),
            boot_time="5min",
            image_size="30GB",
            pull_rate="200MB/s",
            checkpoint_size="100GB",
            spot_interruptions_per_hour=0.02,
            checkpoint_every="1h",
            trial="64x7d",
            ramp="8x14d",
            plan=DATA / "plan.json",
            buy="2000000CNY",
            hosting="8000CNY/月",
            life="4y",
            residual="0.2",
            rate=("USD=7.2CNY",),
        )
    )
    still = replace(result.mix, solver=replace(result.mix.solver, seconds=0.0))
    return replace(result, mix=still)


@cache
def unproved(currency: str = "CNY") -> MixResult:
    """The same, as it reads when the solver's time is over."""
    result = mixed(currency)
    solver = replace(result.mix.solver, status="best_found", gap_fraction=0.0123, bound=result.mix.total * 0.9877)
    return replace(result, mix=replace(result.mix, solver=solver), pilots=(), owning=None)
