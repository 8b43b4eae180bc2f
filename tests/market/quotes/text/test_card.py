from __future__ import annotations

import pytest

from suanpei.market.quotes.text.words import plain
from tests.market.quotes.samples import CARDS


@pytest.mark.parametrize(
    ("cells", "name"),
    [
        (("H800 80G SXM5",), "H800-SXM5-80GB"),
        (("A800-80G NVLink",), "A800-SXM4-80GB"),
        (("RTX4090 24G",), "RTX-4090"),
        (("RTX 4090 D",), "RTX-4090D"),
        (("A100 40", "4卡 PCIe"), "A100-PCIe-40GB"),
        (("H100", "PCIe"), "H100-PCIe-80GB"),
        (("H100 NVL 94GB", "PCIe NVL"), "H100-NVL-94GB"),
        (("B200 192GB", "SXM"), "B200-SXM-180GB"),
        (("MI300X 192GB", "OAM"), "MI300X"),
        (("4090 48G(改)",), "RTX-4090-48GB-mod"),
        (("8×H100 80G",), "H100-SXM5-80GB"),
        (("TPU v5e",), "TPU-v5e"),
        (("昆仑芯P800",), "Kunlun-P800"),
        (("", "", "A100-80GB", "p4d.24xlarge"), "A100-SXM4-40GB"),
        (("昇腾910B",), None),
        (("8×910B2 64GB",), "Ascend-910B2"),
        (("910B3*8",), "Ascend-910B3"),
        (("8*4090 24G",), "RTX-4090"),
        (("A100", "SXM4"), None),
        (("P40",), None),
    ],
)
def test_a_card_is_settled(cells: tuple[str, ...], name: str | None) -> None:
    card = CARDS.read(*cells)
    assert (card.accelerator.name if card.accelerator else None) == name


@pytest.mark.parametrize(
    ("cells", "flags"),
    [
        (("A100 40", "4卡 PCIe"), {"memory_unit_missing", "pcie"}),
        (("4090 48G(改)",), {"modified_card"}),
        (("昇腾910B",), {"non_nvidia"}),
        (("H100 NVL 94GB",), {"nvl_variant"}),
        (("H100 120G",), {"impossible_memory"}),
        (("P40",), {"unknown_card"}),
        (("", "", "A100-80GB", "p4d.24xlarge"), {"memory_label_mismatch"}),
        (("", "", "", "p5.48xlarge"), set()),
        (("RTX 4090", "PCIe"), set()),
        (("H100 80GB", "SXM5"), set()),
    ],
)
def test_what_a_label_leaves_open_is_flagged(cells: tuple[str, ...], flags: set[str]) -> None:
    assert set(CARDS.read(*cells).flags) == flags


def test_a_family_names_its_products() -> None:
    assert CARDS.read("昇腾910B").candidates == ("Ascend-910B1", "Ascend-910B2", "Ascend-910B3", "Ascend-910B4")
    assert CARDS.read("A100", "SXM4").candidates == ("A100-SXM4-40GB", "A100-SXM4-80GB")


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("H800 8卡整机 7.8万/月", ["h800"]),
        ("H100 2.3 H200 3.1 美元/卡时", ["h100", "h200"]),
        ("H100/H800 8卡", ["h100", "h800"]),
        ("8xH100", ["h100"]),
        ("A100SXM 8卡", ["a100sxm"]),
        ("H100sxm5 H100PCIe", ["h100sxm5", "h100pcie"]),
        ("H100NVL A800nvlink", ["h100nvl", "a800nvlink"]),
        ("4090 8卡 1.2万/月", ["4090"]),
        ("4090元/月", []),
        ("2×8468/2T内存", []),
        ("张三 2025-03-01 10:22", []),
    ],
)
def test_cards_are_found_in_text(text: str, names: list[str]) -> None:
    words = plain(text)
    assert [words[slice(*span)] for span in CARDS.find(words)] == names


@pytest.mark.parametrize("written", ["海光K100_AI", "K100-AI", "K100 AI", "K100AI", "DCU K100_AI 64G"])
def test_what_stands_behind_an_underscore_is_part_of_the_name(written: str) -> None:
    assert CARDS.read(written).candidates == ("Hygon-K100-AI",)


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("B200 192GB", "B200-SXM-180GB"),
        ("B200 180G", "B200-SXM-180GB"),
        ("GB200 192GB", "GB200-186GB"),
        ("GB200 NVL72", "GB200-186GB"),
        ("H20 144G", "H20-SXM5-141GB"),
        ("RTX PRO 6000 SE", "RTX-PRO-6000-Blackwell-Server"),
        ("RTX PRO 6000 Server 96G", "RTX-PRO-6000-Blackwell-Server"),
    ],
)
def test_another_label_of_a_memory_is_of_the_product_that_the_bare_name_means(written: str, name: str) -> None:
    assert CARDS.read(written).candidates == (name,)
