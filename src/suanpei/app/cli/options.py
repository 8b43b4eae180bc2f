"""Options that several commands share, each declared once with its help."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Model = Annotated[
    str | None,
    typer.Argument(
        help="A bundled name (llama-3-8b), a config.json, its folder, a .safetensors file, or a size such as 7B."
    ),
]
Tokens = Annotated[str | None, typer.Option("--tokens", help="Tokens of one pass over the data: 20B, 2万亿.")]
Data = Annotated[list[str] | None, typer.Option("--data", help="Your own data files; repeat for several.")]
Tokenizer = Annotated[str | None, typer.Option("--tokenizer", help="The model's tokenizer.json, for --data.")]
Samples = Annotated[str | None, typer.Option("--samples", help="Number of training samples, with --avg-tokens.")]
AvgTokens = Annotated[str | None, typer.Option("--avg-tokens", help="Tokens of an average sample.")]
Epochs = Annotated[float | None, typer.Option("--epochs", help="Passes over the data.")]
Method = Annotated[str, typer.Option("--method", help="auto, pretrain, full, lora or qlora.")]
SeqLen = Annotated[int | None, typer.Option("--seq-len", help="Tokens of one packed sequence.")]
GlobalBatch = Annotated[
    str | None, typer.Option("--global-batch", help="Per optimizer step: 4M tokens (M = 2^20) or 1536seqs.")
]
PrecisionOption = Annotated[
    str | None, typer.Option("--precision", help="bf16, fp16, fp32, bf16-pure, fp16-pure, fp8, mxfp8 or nvfp4.")
]
OptimizerOption = Annotated[str | None, typer.Option("--optimizer", help="adamw, adamw-8bit, adafactor, sgd or muon.")]
LoraRank = Annotated[int | None, typer.Option("--lora-rank", help="Rank of the adapters.")]
LoraTargets = Annotated[
    str | None, typer.Option("--lora-targets", help="all-linear, or products such as q,k,v,o,gate,up,down.")
]
Loss = Annotated[str | None, typer.Option("--loss", help="How the loss holds the logits: plain, in-place or fused.")]
Offload = Annotated[
    str | None, typer.Option("--offload", help="What host memory holds: optimizer, parameters, activations.")
]
FlashAttention = Annotated[
    bool, typer.Option("--flash-attention/--no-flash-attention", help="Whether attention is fused.")
]
Fabric = Annotated[
    str | None,
    typer.Option("--fabric", help="Network between nodes as sellers write it: 8x400G IB, 4x200G RoCE, 无IB."),
]
GpusPerNode = Annotated[int | None, typer.Option("--gpus-per-node", help="Cards of one machine.")]
Catalog = Annotated[Path | None, typer.Option("--catalog", help="Folder with your own tables over the bundled ones.")]
Report = Annotated[Path | None, typer.Option("--report", help="Write the JSON result to this file too.")]
Replay = Annotated[Path | None, typer.Option("--replay", help="Repeat the request of an earlier JSON result.")]
