from __future__ import annotations

from datetime import date
from typing import Any

import pytest

from suanpei.errors import InputError
from suanpei.machine.accelerator_table import load_accelerators
from suanpei.machine.cluster import build_cluster
from suanpei.market.rfq.acceptance import AcceptanceFigures, Delivery, acceptance_figures
from suanpei.market.rfq.requirement import REQUIREMENT_ITEMS
from suanpei.market.rfq.requirements import list_requirements
from suanpei.market.rfq.software import required_driver
from tests.market.rfq.samples import CATALOGUE, EIGHT_MACHINES, ONE_MACHINE, document, specify, specify_document


def needs(specification: Any) -> dict[str, str]:
    return {
        requirement.key: str(requirement.need)
        for group in list_requirements(specification)
        for requirement in group.requirements
    }


def marks_of(name: str, nodes: int = 1, node_bytes_per_s: float | None = None, days: float = 1.0) -> AcceptanceFigures:
    """The marks of whole machines of a card, over InfiniBand."""
    cluster = build_cluster(CATALOGUE, load_accelerators(CATALOGUE)[name])
    return acceptance_figures(
        CATALOGUE,
        Delivery(
            cluster=cluster,
            gpus=nodes * cluster.gpus_per_node,
            nodes=nodes,
            node_bytes_per_s=node_bytes_per_s,
            technology="infiniband",
            days=days,
        ),
    )


def test_storage_and_line_are_those_of_the_plan() -> None:
    storage = specify(EIGHT_MACHINES).storage
    assert storage is not None
    # Llama-3-70B has 70,553,706,496 parameters; a checkpoint holds 14 bytes of each: 16-bit weights, their fp32 copy
    # and AdamW. 20 billion token ids take 4 bytes each, for its vocabulary is above 65,500.
    assert storage.checkpoint_bytes == 70_553_706_496 * 14
    assert storage.write_bytes_per_s == pytest.approx(8e9)  # eight machines at 1 GB/s each
    assert storage.data_bytes == 20e9 * 4
    assert storage.stored_bytes == 20e9 * 4 + 3 * 70_553_706_496 * 14
    assert storage.capacity_bytes == pytest.approx(storage.stored_bytes / 0.8)
    assert storage.moved_in_bytes == 20e9 * 4 + 20e9 + 70_553_706_496 * 2  # with an image of 20 GB
    assert storage.pull_s == pytest.approx(storage.moved_in_bytes / (0.9 * 1e9 / 8))
    said = needs(specify(EIGHT_MACHINES))
    assert said["capacity"].startswith("At least 3.8 TB")
    assert said["write_rate"].startswith("At least 8 GB/s")
    assert said["traffic"].startswith("A line of 1 Gbit/s or more into the storage: 241 GB")


def test_what_the_plan_says_of_its_data_is_asked_for() -> None:
    plan = document(EIGHT_MACHINES)
    plan["plans"][0]["data_path"].update(data_bytes=5e12, capacity_bytes=1e13, uplink_bytes_per_s=1.25e9)
    said = needs(specify_document(plan))
    assert said["capacity"].startswith("At least 10 TB")
    assert said["traffic"].startswith("A line of 10 Gbit/s")


def test_an_older_plan_without_data_path_is_asked_for_by_stated_assumptions() -> None:
    plan = document(EIGHT_MACHINES)
    plan["schema_version"] = 1
    for row in plan["plans"]:
        del row["data_path"]
    older, newer = specify_document(plan), specify(EIGHT_MACHINES)
    assert older.storage is not None
    assert newer.storage is not None
    # one pass over the data, and the defaults of the plan: the same figures
    for name in ("data_bytes", "moved_in_bytes", "pull_s", "checkpoint_bytes", "capacity_bytes", "write_bytes_per_s"):
        assert getattr(older.storage, name) == pytest.approx(getattr(newer.storage, name)), name
    assert "the plan is of an older version, without data path; assumed: 4 bytes per token" in str(older.assumptions[0])
    assert "those of the plan's data path" in str(newer.assumptions[0])


