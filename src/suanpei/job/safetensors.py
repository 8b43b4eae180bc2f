"""Parameters from the headers of `.safetensors` files, without reading a weight.

A file begins with the length of its header (8 bytes, little-endian) and a JSON header that gives format, shape and
place of each tensor (format description of the safetensors library).
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from math import prod
from typing import TYPE_CHECKING, Any

from suanpei.errors import InputError
from suanpei.job.hugging_face import read_hugging_face
from suanpei.messages import Message
from suanpei.units import format_count

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from suanpei.job.architecture import Architecture

MOST_HEADER_BYTES = 100_000_000
"""The safetensors library refuses longer headers."""
_LENGTH_BYTES = 8
FORMAT_BITS: Mapping[str, int] = {
    "F64": 64, "I64": 64, "U64": 64, "F32": 32, "I32": 32, "U32": 32, "F16": 16, "BF16": 16, "I16": 16, "U16": 16,
    "F8_E4M3": 8, "F8_E5M2": 8, "F8_E8M0": 8, "I8": 8, "U8": 8, "BOOL": 8, "F6_E2M3": 6, "F6_E3M2": 6, "F4": 4,
}  # fmt: skip
PACKED_FORMATS = frozenset({"I32", "U8", "I8", "U32"})
"""Whole-number formats: in a checkpoint of weights they hold several packed weights, or zero points."""
SCALE_ENDINGS = (".scales", ".weight_scale", ".weight_scale_inv", ".g_idx", ".qzeros", ".absmax", ".quant_map")


@dataclass(frozen=True, kw_only=True)
class TensorTotals:
    """What the headers of a checkpoint hold."""

    elements: Mapping[str, int]
    """Elements by storage format."""
    weight_bytes: int
    tensors: int
    packed_elements: int
    """Elements of whole-number formats, each of which may hold several weights."""

    @property
    def parameters(self) -> int | None:
        """All elements; None where packed weights make them no count of parameters."""
        return None if self.packed_elements else sum(self.elements.values())


def read_header(path: Path) -> dict[str, Any]:
    """Read the header of one file.

    Args:
        path: A `.safetensors` file. [-]

    Returns:
        Tensor names to their description, metadata left out.

    Raises:
        InputError: the file cannot be read, is shorter than its header says, or its header is malformed.
    """
    try:
        size = path.stat().st_size
        with path.open("rb") as file:
            length = int.from_bytes(file.read(_LENGTH_BYTES), "little")
            text = file.read(length) if size >= _LENGTH_BYTES and length <= min(MOST_HEADER_BYTES, size) else b""
    except OSError as error:
        raise InputError(
            Message("{source} cannot be read ({reason})", source=str(path), reason=error.strerror or "-")
        ) from None
    try:
        header = json.loads(text)
    except (ValueError, RecursionError):
        header = None
    if not isinstance(header, dict):
        raise InputError(
            Message(
                "{source} has no valid safetensors header ({size} bytes): it is cut off or of another format; "
                "download it again",
                source=str(path),
                size=size,
            )
        )
    header.pop("__metadata__", None)
    end = max((_tensor(path, name, item)[2] for name, item in header.items()), default=0)
    expected = _LENGTH_BYTES + length + end
    if size < expected:
        raise InputError(
            Message(
                "{source} is cut off: its header describes {expected} bytes, the file has {size}; download it again",
                source=str(path),
                expected=expected,
                size=size,
            )
        )
    return header


def _tensor(path: Path, name: str, item: Any) -> tuple[str, int, int]:
    """Check one tensor's description and give its format, elements and end."""
    try:
        kind, shape, (start, end) = item["dtype"], item["shape"], item["data_offsets"]
        elements = prod(shape)
        is_sound = kind in FORMAT_BITS and (end - start) * 8 == elements * FORMAT_BITS[kind] and start >= 0
        is_sound = is_sound and all(isinstance(length, int) and length >= 0 for length in shape)
    except (KeyError, TypeError, ValueError):
        is_sound = False
    if not is_sound:
        raise InputError(
            Message(
                "{source}: the header's entry for tensor {tensor} is malformed; download the file again",
                source=str(path),
                tensor=name,
            )
        )
    return kind, elements, end


