"""Reading measurement files: header kinds, units, assumptions, reasons to skip."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from suanpei.errors import InputError
from suanpei.job.job import LORA_TARGETS
from suanpei.physics.strategy import Recompute, Sharding
from suanpei.validation.cases import load_cases
from suanpei.validation.finetune_job import read_lora_targets
from suanpei.validation.machines import read_fabric
from tests.validation.sample_rows import FINETUNE, THROUGHPUT, WHOLE_RUN, write_rows

if TYPE_CHECKING:
    from suanpei.validation.case import LoadedCases

DATA = Path(__file__).parents[2] / "data" / "validation"
ROWS = {"throughput": 932, "throughput_single_node_a100": 995, "finetune": 857, "whole_runs": 60}


def _one(tmp_path: Path, row: dict[str, str], **changes: str) -> LoadedCases:
    return load_cases(write_rows(tmp_path / "cases.csv", [{**row, **changes}]))


@pytest.mark.parametrize(("name", "rows"), ROWS.items())
def test_every_row_is_a_case_or_has_a_reason(name: str, rows: int) -> None:
    loaded = load_cases(DATA / f"{name}.csv")
    assert len(loaded.cases) + len(loaded.skipped) == rows
    assert all(str(skipped.reason) for skipped in loaded.skipped)
    assert all(case.measured and case.strategies for case in loaded.cases)


def test_rows_with_a_modelled_method_are_nearly_all_read() -> None:
    # classes A to C with full, lora, qlora or pretraining and a sharding that a recipe has: at least 95 in a hundred
    for name in ("throughput", "finetune"):
        loaded = load_cases(DATA / f"{name}.csv")
        excused = ("method", "no recipe", "publishes no comparable")
        missed = [
            one
            for one in loaded.skipped
            if one.error_class != "N" and not any(word in str(one.reason) for word in excused)
        ]
        assert len(missed) <= 0.05 * (len(missed) + len(loaded.cases)), [str(one.reason) for one in missed]


def test_files_are_known_by_their_headers(tmp_path: Path) -> None:
    kinds = [_one(tmp_path, row).cases[0].kind for row in (THROUGHPUT, FINETUNE, WHOLE_RUN)]
    assert kinds == ["throughput", "finetune", "whole_runs"]


def test_other_files_are_refused(tmp_path: Path) -> None:
    (tmp_path / "prices.csv").write_text("gpu,price\nA100,7\n", encoding="utf-8")
    with pytest.raises(InputError, match="no column case_id"):
        load_cases(tmp_path / "prices.csv")
    (tmp_path / "other.csv").write_text("case_id,price\nx-1,7\n", encoding="utf-8")
    with pytest.raises(InputError, match="no known header"):
        load_cases(tmp_path / "other.csv")
    with pytest.raises(InputError, match="cannot be read"):
        load_cases(tmp_path / "absent.csv")


def test_a_repeated_identifier_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="unique"):
        load_cases(write_rows(tmp_path / "twice.csv", [THROUGHPUT, THROUGHPUT]))


def test_a_gpt_row_reads_as_its_paper_describes_it(tmp_path: Path) -> None:
    case = _one(tmp_path, THROUGHPUT).cases[0]
    # 24 (12 h² + 13 h) + (V + s) h + 2 h, h = 2304, biases and learned positions, tied output
    assert case.job.architecture.total_parameters == 24 * (12 * 2304**2 + 13 * 2304) + (51_200 + 2048) * 2304 + 2 * 2304
    assert case.strategies[0].gpus == 32
    assert case.strategies[0].recompute is Recompute.FULL
    assert not case.job.flash_attention
    assert (case.recipe, case.source, case.set_name) == ("megatron-2021", "megatron", "megatron2021")


def test_mpt_parameters_are_those_that_the_table_prints() -> None:
    published = {"llmfoundry-001": 64.8624e9, "llmfoundry-021": 30.0193e9}
    cases = {case.case_id: case for case in load_cases(DATA / "throughput.csv").cases}
    for name, parameters in published.items():
        assert cases[name].job.architecture.total_parameters == pytest.approx(parameters, rel=2e-3)


def test_bundled_models_give_what_columns_lack() -> None:
    cases = {case.case_id: case for case in load_cases(DATA / "throughput.csv").cases}
    assert cases["mbridge-001"].job.architecture.layers[-1].attention.is_latent
    cut = cases["simumax-005"].job.architecture
    assert (cut.layer_count, sum(block.experts is not None for block in cut.layers)) == (4, 3)


def test_two_vtrain_files_are_one_source() -> None:
    sources = {
        case.source
        for name in ("throughput", "throughput_single_node_a100")
        for case in load_cases(DATA / f"{name}.csv").cases
    }
    assert "vtrain" in sources
    assert "vtrainsingle" not in sources


def test_unpublished_settings_are_said(tmp_path: Path) -> None:
    case = _one(tmp_path, THROUGHPUT, recompute="", sharding="", tp="8", dp="4", grad_accum="8", vocab="").cases[0]
    said = " ".join(str(message) for message in case.assumptions)
    for word in ("recomputation", "sharding", "sequence parallelism", "vocabulary"):
        assert word in said
    assert [strategy.recompute for strategy in case.strategies] == list(Recompute)


def test_contradictions_and_gaps_are_reasons(tmp_path: Path) -> None:
    for changes, reason in (
        ({"n_gpus": "64"}, "tp · cp · pp · dp = 32"),
        ({"hidden": ""}, "hidden"),
        ({"layers": "", "n_layers": "many"}, "n_layers must be a number"),
        ({"framework": "in-house"}, "no recipe describes"),
        ({"class": "N", "class_reason": "hybrid Mamba"}, "hybrid Mamba"),
        ({"tflops_per_gpu": ""}, "no comparable figure"),
    ):
        loaded = _one(tmp_path, THROUGHPUT, **changes)
        assert reason in str(loaded.skipped[0].reason)


def test_one_speed_is_taken_per_row(tmp_path: Path) -> None:
    case = _one(tmp_path, THROUGHPUT, step_time_s="3.5", tokens_per_s_per_gpu="9000").cases[0]
    assert [measured.metric for measured in case.measured] == ["step_s", "fits"]


def test_an_oom_row_measures_only_that_it_failed(tmp_path: Path) -> None:
    case = _one(tmp_path, FINETUNE, outcome="oom").cases[0]
    assert [(measured.metric, measured.value) for measured in case.measured] == [("fits", 0.0)]


def test_memory_stays_under_its_own_counter(tmp_path: Path) -> None:
    for counter, metrics in (
        ("allocated", ["allocated_bytes", "fits"]),
        ("device", ["device_bytes", "fits"]),
        ("unknown", ["fits"]),
    ):
        case = _one(tmp_path, FINETUNE, mem_kind=counter).cases[0]
        assert [measured.metric for measured in case.measured] == metrics
    assert _one(tmp_path, FINETUNE).cases[0].measured[0].value == 4.49 * 2**30


def test_a_maximum_length_bounds_from_one_side(tmp_path: Path) -> None:
    case = _one(tmp_path, FINETUNE, length_known="max_only").cases[0]
    assert case.measured[0].bound == "at_most_predicted"


def test_padded_batches_leave_blocks_of_other_lengths(tmp_path: Path) -> None:
    padded = _one(tmp_path, FINETUNE, length_known="max_only").cases[0]
    packed = _one(tmp_path, FINETUNE, length_known="max_only", packing="yes").cases[0]
    assert dict(padded.habits)["other_lengths_kept"] > 0
    assert "other_lengths_kept" not in dict(packed.habits)


def test_frameworks_differ_from_the_recipe_that_stands_for_them(tmp_path: Path) -> None:
    bloom = {"framework": "Megatron-DeepSpeed", "sharding": "zero1"}
    half = _one(tmp_path, THROUGHPUT, **bloom).cases[0]
    assert (dict(half.habits)["gradient_bytes"], dict(half.habits)["step_gradient_bytes"]) == (2.0, 4.0)
    brain = _one(tmp_path, THROUGHPUT, precision="bf16", **bloom).cases[0]
    assert dict(brain.habits)["bucket_gradient_fraction"] == 0.5
    assert not _one(tmp_path, THROUGHPUT).cases[0].habits
    torchtitan = {"framework": "torchtitan", "sharding": "zero3", "compiled": "yes"}
    old, new = (
        _one(tmp_path, THROUGHPUT, software_release=release, **torchtitan).cases[0]
        for release in ("2024-12", "2025-06")
    )
    assert not old.habits
    assert dict(new.habits)["plain_loss_bytes"] == 4.0
    foundry = _one(tmp_path, THROUGHPUT, framework="LLM Foundry (Composer FSDP)", sharding="zero3", fused_loss="yes")
    assert dict(foundry.cases[0].habits)["plain_loss_bytes"] == 2.0


def test_plug_ins_change_what_a_quantised_base_keeps(tmp_path: Path) -> None:
    quantised = {"method": "qlora", "quant": "bnb-nf4", "framework": "hf"}
    assert not _one(tmp_path, FINETUNE, **quantised).cases[0].habits
    plugin = _one(tmp_path, FINETUNE, plugin="accelerated-peft bnb+fused ops", **quantised).cases[0]
    assert dict(plugin.habits) == {"in_place_loss_bytes": 8.0, "wide_quantised_residual": False}
    unsloth = _one(tmp_path, FINETUNE, **quantised | {"framework": "unsloth"}, fused_loss="unsloth").cases[0]
    assert dict(unsloth.habits)["adapter_dropout"] is False
    assert unsloth.job.loss == "fused"


def test_accumulation_in_mixed_units_keeps_gradients_whole(tmp_path: Path) -> None:
    shards = {"n_gpus": "2.0", "sharding": "zero3", "sharding_detail": "fsdp", "recompute": "full", "grad_accum": ""}
    case = _one(tmp_path, FINETUNE, note="global minibatch 128", **shards).cases[0]
    assert case.strategies[0].grad_accum == 64
    assert dict(case.habits)["mixed_units"] is True
    assert "mixed_units" not in dict(_one(tmp_path, FINETUNE, **shards).cases[0].habits)


@pytest.mark.parametrize(
    ("text", "optimizer"), [("adamw_torch", "adamw"), ("adamw_bnb_8bit", "adamw-8bit"), ("Adafactor", "adafactor")]
)
def test_optimizers_as_frameworks_write_them(tmp_path: Path, text: str, optimizer: str) -> None:
    assert _one(tmp_path, FINETUNE, optimizer=text).cases[0].job.optimizer == optimizer


def test_a_full_card_bounds_from_the_other(tmp_path: Path) -> None:
    case = _one(tmp_path, FINETUNE, peak_mem_gib="80.0", mem_kind="reserved").cases[0]
    assert case.measured[0].bound == "at_least_predicted"


def test_speed_is_not_derived_from_a_padded_length(tmp_path: Path) -> None:
    packed = _one(tmp_path, FINETUNE, tokens_per_s="2000", actual_tokens_per_seq="1044").cases[0]
    padded = _one(tmp_path, FINETUNE, tokens_per_s="2000", actual_tokens_per_seq="277").cases[0]
    assert "tokens_per_s_per_gpu" in {measured.metric for measured in packed.measured}
    assert "tokens_per_s_per_gpu" not in {measured.metric for measured in padded.measured}


@pytest.mark.parametrize(
    ("text", "targets"),
    [
        ("q_proj,v_proj", ("q", "v")),
        ("qv (litgpt 2023 default)", ("q", "v")),
        ("c_attn,c_proj,w1,w2", LORA_TARGETS),
        ("DEFAULT (qkv: c_attn for qwen)", ("q", "k", "v")),
        ("all-linear", LORA_TARGETS),
        ("ALL (all linear)", LORA_TARGETS),
        ("['q_proj', 'v_proj', 'k_proj', 'o_proj']", ("q", "k", "v", "o")),
    ],
)
def test_lora_targets(text: str, targets: tuple[str, ...]) -> None:
    assert read_lora_targets(text) == targets


def test_unmodelled_methods_and_targets_are_named(tmp_path: Path) -> None:
    for changes, word in (
        ({"method": "dpo+lora"}, "dpo+lora"),
        ({"lora_targets": "embed_tokens"}, "embed_tokens"),
        ({"sharding": "device_map (naive layer split)"}, "device_map"),
    ):
        assert word in str(_one(tmp_path, FINETUNE, **changes).skipped[0].reason)


def test_shardings_name_their_recipes(tmp_path: Path) -> None:
    for sharding, detail, expected in (
        ("none", "none", ("ddp", Sharding.NONE)),
        ("zero3", "fsdp full_shard", ("fsdp", Sharding.ZERO3)),
        ("ddp", "", ("ddp", Sharding.NONE)),
        ("zero1", "zero1", ("deepspeed", Sharding.ZERO1)),
        ("zero2", "zero2", ("deepspeed", Sharding.ZERO2)),
        ("megatron tp2 pp1 ep1", "", ("megatron", Sharding.ZERO1)),
    ):
        case = _one(tmp_path, FINETUNE, sharding=sharding, sharding_detail=detail, n_gpus="4").cases[0]
        assert (case.recipe, case.strategies[0].sharding) == expected


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("", None),
        ("NVLink NVL72 domain", None),
        ("RDMA 400 Gb/s per GPU (8x400)", "8x400G RoCE"),
        ("Omni-Path 4x100Gb per node", "Omni-Path 4x100Gb per node"),
        ("1600 Gbps per node RoCE", "1600 Gbps per node RoCE"),
    ],
)
def test_fabrics_in_the_catalogues_words(text: str, read: str | None) -> None:
    assert read_fabric(text, 8) == read


def test_a_whole_run_lists_strategies_of_its_card_count(tmp_path: Path) -> None:
    case = _one(tmp_path, WHOLE_RUN, n_gpus="64", parallelism="TP4 PP2 DP8").cases[0]
    assert {(strategy.tp, strategy.pp, strategy.gpus) for strategy in case.strategies} == {(4, 2, 64)}
    assert case.choice == "fastest_fitting"
    assert case.job.tokens == 2e12


def test_repeats_share_a_group() -> None:
    groups = Counter(case.group for case in load_cases(DATA / "throughput.csv").cases)
    assert groups["mbridge-r8e65d0"] > 1
