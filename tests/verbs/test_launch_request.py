"""What launch files add to a request, and what the command line says instead."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from suanpei.errors import InputError
from suanpei.verbs.job_request import JobRequest
from suanpei.verbs.launch_request import MergedLaunch, merge_launch
from suanpei.verbs.strategy_request import StrategyRequest

DATA = Path(__file__).parents[1] / "data" / "launch"


def merge(*paths: Path, **said: Any) -> MergedLaunch:
    nothing: dict[str, Any] = {
        "job": JobRequest(),
        "strategy": StrategyRequest(),
        **dict.fromkeys(("gpu", "gpus", "gpus_per_node", "vocab")),
    }
    return merge_launch(paths, **(nothing | said))


def write(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_the_files_fill_what_the_command_line_leaves_open() -> None:
    merged = merge(DATA / "megatron_70b_args.txt", vocab=128_256)
    assert (merged.strategy.tp, merged.strategy.pp, merged.strategy.sharding) == (8, 4, "zero1")
    assert (merged.job.seq_len, merged.job.global_batch, merged.gpus) == (4096, "1024seqs", "256")
    assert merged.architecture is not None
    assert merged.findings.files == ("megatron_70b_args.txt",)


def test_the_command_line_goes_before_the_files() -> None:
    said = {"job": JobRequest(seq_len=2048), "strategy": StrategyRequest(tp=4, recompute="full"), "gpus": "128"}
    merged = merge(DATA / "megatron_70b_args.txt", vocab=128_256, **said)
    assert (merged.job.seq_len, merged.strategy.tp, merged.strategy.recompute) == (2048, 4, "full")
    assert (merged.gpus, merged.strategy.pp) == ("128", 4)


def test_habits_that_change_sizes_reach_the_job(tmp_path: Path) -> None:
    capped = write(tmp_path, "moe.sh", "pretrain --num-layers 2 --num-experts 8 --moe-expert-capacity-factor 1.25\n")
    assert merge(capped).capacity_factor == 1.25
    assert not merge(capped).optimizer_in_backward
    early = "[training]\nseq_len = 2048\n[optimizer]\nearly_step_in_backward = true\n[parallelism]\n"
    assert merge(write(tmp_path, "job.toml", early)).optimizer_in_backward


def test_epochs_count_where_steps_do_not(tmp_path: Path) -> None:
    tuned = "train.py --model_name_or_path m --num_train_epochs 5 --max_length 1024 --bf16"
    assert merge(write(tmp_path, "epochs.sh", tuned)).job.epochs == 5
    assert merge(write(tmp_path, "epochs.sh", tuned), job=JobRequest(epochs=2.0)).job.epochs == 2.0
    steps = "pretrain --num-layers 2 --seq-length 1024 --global-batch-size 8 --micro-batch-size 1 --train-iters 10"
    merged = merge(write(tmp_path, "steps.sh", steps))
    # 10 steps of 8 sequences of 1,024 tokens: all of them, in no epochs
    assert (merged.job.tokens, merged.job.epochs) == ("81920 tokens", None)


def test_a_bucket_of_another_size_is_warned_of(tmp_path: Path) -> None:
    config = '{"zero_optimization": {"stage": 2, "reduce_bucket_size": %s}, "bf16": {"enabled": true}}'
    usual = merge(write(tmp_path, "usual.json", config % 500_000_000))
    small = merge(write(tmp_path, "small.json", config % 50_000_000))
    assert not any("reduce_bucket_size" in str(message) for message in usual.findings.warnings)
    assert any("reduce_bucket_size" in str(message) for message in small.findings.warnings)


def test_contradictory_files_are_refused(tmp_path: Path) -> None:
    one = write(tmp_path, "one.sh", "pretrain --num-layers 2 --tensor-model-parallel-size 2 --bf16\n")
    other = write(tmp_path, "other.sh", "pretrain --num-layers 2 --tensor-model-parallel-size 4 --bf16\n")
    with pytest.raises(InputError, match=r"tp: one\.sh: --tensor-model-parallel-size says 2, .* says 4"):
        merge(one, other)
