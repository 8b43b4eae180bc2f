"""Environment variables that cost speed.

Meanings: NVIDIA NCCL user guide, "Environment Variables", whose debugging section says that such settings should not be
left in scripts; PyTorch documentation for the others.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from suanpei.messages import Message

if TYPE_CHECKING:
    from collections.abc import Mapping

    from suanpei.verbs.launch.settings import Collector

_ON = frozenset({"1", "true", "yes"})


def read_environment(variables: Mapping[str, str], file: str, collector: Collector) -> None:
    """Warn of the variables that slow communication or computation down. [-]"""
    for name, message in _find_harmful(variables, file):
        collector.flags.append(name)
        collector.warnings.append(message)
    visible = variables.get("CUDA_VISIBLE_DEVICES", "")
    if visible and all(part.strip().isdecimal() for part in visible.split(",")):
        collector.put("gpus_per_node", len(visible.split(",")), f"{file}: CUDA_VISIBLE_DEVICES")


def _find_harmful(variables: Mapping[str, str], file: str) -> list[tuple[str, Message]]:
    found: list[tuple[str, Message]] = []

    def is_on(name: str) -> bool:
        return variables.get(name, "").lower() in _ON

    if is_on("NCCL_IB_DISABLE"):
        interface = variables.get("NCCL_SOCKET_IFNAME", "").lstrip("=^")
        if interface and not variables["NCCL_SOCKET_IFNAME"].startswith("^"):
            message = Message(
                "{file}: NCCL_IB_DISABLE=1 turns InfiniBand and RoCE off and forces TCP over {interface}; traffic "
                "between nodes runs at that interface's speed",
                file=file,
                interface=interface,
            )
        else:
            message = Message(
                "{file}: NCCL_IB_DISABLE=1 turns InfiniBand and RoCE off and forces TCP between nodes", file=file
            )
        found.append(("NCCL_IB_DISABLE", message))
    if variables.get("NCCL_NET", "").lower() == "socket":
        found.append(("NCCL_NET", Message("{file}: NCCL_NET=Socket forces TCP between nodes", file=file)))
    if is_on("NCCL_P2P_DISABLE") or variables.get("NCCL_P2P_LEVEL", "").upper() in ("LOC", "0"):
        name = "NCCL_P2P_DISABLE" if is_on("NCCL_P2P_DISABLE") else "NCCL_P2P_LEVEL"
        found.append(
            (
                name,
                Message(
                    "{file}: {variable} turns direct transfers between accelerators off (NVLink and PCIe); traffic "
                    "goes through host memory",
                    file=file,
                    variable=name,
                ),
            )
        )
    if is_on("NCCL_SHM_DISABLE"):
        found.append(
            (
                "NCCL_SHM_DISABLE",
                Message("{file}: NCCL_SHM_DISABLE=1 sends traffic inside the node over the network", file=file),
            )
        )
    if variables.get("NCCL_NET_GDR_LEVEL", "").upper() in ("LOC", "0") or is_on("NCCL_NET_GDR_DISABLE"):
        found.append(
            (
                "NCCL_NET_GDR_LEVEL",
                Message(
                    "{file}: NCCL_NET_GDR_LEVEL turns GPUDirect RDMA off; each transfer is copied by the host",
                    file=file,
                ),
            )
        )
    if variables.get("NCCL_NVLS_ENABLE") == "0":
        found.append(
            (
                "NCCL_NVLS_ENABLE",
                Message("{file}: NCCL_NVLS_ENABLE=0 turns reduction in the NVLink switch off", file=file),
            )
        )
    if is_on("CUDA_LAUNCH_BLOCKING"):
        found.append(
            (
                "CUDA_LAUNCH_BLOCKING",
                Message("{file}: CUDA_LAUNCH_BLOCKING=1 waits for every kernel; nothing overlaps", file=file),
            )
        )
    if variables.get("TORCH_DISTRIBUTED_DEBUG", "").upper() == "DETAIL":
        found.append(
            (
                "TORCH_DISTRIBUTED_DEBUG",
                Message(
                    "{file}: TORCH_DISTRIBUTED_DEBUG=DETAIL checks every collective and slows all of them", file=file
                ),
            )
        )
    return found
