"""TFLOPS by each source's own definition, worked by hand."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from suanpei.validation.cases import load_cases
from suanpei.validation.published_flops import count_published_flops
from suanpei.validation.throughput_figures import ALL_FULL, HARDWARE_FULL, MODEL_CAUSAL, MODEL_FULL
from tests.validation.sample_rows import THROUGHPUT, write_rows

if TYPE_CHECKING:
    from suanpei.job.job import Job


@pytest.fixture
def job(tmp_path: Path) -> Job:
    return load_cases(write_rows(tmp_path / "one.csv", [THROUGHPUT])).cases[0].job


def test_hardware_flops_are_equation_3_of_the_megatron_paper(job: Job) -> None:
    layers, hidden, seq, vocab = 24, 2304, 2048, 51_200
    per_token = 96 * layers * hidden**2 * (1 + seq / (6 * hidden) + vocab / (16 * layers * hidden))
    # the equation leaves out biases, norms and positions: 0.07 %
    assert count_published_flops(job, HARDWARE_FULL) == pytest.approx(per_token, rel=1e-3)


def test_model_flops_count_six_per_parameter_and_full_or_half_attention(job: Job) -> None:
    attention = 12 * 24 * 2048 * 2304  # 3 passes × 4 s h per layer
    without_positions = job.architecture.total_parameters - 2048 * 2304
    assert count_published_flops(job, MODEL_FULL) == pytest.approx(6 * without_positions + attention)
    assert count_published_flops(job, MODEL_CAUSAL) == pytest.approx(6 * without_positions + attention / 2)
    assert count_published_flops(job, ALL_FULL) == pytest.approx(6 * job.architecture.total_parameters + attention)


def test_published_speeds_and_tflops_of_one_row_agree() -> None:
    # sources that print both: their TFLOPS over their tokens per second are the FLOPs per token
    import csv

    folder = Path(__file__).parents[2] / "data" / "validation"
    with (folder / "throughput.csv").open(encoding="utf-8") as stream:
        printed = {row["case_id"]: row for row in csv.DictReader(stream)}
    ratios: dict[str, list[float]] = {"llmfoundry": [], "nemo": []}
    for case in load_cases(folder / "throughput.csv").cases:
        row = printed[case.case_id]
        if case.source in ratios and row["tflops_per_gpu"] and case.flops_rule and case.job.method != "lora":
            measured = float(row["tflops_per_gpu"]) * 1e12 / float(row["tokens_per_s_per_gpu"])
            ratios[case.source].append(count_published_flops(case.job, case.flops_rule) / measured)
    for source, values in ratios.items():
        values.sort()
        assert len(values) > 5
        assert values[len(values) // 2] == pytest.approx(1.0, abs=0.03), source
