"""Accelerators in text: where a name stands, which product of the catalogue it is, and what its label leaves open."""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from suanpei.errors import InputError
from suanpei.machine.accelerator_table import load_accelerators
from suanpei.machine.names import BRAND_WORDS, MEMORY, MEMORY_SIZES_GB, parse_name, resolve_accelerator
from suanpei.market.quotes.text.instance import load_instances, squash
from suanpei.market.quotes.text.words import NOTHING_WORDS, half_width, plain
from suanpei.units import GIB_BYTES

if TYPE_CHECKING:
    from collections.abc import Iterable

    from suanpei.machine.accelerator import Accelerator
    from suanpei.machine.catalogue import Catalogue
    from suanpei.market.quotes.text.instance import Instance
    from suanpei.market.quotes.text.words import QuoteWords
    from suanpei.messages import Message

_VAGUE_CORES = frozenset({"bw", "910", "91093", "106b", "106m"})
"""Catalogue spellings that mean something else in running text."""
_FAMILIES = ("910b", "mlu370", "mlu590", "gaudi", "tpu")
"""Names of families that fit several products."""
_FORM = r"sxm\d?|pci-?e|nvl(?!ink)(?:72)?|oam|nvlink|hgx|dgx"
_ATTRIBUTE = rf"[\s\-_/,(]*(?:{_FORM}|hbm\d?e?|\d{{2,3}}\s*(?:gib|gb|g)(?![a-z\d])|ada(?![a-z])|ultra)\)?"
_BRACKETS = re.compile(r"[()\[\]{}<>【】]")
_COUNTED = re.compile(
    r"(?<![\d.])\d{1,3}\s*(?:[x×*]\s*(?=[a-z\u4e00-\u9fff]|\d{3,4}(?!\s*g|\d))|[卡张块]\s*)|[x×*]\s*\d{1,3}(?!\s*g|[\db])",
    re.IGNORECASE,
)
_BARE_MEMORY = re.compile(r"[\s\-_/](\d{2,3})\s*$")
_NVLINK = re.compile(r"nvlink|hgx|dgx|nvswitch", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True, slots=True)
class Card:
    """What a seller's words for a card come down to."""

    as_written: str
    accelerator: Accelerator | None
    """None where the words fit several products, or none."""
    candidates: tuple[str, ...]
    """Names of the catalogue that it may be; one where it is settled, none where nothing fits."""
    flags: tuple[str, ...]
    assumptions: tuple[Message, ...]


