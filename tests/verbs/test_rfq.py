from __future__ import annotations

import json
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from suanpei.errors import InputError
from suanpei.verbs.envelope import to_envelope
from suanpei.verbs.job_request import JobRequest
from suanpei.verbs.plan import plan
from suanpei.verbs.plan_request import PlanRequest
from suanpei.verbs.rfq import RfqRequest, RfqResult, request_quotes
from tests.market.rfq.samples import EIGHT_MACHINES, ONE_MACHINE

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
    # the assumption under the plan is still found: one machine writes 14 bytes per parameter at 1 GB/s
    parameters = result.job.total_parameters
    assert specification.storage.checkpoint_bytes == pytest.approx(parameters * 14)
    assert specification.storage.write_bytes_per_s == pytest.approx(1e9)


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
        ({"rank": 0}, "rank: the file holds plans 1, 2, not 0"),
        ({"plan": Path("none.json")}, r"none\.json cannot be read"),
        ({"catalog": Path("none")}, "--catalog takes a folder"),
    ],
)
def test_bad_input_is_named_in_one_line(options: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        ask(**options)  # type: ignore[arg-type]


def test_a_file_that_is_not_utf_8_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "plan.json"
    file.write_bytes(EIGHT_MACHINES.read_text(encoding="utf-8").encode("utf-16"))
    with pytest.raises(InputError, match=r"plan\.json is not JSON: UTF-8 text is expected, and byte 1 is none"):
        ask(file)
