"""The fit finds coefficients that it was not told, leaves the rest at their priors, and gives the same twice."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
import pytest

from suanpei.machine.calibration import load_calibration, read_calibration, render_calibration
from suanpei.machine.catalogue import load_catalogue
from suanpei.physics.step_uncertainty import scale_step
from suanpei.validation.case import Case, Measured
from suanpei.validation.cases import load_cases
from suanpei.validation.fit import HIDDEN_SIZE_SET, FitResult, assign_fold, fit
from suanpei.validation.free_coefficients import FREE_COEFFICIENTS, Level, list_parameters, with_values
from suanpei.validation.intervals import collect_evidence
from suanpei.validation.problem import COLUMNS, SOURCE_ROWS, build_problem, weigh_figures
from tests.validation.sample_rows import THROUGHPUT, write_rows

if TYPE_CHECKING:
    from suanpei.machine.calibration import Calibration
    from suanpei.machine.catalogue import Catalogue
    from suanpei.validation.residuals import Prediction

WIDTHS = ((1024, 1, 1), (2048, 1, 1), (4096, 2, 1), (8192, 4, 1), (6144, 8, 1), (12288, 8, 1))
"""Hidden width, tensor-parallel degree, micro-batch."""
SHAPES = tuple(product(WIDTHS, (512, 1024, 2048, 4096, 8192, 16_384)))
TRUTH = {"matrix_fraction": 0.70, "memory_fraction": 0.70}


@pytest.fixture(scope="module")
def catalogue() -> Catalogue:
    return load_catalogue()


@pytest.fixture(scope="module")
def prior(catalogue: Catalogue) -> Calibration:
    calibration = load_calibration(catalogue)
    return replace(calibration, evidence=collect_evidence({}))


@pytest.fixture(scope="module")
def cases(tmp_path_factory: pytest.TempPathFactory, catalogue: Catalogue, prior: Calibration) -> tuple[Case, ...]:
    """Measurements that the model itself made with other coefficients than the prior's."""
    rows = []
    # unfused attention: long sequences are bound by memory, wide layers by products
    for number, ((hidden, tp, micro), seq_len) in enumerate(SHAPES):
        rows.append({
            **THROUGHPUT, "case_id": f"{'one' if number % 3 else 'two'}-{number:03d}", "hidden": str(hidden),
            "ffn_hidden": str(4 * hidden), "n_heads": str(hidden // 64), "n_kv_heads": str(hidden // 64),
            "head_dim": "64", "tp": str(tp), "dp": str(32 // tp), "micro_batch_seqs": str(micro), "sp": "no",
            "seq_len": str(seq_len),
            "global_batch_seqs": str(micro * 4 * 32 // tp), "grad_accum": "4", "step_time_s": "1",
        })  # fmt: skip
    path = write_rows(tmp_path_factory.mktemp("fit") / "made.csv", rows)
    loaded = load_cases(path)
    assert not loaded.skipped
    true = _with_truth(prior)
    problem = build_problem(loaded.cases, true, catalogue)
    seconds = np.exp(problem.log_predicted(true))
    return tuple(
        replace(case, measured=(Measured(metric="step_s", value=float(value)),))
        for case, value in zip(problem.cases, seconds, strict=True)
    )


def _with_truth(prior: Calibration) -> Calibration:
    parameters = [
        parameter
        for parameter in list_parameters(
            prior,
            {
                "generations": frozenset({"ampere"}),
                "recipes": frozenset(),
                "fabrics": frozenset(),
                "memory": frozenset(),
            },
            FREE_COEFFICIENTS,
        )
        if parameter.free.name in TRUTH
    ]
    return with_values(prior, parameters, [TRUTH[parameter.free.name] for parameter in parameters])


@pytest.fixture(scope="module")
def result(cases: tuple[Case, ...], prior: Calibration, catalogue: Catalogue) -> FitResult:
    free = tuple(one for one in FREE_COEFFICIENTS if one.name in (*TRUTH, "latency_s"))
    return fit(cases, prior, catalogue, "2026-01-01", free=free)


def test_known_coefficients_come_back(result: FitResult) -> None:
    fitted = result.calibration.generations["ampere"]
    for name, value in TRUTH.items():
        # the prior pulls by its share of the information
        assert fitted[name].value == pytest.approx(value, rel=0.03), name
        assert fitted[name].standard_error is not None
    assert result.calibration.measured_generations == {"ampere"}


def test_what_the_data_do_not_identify_stays_at_its_prior(result: FitResult, prior: Calibration) -> None:
    assert result.unidentified
    for parameter in result.unidentified:
        assert parameter.free.level == "fabrics"
        coefficient = result.calibration.fabrics[parameter.key][parameter.free.name]
        assert coefficient.value == prior.fabrics[parameter.key][parameter.free.name].prior
        assert coefficient.standard_error is None


def test_held_out_figures_are_predicted_by_what_did_not_see_them(result: FitResult) -> None:
    assert result.hidden_size_left_out == ()
    for predictions in (result.grouped, result.source_left_out):
        assert len(predictions) == len(SHAPES)
        assert max(abs(prediction.error) for prediction in predictions) < 0.06
    evidence = result.calibration.evidence
    for split, predictions in (("grouped", result.grouped), ("source_left_out", result.source_left_out)):
        held_out = {_scaled(prediction) for prediction in predictions}
        assert set(evidence.step[split]["A"].logs) <= held_out  # type: ignore[index]
        assert evidence.step[split]["A"].sources == 2  # type: ignore[index]


def _scaled(prediction: Prediction) -> float:
    assert prediction.setting is not None
    return prediction.log_residual / float(scale_step(prediction.setting.waiting_share))


def test_a_hidden_size_left_out_has_no_say_in_its_own_prediction(
    cases: tuple[Case, ...], prior: Calibration, catalogue: Catalogue
) -> None:
    marked = [replace(case, set_name=HIDDEN_SIZE_SET) for case in cases]
    width = 1024
    slowed = {case.case_id: case.measured[0].value for case in marked if case.job.architecture.hidden == width}
    told = [
        replace(case, measured=(Measured(metric="step_s", value=1.3 * case.measured[0].value),))
        if case.case_id in slowed
        else case
        for case in marked
    ]
    free = tuple(one for one in FREE_COEFFICIENTS if one.name in TRUTH)
    found = fit(told, prior, catalogue, "2026-01-01", free=free).hidden_size_left_out
    assert len(found) == len(cases)
    # it was told 1.3 times the time of this width; the other widths say what is right
    own = {one.case_id: one for one in found if one.case_id in slowed}
    assert len(own) == len(slowed) == 6
    for name, true_s in slowed.items():
        assert own[name].predicted == pytest.approx(true_s, rel=0.06)


def test_two_fits_are_the_same_to_the_byte(
    result: FitResult, cases: tuple[Case, ...], prior: Calibration, catalogue: Catalogue
) -> None:
    free = tuple(one for one in FREE_COEFFICIENTS if one.name in (*TRUTH, "latency_s"))
    again = fit(tuple(reversed(cases)), prior, catalogue, "2026-01-01", free=free)
    assert again.calibration.calibration_id.startswith("2026-01-01-")
    once_more = fit(cases, prior, catalogue, "2026-01-01", free=free)
    assert render_calibration(once_more.calibration) == render_calibration(result.calibration)


def test_a_fitted_calibration_survives_its_file(result: FitResult) -> None:
    import tomllib

    read = read_calibration(tomllib.loads(render_calibration(result.calibration)))
    fitted = result.calibration.generations["ampere"]["matrix_fraction"].value
    # four significant digits are kept
    assert read.generations["ampere"]["matrix_fraction"].value == pytest.approx(fitted, rel=5e-4)
    assert read.calibration_id == result.calibration.calibration_id


def test_bounds_hold_the_prior_and_scores_invert(prior: Calibration) -> None:
    keys: dict[Level, frozenset[str]] = {
        "generations": frozenset(prior.generations),
        "recipes": frozenset(prior.recipes),
        "fabrics": frozenset(prior.fabrics),
        "memory": frozenset({"all"}),
    }
    parameters = list_parameters(prior, keys, FREE_COEFFICIENTS)
    assert {parameter.free.level for parameter in parameters} == set(keys)
    for parameter in parameters:
        low, high = parameter.bounds
        assert low < 0 < high
        assert parameter.score(parameter.value(0.7)) == pytest.approx(0.7)


def test_repeats_share_a_fold_and_a_weight(cases: tuple[Case, ...]) -> None:
    twin = replace(cases[0], case_id="two-999", repeat_group="twins")
    pair = (replace(cases[0], repeat_group="twins"), twin)
    assert assign_fold(pair[0]) == assign_fold(pair[1])
    weights = weigh_figures([*pair, cases[1]], np.zeros(3, dtype=np.intp))
    assert list(weights) == [0.5, 0.5, 1.0]
    crowd = [replace(cases[0], case_id=f"two-{index}") for index in range(400)]
    assert weigh_figures(crowd, np.zeros(400, dtype=np.intp)).sum() == pytest.approx(SOURCE_ROWS)
    assert COLUMNS[0] == "step_s"
