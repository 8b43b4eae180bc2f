"""Links in text: ``8×400G IB``, ``RoCE 4×200G``, ``3.2Tbps IB``, ``无IB``, ``NVLink pairs``."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from suanpei.market.quotes.text.words import NOTHING_WORDS, half_width, plain

if TYPE_CHECKING:
    from suanpei.market.quotes.text.words import QuoteWords

NO_LINKS = "none"


class LinkReader:
    """Reads links with one catalogue's words."""

    def __init__(self, words: QuoteWords) -> None:
        kind = f"(?:{words.links['kinds'].source})"
        rate = rf"(?:\d{{1,2}}\s*[x×*]\s*)?\d+(?:\.\d+)?\s*(?:{words.links['rates'].source})"
        count = r"(?:\s*[双单]口)?(?:\s*[x×*]\s*\d{1,2}(?![\d.]))?"
        self._kinds, self._alone = words.links["kinds"], words.links["alone"]
        self._link = re.compile(
            rf"\d+(?:\.\d+)?\s*(?:{words.links['rates'].source})\s*[x×*]\s*\d{{1,2}}\s*{kind}"
            rf"|{rate}\s*(?:[双单]口)?\s*的?{kind}{count}|{kind}\s*(?:网络|网卡|参数网|参数面|算力网|计算网)?\s*{rate}{count}"
            rf"|(?:{words.links['without'].source})\s?{kind}|{words.links['alone'].source}|{kind}(?:\s*(?:组网|网络|互联))?",
            re.IGNORECASE,
        )

    def read(self, text: str, *, is_links: bool) -> str:
        """Read what joins the cards or nodes, in the seller's own words.

        Args:
            text: A cell or clause as written. [-]
            is_links: Whether it stands under a heading of links: it is then taken whole. [-]

        Returns:
            The words; ``none`` where a cell of links says that there are none; empty where nothing is said.
        """
        if is_links:
            stripped = text.strip()
            return NO_LINKS if stripped and plain(stripped) in NOTHING_WORDS else stripped
        half = half_width(text)
        if not self._may_join(half.casefold()):
            return ""
        return ", ".join(dict.fromkeys(found.group().strip() for found in self._link.finditer(half)))

    def without(self, text: str) -> str:
        """Blank the links out of a plain text, so that their counts are not taken for cards or amounts."""
        if not self._may_join(text):
            return text
        return self._link.sub(lambda found: " " * len(found.group()), text)

    def _may_join(self, text: str) -> bool:
        return self._kinds.may_have(text) or self._alone.may_have(text)
