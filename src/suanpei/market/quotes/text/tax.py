"""Tax in text: ``不含税(6%)``, ``含6个点``, ``zzgl. 19% USt``, ``+0%``, a column 是否含税 with yes or no."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from suanpei.market.quotes.text.words import plain
from suanpei.market.terms import UNKNOWN_TAX, Tax, read_tax

if TYPE_CHECKING:
    from suanpei.market.quotes.text.words import QuoteWords

_RATE = r"\d{1,2}(?:\.\d+)?"
_BARE_POINTS = r"(?:(?<=点\d)|(?<=点\d\d))个(?!月)"
_POINTS = re.compile(rf"个税?点(?:税)?|{_BARE_POINTS}")
"""6个点 and 税点6个 are 6 %."""
_BARE_RATE = re.compile(r"(?P<word>含税|税率|税点)\s*(?P<rate>3|6|9|13)(?=$|[\s,;。)的专])")
"""含税13 is 13 %."""
_BESIDE = r"[^\s,;。、()/|:]"
_OUT, _IN = "不含税", "含税"


class TaxReader:
    """Reads tax with one catalogue's words."""

    def __init__(self, words: QuoteWords) -> None:
        said = words.tax_words
        fillers = rf"(?:(?:{said['fillers'].source})\s+)*"
        joined = rf"(?:{said['joins'].source})\s*{fillers}"
        led = rf"(?:{said['leads'].source}|{said['joins'].source})\s*{fillers}"
        behind = rf"\s*(?:费|金|款)?\s*(?:is\s+|are\s+)?(?:{said['out_after'].source}|{said['in_after'].source})"
        self._tax = words.tax
        self._yes, self._no = said["yes"], said["no"]
        self._out = said["out"]
        self._in = said["in"]
        self._out_after, self._in_after = said["out_after"], said["in_after"]
        self._wording = re.compile(
            rf"(?<!包){joined}{_RATE}\s*(?:%|个税?点)\s*的?(?:{words.tax.source})?"
            rf"|\+\s*{_RATE}\s*%(?:\s*(?:{words.tax.source}))?"
            rf"|{led}{_RATE}\s*%\s*的?(?:{words.tax.source})"
            rf"|(?:{led}|{_RATE}\s*%\s*的?)?(?:{words.tax.source})"
            rf"(?:{behind}|(?:{said['price'].source}))?"
            rf"(?:(?:[\s,;(]*(?:税率|税点|增值税))?\s*[:(率为]{{0,2}}\s*{_RATE}\s*(?:%|个税?点|{_BARE_POINTS})\)?(?:{behind})?)?"
        )
        self._question = re.compile(r"是否含税\s*[:为]?\s*(?P<answer>[是否])?")
        self._invoices = said["invoice"]
        self._invoice = re.compile(rf"{_BESIDE}{{0,10}}(?:{said['invoice'].source}){_BESIDE}{{0,8}}")
        self._open = re.compile(rf"(?:{words.tax.source})[^\s,;。、]{{0,4}}?[:请]?\s*(?:{said['open'].source})")

    def read(self, text: str, *, heading: str = "", is_tax: bool = False) -> Tax:
        """Read what a text says of tax.

        Args:
            text: In plain form. [-]
            heading: Of its column, which a bare yes, no or rate answers. [-]
            is_tax: Whether it stands under a heading about tax: all of it is then about tax. [-]
        """
        text = self._open.sub(" ", self._question.sub(_answer, text)).strip()
        if is_tax:
            return self._of_column(_POINTS.sub("%", text), plain(heading))
        return self._of_wordings(_BARE_RATE.sub(r"\g<word>\g<rate>%", text))

    def find_invoice(self, text: str) -> str:
        """Give the words on invoices of a text; empty where there are none.

        Args:
            text: In plain form, amounts of money taken out. [-]
        """
        found = self._invoice.search(text) if self._invoices.may_have(text) else None
        return found.group() if found else ""

    def _of_column(self, text: str, heading: str) -> Tax:
        bare = text.strip("() ")
        if self._yes.pattern.fullmatch(bare):
            return read_tax(_IN)
        if self._no.pattern.fullmatch(bare):
            return read_tax(_OUT)
        tax = self._of_wording(text)
        if tax.state == "unknown" and tax.rate_fraction is not None and heading in (_IN, _OUT):
            return replace(read_tax(f"{heading} {text}"), wording=text)
        worded = self._of_wordings(text)
        return join_taxes(worded, tax) if worded.state != "unknown" else tax

    def _of_wordings(self, text: str) -> Tax:
        """Join what the wordings about tax in a text say."""
        tax = UNKNOWN_TAX
        if not ("%" in text or "点" in text or self._tax.may_have(text)):
            return tax
        for found in self._wording.finditer(text):
            tax = join_taxes(tax, self._of_wording(_POINTS.sub("%", found.group())))
        return tax

    def _of_wording(self, wording: str) -> Tax:
        """Read a wording that may leave out the word for tax: ``含6%``, ``不含6%``, ``加6%``."""
        tax = read_tax(wording)
        if tax.state != "unknown":
            return tax
        for is_said, full in (
            (self._out_after.has(wording) or self._out.pattern.match(wording), _OUT),
            (self._in_after.has(wording) or self._in.pattern.match(wording), _IN),
        ):
            if is_said:
                return replace(read_tax(f"{full} {wording}"), wording=wording)
        return tax


def _answer(found: re.Match[str]) -> str:
    """Give what 是否含税 is answered with; without an answer it says nothing."""
    return {"是": _IN, "否": _OUT, None: " "}[found["answer"]]


def join_taxes(first: Tax, second: Tax) -> Tax:
    """Take the first that says in or out; a rate that the other states belongs to it."""
    stated, other = (second, first) if first.state == "unknown" and second.state != "unknown" else (first, second)
    if stated.rate_fraction is not None or other.rate_fraction is None:
        return stated
    return replace(stated, rate_fraction=other.rate_fraction)