def test_an_older_plan_without_tokens_leaves_storage_to_the_seller() -> None:
    plan = document(EIGHT_MACHINES)
    plan["schema_version"] = 1
    plan["job"]["tokens"] = None
    del plan["plans"][0]["data_path"]
    specification = specify_document(plan)
    assert specification.storage is None
    said = needs(specification)
    assert said["capacity"].startswith("State capacity")
    assert said["traffic"] == "State the rates in and out"
    assert said["storage_test"].endswith("the rates stated above")
    assert "left to the seller to state" in str(specification.assumptions[0])


def test_the_network_is_that_of_the_plan() -> None:
    network = specify(EIGHT_MACHINES).network
    assert network is not None
    assert (network.ports, network.port_bytes_per_s, network.node_bytes_per_s) == (8, 50e9, 400e9)
    assert specify(ONE_MACHINE).network is None


def test_a_network_whose_name_says_no_rate_is_asked_for_by_name() -> None:
    plan = document(EIGHT_MACHINES)
    plan["plans"][0]["fabric"] = "something new"
    specification = specify_document(plan)
    assert specification.network is not None
    assert specification.network.ports is None
    assert specification.acceptance.between_nodes is None
    assert needs(specification)["network"] == "something new per machine, or better"
    assert needs(specification)["cluster_all_reduce"].endswith(
        "over all machines: state the bandwidth and guarantee it"
    )


def test_marks_inside_a_machine_are_a_share_of_what_is_published_for_the_links() -> None:
    mark = specify(EIGHT_MACHINES).acceptance.in_node
    assert mark is not None
    assert mark.pass_bytes_per_s == pytest.approx(0.95 * 215e9)  # NVIDIA/nccl issue 1374
    assert mark.ring_pass_bytes_per_s == pytest.approx(0.95 * 160e9)
    assert "1374" in mark.source
    one = specify(ONE_MACHINE).acceptance.in_node
    assert one is not None
    assert (one.pass_bytes_per_s, one.ring_pass_bytes_per_s) == (None, None)  # derived from A100: nobody measured it
    assert one.reference_bytes_per_s == pytest.approx(157e9)


@pytest.mark.parametrize(
    ("nodes", "ceiling"),
    [
        (2, 480e9),  # 50 · 15 / 1 = 750, so the switch inside the machine limits
        (4, 480e9),  # 50 · 31 / 3 = 516.7
        (64, 50e9 * 511 / 63),  # 405.6
    ],
)
def test_the_ceiling_over_machines_is_the_lower_of_links_and_network(nodes: int, ceiling: float) -> None:
    marks = marks_of("H100-SXM5-80GB", nodes, 400e9)
    assert marks.between_nodes is not None
    assert marks.between_nodes.reference_bytes_per_s == pytest.approx(ceiling, rel=1e-3)
    assert marks.between_nodes.pass_bytes_per_s == pytest.approx(0.55 * ceiling, rel=1e-3)


def test_products_are_measured_against_the_very_card_or_left_to_the_seller() -> None:
    a100, h800, v100 = (marks_of(name).matmul for name in ("A100-SXM4-80GB", "H800-SXM5-80GB", "V100-SXM2-32GB"))
    assert a100 is not None
    assert h800 is not None
    assert v100 is not None
    assert a100.pass_flops_per_s == pytest.approx(0.8 * 271.2e12)
    assert h800.reference_flops_per_s is None  # only block-scaled fp8 is published
    assert v100.precision == "fp16"


def test_every_card_of_the_catalogue_can_be_asked_for() -> None:
    for name in load_accelerators(CATALOGUE):
        plan = document()
        plan["plans"][0]["accelerator"] = name
        keys = [
            requirement.key for group in list_requirements(specify_document(plan)) for requirement in group.requirements
        ]
        assert len(set(keys)) == len(keys)
        assert set(keys) <= set(REQUIREMENT_ITEMS)


