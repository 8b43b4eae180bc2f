from __future__ import annotations

import json
from datetime import date
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from suanpei.errors import InputError
from suanpei.verbs.envelope import to_envelope
from suanpei.verbs.job_request import JobRequest
from suanpei.verbs.plan import plan
from suanpei.verbs.plan_request import PlanRequest
from suanpei.verbs.rfq import RfqRequest, RfqResult, request_quotes
from tests.market.rfq.samples import EIGHT_MACHINES, ONE_MACHINE, document

if TYPE_CHECKING:
    from suanpei.market.rfq.words import FormLanguage


def ask(plan: Path = EIGHT_MACHINES, *, language: FormLanguage = "en", **options: object) -> RfqResult:
    return request_quotes(RfqRequest(plan=plan, language=language, **options))  # type: ignore[arg-type]


def test_a_fresh_plan_can_be_asked_for(tmp_path: Path) -> None:
    job = JobRequest(model="qwen2.5-7b", samples="50000", avg_tokens="400")
    result = plan(PlanRequest(job=job, as_of=date(2026, 11, 30), currency="CNY", gpu=("A800",), gpus="8"))
    file = tmp_path / "plan.json"
    file.write_text(json.dumps(to_envelope(result)), encoding="utf-8")
    specification = ask(file, out=tmp_path / "rfq.xlsx").specification
    assert specification.gpus == 8
    assert specification.nodes == 1
    path, storage = result.plans[0].data_path, specification.storage
    assert storage is not None
    for name in ("data_bytes", "moved_in_bytes", "pull_s", "checkpoint_bytes", "checkpoint_write_s", "capacity_bytes"):
        assert getattr(storage, name) == getattr(path, name), name
    assert storage.training_read_bytes_per_s == path.read_bytes_per_s
    assert storage.read_bytes_per_s == pytest.approx(path.storage_bytes_per_s)


def test_each_seller_has_a_file_of_its_own(tmp_path: Path) -> None:
    result = ask(out=tmp_path / "ask.xlsx", seller=("甲云", "B/C: D"))
    assert [(form.seller, form.path.name) for form in result.forms] == [
        ("甲云", "ask-甲云.xlsx"),
        ("B/C: D", "ask-B_C_D.xlsx"),
    ]
    assert ask(ONE_MACHINE).forms[0].path == Path("rfq-8xA800-SXM4-80GB.xlsx")


def test_the_other_plans_of_a_file_can_be_asked_for() -> None:
    first, second = ask(), ask(rank=2)
    assert (first.specification.gpus, second.specification.gpus) == (64, 128)
    assert first.specification.request_hash == second.specification.request_hash


