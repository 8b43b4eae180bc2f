"""Launch files as people write them. Expected values: arithmetic shown, or the framework's own rule."""

from __future__ import annotations

from pathlib import Path

import pytest

from suanpei.errors import InputError
from suanpei.physics.strategy import Recompute, Sharding
from suanpei.verbs.launch import LaunchSettings, complete, read_launch

DATA = Path(__file__).parents[2] / "data" / "launch"


def read(*names: str) -> LaunchSettings:
    return read_launch([DATA / name for name in names])


def write(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def options(settings: LaunchSettings) -> set[str]:
    return {message.values["option"] for message in settings.missing}


def test_megatron_arguments_give_the_strategy_and_the_model() -> None:
    settings = read("megatron_70b_args.txt")
    assert settings.world_size == 256
    # 256 / (8 · 4) = 8; 1024 / (1 · 8) = 128 micro-batches
    assert (settings.tp, settings.pp, settings.dp, settings.grad_accum) == (8, 4, 8, 128)
    assert settings.sharding is Sharding.ZERO1
    assert settings.recompute is Recompute.SELECTIVE
    assert settings.tokens_per_step == 1024 * 4096
    assert options(settings) == {"--vocab"}
    assert settings.contradictions == ()


def test_megatron_model_is_complete_with_a_vocabulary() -> None:
    settings = complete(read("megatron_70b_args.txt"), {"vocab": 128256})
    assert settings.missing == ()
    model = settings.architecture
    assert model is not None
    # padded to a multiple of 128 · 8 rows
    assert model.vocab == 129_024
    # 2VH + L(2H² + 2·H·1024 + 3·H·28672), then what no flag turned off: biases, LayerNorms, learned positions
    hidden, ffn, layers = 8192, 28672, 80
    matrices = layers * (2 * hidden**2 + 2 * hidden * 1024 + 3 * hidden * ffn)
    biases = layers * (hidden + 2 * 1024 + hidden + 2 * ffn + hidden)
    norms = (2 * layers + 1) * 2 * hidden
    assert model.total_parameters == 2 * 129_024 * hidden + matrices + biases + norms + 4096 * hidden
    # state per accelerator with the distributed optimizer: N/32 · (6 + 12/8) bytes
    assert model.total_parameters / 32 * 7.5 / 1e9 == pytest.approx(16.5352, rel=0.005)
    assert settings.grad_accum is not None
    assert 3 / settings.grad_accum == 0.0234375


def test_job_script_follows_the_deepspeed_file_and_resolves_auto() -> None:
    settings = read("train_7b_2nodes.sbatch")
    assert settings == read("train_7b_2nodes.sbatch", "ds_config_auto.json")
    assert settings.files == ("train_7b_2nodes.sbatch", "ds_config_auto.json")
    assert settings.world_size == settings.booked_gpus == 16
    assert settings.global_batch_seqs == 2 * 8 * 16
    assert settings.tokens_per_step == 1_048_576
    assert settings.tokens_total == 6000 * 1_048_576
    assert settings.gpu_hours_booked == 16 * 60
    assert settings.flags == ("NCCL_IB_DISABLE",)
    assert any("eth0" in str(warning) for warning in settings.warnings)
    assert (settings.recipe, settings.sharding, settings.precision) == ("deepspeed", Sharding.ZERO3, "bf16")
    assert settings.recompute is Recompute.FULL
    assert settings.contradictions == ()


def test_deepspeed_alone_says_which_auto_is_open() -> None:
    settings = read("ds_config_auto.json")
    assert {"--gpus", "--micro-batch", "--global-batch", "--seq-len", "--precision"} <= options(settings)
    assert any("train_micro_batch_size_per_gpu is auto" in str(message) for message in settings.missing)
    completed = complete(
        settings, {"world_size": 8, "micro_batch": 4, "grad_accum": 8, "seq_len": 2048, "precision": "bf16"}
    )
    assert completed.global_batch_seqs == 256
    assert options(completed) == {"MODEL"}


def test_shell_script_with_arrays_variables_and_experts() -> None:
    settings = read("pretrain_mixtral.sh")
    # 8 · 4 in shell arithmetic; 32 layers / (4 stages · 2 layers) = 4 virtual stages
    assert (settings.world_size, settings.dp, settings.vpp, settings.ep) == (32, 8, 4, 8)
    assert settings.architecture is not None
    # Mixtral 8x7B as published: 46.7B in all, 12.9B active; 32,000 is a multiple of 128 already
    assert settings.architecture.total_parameters == 46_702_792_704
    assert settings.architecture.active_parameters == pytest.approx(12.88e9, rel=0.001)
    assert settings.tokens_total == 500_000 * 256 * 4096
    assert settings.flags == ("NCCL_P2P_DISABLE",)
    assert settings.missing == ()


def test_torchtitan_of_both_years() -> None:
    new = read("llama3_8b_torchtitan.toml")
    assert (new.world_size, new.dp, new.tp, new.sp) == (64, 32, 2, True)
    # 512 / (2 · 32)
    assert new.grad_accum == 8
    assert (new.precision, new.recompute, new.sharding) == ("fp8", Recompute.FULL, Sharding.ZERO3)
    old = read("llama3_8b_torchtitan_2024.toml")
    assert options(old) == {"--gpus"}
    with_gpus = complete(old, {"world_size": 64})
    assert (with_gpus.dp, with_gpus.global_batch_seqs, with_gpus.missing) == (64, 64, ())
    assert with_gpus.tokens_total == 64 * 8192 * 1000


def test_torchtitan_pipeline_splits_the_local_batch(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        "pp.toml",
        "[training]\nlocal_batch_size = 8\nseq_len = 4096\n[parallelism]\ndata_parallel_shard_degree = 4\n"
        "pipeline_parallel_degree = 2\npipeline_parallel_microbatch_size = 2\n"
        'pipeline_parallel_schedule = "Interleaved1F1B"\n[activation_checkpoint]\nmode = "none"\n',
    )
    settings = read_launch([path])
    # 8 sequences per rank as four micro-batches of two; weights stay gathered in pipelines
    assert (settings.micro_batch, settings.grad_accum, settings.global_batch_seqs) == (2, 4, 32)
    assert (settings.sharding, settings.vpp, settings.recompute) == (Sharding.ZERO2, 2, Recompute.NONE)


def test_torchtitan_flags_override_the_file(tmp_path: Path) -> None:
    write(tmp_path, "job.toml", "[training]\nlocal_batch_size = 1\nseq_len = 8192\n[parallelism]\n")
    script = write(
        tmp_path,
        "run.sh",
        "torchrun --nnodes 2 --nproc_per_node 8 -m torchtitan.train --job.config_file job.toml "
        "--training.seq_len 4096 --parallelism.tensor_parallel_degree 8\n",
    )
    settings = read_launch([script])
    assert (settings.seq_len, settings.tp, settings.dp, settings.micro_batch) == (4096, 8, 2, 1)


def test_contradictions_name_both_places(tmp_path: Path) -> None:
    write(tmp_path, "ds.json", '{"train_micro_batch_size_per_gpu": 4, "zero_optimization": {"stage": 2}}')
    script = write(
        tmp_path,
        "run.sh",
        "deepspeed --num_gpus 8 train.py --deepspeed ds.json --per_device_train_batch_size 2 --bf16 "
        "--max_seq_length 2048 --model_name_or_path Qwen/Qwen2.5-7B --gradient_accumulation_steps 4\n",
    )
    settings = read_launch([script])
    assert [str(message) for message in settings.contradictions] == [
        "micro_batch: run.sh: --per_device_train_batch_size says 2, ds.json: train_micro_batch_size_per_gpu says 4"
    ]
    assert settings.model == "Qwen/Qwen2.5-7B"
    assert settings.missing == ()


@pytest.mark.parametrize(
    ("flags", "expected"),
    [
        ("--num-layers 80 --pipeline-model-parallel-size 3", "even splits are 1, 2, 4, 5"),
        ("--num-layers 80 --tensor-model-parallel-size 16 --num-attention-heads 40", "40 attention heads"),
        ("--num-layers 80 --tensor-model-parallel-size 8 --world-size 12", "12 accelerators are no multiple"),
        ("--num-layers 80 --context-parallel-size 4 --seq-length 4100", "2 x cp = 8"),
        ("--num-layers 80 --expert-model-parallel-size 4 --world-size 8", "the model has no experts"),
        ("--num-layers 80 --global-batch-size 100 --micro-batch-size 8 --world-size 4", "no multiple of micro-batch"),
        ("--num-layers 80 --bf16 --fp16", "both --bf16 and --fp16"),
    ],
)
def test_what_the_framework_would_refuse(tmp_path: Path, flags: str, expected: str) -> None:
    defaults = {"--hidden-size": "5120", "--num-attention-heads": "40", "--seq-length": "4096"}
    rest = " ".join(f"{name} {value}" for name, value in defaults.items() if name not in flags)
    settings = read_launch([write(tmp_path, "args.txt", f"{flags} {rest}\n")])
    assert any(expected in str(message) for message in settings.contradictions)


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("ds.json", '{"zero_optimization": {"stage": 3', "ds.json: not valid JSON at line 1"),
        ("ds.json", '{"train_batch_size": 8, "train_batch_size": 16}', "the key train_batch_size stands twice"),
        ("ds.json", '{"train_batch_size": "many"}', "train_batch_size takes a whole number"),
        ("ds.json", '{"zero_optimization": {"stage": 4}}', "takes 0, 1, 2 or 3, got 4"),
        ("ds.json", '{"name": "x"}', "no setting of DeepSpeed"),
        ("ds.json", "[" * 100_000, "nested too deeply"),
        ("ds.json", "[1]", "is a JSON object"),
        ("job.toml", "[training\n", "job.toml: not valid TOML"),
        ("job.toml", '[training]\nseq_len = "long"\n', "training.seq_len takes a whole number"),
        ("job.toml", "[project]\nname = 1\n", "no table of torchtitan"),
        ("job.toml", '[activation_checkpoint]\nmode = "some"\n', "takes one of none, selective, full"),
        ("args.txt", "--num-layers eighty", "args.txt: --num-layers takes a whole number of at least 1, got eighty"),
        ("args.txt", "--num-layers", "args.txt: --num-layers has no value"),
        ("args.txt", "--num-layers 0", "--num-layers takes a whole number of at least 1, got 0"),
        ("args.txt", "--num-layers 8 --num-layers 16", "--num-layers is given twice, as 8 and as 16"),
        ("args.txt", "--num-layers 8 --recompute-granularity half", "takes one of full, selective, got half"),
        ("args.txt", "--num-layers 8 'open", "a quotation mark is opened"),
        ("args.txt", "hello world", "no flag of Megatron"),
        ("args.txt", "", "no flag of Megatron"),
        ("job.sbatch", "#SBATCH --nodes=two\nsrun true", "--nodes takes a whole number of at least 1, got two"),
        ("job.sbatch", "#SBATCH --time=soon\nsrun true", "--time takes a form like 2-12:00:00, got soon"),
        ("job.sbatch", "#SBATCH --nodes=1\n#SBATCH --nodes=2\n", "--nodes is given twice, as 1 and as 2"),
        ("run.sh", "train --output_dir x --stage dpo", "dpo: this method is not modelled"),
        ("run.sh", "train --output_dir x --use_lora --lora_target wq", "got wq"),
        ("run.yaml", "a: 1", "YAML is not read"),
        ("ds.json", '{"train_batch_size": NaN}', "NaN is no number that JSON knows"),
        ("ds.json", '{"train_batch_size": 1e999}', "takes a whole number of at least 1 or auto"),
        ("run.sh", "torchrun --nnodes 2 --nproc_per_node 99999999999999999999 t.py", "is too large to be meant"),
    ],
)
def test_bad_input_is_one_line_naming_file_and_flag(tmp_path: Path, name: str, text: str, expected: str) -> None:
    with pytest.raises(InputError, match=r"^[^\n]*$") as caught:
        read_launch([write(tmp_path, name, text)])
    assert expected in str(caught.value)


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    binary = tmp_path / "model.txt"
    binary.write_bytes(b"\x00\x01")
    for path, expected in (
        (tmp_path / "none.txt", "cannot be read"),
        (tmp_path, "is a folder"),
        (binary, "is no text"),
    ):
        with pytest.raises(InputError, match=expected):
            read_launch([path])
    with pytest.raises(InputError, match="no launch file"):
        read_launch([])


