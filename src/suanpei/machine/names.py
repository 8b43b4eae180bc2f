"""Accelerator names as people write them.

A name is read as a core (``a100``), a form factor and a memory size. ``4090``, ``H800 80G``, ``NVIDIA A100-SXM4-80GB``,
``昇腾910B3`` and full-width letters all resolve; what had to be assumed is said, and a name that fits several products
lists them instead of choosing.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from difflib import get_close_matches
from functools import lru_cache
from typing import TYPE_CHECKING

from suanpei.errors import InputError
from suanpei.machine.accelerator import ResolvedAccelerator
from suanpei.machine.accelerator_table import load_accelerators
from suanpei.messages import Message, excerpt
from suanpei.units import GIB_BYTES

if TYPE_CHECKING:
    from suanpei.machine.accelerator import Accelerator
    from suanpei.machine.catalogue import Catalogue

BRAND_WORDS = (
    "nvidia", "geforce", "tesla", "quadro", "instinct", "radeon", "amd", "intel", "habana", "google", "aws", "huawei",
    "ascend", "hygon", "dcu", "kunlunxin", "kunlun", "cambricon", "mthreads", "moore threads", "mtt", "metax",
    "biren", "iluvatar", "enflame", "t-head", "thead", "rtx", "gtx", "gpu", "npu",
    "英伟达", "华为", "昇腾", "海光", "摩尔线程", "寒武纪", "昆仑芯", "昆仑", "壁仞科技", "壁仞",
    "天数智芯", "天数", "沐曦", "燧原科技", "燧原", "平头哥", "谷歌", "英特尔", "亚马逊",
)  # fmt: skip
"""Vendors and brands, which add nothing to a model number."""
REWORK_WORDS = ("mod",)
"""How a third party's rework is marked; its memory size tells it apart."""
NOISE_WORDS = ("显卡", "加速卡", "算力卡", "显存", "版", "魔改", "卡")
FORMS = re.compile(r"sxm\d?|pci-?e|nvl72|nvl(?!\d)|oam")
MEMORY_TYPES = re.compile(r"\b(?:hbm\d?e?|gddr\d[x]?)\b")
MEMORY = re.compile(r"(?<![a-z\d])(\d{2,3})\s*(?:gib|gb|g)(?![a-z\d])")
MEMORY_SIZES_GB = frozenset({16, 24, 32, 40, 48, 64, 80, 94, 96, 128, 141, 144, 180, 186, 192, 256, 288})
"""A bare number that ends a name is a memory size if it is one of these. [GB]"""
MOST_CANDIDATES = 8


@dataclass(frozen=True, kw_only=True)
class _Name:
    """A name taken apart; an empty form or None memory was not said."""

    core: str
    form: str
    memory_gb: int | None


def resolve_accelerator(catalogue: Catalogue, text: str) -> ResolvedAccelerator:
    """Find the accelerator that a person means.

    Args:
        catalogue: Holds the accelerators with their aliases. [-]
        text: Any usual spelling, in English or Chinese, full-width letters included. [-]

    Returns:
        The accelerator, with a message for each property that was assumed.

    Raises:
        InputError: The name fits several products (they are listed), or none (the nearest are).
    """
    if not text.strip():
        raise InputError(Message("the accelerator's name is empty; suanpei gpus lists all of them"))
    accelerators = load_accelerators(catalogue)
    asked = parse_name(text)
    named = [name for name, spellings in _spellings(catalogue).items() if _squash(text) in spellings]
    if len(named) == 1:
        return _resolved(accelerators[named[0]], asked, text, catalogue)
    cores = _cores(catalogue)
    family = [name for name in accelerators if asked.core and asked.core in {spelling.core for spelling in cores[name]}]
    fitting = [name for name in family if _fits(accelerators[name], cores[name], asked)]
    if len(fitting) > 1:
        bare = _Name(core=asked.core, form="", memory_gb=None)
        plain = [name for name in fitting if asked in cores[name]] or [name for name in fitting if bare in cores[name]]
        fitting = plain if len(plain) == 1 else fitting
    if len(fitting) == 1:
        return _resolved(accelerators[fitting[0]], asked, text, catalogue)
    if fitting or family:
        raise _ambiguous(text, fitting or family, was_contradicted=not fitting)
    started = [
        name for name in accelerators if asked.core and any(one.core.startswith(asked.core) for one in cores[name])
    ]
    if len(started) > 1:
        raise _ambiguous(text, started, was_contradicted=False)
    raise _unknown(catalogue, text, started)


def parse_name(text: str) -> _Name:
    """Take a name apart into core, form factor and memory size."""
    rest = unicodedata.normalize("NFKC", text).casefold()
    for word in (*BRAND_WORDS, *NOISE_WORDS):
        rest = _without(rest, word)
    form = FORMS.search(rest)
    rest = MEMORY_TYPES.sub(" ", FORMS.sub(" ", rest))
    rest = re.sub(r"[\s\-_/(),.;+]+", " ", rest)
    memory = MEMORY.search(rest)
    tokens = (rest[: memory.start()] + " " + rest[memory.end() :] if memory else rest).split()
    memory_gb = int(memory.group(1)) if memory else None
    last_is_size = len(tokens) > 1 and tokens[-1].isdecimal() and int(tokens[-1]) in MEMORY_SIZES_GB
    if memory_gb is None and last_is_size:
        memory_gb = int(tokens.pop())
    tokens = [token for token in tokens if token not in REWORK_WORDS] or tokens
    core = "".join(tokens)
    return _Name(core=core, form=_form(form.group(0)) if form else "", memory_gb=memory_gb)


