"""Checks of memory figures that others print: what a number of bytes per parameter says, and what cannot be.

References:
    Rajbhandari et al., arXiv 1910.02054, section 3 (16 B per parameter: 2 + 2 + 12); Megatron-LM, distributed optimizer
    (6 + 12/d); Wang et al., "ZeRO++", arXiv 2306.10209, section 3.2 (a copy of the weights on every node).
"""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING

from suanpei.errors import InputError
from suanpei.messages import Message
from suanpei.physics.memory.formats import state_bytes_per_parameter
from suanpei.physics.rule_of_thumb import gpus_for_state

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from suanpei.physics.recipe import Recipe
    from suanpei.physics.strategy import Sharding

FORMAT_BYTES: Mapping[str, float] = {"fp64": 8.0, "fp32": 4.0, "bf16": 2.0, "int8": 1.0, "int4": 0.5}
"""Bytes of one weight by number format; bf16 and fp16 look the same."""

FORMAT_MARGIN = (0.99, 1.15)
"""Measured over nominal size that still names a format: rounding below, buffers and scales above. [-]"""

LARGEST_OUTLIER_RATIO = 1.5
"""A row further than this factor from the median of its table is out of line. [-]"""


def implied_bytes_per_parameter(memory_bytes: float, parameters: float) -> float:
    """Give the bytes per parameter that a printed or measured memory implies. [B]

    Args:
        memory_bytes: Memory of the model or of one shard. [B]
        parameters: Parameters in it. [-]

    Raises:
        InputError: no parameters.

    Example:
        >>> implied_bytes_per_parameter(12e9, 3e9)
        4.0
    """
    if not parameters > 0:
        raise InputError(
            Message("{field} must be above {least}, got {given}", field="parameters", least=0, given=parameters)
        )
    return memory_bytes / parameters


def implied_format(bytes_per_parameter: float) -> str | None:
    """Name the number format of weights by their size; None where none fits.

    Args:
        bytes_per_parameter: From a measurement with nothing but weights loaded. [B]
    """
    low, high = FORMAT_MARGIN
    fitting = [name for name, size in FORMAT_BYTES.items() if low * size <= bytes_per_parameter <= high * size]
    return fitting[0] if fitting else None


def find_outliers(bytes_per_parameter: Sequence[float]) -> list[int]:
    """Find the rows of a table that do not follow the rule of the others, by position.

    Args:
        bytes_per_parameter: Of each row, for one method. [B]
    """
    middle = median(bytes_per_parameter)
    ratios = [max(value / middle, middle / value) for value in bytes_per_parameter]
    return [index for index, ratio in enumerate(ratios) if ratio > LARGEST_OUTLIER_RATIO]


def find_data_parallel(recipe: Recipe, sharding: Sharding, bytes_per_parameter: float, most_ranks: int = 4096) -> int:
    """Find the data-parallel degree whose states per parameter are nearest to a printed figure.

    Args:
        recipe: The framework. [-]
        sharding: What its ranks divide. [-]
        bytes_per_parameter: As printed or implied. [B]
        most_ranks: Degrees tried, from 1. [-]

    Example:
        For Megatron's distributed optimizer, 6 + 12/d = 12 gives d = 2.
    """
    ranks = range(1, most_ranks + 1)
    steady = state_bytes_per_parameter(recipe, sharding, ranks).steady
    return ranks[int(abs(steady - bytes_per_parameter).argmin())]


def node_copy_bytes(parameters: float, gpus_per_node: int, bytes_per_parameter: float = 2.0) -> float:
    """Give what each card holds of a copy of the weights kept on every node (hpZ), beside its shard of the states. [B]

    Args:
        parameters: Parameters of the model. [-]
        gpus_per_node: Cards that divide the copy. [-]
        bytes_per_parameter: Of the copy. [B]
    """
    return bytes_per_parameter * parameters / gpus_per_node


def gpus_with_node_copy(
    parameters: float,
    gpus_per_node: int,
    memory_bytes: float,
    *,
    state_bytes_each: float,
    usable_fraction: float,
) -> int:
    """Count the cards that hold the states divided over all of them and a copy of the weights divided over each node.

    Args:
        parameters: Parameters of the model. [-]
        gpus_per_node: Cards of a node. [-]
        memory_bytes: Memory of a card. [B]
        state_bytes_each: States per parameter. [B]
        usable_fraction: Share of the memory that states may take. [-]

    Raises:
        InputError: the copy alone does not fit.
    """
    copy = node_copy_bytes(parameters, gpus_per_node)
    left = usable_fraction * memory_bytes - copy
    if left <= 0:
        raise InputError(
            Message(
                "a copy of the weights on every node takes {copy:.1f} GB of each card, more than its usable memory",
                copy=copy / 1e9,
            )
        )
    return gpus_for_state(state_bytes_each * parameters, left)
