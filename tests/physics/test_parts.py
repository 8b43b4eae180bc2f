"""Every part has a place in the documentation."""

from __future__ import annotations

from pathlib import Path

from suanpei.physics.parts import MEMORY_PARTS

DOCS = Path(__file__).parents[2] / "docs"


def test_memory_parts_are_explained() -> None:
    text = "".join(path.read_text(encoding="utf-8") for path in sorted(DOCS.glob("physics*.md")))
    missing = [part.key for part in MEMORY_PARTS if f'<a id="{part.anchor}"></a>' not in text]
    assert missing == []


def test_keys_are_unique_and_in_bytes() -> None:
    keys = [part.key for part in MEMORY_PARTS]
    assert len(set(keys)) == len(keys)
    assert {part.unit for part in MEMORY_PARTS} == {"B"}
