from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from suanpei.errors import InputError
from suanpei.machine.accelerator_table import load_accelerators
from suanpei.machine.catalogue import load_catalogue
from suanpei.machine.network import default_network, parse_fabric, scale_out_link

CATALOGUE = load_catalogue()
CARDS = load_accelerators(CATALOGUE)


@pytest.mark.parametrize(
    ("text", "ports", "port_gb_per_s", "technology"),
    [
        ("8x400G IB", 8, 50.0, "infiniband"),
        ("8×400Gbps InfiniBand", 8, 50.0, "infiniband"),
        ("400G*8 IB", 8, 50.0, "infiniband"),
        ("8张400G网卡 IB", 8, 50.0, "infiniband"),
        ("８ｘ４００Ｇ　ＩＢ", 8, 50.0, "infiniband"),
        ("4x200G RoCE", 4, 25.0, "roce"),
        ("8 x 200Gb/s HDR", 8, 25.0, "infiniband"),
        ("8x NDR", 8, 50.0, "infiniband"),
        ("2x25GbE", 2, 3.125, "ethernet"),
        ("3200Gbps", 1, 400.0, "roce"),
        ("3.2T RoCE", 1, 400.0, "roce"),
        ("50GB/s IB", 1, 50.0, "infiniband"),
        ("25G", 1, 3.125, "ethernet"),
        ("100G", 1, 12.5, "ethernet"),
        ("无IB", 1, 3.125, "ethernet"),
        ("none", 1, 3.125, "ethernet"),
        ("以太网", 1, 3.125, "ethernet"),
        ("100G Omni-Path", 1, 12.5, "omni-path"),
        ("AWS EFA v2", 1, 400.0, "efa"),
        ("AWS EFA v3 (P5en 16x200G)", 1, 400.0, "efa"),
    ],
)
def test_networks_as_people_write_them(text: str, ports: int, port_gb_per_s: float, technology: str) -> None:
    network = parse_fabric(CATALOGUE, text)
    assert (network.ports, network.technology) == (ports, technology)
    assert network.port_bytes_per_s == pytest.approx(port_gb_per_s * 1e9)


def test_efficiency_is_that_of_the_measured_row_at_the_rate() -> None:
    assert parse_fabric(CATALOGUE, "8x400G IB").efficiency_fraction == 0.94
    assert parse_fabric(CATALOGUE, "8x200G IB").efficiency_fraction == 0.96
    assert parse_fabric(CATALOGUE, "8x800G IB").efficiency_fraction == 0.94  # 800G has no reading: the next below
    assert parse_fabric(CATALOGUE, "8x400G RoCE").efficiency_fraction == 0.88
    assert parse_fabric(CATALOGUE, "25G").efficiency_fraction == 0.83
    assert parse_fabric(CATALOGUE, "200G TCP").efficiency_fraction == 0.4


@pytest.mark.parametrize("text", ["3200Gbps", "无IB", "25G", "400G IB"])
def test_the_worst_reading_is_said(text: str) -> None:
    assert parse_fabric(CATALOGUE, text).assumptions


def test_a_full_statement_assumes_nothing() -> None:
    assert parse_fabric(CATALOGUE, "8x400G IB").assumptions == ()


def test_a_kind_of_port_takes_the_usual_count_of_the_card() -> None:
    usual = default_network(CATALOGUE, CARDS["H100-SXM5-80GB"])
    assert parse_fabric(CATALOGUE, "InfiniBand HDR 200G", usual).ports == 8
    assert parse_fabric(CATALOGUE, "NDR", usual).ports == 8
    named = parse_fabric(CATALOGUE, "IB", usual)
    assert (named.ports, named.port_bytes_per_s, named.technology) == (8, 50e9, "infiniband")
    assert str(named.assumptions[0]) == "fabric IB: 8x400G InfiniBand per node assumed"


@pytest.mark.parametrize(
    "text", ["foo", "", "8x", "0x400G IB", "8x0G", "IB", "fast", "-8x400G", "1e9x400G", "8x1e9G IB", "8x999999999G"]
)
def test_what_is_no_network_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="fabric takes ports and rate such as 8x400G IB"):
        parse_fabric(CATALOGUE, text)


def test_ports_are_shared_by_the_cards_of_a_node() -> None:
    link = scale_out_link(parse_fabric(CATALOGUE, "4x200G RoCE"), 8, 8)
    assert link.bytes_per_s == pytest.approx(4 * 25e9 / 8)  # 12.5 GB/s
    assert link.achievable_bytes_per_s == pytest.approx(11e9)
    assert link.latency_s == pytest.approx(10e-6)


def test_half_a_node_keeps_one_port_per_card_and_shares_a_single_port_less() -> None:
    assert scale_out_link(parse_fabric(CATALOGUE, "8x400G IB"), 4, 8).bytes_per_s == pytest.approx(50e9)
    assert scale_out_link(parse_fabric(CATALOGUE, "25G"), 4, 8).bytes_per_s == pytest.approx(3.125e9 / 4)


def test_default_networks() -> None:
    h800 = default_network(CATALOGUE, CARDS["H800-SXM5-80GB"])
    assert (h800.ports, h800.port_bytes_per_s, h800.technology) == (8, 50e9, "roce")  # the slower of IB or RoCE
    assert "8x400G" in str(h800.assumptions[0])
    geforce = default_network(CATALOGUE, CARDS["RTX-4090"])
    assert (geforce.ports, geforce.port_bytes_per_s, geforce.technology) == (1, 3.125e9, "ethernet")


@given(st.integers(1, 16), st.sampled_from([25, 100, 200, 400, 800]), st.sampled_from(["IB", "RoCE", "EFA", "TCP"]))
def test_count_rate_and_word_round_trip(ports: int, gbit: int, word: str) -> None:
    network = parse_fabric(CATALOGUE, f"{ports}x{gbit}G {word}")
    assert (network.ports, network.port_bytes_per_s) == (ports, gbit * 1e9 / 8)
    assert 0 < network.efficiency_fraction <= 1


@given(st.text(max_size=24))
def test_any_text_is_a_network_or_refused(text: str) -> None:
    try:
        network = parse_fabric(CATALOGUE, text)
    except InputError:
        return
    assert network.ports >= 1
    assert network.port_bytes_per_s > 0