def _without(text: str, word: str) -> str:
    """Drop a brand where it stands apart or before a number, never inside a model number."""
    if word.isascii():
        return re.sub(rf"(?<![a-z0-9]){re.escape(word)}(?![a-z])", " ", text)
    return text.replace(word, " ")


def _form(text: str) -> str:
    return "sxm" if text.startswith("sxm") else text.replace("-", "")


def _squash(text: str) -> str:
    return "".join(character for character in unicodedata.normalize("NFKC", text).casefold() if character.isalnum())


@lru_cache(maxsize=8)
def _spellings(catalogue: Catalogue) -> dict[str, frozenset[str]]:
    """Name to every bundled spelling of it, squashed."""
    return {
        name: frozenset(_squash(spelling) for spelling in (name, *accelerator.aliases))
        for name, accelerator in load_accelerators(catalogue).items()
    }


@lru_cache(maxsize=8)
def _cores(catalogue: Catalogue) -> dict[str, frozenset[_Name]]:
    """Name to every bundled spelling of it, taken apart."""
    return {
        name: frozenset(parse_name(spelling) for spelling in (name, *accelerator.aliases))
        for name, accelerator in load_accelerators(catalogue).items()
    }


def _form_of(accelerator: Accelerator) -> str:
    """Give the form factor in the product's own name, else in its row."""
    in_name = FORMS.search(accelerator.name.casefold()) or FORMS.search(accelerator.form_factor.casefold())
    return _form(in_name.group(0)) if in_name else ""


def _fits(accelerator: Accelerator, spellings: frozenset[_Name], asked: _Name) -> bool:
    sizes = {round(accelerator.marketed_bytes / GIB_BYTES)} | {one.memory_gb for one in spellings}
    forms = {_form_of(accelerator)} | {one.form for one in spellings if one.form and one.core == asked.core}
    return (not asked.form or asked.form in forms) and (asked.memory_gb is None or asked.memory_gb in sizes)


def _resolved(accelerator: Accelerator, asked: _Name, text: str, catalogue: Catalogue) -> ResolvedAccelerator:
    cores = _cores(catalogue)
    accelerators = load_accelerators(catalogue)
    siblings = [accelerators[name] for name in accelerators if asked.core in {one.core for one in cores[name]}]
    said: list[Message] = []
    forms = {_form_of(sibling) for sibling in siblings}
    if not asked.form and len(forms) > 1:
        said.append(
            Message(
                "{given} is read as {accelerator}: form factor {form} assumed",
                given=excerpt(text.strip()),
                accelerator=accelerator.name,
                form=accelerator.form_factor,
            )
        )
    form = asked.form or _form_of(accelerator)
    sizes = {sibling.marketed_bytes for sibling in siblings if _form_of(sibling) == form}
    if asked.memory_gb is None and len(sizes) > 1:
        said.append(
            Message(
                "{given} is read as {accelerator}: {size:g} GB of memory assumed",
                given=excerpt(text.strip()),
                accelerator=accelerator.name,
                size=accelerator.marketed_bytes / GIB_BYTES,
            )
        )
    return ResolvedAccelerator(accelerator=accelerator, assumptions=(*said, *describe_doubts(accelerator)))


def describe_doubts(accelerator: Accelerator) -> tuple[Message, ...]:
    """Say what the catalogue does not know of an accelerator, and what software sees of it."""
    said: list[Message] = []
    if "memory_gib_usable" in accelerator.missing:
        said.append(
            Message(
                "{accelerator}: usable memory is not published; {size:.4g} GiB assumed from the label",
                accelerator=accelerator.name,
                size=accelerator.memory_bytes / GIB_BYTES,
            )
        )
    if "scaleup_bw_per_dir_gb_per_s" in accelerator.missing:
        said.append(
            Message(
                "{accelerator}: the rate of its own links is not published; PCIe assumed inside the node",
                accelerator=accelerator.name,
            )
        )
    if accelerator.devices > 1:
        said.append(
            Message(
                "{accelerator}: figures are per package, which software sees as {count} devices",
                accelerator=accelerator.name,
                count=accelerator.devices,
            )
        )
    return tuple(said)


def _ambiguous(text: str, names: list[str], *, was_contradicted: bool) -> InputError:
    candidates = ", ".join(names[:MOST_CANDIDATES])
    if was_contradicted:
        return InputError(
            Message(
                "no accelerator {given} exists in that form or memory size; there are {candidates}",
                given=excerpt(text.strip()),
                candidates=candidates,
            )
        )
    return InputError(
        Message(
            "accelerator {given} is ambiguous: name one of {candidates}",
            given=excerpt(text.strip()),
            candidates=candidates,
        )
    )


def _unknown(catalogue: Catalogue, text: str, started: list[str]) -> InputError:
    spelled = {spelling: name for name, spellings in _spellings(catalogue).items() for spelling in spellings}
    by_core = {one.core: name for name, names in _cores(catalogue).items() for one in names}
    near = [spelled[one] for one in get_close_matches(_squash(text), spelled, n=5, cutoff=0.5)]
    near += [by_core[one] for one in get_close_matches(parse_name(text).core, by_core, n=5, cutoff=0.5)]
    candidates = list(dict.fromkeys([*started, *near]))[:4]
    if not candidates:
        return InputError(
            Message("accelerator {given} is unknown; suanpei gpus lists all of them", given=excerpt(text.strip()))
        )
    return InputError(
        Message(
            "accelerator {given} is unknown; the nearest are {candidates}",
            given=excerpt(text.strip()),
            candidates=", ".join(candidates),
        )
    )