def test_gbk_script_with_a_mark_of_its_own(tmp_path: Path) -> None:
    path = tmp_path / "训练.sh"
    path.write_bytes("# 多机训练\ntorchrun --nproc_per_node 8 --nnodes 1 train.py --output_dir 输出\n".encode("gbk"))
    assert read_launch([path]).world_size == 8


def test_unset_variables_are_missing_not_guessed(tmp_path: Path) -> None:
    path = write(tmp_path, "args.sh", "run --num-layers 8 --micro-batch-size $MBS --seq-length 4096 --world-size 8\n")
    settings = read_launch([path])
    assert settings.micro_batch is None
    assert any("--micro-batch-size takes its value from $MBS" in str(message) for message in settings.missing)


def test_unmodelled_flags_that_change_sizes_are_listed(tmp_path: Path) -> None:
    path = write(tmp_path, "args.txt", "--num-layers 8 --rampup-batch-size 16 16 1000 --log-interval 10\n")
    warnings = [str(message) for message in read_launch([path]).warnings]
    assert len(warnings) == 1
    assert "--rampup-batch-size changes sizes" in warnings[0]


def test_named_file_that_is_not_there_is_missing(tmp_path: Path) -> None:
    path = write(tmp_path, "run.sh", "deepspeed train.py --deepspeed ds.json --output_dir x\n")
    assert any("ds.json, which is not beside the script" in str(message) for message in read_launch([path]).missing)


