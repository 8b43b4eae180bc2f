from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from suanpei.errors import InputError
from suanpei.machine.accelerator_table import load_accelerators
from suanpei.machine.catalogue import load_catalogue
from suanpei.machine.names import parse_name, resolve_accelerator

CATALOGUE = load_catalogue()
ACCELERATORS = load_accelerators(CATALOGUE)
SPELLINGS = [(name, one) for name, card in ACCELERATORS.items() for one in (name, *card.aliases)]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("4090", "RTX-4090"),
        ("RTX4090", "RTX-4090"),
        ("４０９０", "RTX-4090"),
        ("rtx 4090 24G", "RTX-4090"),
        ("4090 48G", "RTX-4090-48GB-mod"),
        ("RTX 4090 48GB 魔改", "RTX-4090-48GB-mod"),
        ("NVIDIA GeForce RTX 4090 D", "RTX-4090D"),
        ("3090ti", "RTX-3090-Ti"),
        ("H800 80G", "H800-SXM5-80GB"),
        ("H800", "H800-SXM5-80GB"),
        ("H800 PCIe", "H800-PCIe-80GB"),
        ("A800", "A800-SXM4-80GB"),
        ("英伟达 A800 80G", "A800-SXM4-80GB"),
        ("h100 sxm", "H100-SXM5-80GB"),
        ("H100-SXM5-80GB", "H100-SXM5-80GB"),
        ("NVIDIA H100 80GB HBM3", "H100-SXM5-80GB"),
        ("h100pcie", "H100-PCIe-80GB"),
        ("H100 NVL", "H100-NVL-94GB"),
        ("NVIDIA A100-SXM4-80GB", "A100-SXM4-80GB"),
        ("A100 80G PCIe", "A100-PCIe-80GB"),
        ("A100 80G", "A100-SXM4-80GB"),
        ("a100-40g", "A100-SXM4-40GB"),
        ("Tesla V100-SXM2-32GB", "V100-SXM2-32GB"),
        ("H20 141G", "H20-SXM5-141GB"),
        ("B200", "B200-SXM-180GB"),
        ("GB200 NVL72", "GB200-186GB"),
        ("A10G", "A10G"),
        ("RTX 6000 Ada", "RTX-6000-Ada"),
        ("910B3", "Ascend-910B3"),
        ("昇腾910B3", "Ascend-910B3"),
        ("华为 昇腾 910C", "Ascend-910C"),
        ("海光 K100 AI", "Hygon-K100-AI"),
        ("摩尔线程 S4000", "MTT-S4000"),
        ("MTT S5000", "MTT-S5000"),
        ("寒武纪 MLU370-X8", "MLU370-X8"),
        ("昆仑芯P800", "Kunlun-P800"),
        ("壁仞 BR104", "Biren-BR104"),
        ("天数 天垓150", "BI-V150"),
        ("沐曦C500", "MetaX-C500"),
        ("燧原 T20", "Enflame-T20"),
        ("AMD Instinct MI300X", "MI300X"),
    ],
)
def test_spellings_resolve(text: str, name: str) -> None:
    assert resolve_accelerator(CATALOGUE, text).accelerator.name == name


@pytest.mark.parametrize(
    ("text", "candidates"),
    [
        ("昇腾910B", ["Ascend-910B1", "Ascend-910B2", "Ascend-910B3", "Ascend-910B4"]),
        ("A100", ["A100-SXM4-40GB", "A100-SXM4-80GB", "A100-PCIe-40GB", "A100-PCIe-80GB"]),
        ("A100 PCIe", ["A100-PCIe-40GB", "A100-PCIe-80GB"]),
    ],
)
def test_ambiguous_names_list_their_candidates(text: str, candidates: list[str]) -> None:
    with pytest.raises(InputError) as caught:
        resolve_accelerator(CATALOGUE, text)
    assert str(caught.value) == f"accelerator {text} is ambiguous: name one of {', '.join(candidates)}"


@pytest.mark.parametrize(
    ("text", "nearest"),
    [("MI300", "MI300X"), ("H10O", "H100-SXM5-80GB"), ("RTX 6000", "RTX-6000-Ada"), ("P100", "V100")],
)
def test_unknown_names_suggest_the_nearest(text: str, nearest: str) -> None:
    with pytest.raises(InputError, match="unknown; the nearest are") as caught:
        resolve_accelerator(CATALOGUE, text)
    assert nearest in str(caught.value)


@pytest.mark.parametrize("text", ["", "   ", "英伟达", "??", "zzzzzz"])
def test_a_name_that_says_nothing_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="suanpei gpus lists"):
        resolve_accelerator(CATALOGUE, text)


def test_a_size_that_is_not_made_is_refused_with_those_that_are() -> None:
    with pytest.raises(InputError, match=r"no accelerator H100 40G exists.*H100-SXM5-80GB"):
        resolve_accelerator(CATALOGUE, "H100 40G")


def test_what_was_assumed_is_said() -> None:
    said = [str(message) for message in resolve_accelerator(CATALOGUE, "A800").assumptions]
    assert said == ["A800 is read as A800-SXM4-80GB: form factor SXM4 assumed"]
    said = [str(message) for message in resolve_accelerator(CATALOGUE, "H20").assumptions]
    assert said == ["H20 is read as H20-SXM5-96GB: 96 GB of memory assumed"]
    assert resolve_accelerator(CATALOGUE, "A100-SXM4-80GB").assumptions == ()


def test_packages_and_unpublished_figures_are_said() -> None:
    said = " ".join(str(message) for message in resolve_accelerator(CATALOGUE, "910C").assumptions)
    assert "software sees as 2 devices" in said
    said = " ".join(str(message) for message in resolve_accelerator(CATALOGUE, "B100").assumptions)
    assert "usable memory is not published" in said


@pytest.mark.parametrize(("name", "spelling"), SPELLINGS)
def test_every_bundled_spelling_resolves_to_its_own_row(name: str, spelling: str) -> None:
    assert resolve_accelerator(CATALOGUE, spelling).accelerator.name == name


def _wide(text: str) -> str:
    """Write in full-width letters."""
    return "".join(chr(ord(one) + 0xFEE0) if "!" <= one <= "~" else one for one in text)


@given(st.sampled_from(SPELLINGS), st.sampled_from(["upper", "lower", "wide", "dashes", "spaces", "padded"]))
def test_case_width_and_separators_do_not_matter(pair: tuple[str, str], change: str) -> None:
    name, spelling = pair
    changed = {
        "upper": spelling.upper(),
        "lower": spelling.lower(),
        "wide": _wide(spelling),
        "dashes": spelling.replace(" ", "-"),
        "spaces": spelling.replace("-", " "),
        "padded": f"  {spelling} ",
    }[change]
    assert resolve_accelerator(CATALOGUE, changed).accelerator.name == name


@given(st.text(max_size=30))
def test_any_text_resolves_or_is_refused_in_one_line(text: str) -> None:
    try:
        found = resolve_accelerator(CATALOGUE, text).accelerator.name
    except InputError as error:
        found = str(error)
    assert found in ACCELERATORS or "accelerator" in found


def test_a_name_is_taken_apart() -> None:
    parsed = parse_name("NVIDIA A100-PCIe 80 GB HBM2e")
    assert (parsed.core, parsed.form, parsed.memory_gb) == ("a100", "pcie", 80)
    assert parse_name("A10G").memory_gb is None
    assert parse_name("RTX 4090 D").core == "4090d"
