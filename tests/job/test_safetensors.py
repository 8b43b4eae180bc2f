"""Headers of `.safetensors` files, written here by hand and by the safetensors library."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from suanpei.errors import InputError
from suanpei.job.bundled import load_model
from suanpei.job.safetensors import count_tensors, list_shards, read_header, read_safetensors

if TYPE_CHECKING:
    from pathlib import Path

CONFIG = {"model_type": "llama", "hidden_size": 8, "intermediate_size": 12, "num_hidden_layers": 1,
          "num_attention_heads": 2, "vocab_size": 10}  # fmt: skip
TENSORS = {
    "model.embed_tokens.weight": (10, 8), "lm_head.weight": (10, 8), "model.norm.weight": (8,),
    "model.layers.0.self_attn.q_proj.weight": (8, 8), "model.layers.0.self_attn.k_proj.weight": (8, 8),
    "model.layers.0.self_attn.v_proj.weight": (8, 8), "model.layers.0.self_attn.o_proj.weight": (8, 8),
    "model.layers.0.mlp.gate_proj.weight": (12, 8), "model.layers.0.mlp.up_proj.weight": (12, 8),
    "model.layers.0.mlp.down_proj.weight": (8, 12), "model.layers.0.input_layernorm.weight": (8,),
    "model.layers.0.post_attention_layernorm.weight": (8,),
}  # fmt: skip
PARAMETERS = 160 + 8 + 256 + 288 + 16


def write(path: Path, tensors: dict[str, tuple[int, ...]], kind: str = "BF16", size: int = 2) -> None:
    header: dict[str, Any] = {"__metadata__": {"format": "pt"}}
    end = 0
    for name, shape in tensors.items():
        elements = 1
        for length in shape:
            elements *= length
        header[name] = {"dtype": kind, "shape": list(shape), "data_offsets": [end, end + elements * size]}
        end += elements * size
    text = json.dumps(header).encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text + bytes(end))


def test_totals_and_config_beside(tmp_path: Path) -> None:
    write(tmp_path / "model.safetensors", TENSORS)
    totals = count_tensors([tmp_path / "model.safetensors"])
    assert totals.parameters == PARAMETERS
    assert totals.weight_bytes == 2 * PARAMETERS
    assert totals.elements == {"BF16": PARAMETERS}
    with pytest.raises(InputError, match=r"config\.json"):
        read_safetensors(tmp_path / "model.safetensors")
    (tmp_path / "config.json").write_text(json.dumps(CONFIG))
    architecture = load_model([], str(tmp_path / "model.safetensors"))
    assert architecture.total_parameters == PARAMETERS
    assert "the headers hold the" in architecture.notes[-1].key


def test_the_library_writes_what_is_read(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    library = pytest.importorskip("safetensors.torch")
    tensors = {"a": torch.zeros(3, 5, dtype=torch.float32), "b": torch.zeros(7, dtype=torch.float8_e4m3fn)}
    library.save_file(tensors, tmp_path / "x.safetensors")
    totals = count_tensors([tmp_path / "x.safetensors"])
    assert totals.elements == {"F32": 15, "F8_E4M3": 7}
    assert totals.weight_bytes == 67


def test_shards_by_their_index(tmp_path: Path) -> None:
    names = list(TENSORS)
    for number, part in enumerate((names[:5], names[5:])):
        write(tmp_path / f"model-{number}.safetensors", {name: TENSORS[name] for name in part})
    write(tmp_path / "stray.safetensors", {"other": (99,)})
    index = {"weight_map": {name: f"model-{int(position >= 5)}.safetensors" for position, name in enumerate(names)}}
    (tmp_path / "model.safetensors.index.json").write_text(json.dumps(index))
    (tmp_path / "config.json").write_text(json.dumps(CONFIG))
    assert count_tensors(list_shards(tmp_path)).parameters == PARAMETERS
    assert read_safetensors(tmp_path).total_parameters == PARAMETERS
    (tmp_path / "model-1.safetensors").unlink()
    with pytest.raises(InputError, match=r"1 of the 2 files .* model-1"):
        read_safetensors(tmp_path)
    (tmp_path / "model.safetensors.index.json").write_text("{}")
    with pytest.raises(InputError, match="weight_map"):
        list_shards(tmp_path)


def test_packed_weights_are_no_count_of_parameters(tmp_path: Path) -> None:
    write(tmp_path / "model.safetensors", {"layer.qweight": (4, 8)}, "I32", 4)
    totals = count_tensors([tmp_path / "model.safetensors"])
    assert totals.parameters is None
    assert totals.weight_bytes == 128
    (tmp_path / "config.json").write_text(json.dumps(CONFIG))
    assert "packed" in read_safetensors(tmp_path).notes[-1].key


def test_one_shard_differs_from_the_config(tmp_path: Path) -> None:
    write(tmp_path / "part.safetensors", {"a": (3,)})
    (tmp_path / "config.json").write_text(json.dumps(CONFIG))
    note = read_safetensors(tmp_path / "part.safetensors").notes[-1]
    assert (note.values["counted"], note.values["described"]) == (3, PARAMETERS)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\x00\x01",
        (10**9).to_bytes(8, "little") + b"{}",
        (2**63).to_bytes(8, "little"),
        (3).to_bytes(8, "little") + b"{,}",
        (2).to_bytes(8, "little") + b"[]",
        (4).to_bytes(8, "little") + b"\xff\xff\xff\xff",
    ],
)
def test_corrupt_headers(tmp_path: Path, data: bytes) -> None:
    file = tmp_path / "bad.safetensors"
    file.write_bytes(data)
    with pytest.raises(InputError, match=r"bad\.safetensors has no valid safetensors header"):
        read_header(file)


@pytest.mark.parametrize(
    "entry",
    [
        {"dtype": "BF16", "shape": [4]},
        {"dtype": "QX", "shape": [4], "data_offsets": [0, 8]},
        {"dtype": "BF16", "shape": [4], "data_offsets": [0, 9]},
        {"dtype": "BF16", "shape": ["4"], "data_offsets": [0, 8]},
        {"dtype": "BF16", "shape": [-4], "data_offsets": [0, -8]},
        "text",
    ],
)
def test_malformed_entries(tmp_path: Path, entry: Any) -> None:
    text = json.dumps({"w": entry}).encode()
    (tmp_path / "bad.safetensors").write_bytes(len(text).to_bytes(8, "little") + text + bytes(16))
    with pytest.raises(InputError, match="tensor w"):
        read_header(tmp_path / "bad.safetensors")


def test_cut_off_file(tmp_path: Path) -> None:
    file = tmp_path / "model.safetensors"
    write(file, TENSORS)
    file.write_bytes(file.read_bytes()[:-1])
    with pytest.raises(InputError, match="cut off"):
        read_header(file)
    with pytest.raises(InputError, match="cannot be read"):
        read_header(tmp_path / "missing.safetensors")