class CardReader:
    """Reads card names with one catalogue."""

    def __init__(self, catalogue: Catalogue, words: QuoteWords) -> None:
        self._catalogue = catalogue
        self._words = words
        self._accelerators = load_accelerators(catalogue)
        self._names_by_core: dict[str, list[str]] = {}
        for accelerator in self._accelerators.values():
            for spelling in (accelerator.name, *accelerator.aliases):
                names = self._names_by_core.setdefault(parse_name(spelling).core, [])
                if accelerator.name not in names:
                    names.append(accelerator.name)
        cores = {core for core in self._names_by_core if core not in _VAGUE_CORES and _is_telling(core)}
        products = {
            plain(spelling)
            for accelerator in self._accelerators.values()
            for spelling in (accelerator.name, *accelerator.aliases)
            if parse_name(spelling).core in cores
        }
        spelled = sorted(cores | products | set(_FAMILIES), key=lambda name: (-len(name), name))
        brands = "|".join(re.escape(word) for word in sorted(BRAND_WORDS, key=len, reverse=True))
        self._mention = re.compile(
            rf"(?:(?<=\d[x*])|(?<![a-z0-9.]))(?:(?:{brands})[\s\-]*)*(?:{'|'.join(map(_spell_name, spelled))})"
            rf"(?:(?={_FORM})|(?![a-rt-wyz0-9]|s[a-z0-9]|x[a-z]))(?!\s*(?:[元万块%]|\.\d|,\d{{3}}|美元|usd|rmb|cny))(?:{_ATTRIBUTE})*"
        )
        self.instances = load_instances(catalogue)

    def find(self, text: str) -> tuple[tuple[int, int], ...]:
        """Find where cards of the catalogue are named in a plain text."""
        return self._find(text)

    @lru_cache(maxsize=16_384)  # noqa: B019  readers live as long as their catalogue
    def _find(self, text: str) -> tuple[tuple[int, int], ...]:
        return tuple(found.span() for found in self._mention.finditer(text))

    @lru_cache(maxsize=16_384)  # noqa: B019  readers live as long as their catalogue
    def is_named(self, written: str) -> bool:
        """Tell whether a cell names a card of the catalogue, or a cloud's instance."""
        return bool(written) and (bool(self._find(plain(written))) or self.find_instance(written) is not None)

    def without_names(self, written: str) -> str:
        """Take the names of cards out of a text as written, where they can be told: H100 80G IB has no link of 80G."""
        half = half_width(written)
        lowered = half.lower()
        if len(lowered) != len(half):
            return half
        for start, end in reversed(self.find(lowered)):
            half = f"{half[:start]},{half[end:]}"
        return half

    def without(self, text: str) -> str:
        """Take the names of cards out of a plain text: the number of ``现货 H100 20台`` is 20."""
        return self._mention.sub(" ", text)

    def find_instance(self, text: str) -> Instance | None:
        """Give what the instance type that a cell names holds."""
        return self.instances.get(squash(text)) if text else None

    @lru_cache(maxsize=16_384)  # noqa: B019  readers live as long as their catalogue
    def read(self, written: str, form: str = "", memory: str = "", instance: str = "") -> Card:
        """Settle a card.

        Args:
            written: The seller's name. [-]
            form: What another column says of its form factor. [-]
            memory: What another column says of its memory, or its label. [-]
            instance: The instance type, where one is sold. [-]
        """
        known = self.find_instance(instance) or self.find_instance(written)
        label = " ".join(part for part in (written, memory) if part and part not in NOTHING_WORDS)
        if known is not None:
            return self._of_instance(known, written or instance, label)
        half = half_width(label)
        text = half if len(half) == len(half.casefold()) else plain(label)
        flags: list[str] = []
        if self._words.rework.has(plain(label)):
            flags.append("modified_card")
            text = re.sub(self._words.rework.source, " ", text, flags=re.IGNORECASE)
        text = _COUNTED.sub(" ", text)
        name = self._name(text)
        accelerator, candidates, said = self._settle(
            name, plain(form), is_joined=bool(_NVLINK.search(f"{text} {form}"))
        )
        parsed = parse_name(name)
        if self._is_memory_impossible(parsed.core, parsed.memory_gb, candidates):
            flags.append("impossible_memory")
        elif not candidates:
            flags.append("unknown_card")
        bare = _BARE_MEMORY.search(name)
        if bare and int(bare[1]) in MEMORY_SIZES_GB and not MEMORY.search(name.casefold()):
            flags.append("memory_unit_missing")
        products = [self._accelerators[candidate] for candidate in candidates]
        flags += self._product_flags(products, text.casefold(), plain(form))
        return Card(
            as_written=written or label,
            accelerator=accelerator,
            candidates=candidates,
            flags=tuple(dict.fromkeys(flags)),
            assumptions=said,
        )

    def _name(self, text: str) -> str:
        """Cut the name out of a cell that may hold more; the whole cell where no card of the catalogue is named."""
        spans = self.find(text.casefold())
        if not spans:
            return _BRACKETS.sub(" ", text).strip()
        start, end = spans[0]
        tail = re.match(r"[\s\-_]*\d{2,3}\s*(?:gib|gb|g)?(?![\da-z卡台张元万.,/x×])", text[end:], re.IGNORECASE)
        name = text[start:end] + (tail.group() if tail else "")
        return _BRACKETS.sub(" ", name).strip()

    def _settle(
        self, name: str, form: str, *, is_joined: bool
    ) -> tuple[Accelerator | None, tuple[str, ...], tuple[Message, ...]]:
        """Find the product, or the products that it may be."""
        bare = re.sub(r"\s+", " ", _NVLINK.sub(" ", name)).strip()
        in_form = next(iter(re.findall(r"sxm|pci-?e|nvl(?!ink)|oam", form)), "")
        has_form = re.search(r"sxm|pci-?e|nvl|oam", bare, re.IGNORECASE) is not None
        tries = [f"{bare} {in_form}"] if in_form and not has_form else []
        tries += [bare]
        if is_joined and not in_form:
            tries += [f"{bare} sxm"]
        for text in tries:
            if not text.strip() or (not self.find(text.casefold()) and squash(text) not in self._squashed):
                continue
            try:
                resolved = resolve_accelerator(self._catalogue, text)
            except InputError:
                continue
            return resolved.accelerator, (resolved.accelerator.name,), resolved.assumptions
        return self._settle_by_parts(tries[0])

    def _settle_by_parts(self, name: str) -> tuple[Accelerator | None, tuple[str, ...], tuple[Message, ...]]:
        """Narrow a family down by form and memory, other labels of the same memory included."""
        asked = parse_name(name)
        names = self._names_by_core.get(asked.core, [])
        if not names and len(asked.core) > 3:
            names = [one for core, found in self._names_by_core.items() if core.startswith(asked.core) for one in found]
        family = [self._accelerators[one] for one in dict.fromkeys(names)]
        fitting = [one for one in family if not asked.form or asked.form in _form_of(one)] or family
        if asked.memory_gb is not None:
            sized = [one for one in fitting if asked.memory_gb in self._sizes_gb(one)]
            if not sized:
                return None, (), ()
            meant = self._meant_by(asked.core)
            fitting = [one for one in sized if one.name == meant] or sized
        candidates = tuple(one.name for one in fitting)
        return (fitting[0] if len(fitting) == 1 else None), candidates, ()

    def _meant_by(self, core: str) -> str | None:
        """Name the product that a bare name means: B200 alone is the module, GB200 is written in full."""
        try:
            return resolve_accelerator(self._catalogue, core).accelerator.name
        except InputError:
            return None

    def _sizes_gb(self, accelerator: Accelerator) -> tuple[int, ...]:
        return (_label_gb(accelerator), *self._words.memory_labels_gb.get(accelerator.name, ()))

    def _is_memory_impossible(self, core: str, memory_gb: int | None, candidates: Iterable[str]) -> bool:
        """Tell whether the family exists, and no card of it has that memory."""
        if memory_gb is None or not self._names_by_core.get(core):
            return False
        return not any(memory_gb in self._sizes_gb(self._accelerators[name]) for name in candidates)

    def _product_flags(self, products: list[Accelerator], text: str, form: str) -> list[str]:
        """Flag what a buyer must know of a product: its vendor, a weaker form factor, a rework."""
        flags: list[str] = []
        said = f"{text} {form}"
        if products and all(product.vendor != "NVIDIA" for product in products):
            flags.append("non_nvidia")
        if re.search(r"(?<![a-z])nvl(?!ink)", said):
            flags.append("nvl_variant")
        elif re.search(r"pci-?e", said) and any(self._has_other_form(product) for product in products):
            flags.append("pcie")
        if products and all("rework" in product.form_factor.casefold() for product in products):
            flags.append("modified_card")
        return flags

    def _has_other_form(self, product: Accelerator) -> bool:
        cores = [core for core, names in self._names_by_core.items() if product.name in names]
        siblings = {name for core in cores for name in self._names_by_core[core]}
        return any("pcie" not in _form_of(self._accelerators[name]) for name in siblings)

    def _of_instance(self, known: Instance, written: str, label: str) -> Card:
        """Take the card that a cloud's instance really has; its label is then checked against it."""
        accelerator = self._accelerators[known.accelerator_name]
        said_gb = parse_name(plain(label)).memory_gb if self.find(plain(label)) else None
        spans = self.find(plain(label))
        wrong = said_gb is not None and said_gb not in self._sizes_gb(accelerator)
        if spans and not wrong:
            core = parse_name(plain(label)[slice(*spans[0])]).core
            wrong = accelerator.name not in self._names_by_core.get(core, [accelerator.name])
        flags = ["memory_label_mismatch"] if wrong else []
        return Card(
            as_written=written,
            accelerator=accelerator,
            candidates=(accelerator.name,),
            flags=(*flags, *(["non_nvidia"] if accelerator.vendor != "NVIDIA" else [])),
            assumptions=(),
        )

    @property
    def _squashed(self) -> frozenset[str]:
        return _squashed_spellings(self._catalogue)


