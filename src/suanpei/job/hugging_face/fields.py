"""Typed access to the fields of one configuration file, remembering which ones were understood.

Families spell the same size differently; a null means "derive it", an absent field means the family's own default.
What no reader asked for and nothing lists as harmless is an error: a size that is silently ignored is a wrong plan.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from suanpei.errors import InputError
from suanpei.messages import Message

if TYPE_CHECKING:
    import re
    from collections.abc import Iterable, Mapping

SPELLINGS: Mapping[str, tuple[str, ...]] = {
    "hidden_size": ("hidden_size", "n_embd", "n_embed", "d_model", "dim_model"),
    "num_hidden_layers": ("num_hidden_layers", "n_layer", "num_layers", "n_layers"),
    "num_attention_heads": ("num_attention_heads", "n_head", "num_heads", "n_heads"),
    "num_key_value_heads": (
        "num_key_value_heads", "num_kv_heads", "n_head_kv", "n_kv_heads", "attn_config.kv_n_heads",
    ),
    "head_dim": ("head_dim", "kv_channels", "attention_head_dim"),
    "intermediate_size": ("intermediate_size", "n_inner", "ffn_dim", "ffn_hidden_size", "ffn_config.ffn_hidden_size"),
    "vocab_size": ("padded_vocab_size", "vocab_size"),
    "max_position_embeddings": (
        "max_position_embeddings", "n_positions", "max_seq_len", "max_sequence_length", "model_max_length",
        "seq_length", "n_ctx",
    ),
    "num_experts": (
        "num_experts", "num_local_experts", "n_routed_experts", "moe_num_experts", "ffn_config.moe_num_experts",
    ),
    "num_experts_per_tok": ("num_experts_per_tok", "moe_topk", "moe_top_k", "moe_k", "ffn_config.moe_top_k"),
    "moe_intermediate_size": ("moe_intermediate_size",),
    "n_shared_experts": ("n_shared_experts", "num_shared_experts", "num_shared_expert", "moe_num_shared_experts"),
}  # fmt: skip
"""How files spell each size, the first one that is present wins."""

LOOSE = frozenset({"max_position_embeddings", "vocab_size"})
"""Sizes whose spellings may disagree in one file: a trained and a possible context, a real and a padded vocabulary."""

LARGEST = 10**9
LARGEST_LAYERS = 10_000

_ABSENT = object()


def find_spelling(keys: Iterable[str], canonical: str) -> str | None:
    """Find how a file spells a size.

    Args:
        keys: Fields of the file. [-]
        canonical: One of `SPELLINGS`. [-]

    Returns:
        The spelling that is used, None where the size is absent.
    """
    present = set(keys)
    return next((spelling for spelling in SPELLINGS[canonical] if spelling in present), None)


class Fields:
    """The fields of one configuration."""

    def __init__(self, values: Mapping[str, Any], source: str) -> None:
        self._values = values
        self._seen: set[str] = set()
        self.source = source
        """The file, for messages."""
        self.defaulted: dict[str, int] = {}
        """Sizes that the file leaves out and the family's default supplied."""

    def __contains__(self, key: str) -> bool:
        return any(self._values.get(name) is not None for name in SPELLINGS.get(key, (key,)))

    def get(self, key: str, default: Any = None) -> Any:
        """Give the raw value of a field in any spelling; null and absent both give the default. [-]"""
        value = self._lookup(key)
        return default if value is _ABSENT or value is None else value

    def is_absent(self, key: str) -> bool:
        """Tell an absent field from a null one."""
        return self._lookup(key) is _ABSENT

    def count(self, key: str, default: int | None = None, *, least: int = 1) -> int:
        """Give a whole number.

        Args:
            key: The canonical name. [-]
            default: The family's default for an absent or null field; None makes the field necessary. [-]
            least: The smallest that makes sense. [-]

        Raises:
            InputError: the field is missing without a default, is no whole number, or out of range.
        """
        value = self.get(key)
        if value is None:
            if default is None:
                raise InputError(
                    Message(
                        "{source}: {field} is missing, and this family has no default for it; state it in the file",
                        source=self.source,
                        field=key,
                    )
                )
            self.defaulted[key] = default
            return default
        return self._whole(key, value, least)

    def optional_count(self, key: str, *, least: int = 1) -> int | None:
        """Give a whole number, or None where the field is absent or null. [-]"""
        value = self.get(key)
        return None if value is None else self._whole(key, value, least)

    def flag(self, key: str, *, default: bool) -> bool:
        """Give a yes or no.

        Raises:
            InputError: the field is neither true nor false.
        """
        value = self.get(key)
        if value is None:
            return default
        if not isinstance(value, bool):
            raise InputError(
                Message(
                    "{source}: {field} must be true or false, got {given}",
                    source=self.source,
                    field=key,
                    given=repr(value),
                )
            )
        return value

    def text(self, key: str, default: str) -> str:
        """Give a text; anything else counts as absent. [-]"""
        value = self.get(key)
        return value if isinstance(value, str) else default

    def list_of(self, key: str, length: int) -> list[Any] | None:
        """Give a list with one entry per layer, or None where the field is absent.

        Raises:
            InputError: the field is no list or has another length.
        """
        value = self.get(key)
        if value is None:
            return None
        if not isinstance(value, list) or len(value) != length:
            raise InputError(
                Message(
                    "{source}: {field} must list one entry for each of the {layers} layers, got {given}",
                    source=self.source,
                    field=key,
                    layers=length,
                    given=len(value) if isinstance(value, list) else repr(value),
                )
            )
        return value

    def indices(self, key: str) -> frozenset[int]:
        """Give a list of layer numbers, empty where the field is absent.

        Raises:
            InputError: the field is no list of whole numbers.
        """
        value = self.get(key, [])
        if not isinstance(value, list) or not all(isinstance(item, int) for item in value):
            raise InputError(
                Message(
                    "{source}: {field} must be a list of layer numbers, got {given}",
                    source=self.source,
                    field=key,
                    given=repr(value),
                )
            )
        return frozenset(value)

    def refuse(self, key: str, wanted: Any, given: Any) -> InputError:
        """Make the error for a setting that changes the model in a way that is not understood."""
        return InputError(
            Message(
                "{source}: {field} = {given} changes the model in a way that is not understood; only {wanted} is",
                source=self.source,
                field=key,
                given=repr(given),
                wanted=repr(wanted),
            )
        )

    def require(self, key: str, wanted: Any) -> None:
        """Check that a setting, where present, has the only value that is understood.

        Raises:
            InputError: it has another.
        """
        given = self.get(key, wanted)
        if given != wanted:
            raise self.refuse(key, wanted, given)

    def without(self, *keys: str) -> Fields:
        """Give the same fields less some that were read already; what is read counts as understood here too."""
        self.see(*keys)
        part = Fields({key: value for key, value in self._values.items() if key not in keys}, self.source)
        part._seen = self._seen
        part.defaulted = self.defaulted
        return part

    def see(self, *keys: str) -> None:
        """Mark fields as understood without reading them."""
        self._seen.update(keys)

    def unknown(self, harmless: Iterable[re.Pattern[str]]) -> list[str]:
        """List the fields that nothing asked for and that could change sizes.

        A null, a text, an empty group and whatever matches a harmless pattern are left out.
        """
        patterns = tuple(harmless)
        return [
            key
            for key, value in self._values.items()
            if key not in self._seen
            and value is not None
            and not isinstance(value, str)
            and value not in ([], {})
            and not any(pattern.fullmatch(key) or pattern.fullmatch(key.rpartition(".")[2]) for pattern in patterns)
        ]

    def _lookup(self, key: str) -> Any:
        found: Any = _ABSENT
        found_as = key
        for name in SPELLINGS.get(key, (key,)):
            if name not in self._values:
                continue
            self._seen.add(name)
            value = self._values[name]
            if found is _ABSENT or found is None:
                found, found_as = value, name
            elif key not in LOOSE and value is not None and value != found:
                raise InputError(
                    Message(
                        "{source}: {field} = {given} and {other} = {also} contradict each other; keep one",
                        source=self.source,
                        field=found_as,
                        given=found,
                        other=name,
                        also=value,
                    )
                )
        return found

    def _whole(self, key: str, value: Any, least: int) -> int:
        if isinstance(value, list) and value and all(item == value[0] for item in value):
            value = value[0]  # one entry per layer, all equal
        most = LARGEST_LAYERS if key == "num_hidden_layers" else LARGEST
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
            spelling = find_spelling(self._values, key) if key in SPELLINGS else key
            raise InputError(
                Message(
                    "{source}: {field} must be a whole number from {least} to {most}, got {given}",
                    source=self.source,
                    field=(spelling or key),
                    least=least,
                    most=most,
                    given=repr(value),
                )
            )
        return value
