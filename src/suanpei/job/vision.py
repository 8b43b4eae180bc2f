"""Vision and diffusion models of the catalogue, by parameters, FLOPs per image and a stated estimate of activations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from suanpei.errors import InputError
from suanpei.job.bundled import load_rows
from suanpei.job.names import find_name
from suanpei.messages import Message

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

TRAIN_OVER_FORWARD = 3.0
"""Forward and backward over forward: the gradient of inputs and of weights costs one forward each."""
KEPT_BYTES_PER_MAC: Mapping[str, float] = {
    "resnet": 43.9e6 / 4.09e9,
    "efficientnet": 45.0e6 / 0.38e9,
    "convnext": 116.1e6 / 15.35e9,
    "swin": 141.5e6 / 15.43e9,
    "vit": 92.0e6 / 17.56e9,
    "yolov8": 43.9e6 / 4.09e9,
}
"""Bytes that autograd keeps for the backward pass of one 224-pixel image per multiply-add, in 16 bits, no parameters.
Source: counted with ``torch.autograd.graph.saved_tensors_hooks`` (each storage once, torch 2.13) on the `transformers`
implementations of ResNet-50, EfficientNet-B0, ConvNeXt-B, Swin-B and ViT-B/16 without dropout, fused attention. YOLOv8,
a residual convolution network, is taken like a ResNet. [B]"""


@dataclass(frozen=True, kw_only=True)
class VisionModel:
    """A vision or diffusion model."""

    name: str
    family: str
    parameters: float
    """Trained parameters. [-]"""
    input_pixels: int
    """Side of the square input. [pixels]"""
    forward_flops_per_image: float | None
    """Two per multiply-add; for diffusion one denoising step; None is unknown. [FLOP]"""
    source: str
    note: str = ""

    @property
    def train_flops_per_image(self) -> float | None:
        """Forward and backward, three times the forward pass; None is unknown. [FLOP]"""
        forward = self.forward_flops_per_image
        return None if forward is None else TRAIN_OVER_FORWARD * forward

    @property
    def activation_bytes_per_image(self) -> float | None:
        """Estimate what one image keeps for the backward pass, without recomputation.

        ``multiply-adds · bytes kept per multiply-add``, the second factor by family (`KEPT_BYTES_PER_MAC`); None where
        FLOPs are unknown or the family has no figure (diffusion). [B]

        Valid for: 16-bit training at the catalogue's input size, within a third for the sizes of a family.
        """
        forward, ratio = self.forward_flops_per_image, KEPT_BYTES_PER_MAC.get(self.family)
        if forward is None or ratio is None:
            return None
        return forward / 2 * ratio


def load_vision_models(rows: Iterable[Mapping[str, str]] | None = None) -> tuple[VisionModel, ...]:
    """Give every vision model of the catalogue.

    Args:
        rows: Rows of ``models_vision.csv``; None reads the bundled file. [-]

    Raises:
        InputError: a row of the user's own has no parameters or a malformed number.
    """
    return tuple(_build(row) for row in (load_rows("models_vision") if rows is None else rows))


def find_vision_model(rows: Iterable[Mapping[str, str]] | None, text: str) -> VisionModel:
    """Find a vision model by the name that a person writes.

    Args:
        rows: Rows of ``models_vision.csv``; None reads the bundled file. [-]
        text: As a person wrote it. [-]

    Raises:
        InputError: the text fits several models (they are listed) or none (the nearest are).
    """
    models = {model.name: model for model in load_vision_models(rows)}
    return models[find_name(text, tuple(models), (), kind="vision model")]


def _build(row: Mapping[str, str]) -> VisionModel:
    name = row.get("name", "")
    parameters = _number(row, "params_m")
    if parameters is None:
        raise InputError(Message("models_vision.csv: {name} has no params_m, the millions of parameters", name=name))
    forward = _number(row, "fwd_gflops")
    pixels = row.get("input", "").split(" ")[0]
    return VisionModel(
        name=name,
        family=row.get("family", ""),
        parameters=parameters * 1e6,
        input_pixels=int(pixels) if pixels.isdecimal() else 0,
        forward_flops_per_image=None if forward is None else forward * 1e9,
        source=row.get("source", ""),
        note=row.get("note", ""),
    )


def _number(row: Mapping[str, str], column: str) -> float | None:
    text = row.get(column, "").strip()
    try:
        value = float(text) if text else None
    except ValueError:
        value = -1.0
    if value is not None and value <= 0:
        raise InputError(
            Message(
                "models_vision.csv: {name}: {column} must be a number above zero, got {given}",
                name=row.get("name", ""),
                column=column,
                given=text,
            )
        )
    return value
