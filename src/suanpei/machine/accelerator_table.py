"""Accelerators from the catalogue: rows to typed products, units to SI."""

from __future__ import annotations

import math
import re
from functools import lru_cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from suanpei.errors import InputError
from suanpei.machine.accelerator import Accelerator
from suanpei.machine.scale_up import pcie_link, scale_up_link
from suanpei.messages import Message
from suanpei.units import GB_BYTES, GIB_BYTES, TERA

if TYPE_CHECKING:
    from collections.abc import Mapping

    from suanpei.machine.catalogue import Catalogue
    from suanpei.machine.fabric import Link
    from suanpei.machine.table import Row

PEAK_COLUMNS = MappingProxyType(
    {
        "fp32": "fp32_tflops",
        "tf32": "tf32_tflops",
        "fp16": "fp16_tflops",
        "bf16": "bf16_tflops",
        "fp8": "fp8_tflops",
        "fp4": "fp4_tflops",
        "int8": "int8_tops",
    }
)
"""Number format to column."""


@lru_cache(maxsize=8)
def load_accelerators(catalogue: Catalogue) -> Mapping[str, Accelerator]:
    """Give every accelerator of a catalogue by name, in the order of the table.

    Args:
        catalogue: The bundled facts, overlaid or not. [-]

    Raises:
        InputError: A row of the user's own table is malformed: file, line and column are named.
    """
    return MappingProxyType({row.text("name"): _accelerator(catalogue, row) for row in catalogue.table("accelerators")})


@lru_cache(maxsize=8)
def load_pcie_links(catalogue: Catalogue) -> Mapping[str, Link]:
    """Give the PCIe link of every accelerator by name, whatever better link it may have."""
    rows = catalogue.table("accelerators")
    return MappingProxyType({row.text("name"): pcie_link(catalogue, row) for row in rows})


def parse_node_gpus(text: str, unknown: int) -> int:
    """Read how many cards a server has: the largest sensible count of what the catalogue writes.

    ``1-8`` is 8, ``4 per tray; 72 per rack`` is 4, ``8-16`` is 8 (the sixteen-card variant is rare), and
    ``64 per cabinet`` says nothing of the node.

    Args:
        text: The cell. [-]
        unknown: Count where the cell says nothing. [-]
    """
    first = text.partition(";")[0].strip()
    counts = [int(number) for number in re.findall(r"\d+", first.partition("(")[0])]
    if not counts or "cabinet" in first or "rack" in first:
        return unknown
    return min(max(counts), 8) if len(counts) > 1 else counts[0]


def _accelerator(catalogue: Catalogue, row: Row) -> Accelerator:
    architecture = _architecture(catalogue, row)
    product: Mapping[str, Any] = catalogue.generations["products"].get(row.text("name"), {})
    peaks = {name: value * TERA for name, column in PEAK_COLUMNS.items() if (value := row.number(column))}
    own = scale_up_link(catalogue, row)
    domain = int(row.number("scaleup_domain_gpus") or 1)
    node_gpus = parse_node_gpus(row.text("node_gpu_count"), catalogue.generations["node_gpus_when_unknown"])
    is_bridge = own is not None and "bridge" in row.text("scaleup_link").casefold()
    pcie = pcie_link(catalogue, row)
    marketed_bytes = _positive(row, "memory_gb_marketed") * GIB_BYTES
    usable_gib = _positive_or_blank(row, "memory_gib_usable")
    fallback = catalogue.generations["usable_fraction_when_unknown"]
    joined = own is not None and not is_bridge
    return Accelerator(
        name=row.required("name"),
        aliases=tuple(alias.strip() for alias in row.text("aliases").split(";") if alias.strip()),
        vendor=row.required("vendor"),
        stack=architecture["stack"],
        generation=architecture["generation"],
        form_factor=row.text("form_factor"),
        memory_bytes=usable_gib * GIB_BYTES if usable_gib else marketed_bytes * fallback,
        marketed_bytes=marketed_bytes,
        memory_bytes_per_s=(_positive_or_blank(row, "memory_bandwidth_gb_per_s") or math.nan) * GB_BYTES,
        peak_flops_per_s=MappingProxyType(peaks),
        scale_up=own if own is not None and joined else pcie,
        scale_up_domain=domain if joined else 1,
        node_gpus=node_gpus,
        pcie_bytes_per_s=pcie.bytes_per_s,
        tdp_watts=float(row.text("tdp_w")) if row.text("tdp_w").isdigit() else None,
        export_note=row.text("export_control_note"),
        accumulation_note=row.text("accumulation_note"),
        provenance=row.provenance(catalogue.as_of("accelerators")),
        compute_units=product.get("compute_units"),
        devices=product.get("devices", 1),
        sustained_fraction=product.get("sustained_fraction", 1.0),
        bridge=own if is_bridge else None,
        bridge_gpus=domain if is_bridge else 1,
        missing=_missing(row, peaks),
    )


def _architecture(catalogue: Catalogue, row: Row) -> Mapping[str, Any]:
    known: Mapping[str, Any] = catalogue.generations["architectures"]
    vendors: Mapping[str, Any] = catalogue.generations["vendors"]
    found: Mapping[str, Any] | None = known.get(row.text("arch")) or vendors.get(row.text("vendor"))
    if found is None:
        raise InputError(
            Message(
                "{file}, line {line}: column {column} takes {allowed}, got {given}",
                file=row.file,
                line=row.line,
                column="arch",
                allowed=", ".join(known),
                given=row.text("arch"),
            )
        )
    return found


def _positive(row: Row, column: str) -> float:
    row.required(column)
    return _positive_or_blank(row, column) or 0.0


def _positive_or_blank(row: Row, column: str) -> float | None:
    value = row.number(column)
    if value is None or value > 0:
        return value
    raise InputError(
        Message("{file}, line {line}: column {column} must be above 0", file=row.file, line=row.line, column=column)
    )


def _missing(row: Row, peaks: Mapping[str, float]) -> tuple[str, ...]:
    """Name the blank columns that a plan needs; a 16-bit rate in either format will do."""
    needed = ["memory_gib_usable", "memory_bandwidth_gb_per_s"]
    missing = [column for column in needed if not row.number(column)]
    if not {"bf16", "fp16"} & set(peaks):
        missing.append("bf16_tflops")
    if (row.number("scaleup_domain_gpus") or 1) > 1 and not (
        row.number("scaleup_bw_per_dir_gb_per_s") or row.number("scaleup_bw_bidir_gb_per_s")
    ):
        missing.append("scaleup_bw_per_dir_gb_per_s")
    return tuple(missing)
