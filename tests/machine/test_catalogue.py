from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from suanpei.errors import InputError
from suanpei.machine.accelerator_table import load_accelerators
from suanpei.machine.catalogue import load_catalogue
from suanpei.machine.cluster import build_cluster
from suanpei.machine.names import resolve_accelerator
from suanpei.machine.table import Row, decode_text

if TYPE_CHECKING:
    from pathlib import Path

HEADER = "name,aliases,vendor,arch,form_factor,memory_gb_marketed,memory_gib_usable,memory_bandwidth_gbps,bf16_tflops"


def _write(folder: Path, name: str, text: str, encoding: str = "utf-8") -> Path:
    (folder / name).write_bytes(text.encode(encoding))
    return folder


def test_tables_are_read_with_their_places() -> None:
    rows = load_catalogue().table("accelerators")
    assert rows[0].text("name") == "V100-SXM2-16GB"
    assert (rows[0].file, rows[0].line) == ("accelerators.csv", 2)
    assert rows[0].number("memory_bandwidth_gb_per_s") == 900.0


def test_only_what_is_asked_for_is_read_and_it_is_kept() -> None:
    catalogue = load_catalogue()
    assert catalogue.table("fabrics") is catalogue.table("fabrics")
    assert "offers" not in catalogue._tables


def test_catalogue_date() -> None:
    assert load_catalogue().catalog_date == "2026-10-19"


def test_an_overlay_row_overrides_the_cells_that_it_fills(tmp_path: Path) -> None:
    catalogue = load_catalogue(_write(tmp_path, "accelerators.csv", "name,memory_gib_usable\nA800-SXM4-80GB,70\n"))
    card = load_accelerators(catalogue)["A800-SXM4-80GB"]
    assert card.memory_bytes == 70 * 2**30
    assert card.memory_bytes_per_s == 2039e9
    assert len(load_accelerators(catalogue)) == len(load_accelerators(load_catalogue()))


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "gbk"])
def test_an_overlay_adds_a_card_in_any_usual_encoding(tmp_path: Path, encoding: str) -> None:
    text = f"{HEADER}\r\nMY-X1,我的卡,Huawei,Da Vinci (A2),module,64,60,1600,300\r\n"
    catalogue = load_catalogue(_write(tmp_path, "accelerators.csv", text, encoding))
    card = resolve_accelerator(catalogue, "我的卡").accelerator
    assert (card.name, card.stack, card.generation) == ("MY-X1", "cann", "ascend-910b")
    assert card.peak_flops_per_s == {"bf16": 300e12}
    assert build_cluster(catalogue, card).gpus_per_node == 8


@pytest.mark.parametrize("separator", [";", "\t"])
def test_an_overlay_may_be_separated_as_excel_does(tmp_path: Path, separator: str) -> None:
    text = "Name,memory_gib_usable\nA800-SXM4-80GB,70\n".replace(",", separator)
    catalogue = load_catalogue(_write(tmp_path, "accelerators.csv", text))
    assert load_accelerators(catalogue)["A800-SXM4-80GB"].memory_bytes == 70 * 2**30


def test_an_overlay_changes_defaults_and_adds_prices(tmp_path: Path) -> None:
    _write(tmp_path, "default_fabrics.csv", "accelerator,nics_per_node,gbit_per_nic,technology\nRTX-4090,2,100,RoCE\n")
    _write(tmp_path, "offers_cn.csv", "provider,gpu,price_per_hour\n本地机房,RTX-4090,1.5\n")
    catalogue = load_catalogue(tmp_path)
    cluster = build_cluster(catalogue, load_accelerators(catalogue)["RTX-4090"])
    assert cluster.scale_out.bytes_per_s == pytest.approx(2 * 12.5e9 / 8)
    assert len(catalogue.table("offers_cn")) == len(load_catalogue().table("offers_cn")) + 1