def list_shards(path: Path) -> tuple[Path, ...]:
    """List the files of a checkpoint: the one file, or all of a folder by its index.

    Raises:
        InputError: there is none, the index is malformed, or it names files that are missing.
    """
    if path.is_file():
        return (path,)
    indices = sorted(path.glob("*.safetensors.index.json"))
    if not indices:
        shards = tuple(sorted(path.glob("*.safetensors")))
        if shards:
            return shards
        raise InputError(Message("{path} holds no .safetensors files", path=str(path)))
    try:
        names = set(json.loads(indices[0].read_text(encoding="utf-8"))["weight_map"].values())
    except (OSError, ValueError, KeyError, AttributeError, TypeError):
        raise InputError(
            Message("{source} is no valid index of a checkpoint: weight_map is missing", source=str(indices[0]))
        ) from None
    missing = sorted(name for name in names if not (path / str(name)).is_file())
    if missing:
        raise InputError(
            Message(
                "{path}: {count} of the {total} files that the index names are missing, first {first}; download them",
                path=str(path),
                count=len(missing),
                total=len(names),
                first=missing[0],
            )
        )
    return tuple(sorted(path / str(name) for name in names))


def count_tensors(shards: Sequence[Path]) -> TensorTotals:
    """Count the elements of a checkpoint by format.

    Args:
        shards: All its files. [-]

    Raises:
        InputError: a header is malformed or a file cut off.
    """
    elements: dict[str, int] = {}
    total_bytes = packed = tensors = 0
    for shard in shards:
        for name, item in read_header(shard).items():
            kind, number, _ = _tensor(shard, name, item)
            elements[kind] = elements.get(kind, 0) + number
            total_bytes += number * FORMAT_BITS[kind] // 8
            tensors += 1
            if kind in PACKED_FORMATS and not name.endswith(SCALE_ENDINGS):
                packed += number
    return TensorTotals(elements=elements, weight_bytes=total_bytes, tensors=tensors, packed_elements=packed)


def read_safetensors(path: Path) -> Architecture:
    """Read a checkpoint: its architecture from the `config.json` beside it, its totals from the headers.

    Args:
        path: A `.safetensors` file or a folder of them. [-]

    Raises:
        InputError: a file is cut off, or no `config.json` stands beside it (headers give totals, not layers and heads).
    """
    folder = path if path.is_dir() else path.parent
    totals = count_tensors(list_shards(path))
    if not (folder / "config.json").is_file():
        raise InputError(
            Message(
                "{source} holds {parameters} parameters in {tensors} tensors, but headers do not say how they are "
                "used; put the model's config.json beside it",
                source=str(path),
                parameters=format_count(totals.parameters) if totals.parameters is not None else "?",
                tensors=totals.tensors,
            )
        )
    architecture = read_hugging_face(folder / "config.json")
    return _with_totals(architecture, totals, path)


def _with_totals(architecture: Architecture, totals: TensorTotals, path: Path) -> Architecture:
    """Say how the files compare with the architecture."""
    counted, described = totals.parameters, architecture.parameters_with_companions
    if counted is None:
        note = Message(
            "{source}: {size} bytes with packed weights; parameters are those of the config.json",
            source=str(path),
            size=totals.weight_bytes,
        )
    elif counted == described:
        note = Message("{source}: the headers hold the {parameters} parameters of the config.json", source=str(path),
                       parameters=counted)  # fmt: skip
    else:
        note = Message(
            "{source}: the headers hold {counted} parameters, the config.json describes {described} (one shard, "
            "adapters, buffers or extra layers)",
            source=str(path),
            counted=counted,
            described=architecture.total_parameters,
        )
    return replace(architecture, notes=(*architecture.notes, note))
