"""Fixtures: the small tokenizer and its file."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tokenizers import Tokenizer

from tests.job.dataset.small_tokenizer import build_tokenizer

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="session")
def tokenizer() -> Tokenizer:
    return build_tokenizer()


@pytest.fixture(scope="session")
def tokenizer_file(tokenizer: Tokenizer, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("分词器") / "tokenizer.json"
    # saved with truncation and padding, as checkpoints often are; neither may shorten or lengthen a count
    copy = Tokenizer.from_str(tokenizer.to_str())
    copy.enable_truncation(max_length=8)
    copy.enable_padding(length=64)
    copy.save(str(path))
    return path
