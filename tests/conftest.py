"""Fixtures for all tests."""

from __future__ import annotations

import pytest
from hypothesis import settings

settings.register_profile("suanpei", deadline=None)  # shared machines: no test may depend on time
settings.load_profile("suanpei")


@pytest.fixture(autouse=True)
def _english(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests read English unless they ask for another language, whatever the machine's locale."""
    monkeypatch.setenv("SUANPEI_LANG", "en")
