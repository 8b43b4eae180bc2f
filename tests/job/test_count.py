"""Counting torch modules, against sums done by hand and against the language models' own count."""

from __future__ import annotations

import pytest

from suanpei.errors import InputError
from suanpei.job.count import count
from suanpei.job.hugging_face import parse_config
from suanpei.job.job import Job
from suanpei.physics.workload import build_workload

torch = pytest.importorskip("torch")


def test_linear_layers() -> None:
    first, second = torch.nn.Linear(6, 10), torch.nn.Linear(10, 4, bias=False)
    first.bias.requires_grad_(requires_grad=False)
    module = torch.nn.Sequential(first, torch.nn.BatchNorm1d(10), second.to(torch.bfloat16).to(torch.float32))
    counted = count(module, torch.zeros(5, 6))
    assert counted.total_parameters == 70 + 20 + 40
    assert counted.trainable_parameters == 120
    assert counted.parameters_by_dtype == {"float32": 130}
    assert counted.parameter_bytes == 520
    assert counted.buffer_elements == 21
    assert counted.buffer_bytes == 88
    assert counted.forward_flops_per_sample == 2 * 60 + 2 * 40
    assert counted.train_flops_per_sample == 600
    assert "130 parameters" in str(counted)


def test_shared_parameters_count_once() -> None:
    module = torch.nn.Module()
    module.embedding = torch.nn.Embedding(7, 3)
    module.head = torch.nn.Linear(3, 7, bias=False)
    module.head.weight = module.embedding.weight
    assert count(module).total_parameters == 21
    assert count(module).forward_flops_per_sample is None


def test_language_model_products_agree() -> None:
    transformers = pytest.importorskip("transformers")
    sizes = {
        "hidden_size": 64, "intermediate_size": 96, "num_hidden_layers": 3, "num_attention_heads": 4,
        "num_key_value_heads": 2, "vocab_size": 300, "max_position_embeddings": 128,
    }  # fmt: skip
    config = transformers.LlamaConfig(**sizes, attn_implementation="eager")
    with torch.device("meta"):
        model = transformers.LlamaForCausalLM(config)
        tokens = torch.zeros(2, 128, dtype=torch.long)
    counted = count(model, {"input_ids": tokens})
    architecture = parse_config({"model_type": "llama", **sizes}, source="config.json", name="llama")
    assert counted.total_parameters == architecture.total_parameters
    work = build_workload(Job(architecture=architecture, method="pretrain", seq_len=128, global_batch_seqs=1))
    # torch multiplies the full square of the scores
    assert counted.train_flops_per_sample == pytest.approx(
        128 * work.model_flops_per_token(full_attention=True), rel=1e-3
    )


def test_bad_input() -> None:
    with pytest.raises(InputError, match=r"torch\.nn\.Module, got int"):
        count(3)
    with pytest.raises(InputError, match="does not run"):
        count(torch.nn.Linear(3, 4), torch.zeros(2, 5))
    with pytest.raises(InputError, match="batch"):
        count(torch.nn.Linear(3, 4), torch.tensor(1.0))
    with pytest.raises(InputError, match="batch"):
        count(torch.nn.Linear(3, 4), {})