def test_an_existing_file_is_never_replaced(tmp_path: Path) -> None:
    (tmp_path / "ask.xlsx").write_bytes(b"filled")
    with pytest.raises(InputError, match="exists, and a seller may have filled it"):
        ask(out=tmp_path / "ask.xlsx")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"out": Path("ask.pdf")}, r"out: ask\.pdf must end in \.xlsx"),
        ({"out": Path("nowhere/ask.xlsx")}, "out: the folder nowhere does not exist"),
        ({"seller": (" ",)}, "seller takes a name of 1 to 80 printable characters, got ''"),
        ({"seller": ("x" * 81,)}, "seller takes a name"),
        ({"seller": ("a\x07",)}, "seller takes a name"),
        ({"seller": ("A/B", "a b")}, "seller: A/B and a b would share one file"),
        ({"seller": ("A", "A")}, "seller: A and A would share one file"),
        ({"rank": 0}, r"rank: .*h800_eight_machines\.json has the plans 1, 2, got 0"),
        ({"plan": Path("none.json")}, r"plan: none\.json cannot be read"),
        ({"catalog": Path("none")}, "--catalog takes a folder"),
    ],
)
def test_bad_input_is_named_in_one_line(options: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        ask(**options)  # type: ignore[arg-type]


def change(name: str, value: object) -> str:
    return json.dumps(document(EIGHT_MACHINES) | {name: value})


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (EIGHT_MACHINES.read_text(encoding="utf-8").encode("utf-16"), "is not JSON"),
        (b"", "is not JSON"),
        (b"{", "is not JSON"),
        (b"[" * 100_000, "is not JSON"),
        (b"[]", r"is no result of suanpei plan --json: \{\} is missing or wrong; write one with suanpei plan"),
        (b'{"estimate": 1}', "is no result of suanpei plan --json: schema_version is missing or wrong"),
        (change("job", None).encode(), "is no result of suanpei plan --json: job is missing or wrong"),
        (change("schema_version", 3).encode(), "has schema_version 3, this version of Suanpei reads 1 to 2"),
        (change("schema_version", True).encode(), "is no result .*: schema_version is missing or wrong"),
    ],
)
def test_a_file_that_is_no_plan_is_refused_in_one_line(tmp_path: Path, content: bytes, message: str) -> None:
    file = tmp_path / "plan.json"
    file.write_bytes(content)
    with pytest.raises(InputError, match=rf"plan: .*plan\.json {message}") as error:
        ask(file)
    assert "\n" not in str(error.value)


def test_a_plan_of_this_version_has_a_data_path(tmp_path: Path) -> None:
    plan = document(EIGHT_MACHINES)
    del plan["plans"][1]["data_path"]
    file = tmp_path / "plan.json"
    file.write_text(json.dumps(plan), encoding="utf-8")
    assert ask(file, out=tmp_path / "ask.xlsx").specification.rank == 1
    with pytest.raises(InputError, match=r"plans\.1\.data_path is missing or wrong"):
        ask(file, rank=2)


def overlay(folder: Path, name: str, old: str, new: str) -> Path:
    """Lay a changed copy of a bundled file over the catalogue."""
    text = (resources.files("suanpei") / "catalog" / name).read_text(encoding="utf-8")
    assert old in text
    (folder / name).write_text(text.replace(old, new), encoding="utf-8")
    return folder


def test_shares_of_the_users_own_catalogue_are_asked_for(tmp_path: Path) -> None:
    catalog = overlay(tmp_path, "acceptance.toml", "pass_share = 0.95", "pass_share = 0.5")
    mark = ask(catalog=catalog, out=tmp_path / "ask.xlsx").specification.acceptance.in_node
    assert mark is not None
    assert mark.pass_bytes_per_s == pytest.approx(0.5 * mark.reference_bytes_per_s)


def test_a_currency_of_the_users_own_words_is_offered_and_read_back(tmp_path: Path) -> None:
    gbp = 'GBP = { en = "GBP", zh = "GBP 英镑" }\nCNY ='
    catalog = overlay(tmp_path, "rfq_form.toml", "CNY =", gbp)
    words = ask(catalog=catalog, out=tmp_path / "ask.xlsx").words
    assert next(iter(words.choices("currency", "zh").values())) == "GBP 英镑"
    assert words.read_choice("currency", "GBP 英镑") == "GBP"
    assert ask(out=tmp_path / "ask.xlsx").words.read_choice("currency", "GBP") is None


@pytest.mark.parametrize(
    ("name", "old", "new", "key"),
    [
        ("acceptance.toml", "spread_share", "spread", r"matmul\.spread_share"),
        ("rfq_form.toml", 'zh = "二手"', "zh = 2", r"choices\.condition\.used\.zh"),
    ],
)
def test_a_key_that_an_own_file_lacks_is_named(tmp_path: Path, name: str, old: str, new: str, key: str) -> None:
    catalog = overlay(tmp_path, name, old, new)
    with pytest.raises(InputError, match=rf"{name}: {key} is missing or of another kind"):
        ask(catalog=catalog, out=tmp_path / "ask.xlsx")
