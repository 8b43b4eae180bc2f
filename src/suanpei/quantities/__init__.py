"""The only door for quantities written by people: Chinese and English, full-width or not, with their units.

Every reader takes the text and the name of the field, and either returns SI units or raises an `InputError` that names
the field, what it got and what it takes. Zero, negative, absurdly large and unit-less values are errors, never guesses.
"""

from suanpei.quantities.counts import (
    MOST_GPUS,
    MOST_TOKENS,
    BatchQuantity,
    CountRange,
    parse_batch,
    parse_choice,
    parse_count,
    parse_count_range,
    parse_fraction,
    parse_parameters,
    parse_tokens,
)
from suanpei.quantities.physical import parse_bandwidth_bytes_per_s, parse_bytes, parse_duration_s
from suanpei.quantities.prices import parse_currency, parse_gpu_price, parse_money, parse_rate

__all__ = [
    "MOST_GPUS",
    "MOST_TOKENS",
    "BatchQuantity",
    "CountRange",
    "parse_bandwidth_bytes_per_s",
    "parse_batch",
    "parse_bytes",
    "parse_choice",
    "parse_count",
    "parse_count_range",
    "parse_currency",
    "parse_duration_s",
    "parse_fraction",
    "parse_gpu_price",
    "parse_money",
    "parse_parameters",
    "parse_rate",
    "parse_tokens",
]
