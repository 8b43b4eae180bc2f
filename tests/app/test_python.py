from __future__ import annotations

import io
import subprocess
import sys
from datetime import date
from typing import TYPE_CHECKING, Any, cast

import pytest
from rich.console import Console

import suanpei
from suanpei.app.cli.main import run
from suanpei.errors import InputError
from suanpei.job.job import LORA_TARGETS
from suanpei.report.text.gpus import render_gpus
from suanpei.verbs.compare import CompareResult
from suanpei.verbs.compare_plans import ComparePlansResult
from suanpei.verbs.envelope import to_envelope
from suanpei.verbs.estimate import EstimateResult
from suanpei.verbs.gpus import GpusResult, describe_gpus
from suanpei.verbs.plan import PlanResult
from suanpei.verbs.sizes import SizesResult
from tests.golden.compare_samples import SELLERS, on_offers, write_plan
from tests.golden.plan_samples import FROZEN

if TYPE_CHECKING:
    from pathlib import Path

DAY = date(2026, 11, 30)


@pytest.fixture(autouse=True)
def english(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SUANPEI_LANG", "en")


def test_importing_loads_no_heavy_package() -> None:
    script = (
        "import sys, suanpei; print([name for name in ('numpy', 'pydantic', 'typer', 'rich') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_every_verb_is_listed_and_found() -> None:
    for name in suanpei.__all__[1:]:
        assert name in dir(suanpei)
        assert callable(getattr(suanpei, name))
        assert getattr(suanpei, name).__doc__
    with pytest.raises(AttributeError, match="no attribute 'plam'"):
        suanpei.plam  # noqa: B018


def test_plan_takes_the_options_of_the_command_line() -> None:
    result = suanpei.plan("llama-3-8b", tokens="2B", deadline="30d", gpu="A800", gpus="8", as_of=DAY)
    assert isinstance(result, PlanResult)
    assert {row.accelerator for row in result.plans} == {"A800-SXM4-80GB"}
    assert result.job.tokens == 2e9
    assert result.request["as_of"] == "2026-11-30"
    assert result.plans[0].gpus == 8
    assert result.currency == "USD"


def test_compare_takes_quotes_or_two_plans(tmp_path: Path) -> None:
    asked = {"samples": 2000, "avg_tokens": 600, "gpus": "2,8", "catalog": FROZEN, "as_of": DAY, "currency": "CNY"}
    result = suanpei.compare("qwen2.5-7b", quotes=SELLERS, **asked)
    assert isinstance(result, CompareResult)
    assert result.sellers[0].seller == "丁云"
    assert str(result).startswith("Cheapest for this job: 丁云")
    plan_file = write_plan(on_offers(), tmp_path / "a.json")
    why = suanpei.compare(plans=(plan_file, str(plan_file)), rank=(1, 3))
    assert isinstance(why, ComparePlansResult)
    assert (why.a.rank, why.b.rank) == (1, 3)
    assert "B takes" in str(why)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({}, "quotes: give the files"),
        ({"quotes": "x.csv", "rank": 1}, "rank: it picks a plan of the two files"),
        ({"quotes": "x.csv", "offers": "y.csv"}, "there is no option offers; did you mean quotes"),
        ({"quotes": "x.csv", "dedline": "3d"}, "there is no option dedline; did you mean deadline"),
        ({"plans": ("a.json",)}, "plans takes 2 values"),
        ({"plans": ("a.json", "b.json"), "deadline": "3d"}, "plans: the two files hold all"),
        ({"plans": ("a.json", "b.json"), "quotes": "x.csv"}, "plans: the two files hold all"),
    ],
)
def test_compare_refuses_what_does_not_go_together(options: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        suanpei.compare(**options)


def test_numbers_serve_where_text_does() -> None:
    text = suanpei.estimate("7B", gpu="A800", gpus="8", tokens="1B", method="lora", lora_rank=32, host_memory="1TiB")
    numbers = suanpei.estimate("7B", gpu="A800", gpus=8, tokens=1e9, method="lora", lora_rank=32, host_memory="1TiB")
    assert isinstance(text, EstimateResult)
    assert text.estimate.step.seconds == numbers.estimate.step.seconds
    assert text.run == numbers.run
    assert text.job.lora is not None
    assert text.job.lora.targets == LORA_TARGETS


def test_lists_and_texts_serve_where_numbers_do() -> None:
    listed = suanpei.plan("llama-3-8b", tokens="2B", gpu="A800", gpus=[8, 16], top="2", seq_len="4096", as_of=DAY)
    text = suanpei.plan("llama-3-8b", tokens="2B", gpu="A800", gpus="8,16", top=2, seq_len=4096, as_of=DAY)
    assert listed.plans == text.plans


def test_a_result_prints_as_the_command_line_prints_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["gpus", "H800"]) == 0
    assert str(suanpei.gpus("H800")).splitlines() == capsys.readouterr().out.splitlines()


