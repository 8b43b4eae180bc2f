"""Counts in text: cards of a node (``8卡整机``, ``8x``, ``8-GPU node``), what is on hand (``现货16台``)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from typing import TYPE_CHECKING

from suanpei.market.offer import LARGEST_SERVER_GPUS
from suanpei.market.quotes.text.link import LinkReader
from suanpei.market.quotes.text.words import NOTHING_WORDS

if TYPE_CHECKING:
    from suanpei.market.quotes.text.words import QuoteWords

MOST_GPUS = 100_000
"""More cards than any seller offers at once. [-]"""
_CARDS_BEHIND = re.compile(r"(?<=[a-z\d)])\s*[x×*]\s*(?P<count>\d{1,2})(?!\s*[\dg.])")
_OTHER_PARTS = re.compile(
    r"(?<![\d.])\d{1,2}\s*(?:[x×*]|路|颗)\s*(?:(?:intel|amd|xeon|epyc|至强|霄龙|cpu|鲲鹏|海光)|\d{4}[a-z]{0,2}\+?(?![\d万]))"
    r"|(?:网|网卡|带宽|内存|硬盘|磁盘|存储)\s*\d{1,5}(?:\.\d{1,3})?\s*[gt]b?\s*[x×*]\s*\d+|(?<![\d.])\d{1,4}(?:\.\d{1,3})?\s*tb?\s*[x×*]\s*\d+"
)
"""``存储网200G×2``, ``7.68T*4`` count ports and disks."""
_NUMBER = r"(?<![\d.])(?P<count>\d{1,6})\s*[余多]?\s*"
_BARE = re.compile(r"\d{1,6}")
_NOT_COUNT = r"(?![\d.%]|\s*(?:[月日号年]|p(?![a-z])))"
"""Behind a number that is a date, a share, or PFLOP/s."""

SPREAD_FLAG = "spread_over_sites"
"""The flag of a quote whose total stands over several sites or partitions: not known to be in one fabric."""
_NODE_SIZES = (1, 2, 4, 8)
"""Cards of a machine, where ``4x H100 nodes`` may mean machines of four. [-]"""


@dataclass(frozen=True, kw_only=True, slots=True)
class Stock:
    """What is on hand, in what it was counted."""

    count: int
    unit: str
    """``machine``, ``card``, or empty where a bare number stands."""


NONE_ON_HAND = Stock(count=0, unit="machine")


class CountReader:
    """Reads counts with one catalogue's words."""

    def __init__(self, words: QuoteWords) -> None:
        self._links = LinkReader(words)
        cards, loose = words.counts["cards"].source, words.counts["loose_cards"].source
        machines, stock = words.counts["machines"].source, words.stock.source
        self._cards = re.compile(
            rf"(?<![\d.\-~])(?P<count>\d{{1,3}})\s*-?\s*(?:{cards}|(?<![a-z]\d{{3}})(?<![a-z]\d{{2}})"
            r"(?:x(?![a-z\d]|\s*\d)|×(?!\s*\d)|[x×*]\s*(?=[a-z\u4e00-\u9fff])))"
        )
        self._each_has = re.compile(
            rf"(?<![\d.])(?P<count>\d{{1,2}})\s*-?\s*(?:{cards})\s*"
            rf"(?:each(?![a-z])|(?:per|/|in each)\s*(?:{machines})(?!\s*[/\d]))"
            rf"|每个?(?:{machines})\s*(?P<inside>\d{{1,2}})\s*(?:{cards})"
        )
        self._card_range = re.compile(rf"(?<!\d)1\s*[-~至到]\s*\d{{1,2}}\s*(?:{cards}|x|×)")
        self._one = re.compile(rf"(?:{words.counts['one'].source})|(?<!\d)1\s*-?\s*gpu(?!s)")
        several = "|".join(word for word in words.counts["machines"].group_of if word.isascii() and word.endswith("s"))
        self._machines = re.compile(rf"{_NUMBER}(?:(?:{machines})(?!\s*起)|[x×*]\s*(?:{several}))")
        self._nodes_of_cards = re.compile(
            rf"(?<![\d.])(?P<count>\d{{1,4}})\s*[x×*]\s*(?=[a-z][^,;。|(/]{{1,24}}\s(?:{several})(?![a-z]))"
        )
        self._each = re.compile(rf"(?<![\d.])1\s*(?:{machines})\s*(?=[月年日天租价每]|1\s*个?[月天年])")
        racks = words.counts["racks"].source
        self._rack = re.compile(
            rf"(?<![\d.])(?P<count>\d{{2,4}})\s*-?\s*(?:{cards})\s*的?(?:{racks})"
            rf"|(?<![a-z])nvl(?P<joined>\d{{2,3}})(?!\d)[^,;。\d]{{0,8}}(?:{racks})"
        )
        self._loose_cards = re.compile(rf"{_NUMBER}(?:{loose})")
        unit = rf"(?:(?P<machine{{0}}>{machines})|(?P<card{{0}}>{loose}))"
        self._stock = re.compile(
            rf"(?:{stock})[^\d;。,]{{0,6}}?(?P<near>\d{{1,6}})\s*(?:{unit.format('')})?{_NOT_COUNT}"
            rf"|(?<![\d.])(?P<far>\d{{1,6}})\s*{unit.format('2')}\s*(?:{stock})"
            rf"(?![^\d;。,]{{0,6}}\d+{_NOT_COUNT})"
        )
        self._on_hand = re.compile(rf"(?:{stock})[^\d]{{0,6}}$")
        either = f"(?:{machines}|{loose})"
        least = words.counts["least"].source
        self._least = re.compile(
            rf"(?:{least})\s*[:为]?\s*(?P<first>\d{{1,6}})\s*{either}(?:起)?"
            rf"|(?<![\d.])(?P<second>\d{{1,6}})\s*(?P<unit>{either})\s*"
            r"(?:起[租订](?!期|\s*[:为]?\s*[\d半])|起(?![租订步])|及?以上|or more)"
        )
        self._range = re.compile(rf"(?<![a-z\d.])(\d{{1,6}})\s*[-~至到]\s*(\d{{1,6}})(?=\s*(?:{machines}))")
        taken = words.counts["taken"].source
        self._taken = re.compile(
            rf"(?<![\d.])(?P<before>\d{{1,6}})\s*{unit.format('')}\s*(?:{taken})(?![满完])"
            rf"(?!\s*\d{{1,6}}\s*{either})"
            rf"|(?:{taken})\s*(?P<after>\d{{1,6}})\s*{unit.format('2')}(?![\s,;]*(?:{stock}))"
        )
        self._large = re.compile(
            r"(?<![\d.,¥$€])(?P<number>\d{1,3}(?:,\d{3})+|\d{1,3}(?:\.\d{1,2})?(?P<scale>万))"
            rf"{unit.format('')}(?!\s*[/每年月时天小])(?P<least>\s*起|\s*及?以上)?"
        )
        self._both = re.compile(
            rf"(?<![\d.,])(?P<cards>\d{{1,6}})\s*(?:{loose})\s*[/(]\s*(?P<nodes>\d{{1,5}})\s*(?:{machines})\)?(?!\s*/)"
        )
        later = words.lines["later"].source
        self._coming = re.compile(
            rf"(?:{later})[^,;。]{{0,4}}?\d{{1,6}}\s*{either}|\d{{1,6}}\s*{either}[^,;。\d]{{0,4}}?(?:{later})"
        )
        self._unsold, self._later = words.lines["unsold"], words.lines["later"]
        self._billed = words.billed
        self._none = words.counts["none_on_hand"].pattern

    def take_large(self, text: str) -> tuple[Stock | None, int | None, str]:
        """Read counts that would pass for an amount or two counts: ``1,024卡``, ``1.2万卡``, ``128卡/16台``.

        Args:
            text: In plain form. [-]

        Returns:
            What is on hand and the cards of a node, None where they are not said so; and the text without them, as
            long as before.
        """
        if found := self._both.search(text):
            cards, nodes = int(found["cards"]), int(found["nodes"])
            gpus = cards // nodes if nodes and cards % nodes == 0 else None
            return Stock(count=cards, unit="card"), gpus, _blanked(text, found)
        if found := self._large.search(text):
            number = Decimal(found["number"].replace(",", "").rstrip("万")) * (10_000 if found["scale"] else 1)
            unit = "machine" if found["machine"] else "card"
            stock = None if found["least"] or number % 1 else Stock(count=int(number), unit=unit)
            return stock, None, _blanked(text, found)
        return None, None, text

    def read_rack(self, text: str) -> int | None:
        """Read the cards of a unit larger than a machine: ``384卡超节点``, ``NVL72 整柜``; None where none is named.

        Args:
            text: In plain form. [-]
        """
        found = self._rack.search(text)
        return _sane(int(found["count"] or found["joined"])) if found else None

    @lru_cache(maxsize=16_384)  # noqa: B019  readers live as long as their catalogue
    def read_node_gpus(self, text: str, *, is_count: bool) -> int | None:
        """Read how many cards are sold together; None where the text does not say.

        Args:
            text: In plain form. [-]
            is_count: Whether it stands under a heading such as 卡数, where a bare number counts cards. [-]
        """
        bare = _stripped(text)
        if is_count and bare.isdecimal():
            return _sane(int(bare))
        if self._card_range.search(bare):
            return 1
        if each := self._each_has.search(text):
            return _sane(int(each["count"] or each["inside"]))
        text = self._taken.sub(_keep_server, self._least.sub(_keep_node, self._links.without(text)))
        text = self._nodes_of_cards.sub(_keep_size, self._stock.sub(_keep_machine, text))
        text = _OTHER_PARTS.sub(" ", text)
        found = self._cards.search(text) or _CARDS_BEHIND.search(text)
        if found is not None:
            return _sane(int(found["count"]))
        return 1 if self._one.search(text) else None

    @lru_cache(maxsize=16_384)  # noqa: B019  readers live as long as their catalogue
    def read_stock(self, text: str, *, is_stock: bool, heading: str = "") -> Stock | None:
        """Read what is on hand; None where the text does not say.

        Args:
            text: In plain form. [-]
            is_stock: Whether it stands under a heading such as 数量: a word for nothing, or a date of delivery without
                a count, then says that none is on hand. [-]
            heading: Of its column, in plain form: 可用台数 counts machines. [-]
        """
        if taken := self._taken.search(text):
            return self._left_over(text, taken, is_stock=is_stock)
        if self._unsold.has(text):
            return NONE_ON_HAND
        text = self._range.sub(_lower, self._least.sub(self._keep_stock, self._each.sub(" ", text)))
        if not is_stock:
            text = self._coming.sub(" ", text)
        if found := self._stock.search(text):
            if found["card"] and int(found["near"]) <= LARGEST_SERVER_GPUS:
                # "现货 8卡整机 20台"
                machines = self._machines.search(self._links.without(text), found.end())
                if machines is not None:
                    return Stock(count=int(machines["count"]), unit="machine")
            if found["card2"] and int(found["far"]) <= LARGEST_SERVER_GPUS and not is_stock:
                return None  # "8卡 现货" is one machine
            return Stock(count=int(found["near"] or found["far"]), unit=_unit(found))
        if is_stock and text not in NOTHING_WORDS:
            for pattern, unit in ((self._machines, "machine"), (self._loose_cards, "card")):
                if found := pattern.search(text):
                    return Stock(count=int(found["count"]), unit=unit)
            bare = _stripped(text)
            if _BARE.fullmatch(bare):
                return Stock(count=int(bare), unit=self._counted(heading))
        if is_stock:
            return NONE_ON_HAND if self._none.fullmatch(text.strip("() ")) or self._later.has(text) else None
        if found := self._machines.search(self._links.without(text)):
            return Stock(count=int(found["count"]), unit="machine")
        return None

    def _keep_stock(self, found: re.Match[str]) -> str:
        """Keep a least number of what is on hand: ``现货20台以上``."""
        clause = re.split(r"[,;。]", found.string[: found.start()])[-1]
        return f"{found['second']}{found['unit']}" if found["second"] and self._on_hand.search(clause) else " "

    def _left_over(self, text: str, taken: re.Match[str], *, is_stock: bool) -> Stock | None:
        """Take what is rented out off what there is; None where the text does not say how many there are."""
        whole = self.read_stock(_blanked(text, taken), is_stock=is_stock)
        if whole is None or whole.unit != _unit(taken):
            return None
        return Stock(count=max(0, whole.count - int(taken["before"] or taken["after"])), unit=whole.unit)

    def _counted(self, heading: str) -> str:
        """Tell what a bare number counts under a heading such as 数量(台); empty where the heading does not say."""
        groups = self._billed.groups(heading)
        return "machine" if "node" in groups else "card" if "card" in groups else ""


