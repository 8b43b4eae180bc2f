from __future__ import annotations

import io

from rich.console import Console

from suanpei.report.text.gpus import render_gpus
from suanpei.verbs.gpus import GpusResult, describe_gpus

ALL = describe_gpus()
H800 = describe_gpus("H800")


def _say(result: GpusResult, lang: str) -> str:
    stream = io.StringIO()
    Console(file=stream, width=120).print(render_gpus(result, "zh" if lang == "zh" else "en"))
    return stream.getvalue()


def test_one_accelerator_in_english() -> None:
    text = _say(H800, "en")
    assert "79.1 GiB usable of 80 GiB on the label" in text
    assert "NVLink4 + NVSwitch (cut): 200 GB/s per card and direction; ring 160, all-reduce 215 GB/s" in text
    assert "2026-08-31 (date of the table)" in text
    assert "form factor SXM5 assumed" in text


def test_one_accelerator_in_chinese() -> None:
    text = _say(H800, "zh")
    for words in ("可用 79.1 GiB", "节点内互联", "连接 8 卡", "假定为 SXM5 形态", "可信度", "整表日期"):
        assert words in text
    for words in ("usable", "assumed", "Between nodes", "Confidence"):
        assert words not in text


def test_the_list_shows_every_name_in_full() -> None:
    for lang in ("en", "zh"):
        text = _say(ALL, lang)
        for card in ALL.accelerators:
            assert card.name in text


def test_unknown_is_shown_as_such() -> None:
    line = next(line for line in _say(ALL, "en").splitlines() if line.startswith("THead-PPU"))
    assert line.split()[1:5] == ["96.0", "–", "–", "–"]
