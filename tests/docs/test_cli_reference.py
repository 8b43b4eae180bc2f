from __future__ import annotations

import importlib.util
from pathlib import Path

from suanpei.app.cli.main import COMMANDS

DOCS = Path(__file__).parents[2] / "docs"


def test_the_reference_is_up_to_date_and_has_every_command() -> None:
    spec = importlib.util.spec_from_file_location("generate_cli", DOCS / "generate_cli.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    text = (DOCS / "cli.md").read_text(encoding="utf-8")
    assert text == module.render_reference(), "run 'make docs'"
    assert all(f"## suanpei {name}\n" in text for name in COMMANDS)