def test_a_card_joined_by_a_fabric_of_the_users_own(tmp_path: Path) -> None:
    _write(
        tmp_path, "fabrics.csv", "name,kind,bw_gbyte_per_dir,achievable_gbyte_per_dir_typical\nXLink,scale-up,100,60\n"
    )
    _write(
        tmp_path,
        "accelerators.csv",
        f"{HEADER},scaleup_link,scaleup_bw_per_dir_gbps,scaleup_domain_gpus\n"
        "MY-X2,,Hygon,new,OAM,64,60,1600,300,XLink,200,8\n",
    )
    catalogue = load_catalogue(tmp_path)
    link = load_accelerators(catalogue)["MY-X2"].scale_up
    assert (link.bytes_per_s, link.technology) == (200e9, "other")
    assert link.achievable_bytes_per_s == pytest.approx(120e9)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("name,memory_gib_usable\nA800-SXM4-80GB,lots\n", "line 2: column memory_gib_usable must be a number"),
        ("name,memory_gib_usable\nA800-SXM4-80GB,-1\n", "line 2: column memory_gib_usable must be a number"),
        ("name,memory_gib_usable\nA800-SXM4-80GB,nan\n", "line 2: column memory_gib_usable must be a number"),
        ("name,memory_gib_usable\nA800-SXM4-80GB,0\n", "line 2: column memory_gib_usable must be above 0"),
        ("name,bf16_tflops\nA800-SXM4-80GB,1e300\n", "line 2: column bf16_tflops must be a number from 0 to 1e12"),
        ("name,memory_bandwidth_gbps\nA800-SXM4-80GB,0\n", "column memory_bandwidth_gb_per_s must be above 0"),
        ("name,memory_gib_usable\nA800-SXM4-80GB\n", "line 2: 1 cells where the header has 2"),
        ("name,memory_gib_usable\n,70\n", "line 2: column name is blank"),
        ("name,memroy\nA800-SXM4-80GB,1\n", "unknown or repeated column memroy"),
        ("name,name\na,b\n", "unknown or repeated column name"),
        ('name,note\n"A800,x\n', "not valid CSV"),
        (f"{HEADER}\nX,,NVIDIA,Pascal,SXM,16,15,700,20\n", "line 2: column arch takes Volta sm70"),
        (f"{HEADER}\nX,,,Ampere sm80,SXM,16,15,700,20\n", "line 2: column vendor is blank"),
        (f"{HEADER}\nX,,NVIDIA,Ampere sm80,SXM,,15,700,20\n", "line 2: column memory_gb_marketed is blank"),
        (f"{HEADER}\nX,,NVIDIA,Ampere sm80,SXM,0,15,700,20\n", "line 2: column memory_gb_marketed must be above 0"),
        ("name,pcie_gen\nA800-SXM4-80GB,9\n", "line 2: column pcie_gen takes 3, 4, 5, got 9"),
        ("name,confidence\nA800-SXM4-80GB,sure\n", "line 2: column confidence takes high, medium, low"),
    ],
)
def test_a_malformed_row_names_file_line_and_column(tmp_path: Path, text: str, complaint: str) -> None:
    with pytest.raises(InputError) as caught:
        load_accelerators(load_catalogue(_write(tmp_path, "accelerators.csv", text)))
    assert complaint in str(caught.value)
    assert "accelerators.csv" in str(caught.value)


def test_a_folder_that_is_none_or_holds_nothing_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="--catalog takes a folder"):
        load_catalogue(tmp_path / "absent")
    with pytest.raises(InputError, match="holds none of the files"):
        load_catalogue(tmp_path)


def test_binary_data_is_refused(tmp_path: Path) -> None:
    (tmp_path / "accelerators.csv").write_bytes(b"\xff\xfe\x00\x81\xff")
    with pytest.raises(InputError, match="neither UTF-8 nor GBK"):
        load_catalogue(tmp_path).table("accelerators")
    assert decode_text("算配".encode("gbk"), "x") == "算配"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "gbk", "gb18030"])
def test_chinese_text_is_decoded_from_what_programs_write(encoding: str) -> None:
    assert decode_text("算配 H800，7.8万\n".encode(encoding), "x") == "算配 H800，7.8万\n"


@pytest.mark.parametrize(
    ("data", "place"),
    [
        (("算力" * 30).encode()[:-1], "line 1: neither UTF-8 nor GBK text at byte 178"),  # cut within a character
        (b"a\nZ\xfcrich", "line 2: neither UTF-8 nor GBK text at byte 4"),  # Windows-1252
        (b"a\n\nb\xff", "line 3: neither UTF-8 nor GBK text at byte 5"),
    ],
)
def test_text_that_would_come_out_as_other_characters_is_refused_where_it_fails(data: bytes, place: str) -> None:
    with pytest.raises(InputError, match=f"x, {place}; save it as UTF-8"):
        decode_text(data, "x")


def test_broken_toml_is_refused(tmp_path: Path) -> None:
    catalogue = load_catalogue(_write(tmp_path, "calibration.toml", "calibration_id ="))
    with pytest.raises(InputError, match="is not valid TOML"):
        catalogue.toml("calibration")


@pytest.mark.parametrize("name", ["generations", "links"])
def test_a_nested_file_without_what_is_read_is_refused(tmp_path: Path, name: str) -> None:
    catalogue = load_catalogue(_write(tmp_path, f"{name}.toml", "a = 1\n"))
    with pytest.raises(InputError, match=rf"{name}.toml: \w+ is missing or of another kind"):
        load_accelerators(catalogue)


def test_a_blank_cell_is_unknown_not_zero() -> None:
    row = Row(file="x.csv", line=2, cells={"a": "", "b": "0"})
    assert row.number("a") is None
    assert row.number("b") == 0.0
    assert row.number("absent") is None


def test_provenance_falls_back_to_the_date_of_the_table() -> None:
    row = Row(file="x.csv", line=2, cells={"source": "a sheet", "date": "undated", "confidence": "low"})
    origin = row.provenance("2026-08-31", "date")
    assert (origin.as_of, origin.as_of_is_table, origin.confidence) == ("2026-08-31", True, "low")
    dated = Row(file="x.csv", line=2, cells={"source": "a", "date": "2026-01-02"}).provenance("2026-08-31", "date")
    assert (dated.as_of, dated.as_of_is_table, dated.confidence) == ("2026-01-02", False, None)


def test_every_instance_of_a_cloud_names_a_known_card_and_its_origin() -> None:
    catalogue = load_catalogue()
    cards = load_accelerators(catalogue)
    rows = catalogue.table("instances")
    assert len(rows) > 5
    for row in rows:
        origin = row.provenance(catalogue.as_of("instances"), "as_of")
        assert row.text("gpu") in cards
        assert int(row.text("gpu_count")) >= 1
        assert origin.source
        assert origin.as_of
        assert (origin.confidence == "low") == origin.source.endswith("as generally known")
