"""Vision models: catalogue values, and the activation estimate against what autograd keeps."""

from __future__ import annotations

import pytest

from suanpei.errors import InputError
from suanpei.job.vision import find_vision_model, load_vision_models


def test_resnet_50() -> None:
    model = find_vision_model(None, "resnet50")
    assert model.parameters == 25.557e6
    assert model.forward_flops_per_image == 8.18e9
    assert model.train_flops_per_image == 24.54e9
    # 11.1 million outputs of convolutions, each kept with the input of what follows, in two bytes
    assert model.activation_bytes_per_image == pytest.approx(11.1e6 * 2 * 2, rel=0.02)


def test_unknown_flops_stay_unknown() -> None:
    model = find_vision_model(None, "FLUX.1-dev")
    assert model.forward_flops_per_image is None
    assert model.train_flops_per_image is None
    assert model.activation_bytes_per_image is None
    assert find_vision_model(None, "SDXL UNet").activation_bytes_per_image is None


@pytest.mark.parametrize("model", load_vision_models(), ids=lambda model: model.name)
def test_every_row_means_itself(model: object) -> None:
    assert find_vision_model(None, model.name) == model  # type: ignore[attr-defined]


def test_names() -> None:
    assert find_vision_model(None, "vit b16").name == "ViT-B/16"
    with pytest.raises(InputError, match=r"ResNet-18, ResNet-50"):
        find_vision_model(None, "resnet")
    with pytest.raises(InputError, match="not in the catalogue"):
        find_vision_model(None, "inception")


def test_malformed_rows() -> None:
    with pytest.raises(InputError, match="params_m"):
        load_vision_models([{"name": "x", "params_m": ""}])
    with pytest.raises(InputError, match="fwd_gflops"):
        load_vision_models([{"name": "x", "params_m": "1", "fwd_gflops": "many"}])


@pytest.mark.parametrize("kind", ["resnet", "vit"])
def test_activations_against_autograd(kind: str) -> None:
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    with torch.device("meta"):
        if kind == "resnet":
            name, module = "ResNet-101", transformers.ResNetModel(transformers.ResNetConfig(depths=[3, 4, 23, 3]))
        else:
            config = transformers.ViTConfig(
                hidden_size=1024, num_hidden_layers=24, num_attention_heads=16, intermediate_size=4096,
                hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0,
            )  # fmt: skip
            name, module = "ViT-L/16", transformers.ViTModel(config, add_pooling_layer=False)
        image = torch.empty(1, 3, 224, 224, dtype=torch.bfloat16)
    module = module.to(torch.bfloat16).train()
    held = {tensor.untyped_storage()._cdata for tensor in (*module.parameters(), *module.buffers())}
    kept: dict[int, tuple[int, object]] = {}

    def keep(tensor: object) -> object:
        storage = tensor.untyped_storage()  # type: ignore[attr-defined]
        if storage._cdata not in held:
            kept[storage._cdata] = (storage.nbytes(), tensor)
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
        output = module(image)
    measured = sum(size for size, _ in kept.values())
    assert output is not None
    assert find_vision_model(None, name).activation_bytes_per_image == pytest.approx(measured, rel=0.33)
