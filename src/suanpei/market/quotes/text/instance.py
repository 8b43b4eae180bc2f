"""Instance types of clouds: which card, and how many, a name such as ``p5.48xlarge`` stands for."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from suanpei.market.quotes.text.words import plain

if TYPE_CHECKING:
    from collections.abc import Mapping

    from suanpei.machine.catalogue import Catalogue


@dataclass(frozen=True, kw_only=True, slots=True)
class Instance:
    """What a cloud's instance type holds."""

    accelerator_name: str
    gpus: int


def load_instances(catalogue: Catalogue) -> Mapping[str, Instance]:
    """Collect cloud instances whose card and count the price rows and ``instances.csv`` agree on.

    Args:
        catalogue: Holds both tables. [-]

    Returns:
        Instances by their squashed name.
    """
    found: dict[str, set[tuple[str, int]]] = {}
    for row in (*catalogue.table("offers"), *catalogue.table("instances")):
        name, gpu, gpus = squash(row.text("instance")), row.text("gpu"), row.text("gpu_count")
        if name and gpu and gpus.isdecimal():
            found.setdefault(name, set()).add((gpu, int(gpus)))
    return {
        name: Instance(accelerator_name=gpu, gpus=gpus)
        for name, facts in found.items()
        if len(facts) == 1
        for gpu, gpus in facts
    }


def squash(text: str) -> str:
    """Write a name without case, spaces and signs."""
    return re.sub(r"[^a-z0-9\u4e00-\u9fff]+", "", plain(text))
