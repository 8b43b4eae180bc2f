from __future__ import annotations

import pytest

from suanpei.errors import InputError
from suanpei.machine.accelerator_table import load_accelerators, parse_node_gpus
from suanpei.machine.catalogue import load_catalogue
from suanpei.machine.cluster import Cluster, build_cluster

CATALOGUE = load_catalogue()
CARDS = load_accelerators(CATALOGUE)


def _cluster(name: str, fabric: str | None = None, gpus_per_node: int | None = None) -> Cluster:
    return build_cluster(CATALOGUE, CARDS[name], fabric, gpus_per_node)


@pytest.mark.parametrize(
    ("name", "line_gb_per_s", "ring_gb_per_s", "all_reduce_gb_per_s"),
    [
        # measured bus bandwidth of eight cards; sources in fabrics.csv
        ("A100-SXM4-80GB", 300, 234.9, 234.9),
        ("A800-SXM4-80GB", 200, 157, 157),
        ("H100-SXM5-80GB", 450, 367, 480),
        ("H800-SXM5-80GB", 200, 160, 215),
        ("H20-SXM5-96GB", 450, 360, 360),
        ("B200-SXM-180GB", 900, 680, 840),
        ("MI300X", 448, 330, 330),
        ("Ascend-910B3", 196, 150, 150),
        # PCIe among the cards of one socket: 3.0 about 12, 4.0 24, 5.0 50; through host memory 0.38 of the line rate
        ("V100-PCIe-32GB", 15.75, 12, 12),
        ("A100-PCIe-80GB", 31.5, 24, 24),
        ("L40S", 31.5, 24, 24),
        ("H100-PCIe-80GB", 63, 50, 50),
        ("RTX-4090", 31.5, 12, 12),
    ],
)
def test_links_inside_a_node(name: str, line_gb_per_s: float, ring_gb_per_s: float, all_reduce_gb_per_s: float) -> None:
    cluster = _cluster(name)
    assert cluster.scale_up.bytes_per_s == pytest.approx(line_gb_per_s * 1e9)
    assert cluster.scale_up.achievable_bytes_per_s == pytest.approx(ring_gb_per_s * 1e9, rel=0.01)
    assert cluster.scale_up.all_reduce_bytes_per_s == pytest.approx(all_reduce_gb_per_s * 1e9, rel=0.01)
    assert (cluster.gpus_per_node, cluster.domain_gpus) == (8, 8)


def test_meshes_are_marked() -> None:
    assert {name for name, card in CARDS.items() if card.scale_up.is_mesh} == {
        "MI300X", "MI325X", "MI350X", "MI355X", "Gaudi2", "Gaudi3",
        "Ascend-910B1", "Ascend-910B2", "Ascend-910B3", "Ascend-910B4",
    }  # fmt: skip


def test_a_rack_is_one_domain_of_many_nodes() -> None:
    cluster = _cluster("GB200-186GB")
    assert (cluster.gpus_per_node, cluster.domain_gpus) == (4, 72)


def test_half_a_node_is_half_a_domain() -> None:
    assert _cluster("H100-SXM5-80GB", gpus_per_node=4).domain_gpus == 4
    one = _cluster("H100-SXM5-80GB", gpus_per_node=1)
    assert one.domain_gpus == 1


def test_bridges_are_absent_unless_asked_for() -> None:
    plain = _cluster("A100-PCIe-80GB")
    assert plain.scale_up.technology == "pcie"
    assert any("bridges between cards are assumed absent" in str(said) for said in plain.assumptions)
    bridged = _cluster("A100-PCIe-80GB", "NVLink bridge")
    assert bridged.domain_gpus == 2
    assert bridged.scale_up.achievable_bytes_per_s == pytest.approx(208e9)  # NVIDIA/nccl-tests issue 178
    assert bridged.scale_out.achievable_bytes_per_s == pytest.approx(24e9)  # a third card falls to PCIe
    with pytest.raises(InputError, match="L40S takes no bridge"):
        _cluster("L40S", "NVLink bridge")


def test_a_fabric_that_joins_part_of_a_node_gives_way_to_pcie() -> None:
    cluster = _cluster("Ascend-910A")
    assert (cluster.domain_gpus, cluster.scale_up.technology) == (8, "pcie")
    assert any("joins 4 of 8 cards" in str(said) for said in cluster.assumptions)
    assert _cluster("Ascend-910A", gpus_per_node=4).scale_up.technology == "hccs"


def test_default_network_is_marked_and_a_named_one_is_not() -> None:
    assumed, named = _cluster("H800-SXM5-80GB"), _cluster("H800-SXM5-80GB", "4x200G RoCE", 8)
    assert assumed.fabric_is_assumed
    assert assumed.scale_out.bytes_per_s == pytest.approx(50e9)
    assert not named.fabric_is_assumed
    assert named.scale_out.bytes_per_s == pytest.approx(12.5e9)
    assert named.assumptions == ()


def test_one_slow_port_is_shared_by_the_node() -> None:
    cluster = _cluster("RTX-4090")
    assert cluster.scale_out.bytes_per_s == pytest.approx(25e9 / 8 / 8)


@pytest.mark.parametrize("count", [0, -1, 65, 10**9])
def test_impossible_nodes_are_refused(count: int) -> None:
    with pytest.raises(InputError, match="gpus_per_node must be from 1 to 64"):
        _cluster("H100-SXM5-80GB", gpus_per_node=count)


@pytest.mark.parametrize("name", CARDS)
def test_every_card_makes_a_cluster(name: str) -> None:
    cluster = _cluster(name)
    for link in (cluster.scale_up, cluster.scale_out):
        assert 0 < link.achievable_bytes_per_s <= link.bytes_per_s
        assert link.achievable_bytes_per_s <= link.all_reduce_bytes_per_s <= 1.1 * link.bytes_per_s
        assert 1e-6 < link.latency_s < 1e-4
    assert cluster.domain_gpus >= cluster.gpus_per_node or cluster.domain_gpus > 1
    assert cluster.assumptions


@pytest.mark.parametrize(
    ("text", "count"),
    [("8", 8), ("1-8", 8), ("4", 4), ("1-4", 4), ("8-16", 8), ("16", 16), ("4 per tray; 72 per rack", 4),
     ("8 (16 dies)", 8), ("64 per cabinet", 8), ("", 8), ("1", 1)],
)  # fmt: skip
def test_node_counts(text: str, count: int) -> None:
    assert parse_node_gpus(text, unknown=8) == count