def test_every_table_of_marks_has_source_date_and_confidence() -> None:
    found = CATALOGUE.toml("acceptance")
    nested = ("drivers", "stacks")
    tables = {name: table for name, table in found.items() if name not in nested}
    for name in nested:
        tables |= dict(found[name])
    assert len(tables) == len(found) - len(nested) + sum(len(found[name]) for name in nested)
    for name, table in tables.items():
        assert len(table["source"]) > 20, name
        assert table["confidence"] in ("high", "medium", "low"), name
        assert table["as_of"] == "undated" or date.fromisoformat(table["as_of"]) <= date(2026, 11, 30), name
    cited = specify(EIGHT_MACHINES).acceptance
    assert cited.between_nodes is not None
    assert cited.between_nodes.source.endswith("(stas00/ml-engineering, network) (2026-08-31)")
    assert "undated" not in cited.load_source


def test_drivers_are_known_of_generations_of_the_catalogue_alone() -> None:
    known = {accelerator.generation for accelerator in load_accelerators(CATALOGUE).values()}
    assert set(CATALOGUE.toml("acceptance")["drivers"]) <= known
    for name, driver in (("A800-SXM4-80GB", "525.60.13"), ("B200-SXM-180GB", "570.26"), ("Ascend-910B3", None)):
        found = required_driver(CATALOGUE, load_accelerators(CATALOGUE)[name])
        assert (found.version if found else None) == driver


@pytest.mark.parametrize(("days", "hours"), [(0.1, 0), (5.0, 12), (365.0, 72)])
def test_a_soak_takes_at_most_a_tenth_of_the_planned_use(days: float, hours: int) -> None:
    assert marks_of("A800-SXM4-80GB", days=days).soak_hours == hours


def test_the_trial_is_the_slow_end_of_the_plan() -> None:
    # 524,288 tokens in at most 22.629 s on 8 cards
    expected = 524_288 / 22.629416961328328 / 8
    assert specify(ONE_MACHINE).trial_tokens_per_second_per_gpu == pytest.approx(expected)


def test_a_card_of_nobodys_catalogue_is_refused() -> None:
    plan = document()
    plan["plans"][0]["accelerator"] = "X1"
    with pytest.raises(InputError, match="the catalogue holds no accelerator X1"):
        specify_document(plan)


def test_neither_price_nor_model_stands_in_the_requirements() -> None:
    for path in (ONE_MACHINE, EIGHT_MACHINES):
        said = " ".join(needs(specify(path)).values())
        assert "Qwen" not in said
        assert "Llama" not in said
        assert "CNY" not in said
        assert "USD" not in said


def said_of(accelerator: str, *, gpus: int = 16, nodes: int = 2, fabric: str = "8x400G RoCE") -> dict[str, str]:
    """What is asked for where a card and a network stand in the plan."""
    plan = document(EIGHT_MACHINES)
    plan["plans"][0].update(accelerator=accelerator, gpus=gpus, nodes=nodes, fabric=fabric)
    return needs(specify_document(plan))


@pytest.mark.parametrize(
    ("accelerator", "tool", "stranger"),
    [
        ("H100-SXM5-80GB", "nccl-tests", "hccl_test"),
        ("MI300X", "rccl-tests", "NCCL "),
        ("Ascend-910B3", "hccl_test", "CUDA"),
        ("Hygon-BW1000", "own library", "NCCL"),
    ],
)
def test_the_software_asked_for_is_that_of_the_card(accelerator: str, tool: str, stranger: str) -> None:
    said = said_of(accelerator)
    assert tool in said["cluster_all_reduce"]
    assert tool in said["in_node_all_reduce"]
    assert stranger not in " ".join(said.values())
    assert ("CUDA" in said["driver"]) == (tool == "nccl-tests")
    assert ("GPUDirect" in said.get("gpudirect", "")) == (tool == "nccl-tests")


