"""Model descriptions: each field by the function that answers it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from suanpei.errors import InputError
from suanpei.job.architecture import Architecture, Attention, Block, Mlp
from suanpei.job.hugging_face import parse_config, read_hugging_face
from suanpei.job.hugging_face.reader import identify_family
from suanpei.job.storage import kv_cache_bytes_per_token, stored_weight_bytes
from suanpei.machine.catalogue import load_catalogue
from suanpei.verbs.job_request import JobRequest, build_job
from tests.cases.case import REPOSITORY

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tests.cases.case import Answer

    Fields = Mapping[str, Any]


def one(values: set[Any]) -> Any:
    """The value that all layers share."""
    assert len(values) == 1
    return values.pop()


def facts(architecture: Architecture, kv_dtype_bytes: float = 2.0) -> dict[str, Any]:
    kinds = architecture.kinds
    return {
        "params": architecture.total_parameters,
        "active": architecture.active_parameters,
        "layers": architecture.layer_count,
        "hidden": architecture.hidden,
        "ffn": next((kind.mlp.ffn for kind in kinds if kind.mlp is not None), None),
        "head_dim": one({kind.attention.head_dim for kind in kinds}),
        "kv_heads": one({kind.attention.kv_heads for kind in kinds}),
        "tied": architecture.tied_embeddings,
        "embed_params": architecture.embedding_parameters,
        "max_seq": architecture.max_context,
        "kv_bytes_per_token": kv_cache_bytes_per_token(architecture, kv_dtype_bytes),
        "dense_layers": sum(layer.experts is None for layer in architecture.layers),
    }


def described(*fields: str) -> Answer:
    """Answer fields from the case's config.json."""

    def answer(given: Fields) -> Fields:
        architecture = read_hugging_face(REPOSITORY / given["file"])
        known = facts(architecture, given.get("kv_dtype_bytes", 2.0))
        return {field: known[field] for field in fields}

    return answer


def cfg_13(given: Fields) -> Fields:
    architecture = read_hugging_face(REPOSITORY / given["file"])
    defaults = [note for note in architecture.notes if "the defaults of" in str(note)]
    return {
        "llm_params": architecture.total_parameters,
        "total_params": architecture.parameters_with_companions,
        "warning": "defaults_used" if defaults else None,
    }


def cfg_14(given: Fields) -> Fields:
    known = facts(read_hugging_face(REPOSITORY / given["file"]))
    return {"params": known["params"], "ffn_effective": known["ffn"]}


def cfg_15(given: Fields) -> Fields:
    file = REPOSITORY / given["file"]
    architecture = read_hugging_face(file)
    try:
        build_job(JobRequest(model=str(file), method="full"), load_catalogue(), needs_data=False)
    except InputError:
        is_trainable = False
    else:
        is_trainable = True
    return {
        "params": architecture.total_parameters,
        "weight_gb": stored_weight_bytes(architecture) / 1e9,
        "full_finetune_ok": is_trainable,
    }


def cfg_21(given: Fields) -> Fields:
    dim = given["head_dim"]
    attention = Attention(heads=given["heads"], kv_heads=given["kv_heads"], head_dim=dim, value_dim=dim)
    block = Block(attention=attention, mlp=Mlp(ffn=1, gated=True), norm_parameters=0)
    architecture = Architecture(
        name="one layer",
        family="any",
        hidden=given["hidden"],
        vocab=1,
        layers=(block,) * given["layers"],
        tied_embeddings=True,
        max_context=None,
    )
    return {"kv_bytes_per_token": kv_cache_bytes_per_token(architecture, given["bytes"])}


def cfg_23(given: Fields) -> Fields:
    # GPT-2 medium; heads as it has them, since the family's default of 12 does not divide 1024
    known = facts(parse_config({"model_type": "gpt2", "n_head": 16, **given}, source="config.json", name="gpt2"))
    return {"ffn": known["ffn"], "max_seq": known["max_seq"]}


def cfg_25(given: Fields) -> Fields:
    family, spelled = identify_family(given["keys"])
    return {"family": family, "hidden_key": spelled["hidden_size"]}


ANSWERS: dict[str, Answer] = {
    "CFG-01": described("params", "layers", "hidden", "ffn", "head_dim", "tied", "kv_bytes_per_token"),
    "CFG-02": described("params", "kv_heads", "head_dim", "tied", "kv_bytes_per_token"),
    "CFG-03": described("params", "hidden", "embed_params", "kv_bytes_per_token"),
    "CFG-04": described("params", "ffn"),
    "CFG-05": described("params", "ffn", "tied"),
    "CFG-06": described("params", "kv_heads", "kv_bytes_per_token"),
    "CFG-07": described("params", "kv_bytes_per_token", "max_seq"),
    "CFG-08": described("params", "head_dim", "kv_bytes_per_token"),
    "CFG-09": described("params", "head_dim", "tied"),
    "CFG-10": described("params", "active", "head_dim"),
    "CFG-11": described("params", "active", "head_dim"),
    "CFG-12": described("params", "active", "kv_bytes_per_token", "dense_layers"),
    "CFG-13": cfg_13,
    "CFG-14": cfg_14,
    "CFG-15": cfg_15,
    "CFG-21": cfg_21,
    "CFG-23": cfg_23,
    "CFG-25": cfg_25,
}
