"""The quick look before a search finds every word that the search finds."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from suanpei.market.quotes.text.words import Vocabulary, plain
from tests.market.quotes.samples import WORDS

VOCABULARIES = {
    name: vocabulary
    for name, vocabulary in (
        *((name, getattr(WORDS, name)) for name in ("billed", "periods", "currencies", "pricing", "flags", "charges")),
        *((f"tax {name}", vocabulary) for name, vocabulary in WORDS.tax_words.items()),
        *((f"term {name}", vocabulary) for name, vocabulary in WORDS.terms.items()),
        *((f"link {name}", vocabulary) for name, vocabulary in WORDS.links.items()),
        *((f"line {name}", vocabulary) for name, vocabulary in WORDS.lines.items()),
    )
    if isinstance(vocabulary, Vocabulary)
}
EVERY_WORD = sorted({word for vocabulary in VOCABULARIES.values() for word in vocabulary.group_of})
PIECES = st.sampled_from([*EVERY_WORD, " ", "-", ",", "8", "月", "x", "H100", "set-up fee", "On Demand"])


@given(st.lists(PIECES, max_size=6), st.sampled_from(sorted(VOCABULARIES)))
def test_the_quick_look_loses_no_word(pieces: list[str], name: str) -> None:
    text, vocabulary = plain("".join(pieces)), VOCABULARIES[name]
    assert (vocabulary.search(text) is None) == (vocabulary.pattern.search(text) is None)
    assert vocabulary.groups(text) == {vocabulary.group(found.group()) for found in vocabulary.pattern.finditer(text)}


@given(st.sampled_from(sorted(VOCABULARIES)), st.sampled_from(["", " ", "-"]))
def test_each_word_may_be_there(name: str, joint: str) -> None:
    vocabulary = VOCABULARIES[name]
    assert all(vocabulary.may_have(f"{joint}{word}") for word in vocabulary.group_of if vocabulary.pattern.search(word))


def test_a_group_without_words_is_found_nowhere() -> None:
    empty = Vocabulary({"nothing": []})
    assert not empty.has("H100 8卡")
    assert empty.pattern.search("H100 8卡") is None