def test_it_prints_in_the_readers_language(monkeypatch: pytest.MonkeyPatch) -> None:
    result = suanpei.gpus("H800")
    assert "Between nodes" in repr(result)
    monkeypatch.setenv("SUANPEI_LANG", "zh")
    assert "节点内互联" in str(result)
    price = suanpei.gpus("H800").accelerator
    assert price is not None
    assert price.price is not None
    assert price.price.currency == "CNY"


def test_a_notebook_gets_html() -> None:
    result = suanpei.gpus("4090")
    html = result._repr_html_()
    assert html.startswith("<pre")
    assert "RTX-4090" in html
    stream = io.StringIO()
    Console(file=stream, width=120).print(render_gpus(result, "en"))
    assert stream.getvalue().splitlines()[0].strip() in html


def test_a_printed_result_is_the_verbs_own() -> None:
    printed, plain = suanpei.gpus("H800", currency="USD"), describe_gpus("H800")
    assert isinstance(printed, GpusResult)
    assert to_envelope(printed) == to_envelope(plain)
    assert suanpei.gpus("H800", currency="USD") == printed


def test_sizes_models_and_tables_of_the_user(tmp_path: Path) -> None:
    (tmp_path / "accelerators.csv").write_text("name,memory_gib_usable\nRTX-4090,20\n", encoding="utf-8")
    small = suanpei.sizes("7B", method="qlora", gpu=["4090"], catalog=tmp_path, as_of="2026-11-30")
    usual = suanpei.sizes("7B", method=["qlora"], gpu="4090", as_of="2026-11-30")
    assert isinstance(small, SizesResult)
    assert small.rows[0].cells[0].memory_bytes / small.rows[0].cells[0].gpus == 20 * 2**30
    assert usual.rows[0].cells[0].gpus == 1
    model = suanpei.models("7B").model
    assert model is not None
    assert model.total_parameters == pytest.approx(7e9, rel=0.03)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: suanpei.plan("7B", deadlin="2d"), "there is no option deadlin; did you mean deadline?"),
        (lambda: suanpei.plan("7B", tokens="2B", wombat=1), "there is no option wombat"),
        (lambda: suanpei.plan("7B", tokens="2B", deadline="20"), "deadline"),
        (lambda: suanpei.estimate("7B", gpu="A1OO", gpus=8), "A1OO is unknown"),
        (lambda: suanpei.sizes("7B", method="dpo"), "got 'dpo'"),
        (lambda: suanpei.sizes("7B", gpu=5), "accelerator 5 is ambiguous"),
        (lambda: suanpei.plan("7B", tokens=[1, "x"]), "tokens takes a text or a number, got '[1, 'x']'"),
        (lambda: suanpei.plan("7B", tokens="2B", top="many"), "top takes a whole number, got 'many'"),
        (lambda: suanpei.plan("7B", tokens="2B", top=2.5), "top takes a whole number, got '2.5'"),
        (lambda: suanpei.plan("7B", tokens="2B", epochs=True), "epochs takes a number, got 'True'"),
        (lambda: suanpei.plan("7B", tokens="2B", as_of="yesterday"), "as_of takes a date such as 2026-07-15"),
        (lambda: suanpei.plan("7B", tokens="2B", catalog=5), "catalog takes a path, got '5'"),
        (lambda: suanpei.plan("7B", tokens="2B", offers=[None]), "offers takes a path, got 'None'"),
        (lambda: suanpei.plan("7B", tokens="2B", flash_attention="no"), "flash_attention must be true or false"),
        (lambda: suanpei.estimate("7B", gpu="A800", gpus=8, sp="yes"), "sp must be true or false"),
        (
            lambda: suanpei.estimate("7B", gpu="A800", gpus=8, host_memory_bytes=1),
            "there is no option host_memory_bytes",
        ),
        (lambda: suanpei.tokens("x.jsonl", cast("Any", None)), "tokenizer takes a path"),
        (lambda: suanpei.models("~nobody-of-that-name/x"), "does not exist"),
    ],
)
def test_wrong_options_are_named(call: object, words: str) -> None:
    assert callable(call)
    with pytest.raises(InputError) as caught:
        call()
    assert words in str(caught.value)
