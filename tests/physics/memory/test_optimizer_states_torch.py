"""Optimizer states against what real optimizers hold after a step, to the last byte; scalar step counts left out."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest
import torch
import transformers
from torch.optim import SGD, Adafactor, AdamW, Muon

from suanpei.job.hugging_face import parse_config
from suanpei.physics.memory.stages import split_layers
from suanpei.physics.memory.states import States, estimate_states
from tests.physics.memory.samples import RECIPES, job_of, knobs, operators_of
from tests.physics.memory.torch_layers import peak_bytes

HIDDEN, LAYERS = 64, 3
SIZES = {
    "hidden_size": HIDDEN, "intermediate_size": 176, "num_hidden_layers": LAYERS, "vocab_size": 515,
    "num_attention_heads": 8, "num_key_value_heads": 2,
}  # fmt: skip
MODELS: dict[str, dict[str, Any]] = {
    "llama": SIZES,
    "qwen2": SIZES | {"tie_word_embeddings": True},
    "mixtral": SIZES | {"num_local_experts": 5, "num_experts_per_tok": 2},
}
PRECISIONS = {"fp32": torch.float32, "bf16-pure": torch.bfloat16}


def build_trained(family: str, precision: str) -> list[Any]:
    """The parameters of a model with gradients."""
    config = transformers.AutoConfig.for_model(family, **MODELS[family])
    parameters = list(transformers.AutoModelForCausalLM.from_config(config).to(PRECISIONS[precision]).parameters())
    for parameter in parameters:
        parameter.grad = torch.randn_like(parameter)
    return parameters


def held_bytes(*optimizers: torch.optim.Optimizer) -> int:
    """Bytes of all states with a dimension after one step."""
    total = 0
    for optimizer in optimizers:
        optimizer.step()
        states = [value for state in optimizer.state.values() for value in state.values()]
        total += sum(state.nbytes for state in states if torch.is_tensor(state) and state.dim())
    return total


def estimated(family: str, precision: str, optimizer: str) -> States:
    architecture = parse_config({"model_type": family, **MODELS[family]}, source="config.json", name=family)
    operators = operators_of(architecture)
    one = knobs("tp", "ep", "etp", "cp", "dp", "sharding")
    job = job_of(architecture, precision=precision, optimizer=optimizer)
    return estimate_states(job, operators, RECIPES["ddp"], split_layers(operators, 1, 1), **one)


def ours(family: str, precision: str, optimizer: str) -> float:
    return float(estimated(family, precision, optimizer).optimizer_bytes.flat[0])


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("family", MODELS)
@pytest.mark.parametrize(("name", "optimizer"), [("adamw", AdamW), ("sgd", SGD)])
def test_states_that_do_not_depend_on_shapes(family: str, precision: str, name: str, optimizer: Any) -> None:
    # SGD is the one without momentum, which would hold one more tensor
    assert held_bytes(optimizer(build_trained(family, precision))) == ours(family, precision, name)


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("family", ["llama", "qwen2"])
def test_muon_for_the_layers_matrices_and_adam_for_the_rest(family: str, precision: str) -> None:
    parameters = build_trained(family, precision)
    matrices = [parameter for parameter in parameters if parameter.dim() == 2 and 515 not in parameter.shape]
    rest = [parameter for parameter in parameters if all(parameter is not matrix for matrix in matrices)]
    assert held_bytes(Muon(matrices), AdamW(rest)) == ours(family, precision, "muon")


@pytest.mark.parametrize(
    ("precision", "optimizer"),
    [
        ("fp32", Adafactor),
        ("fp32", partial(transformers.Adafactor, beta1=None)),
        # torch's keeps its factors in the gradients' 16 bits, the library's in fp32, as the paper's authors do
        ("bf16-pure", partial(transformers.Adafactor, beta1=None)),
    ],
)
@pytest.mark.parametrize("family", ["llama", "mixtral"])
def test_adafactors_rows_and_columns(family: str, precision: str, optimizer: Any) -> None:
    # q, k and v each have the columns that our joined product has once, gate and up of a dense MLP too
    joined = LAYERS * HIDDEN * (2 + (family == "llama"))
    held = held_bytes(optimizer(build_trained(family, precision)))
    assert held == ours(family, precision, "adafactor") + 4 * joined


@pytest.mark.parametrize("precision", PRECISIONS)
def test_the_default_adam_makes_one_temporary_of_every_parameter(precision: str) -> None:
    # the default where parameters lie on an accelerator
    optimizer = AdamW(build_trained("llama", precision), foreach=True)
    temporary = peak_bytes(optimizer.step) - float(estimated("llama", precision, "adamw").step_extra_bytes.flat[0])
    # beside it a few scalars of 4 bytes
    assert 0 <= temporary <= 16
