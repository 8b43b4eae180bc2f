from __future__ import annotations

import math

import pytest

from suanpei.machine.accelerator_table import load_accelerators
from suanpei.machine.catalogue import load_catalogue

CARDS = load_accelerators(load_catalogue())


def test_units_of_one_card_by_its_data_sheet() -> None:
    # NVIDIA A100 data sheet: 312 TFLOP/s bf16 dense, 156 tf32, 2,039 GB/s, 600 GB/s NVLink both ways, 400 W
    card = CARDS["A100-SXM4-80GB"]
    assert card.peak_flops_per_s["bf16"] == 312e12
    assert card.peak_flops_per_s["tf32"] == 156e12
    assert card.memory_bytes_per_s == 2039e9
    assert card.scale_up.bytes_per_s == 300e9
    assert card.tdp_watts == 400
    assert card.marketed_bytes == 80 * 2**30
    assert card.memory_bytes == 79.15 * 2**30
    assert card.pcie_bytes_per_s == 31.5e9
    assert card.peak_of("fp8") is None


def test_compute_units_agree_with_the_clock_arithmetic() -> None:
    # H100 SXM: 132 SM x 4 tensor cores x 512 FMA x 2 x 1.83 GHz = 989.4 TFLOP/s; A100: 108 x 4 x 256 x 2 x 1.41 GHz
    assert CARDS["H100-SXM5-80GB"].compute_units == 132
    assert CARDS["H100-SXM5-80GB"].peak_flops_per_s["bf16"] == pytest.approx(132 * 4 * 512 * 2 * 1.83e9, rel=1e-3)
    assert CARDS["A100-SXM4-80GB"].compute_units == 108
    assert CARDS["A100-SXM4-80GB"].peak_flops_per_s["bf16"] == pytest.approx(108 * 4 * 256 * 2 * 1.41e9, rel=1e-3)
    assert CARDS["TPU-v4"].compute_units is None


@pytest.mark.parametrize(
    ("name", "generation", "stack"),
    [
        ("V100-SXM2-32GB", "volta", "cuda"),
        ("T4", "turing", "cuda"),
        ("RTX-3090", "ampere-rtx", "cuda"),
        ("L40S", "ada", "cuda"),
        ("GH200-96GB", "hopper", "cuda"),
        ("GB300-288GB", "blackwell-ultra", "cuda"),
        ("RTX-5090", "blackwell-rtx", "cuda"),
        ("MI250X", "cdna2", "rocm"),
        ("MI300X", "cdna3", "rocm"),
        ("Gaudi3", "gaudi", "synapse"),
        ("Ascend-910A", "ascend-910a", "cann"),
        ("Ascend-910B3", "ascend-910b", "cann"),
        ("Ascend-910C", "ascend-910c", "cann"),
        ("MTT-S5000", "moore-threads", "musa"),
        ("THead-PPU", "t-head", "ppu"),
    ],
)
def test_generation_and_stack(name: str, generation: str, stack: str) -> None:
    assert (CARDS[name].generation, CARDS[name].stack) == (generation, stack)


def test_what_is_not_published_is_marked() -> None:
    assert CARDS["B100-SXM-192GB"].missing == ("memory_gib_usable",)
    assert CARDS["B100-SXM-192GB"].memory_bytes == pytest.approx(0.92 * 192 * 2**30)
    assert CARDS["B100-SXM-192GB"].is_plannable
    unknown = CARDS["THead-PPU"]
    assert math.isnan(unknown.memory_bytes_per_s)
    assert not unknown.is_plannable
    assert [name for name, card in CARDS.items() if not card.is_plannable] == [
        "Ascend-950PR", "Hygon-BW1000", "Biren-BR106", "Enflame-S60", "THead-PPU",
    ]  # fmt: skip


def test_packages_of_two_devices() -> None:
    assert {name for name, card in CARDS.items() if card.devices == 2} == {"MI250", "MI250X", "Ascend-910C", "TPU-v7"}


def test_bridged_cards_show_the_bridge_apart() -> None:
    card = CARDS["A100-PCIe-80GB"]
    assert card.scale_up.technology == "pcie"
    assert card.scale_up_domain == 1
    assert card.bridge is not None
    assert (card.bridge.bytes_per_s, card.bridge_gpus) == (300e9, 2)
    assert CARDS["H200-NVL-141GB"].bridge_gpus == 4
