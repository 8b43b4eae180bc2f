"""A local ``tokenizer.json``, and the number of tokens in a record.

Chats are written with the marks that the vocabulary has: ChatML (``<|im_start|>``), Llama 3 (``<|start_header_id|>``),
else plain lines; so the marks between turns are counted.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from suanpei.errors import InputError
from suanpei.messages import Message

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from tokenizers import Tokenizer

    from suanpei.job.dataset.layouts import Turns

Markup = Literal["chatml", "llama3", "plain"]

_LARGEST_BYTES = 512 << 20


@dataclass(frozen=True, kw_only=True)
class TokenCounter:
    """Counts tokens, special tokens of the text's ends not included."""

    tokenizer: Tokenizer
    markup: Markup

    @property
    def vocab(self) -> int:
        """Entries of the vocabulary, added ones included. [-]"""
        return int(self.tokenizer.get_vocab_size(with_added_tokens=True))

    def write(self, turns: Turns) -> str:
        """Write a record as the text that is encoded. [-]"""
        if len(turns) == 1 and not turns[0][0]:
            return turns[0][1]
        if self.markup == "chatml":
            return "".join(f"<|im_start|>{role}\n{text}<|im_end|>\n" for role, text in turns)
        if self.markup == "llama3":
            return "".join(f"<|start_header_id|>{role}<|end_header_id|>\n\n{text}<|eot_id|>" for role, text in turns)
        return "".join(f"{role}: {text}\n" for role, text in turns)

    def count(self, texts: Sequence[str]) -> list[int]:
        """Count the tokens of each text. [tokens]"""
        whole = [text.encode("utf-8", "replace").decode("utf-8") for text in texts]  # JSON can hold half a character
        encodings = self.tokenizer.encode_batch_fast(whole, add_special_tokens=False)
        return [len(encoding) for encoding in encodings]


def load_tokenizer(path: Path) -> TokenCounter:
    """Load a ``tokenizer.json``, or the one in a folder.

    Args:
        path: The file, or a folder that holds it. [-]

    Returns:
        The counter, truncation and padding switched off. [-]

    Raises:
        InputError: The file is absent, or no tokenizer of this kind.
    """
    file = path / "tokenizer.json" if path.is_dir() else path
    if not file.is_file():
        raise InputError(
            Message("--tokenizer {file}: no such file; it takes the tokenizer.json of the model", file=str(file))
        )
    if file.suffix != ".json" or file.stat().st_size > _LARGEST_BYTES:
        raise InputError(
            Message(
                "--tokenizer {file}: not a tokenizer.json; save one with the model's fast tokenizer (save_pretrained)",
                file=str(file),
            )
        )
    from tokenizers import Tokenizer

    try:
        # read here, not by the library, whose file access fails on some Windows paths
        tokenizer = Tokenizer.from_str(file.read_text(encoding="utf-8-sig"))
    except Exception as error:  # the library raises bare Exception
        raise InputError(
            Message(
                "--tokenizer {file}: not a tokenizer of the tokenizers library: {reason}",
                file=str(file),
                reason=" ".join(str(error).split())[:160],
            )
        ) from error
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return TokenCounter(tokenizer=tokenizer, markup=_find_markup(tokenizer))


def _find_markup(tokenizer: Tokenizer) -> Markup:
    if tokenizer.token_to_id("<|im_start|>") is not None:
        return "chatml"
    if tokenizer.token_to_id("<|start_header_id|>") is not None:
        return "llama3"
    return "plain"