@pytest.mark.parametrize(
    ("flags", "method", "rank"),
    [
        ("--finetuning_type lora --lora_rank 32 --lora_target all", "lora", 32),
        ("--finetuning_type full", "full", None),
        ("--use_peft --load_in_4bit --lora_r 64", "qlora", 64),
        ("--finetuning_type lora --quantization_bit 4", "qlora", 8),
        ("--train_type lora", "lora", 8),
        ("", "full", None),
    ],
)
def test_adapters(tmp_path: Path, flags: str, method: str, rank: int | None) -> None:
    settings = read_launch([write(tmp_path, "run.sh", f"train --output_dir x {flags}\n")])
    assert (settings.method, settings.lora_rank) == (method, rank)


def test_trainer_defaults_are_said(tmp_path: Path) -> None:
    settings = read_launch([write(tmp_path, "run.sh", "torchrun --nproc_per_node 4 train.py --output_dir x\n")])
    # transformers: 8 sequences per device, no accumulation, fp32
    assert (settings.micro_batch, settings.grad_accum, settings.precision) == (8, 1, "fp32")
    assert settings.global_batch_seqs == 32
    notes = " ".join(str(message) for message in settings.notes)
    assert "default of 8" in notes
    assert "fp32" in notes
    assert "plain data parallelism" in notes


