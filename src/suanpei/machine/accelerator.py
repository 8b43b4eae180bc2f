"""Accelerators, as they can be rented."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from suanpei.machine.fabric import Link
    from suanpei.messages import Message
    from suanpei.provenance import Provenance


@dataclass(frozen=True, kw_only=True)
class Accelerator:
    """A product as it can be rented: form factor and memory size apart."""

    name: str
    aliases: tuple[str, ...]
    vendor: str
    stack: str
    """The software stack that its code needs: ``cuda``, ``rocm``, ``cann``, ``musa``, …"""
    generation: str
    """Key of the calibration: ``ampere``, ``hopper``, ``blackwell``, ``ada``, ``ascend-910b``, …"""
    form_factor: str
    memory_bytes: float
    """What the driver reports as usable, ECC at its default. [B]"""
    marketed_bytes: float
    """The label, in GiB by custom. [B]"""
    memory_bytes_per_s: float
    peak_flops_per_s: Mapping[str, float]
    """Dense peak by number format: ``fp32 tf32 fp16 bf16 fp8 fp4 int8``; one absent is not supported or unknown."""
    scale_up: Link
    """The fabric inside the node (PCIe where there is nothing better)."""
    scale_up_domain: int
    """Accelerators joined at that bandwidth in the typical product; 1 is none (then `scale_up` is PCIe)."""
    node_gpus: int
    """Accelerators of the node it is usually rented in."""
    pcie_bytes_per_s: float
    """Host link, per direction. [B/s]"""
    tdp_watts: float | None
    export_note: str
    accumulation_note: str
    provenance: Provenance
    compute_units: int | None = None
    """Streaming multiprocessors or compute units, over which a product's tiles are spread; None is unknown. [-]"""
    devices: int = 1
    """Devices that software sees in one package; memory and rates here are the package's. [-]"""
    sustained_fraction: float = 1.0
    """Share of the rate of its generation that its power limit lets long products keep. [-]"""
    bridge: Link | None = None
    """The bridge that can join `bridge_gpus` cards of this kind where `scale_up` assumes none is fitted."""
    bridge_gpus: int = 1
    """Cards that one bridge joins. [-]"""
    missing: tuple[str, ...] = ()
    """Catalogue columns without which it cannot be planned honestly, and which are blank."""

    @property
    def is_plannable(self) -> bool:
        """Whether memory, bandwidth and a 16-bit rate are known, so that a job can be sized on it."""
        return not {"memory_bandwidth_gb_per_s", "bf16_tflops"} & set(self.missing)

    def peak_of(self, precision: str) -> float | None:
        """Give the dense peak for products of a number format; None where it is unsupported or unknown. [FLOP/s]"""
        return self.peak_flops_per_s.get(precision)


@dataclass(frozen=True, kw_only=True)
class ResolvedAccelerator:
    """What a name stands for, and what was assumed to get there."""

    accelerator: Accelerator
    assumptions: tuple[Message, ...] = ()