@lru_cache(maxsize=8)
def _squashed_spellings(catalogue: Catalogue) -> frozenset[str]:
    accelerators = load_accelerators(catalogue)
    return frozenset(squash(one) for name, item in accelerators.items() for one in (name, *item.aliases))


def _label_gb(accelerator: Accelerator) -> int:
    return round(accelerator.marketed_bytes / GIB_BYTES)


def _form_of(accelerator: Accelerator) -> str:
    return f"{accelerator.name} {accelerator.form_factor}".casefold().replace("-", "")


def _is_telling(core: str) -> bool:
    """Tell whether a core can be told from other words: it has a digit, or is long."""
    return any(map(str.isdigit, core)) or len(core) > 5 or core == "ppu"


def _spell_name(name: str) -> str:
    """Write a name as a pattern; a space or hyphen may stand between its parts, and before a last D."""
    parts = re.findall(r"[a-z]+|\d+|[^a-z\d\s\-_]+|[\s\-_]+", name)
    spelled: str = re.escape(parts[0])
    for before, part in itertools.pairwise(parts):
        if not part.strip(" -_"):
            spelled += r"[\s\-_]?"
        elif before.strip(" -_") and (len(before) > 1 and (len(part) > 1 or part == "d")):
            spelled += rf"[\s\-_]?{re.escape(part)}"
        else:
            spelled += re.escape(part)
    return spelled
