from __future__ import annotations

import io
from datetime import date

from rich.console import Console

from suanpei.report.text.sizes import render_sizes
from suanpei.verbs.sizes import SizesRequest, build_sizes

TABLE = build_sizes(
    SizesRequest(
        as_of=date(2026, 11, 30), currency="CNY", sizes=("7B",), method=("qlora", "full"), gpu=("4090", "A800")
    )
)


def _say(lang: str) -> str:
    stream = io.StringIO()
    Console(file=stream, width=120).print(render_sizes(TABLE, "zh" if lang == "zh" else "en"))
    return stream.getvalue()


def test_the_table_says_the_cards_days_and_cost() -> None:
    text = _say("en")
    cell = TABLE.rows[1].smallest
    assert cell is not None
    line = next(line for line in text.splitlines() if line.startswith("qlora"))
    assert f"1 × {cell.accelerator}" in line
    assert str(cell.cost_per_billion_tokens) in line
    assert f"{cell.days_per_billion_tokens:.2g}" in line
    assert "not an offer" in text
    assert "Fewest cards" in text


def test_the_table_in_chinese() -> None:
    text = _say("zh")
    for words in ("每 token 最省", "放得下的最低租金", "家卖家", "并非报价", "各标称显存所需的最少卡数"):
        assert words in text
    for words in ("Cheapest", "Fewest", "offer", "sellers"):
        assert words not in text


def test_methods_stand_in_their_usual_order() -> None:
    methods = [row.method for row in TABLE.rows]
    assert methods == ["full", "qlora"]
