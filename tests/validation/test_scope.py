"""Which rows a prediction is owed for."""

from __future__ import annotations

import pytest

from suanpei.validation.rows import Row
from suanpei.validation.scope import is_owed_prediction
from tests.validation.sample_rows import FINETUNE, THROUGHPUT, WHOLE_RUN


@pytest.mark.parametrize(
    ("row", "changes", "owed"),
    [
        (THROUGHPUT, {}, True),
        (THROUGHPUT, {"class": "N"}, False),
        (THROUGHPUT, {"tflops_per_gpu": ""}, False),
        (THROUGHPUT, {"tflops_per_gpu": "", "outcome": "oom"}, True),
        (THROUGHPUT, {"task": "grpo"}, False),
        (THROUGHPUT, {"sharding": ""}, True),
        (THROUGHPUT, {"framework": "in-house"}, True),
        (FINETUNE, {}, True),
        (FINETUNE, {"sharding": ""}, False),
        (FINETUNE, {"sharding": "device_map (naive layer split)"}, False),
        (FINETUNE, {"sharding": "megatron tp4 pp2 ep1"}, True),
        (FINETUNE, {"method": "dpo+lora"}, False),
        (FINETUNE, {"plugin": "dora"}, False),
        (FINETUNE, {"peak_mem_gib": "", "it_time_s": ""}, False),
        (WHOLE_RUN, {}, False),
    ],
)
def test_class_figure_method_and_sharding_decide(row: dict[str, str], changes: dict[str, str], owed: bool) -> None:
    assert is_owed_prediction(Row(cells={**row, **changes})) is owed
