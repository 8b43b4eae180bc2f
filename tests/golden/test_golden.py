"""Golden files: the whole text of plans and estimates, and the keys of their JSON.

A difference is either a defect or an intended change: read it, then ``make golden-update``.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from suanpei.report.locale import translate
from suanpei.report.text.compare import render_compare
from suanpei.report.text.compare_plans import render_compare_plans
from suanpei.report.text.estimate import render_estimate
from suanpei.report.text.mix import render_mix
from suanpei.report.text.plan import render_plan
from suanpei.report.text.quotes import render_quotes
from suanpei.verbs.envelope import to_envelope
from tests.golden.compare_samples import compared, two_plans
from tests.golden.mix_samples import mixed, unproved
from tests.golden.plan_samples import continued, estimated, offered, print_at, too_large, tuned
from tests.golden.quote_samples import handmade

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from suanpei.report.locale import Language

HERE = Path(__file__).parent
UPDATE = bool(os.environ.get("SUANPEI_GOLDEN_UPDATE"))

TEXTS: dict[str, Callable[[Language, int], str]] = {
    "plan": lambda lang, width: print_at(render_plan(continued("CNY" if lang == "zh" else "USD"), lang), width),
    "plan_tuning": lambda lang, width: print_at(render_plan(tuned("CNY" if lang == "zh" else "USD"), lang), width),
    "compare": lambda lang, width: print_at(render_compare(compared("CNY" if lang == "zh" else "USD"), lang), width),
    "compare_plans": lambda lang, width: print_at(render_compare_plans(two_plans(), lang), width),
    "plan_offered": lambda lang, width: print_at(render_plan(offered("CNY" if lang == "zh" else "USD"), lang), width),
    "mix": lambda lang, width: print_at(render_mix(mixed("CNY" if lang == "zh" else "USD"), lang), width),
    "mix_unproved": lambda lang, width: print_at(render_mix(unproved("CNY" if lang == "zh" else "USD"), lang), width),
    "estimate": lambda lang, width: print_at(render_estimate(estimated(), lang), width),
    "estimate_too_large": lambda lang, width: print_at(render_estimate(too_large(), lang), width),
    "quotes": lambda lang, width: print_at(render_quotes(handmade(), lang), width),
}


def check(name: str, text: str) -> None:
    file = HERE / f"{name}.txt"
    if UPDATE:
        file.write_text(text, encoding="utf-8", newline="\n")
    assert text == file.read_text(encoding="utf-8"), f"{file.name} differs: read why, then 'make golden-update'"


@pytest.mark.parametrize("width", [120, 80])
@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("name", sorted(TEXTS))
def test_the_text_is_as_it_was(name: str, lang: Language, width: int) -> None:
    check(f"{name}_{lang}_{width}", TEXTS[name](lang, width))


@pytest.mark.parametrize(
    ("name", "make"),
    [
        ("plan", tuned),
        ("estimate", estimated),
        ("compare", compared),
        ("compare_plans", two_plans),
        ("quotes", handmade),
        ("mix", mixed),
    ],
)
def test_the_json_has_the_keys_that_it_had(name: str, make: Callable[[], Any]) -> None:
    document = to_envelope(make(), lambda message: translate(message, "en"))
    check(f"{name}_keys", "\n".join(sorted(set(list_keys(document)))) + "\n")


def list_keys(value: Any, path: str = "") -> Iterator[str]:
    """Name every key below a value; a message is one key, and the row of an alternative has the keys of a plan."""
    if isinstance(value, dict) and set(value) != {"key", "values", "text"}:
        for key, item in value.items():
            here = f"{path}.{key}" if path else key
            yield here
            if key != "row":
                yield from list_keys(item, here)
    elif isinstance(value, list):
        for item in value:
            yield from list_keys(item, f"{path}[]")