def _blanked(text: str, found: re.Match[str]) -> str:
    return text[: found.start()] + " " * len(found.group()) + text[found.end() :]


def _lower(found: re.Match[str]) -> str:
    """Keep the lower end of a range; what falls is none."""
    return found[1] if int(found[1]) < int(found[2]) else found.group()


def _keep_size(found: re.Match[str]) -> str:
    """Keep the cards of one machine: ``8x H100 nodes`` may be nodes of eight, ``16x H100 nodes`` are sixteen."""
    return found.group() if int(found["count"]) in _NODE_SIZES else " "


def _keep_machine(found: re.Match[str]) -> str:
    """Keep the cards of one machine that stand before a word for what is on hand: ``8卡 现货``."""
    return found.group() if found["card2"] and int(found["far"]) <= LARGEST_SERVER_GPUS else " "


def _keep_node(found: re.Match[str]) -> str:
    """Keep the least number of cards to rent where it may be one machine: ``8卡起租``."""
    return found.group() if int(found["first"] or found["second"]) <= LARGEST_SERVER_GPUS else " "


def _keep_server(found: re.Match[str]) -> str:
    """Keep the cards of one machine that is rented out; more cards that are gone are none on hand."""
    return found.group() if int(found["before"] or found["after"]) <= LARGEST_SERVER_GPUS else " "


def _stripped(text: str) -> str:
    return text.strip(" +")


def _sane(count: int) -> int | None:
    return count if 1 <= count <= MOST_GPUS else None


def _unit(found: re.Match[str]) -> str:
    if found["machine"] or found["machine2"]:
        return "machine"
    return "card" if found["card"] or found["card2"] else ""