def test_accelerate_and_presets(tmp_path: Path) -> None:
    text = (
        "accelerate launch --num_processes 16 --num_machines 2 --mixed_precision bf16 "
        "train.py --deepspeed zero3 --output_dir x"
    )
    settings = read_launch([write(tmp_path, "run.sh", text)])
    assert (settings.world_size, settings.gpus_per_node, settings.precision) == (16, 8, "bf16")
    assert settings.sharding is Sharding.ZERO3


def test_slurm_variables_reach_the_launcher(tmp_path: Path) -> None:
    text = (
        "#!/bin/bash\n#SBATCH -N 4\n#SBATCH --gres=gpu:a100:8\n#SBATCH -t 90\n\nNNODES=$SLURM_NNODES\n"
        "srun torchrun --nnodes $NNODES --nproc_per_node 4 train.py --output_dir x\n#SBATCH --nodes=8\n"
    )
    settings = read_launch([write(tmp_path, "job.sbatch", text)])
    assert (settings.nodes, settings.accelerator, settings.time_limit_s) == (4, "a100", 5400.0)
    assert settings.gpu_hours_booked == 32 * 1.5
    assert any("gpus_per_node" in str(message) for message in settings.contradictions)
    assert any("Slurm ignores" in str(message) for message in settings.warnings)


def test_command_line_wins_and_says_so() -> None:
    settings = complete(read("llama3_8b_torchtitan.toml"), {"seq_len": 4096})
    assert settings.tokens_per_step == 512 * 4096
    assert any("seq_len: the command line's 4096 instead of 8192" in str(note) for note in settings.notes)
