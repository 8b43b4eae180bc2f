"""Rows as a source publishes them, for tests to change one cell at a time."""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

THROUGHPUT = {
    "case_id": "megatron-001", "gpu": "A100-SXM4-80GB", "n_gpus": "32", "gpus_per_node": "8.0",
    "internode": "Selene: 8x200 Gb/s HDR IB per node", "framework": "Megatron-LM", "model": "GPT 1.7B",
    "params_b": "1.7", "active_params_b": "", "n_layers": "24.0", "hidden": "2304.0",
    "ffn_hidden": "9216.0", "n_heads": "24.0",
    "n_kv_heads": "24.0", "head_dim": "96.0", "vocab": "51200.0", "seq_len": "2048.0", "mlp_type": "gelu",
    "moe_experts": "", "moe_topk": "", "moe_ffn_hidden": "", "shared_experts": "", "task": "pretrain",
    "precision": "fp16", "attention": "unfused+fused softmax", "global_batch_seqs": "512.0",
    "micro_batch_seqs": "16.0", "grad_accum": "1.0", "tp": "1.0", "sp": "", "pp": "1.0", "vpp": "", "cp": "1.0",
    "ep": "", "dp": "32.0", "sharding": "ddp", "recompute": "full", "tflops_per_gpu": "137.0", "mfu_pct": "",
    "tokens_per_s_per_gpu": "", "step_time_s": "", "peak_mem_gib": "", "outcome": "ok", "note": "",
    "recompute_detail": "", "software_release": "2021-04", "compiled": "no", "overlap": "",
    "optimizer_shard_ranks": "", "dispatcher": "", "routing_balanced": "", "fused_loss": "", "recompute_layers": "",
    "mem_kind": "", "class": "A", "class_reason": "", "set": "megatron2021", "repeat_group": "",
}  # fmt: skip
"""Table 1 of arXiv 2104.04473, first row."""

FINETUNE = {
    "case_id": "litgpt-001", "gpu": "A100-SXM4-40GB", "n_gpus": "1.0", "framework": "litgpt", "model": "phi-1.5",
    "params_b": "1.418", "n_layers": "24.0", "hidden": "2048.0", "ffn_hidden": "8192.0", "n_heads": "32.0",
    "n_kv_heads": "32.0", "vocab": "51200.0", "method": "lora", "lora_rank": "8.0",
    "lora_targets": "qv (litgpt 2023 default)", "quant": "", "optimizer": "adamw", "precision": "bf16-pure",
    "seq_len": "1044.0", "micro_batch": "1.0", "sharding": "none", "offload": "", "flash_attn": "",
    "peak_mem_gib": "4.49", "tokens_per_s": "", "samples_per_s": "", "it_time_s": "0.0972", "outcome": "ok",
    "note": "", "mem_kind": "allocated", "peak_alloc_gib": "", "grad_accum": "128", "gpu_as_published": "",
    "precision_detail": "bf16-true", "recompute": "none", "sharding_detail": "none", "fused_loss": "",
    "actual_tokens_per_seq": "", "length_known": "yes", "plugin": "", "offload_detail": "", "sequence_parallel": "",
    "class": "A", "class_reason": "", "repeat_group": "",
}  # fmt: skip
"""litgpt's resource table, phi-1.5 with LoRA."""

WHOLE_RUN = {
    "case_id": "run-001", "source": "model card", "model": "Llama 2 7B", "params_b": "6.738", "active_params_b": "",
    "tokens_b": "2000", "gpu": "A100-80GB", "n_gpus": "", "gpu_hours": "184320", "days": "", "seq_len": "4096",
    "precision": "bf16", "parallelism": "", "includes_post_training": "no", "includes_restarts": "yes",
}  # fmt: skip


def write_rows(path: Path, rows: Sequence[dict[str, str]]) -> Path:
    """Write rows as a CSV file with a byte order mark, as Excel saves it."""
    with path.open("w", encoding="utf-8-sig", newline="") as stream:
        writer = csv.DictWriter(stream, fieldnames=list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return path
