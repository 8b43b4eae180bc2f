"""Where more accelerators stop paying."""

from __future__ import annotations

from suanpei.planner.knee import CurvePoint, find_knee


def point(gpus: int, days: float, rate: float = 100.0, exposed: float = 0.0, cost: float | None = None) -> CurvePoint:
    return CurvePoint(
        gpus=gpus,
        days=days,
        cost=cost,
        mfu=0.4,
        of_achievable=0.5,
        exposed_comm_to_compute=exposed,
        model_flops_per_s_per_gpu=rate,
    )


def test_perfect_scaling_has_no_knee() -> None:
    knee = find_knee([point(8, 80), point(16, 40), point(32, 20)])
    assert knee is not None
    assert knee.recommended_gpus == 32
    assert "still pay at 32" in str(knee.rule)


def test_the_rate_of_one_card_ends_it_below_six_tenths() -> None:
    knee = find_knee([point(8, 80, 100), point(16, 44, 60), point(32, 30, 59.9), point(64, 25, 40)])
    assert knee is not None
    assert knee.recommended_gpus == 16
    assert str(knee.rule).startswith("at 32 accelerators each does 59.9 % of the model FLOP/s that it does at 8")


def test_exposed_communication_ends_it_above_three_tenths() -> None:
    knee = find_knee([point(8, 80, exposed=0.5), point(16, 40, exposed=0.3), point(32, 25, exposed=0.31)])
    assert knee is not None
    assert knee.recommended_gpus == 16
    assert "31 % of compute" in str(knee.rule)


def test_the_worth_of_a_day_ends_it() -> None:
    # 16 → 32: 1,500 more for 15 days, 100 a day; 32 → 64: 4,500 more for 10 days, 450 a day
    curve = [point(16, 40, cost=8000), point(32, 25, cost=9500), point(64, 15, cost=14_000)]
    for value, expected in ((500.0, 64), (449.0, 32), (99.0, 16)):
        knee = find_knee(curve, value)
        assert knee is not None
        assert knee.recommended_gpus == expected
    assert "a saved day costs 450, above the 449" in str(getattr(find_knee(curve, 449.0), "rule", ""))


def test_an_awkward_number_in_between_does_not_end_it() -> None:
    knee = find_knee([point(32, 20, 100), point(40, 21, 76), point(48, 14, 95)])
    assert knee is not None
    assert knee.recommended_gpus == 48


def test_no_faster_number_is_said() -> None:
    knee = find_knee([point(8, 1.2), point(16, 1.6), point(32, 1.4)])
    assert knee is not None
    assert knee.recommended_gpus == 8
    assert str(knee.rule) == "no larger number than 8 is faster"


def test_an_empty_curve_has_no_knee() -> None:
    assert find_knee([]) is None