def test_ascend_is_asked_in_the_bandwidth_that_its_test_prints() -> None:
    said = said_of("Ascend-910B3")
    assert said["driver"].startswith("State the versions of driver, firmware, CANN and HCCL")
    # 150 GB/s of bus bandwidth over 2 · 7 / 8
    assert "150 GB/s of bus bandwidth (85.7 GB/s of algorithm bandwidth" in said["in_node_all_reduce"]
    assert "gpudirect" not in said  # its network ports are on the card


@pytest.mark.parametrize("fabric", ["1x25G Ethernet TCP", "8x400G RoCE"])
def test_consumer_cards_are_asked_for_nothing_that_they_lack(fabric: str) -> None:
    said = said_of("RTX-4090", fabric=fabric)
    whole = " ".join(said.values())
    assert "gpudirect" not in said
    assert not [word for word in ("GPUDirect", "NVLink", "NVLS", "remap", "ECC", "MIG") if word in whole]
    assert said["in_node"].startswith("PCIe 4.0 x16 to every card, 31.5 GB/s per direction")
    assert "no Xid errors" in said["inventory"]


def test_plain_ethernet_is_asked_for_no_remote_access_and_held_to_no_mark_of_it() -> None:
    said = said_of("L40S", fabric="2x100G Ethernet")
    assert said["network"].endswith("RDMA is not needed")
    assert "gpudirect" not in said
    assert "below" not in said["cluster_all_reduce"]
    assert said_of("L40S", fabric="2x100G RoCE")["network"].endswith("with RDMA")


def test_marks_over_derived_links_are_left_to_the_seller() -> None:
    a800, h800 = marks_of("A800-SXM4-80GB", 2, 200e9).between_nodes, marks_of("H800-SXM5-80GB", 2, 400e9).between_nodes
    assert a800 is not None
    assert h800 is not None
    assert a800.reference_bytes_per_s == pytest.approx(157e9)
    assert a800.pass_bytes_per_s is None
    assert h800.pass_bytes_per_s == pytest.approx(0.55 * 215e9)
    # over 64 machines the network limits, whatever the links: 25 GB/s · 511 / 63
    many = marks_of("A800-SXM4-80GB", 64, 200e9).between_nodes
    assert many is not None
    assert many.reference_bytes_per_s == pytest.approx(157e9)
    slow = marks_of("A800-SXM4-80GB", 64, 100e9).between_nodes
    assert slow is not None
    assert slow.pass_bytes_per_s == pytest.approx(0.55 * 12.5e9 * 511 / 63)


def test_one_card_is_asked_for_no_links_and_part_of_a_machine_for_no_mark() -> None:
    single = said_of("RTX-4090", gpus=1, nodes=1)
    assert not {"in_node", "in_node_all_reduce", "topology", "gpudirect", "cluster_all_reduce"} & set(single)
    assert single["machines"].startswith("1 of the cards of one machine (usually 8)")
    half = said_of("H100-SXM5-80GB", gpus=4, nodes=1)
    assert "on 4 cards" in half["in_node_all_reduce"]
    assert "about 367 GB/s" in half["in_node_all_reduce"]  # by ring: the switch reduces for five cards and more
    assert "NVLS" not in half["in_node_all_reduce"]
    part = said_of("MI300X", gpus=4, nodes=1)["in_node_all_reduce"]
    assert "about 141 GB/s" in part  # three of the seven links: 330 · 3 / 7


def test_a_reworked_card_that_was_planned_is_not_asked_to_be_unmodified() -> None:
    assert said_of("RTX-4090-48GB-mod")["unmodified"].startswith("A reworked card is asked for")
    assert said_of("RTX-4090")["unmodified"].startswith("Board, memory and firmware as the maker shipped them")


def test_no_driver_is_older_than_what_frameworks_of_today_need() -> None:
    for name, accelerator in load_accelerators(CATALOGUE).items():
        driver = required_driver(CATALOGUE, accelerator)
        assert driver is None or int(driver.version.split(".")[0]) >= 525, name
        assert (driver is None) == (accelerator.stack != "cuda"), name
