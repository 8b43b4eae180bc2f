"""From a card and a fabric as published to a cluster, and from a framework to its recipe."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from suanpei.errors import InputError
from suanpei.machine.cluster import build_cluster
from suanpei.machine.names import resolve_accelerator
from suanpei.messages import Message
from suanpei.physics.recipe import load_recipes

if TYPE_CHECKING:
    from suanpei.machine.catalogue import Catalogue
    from suanpei.machine.cluster import Cluster
    from suanpei.physics.recipe import Recipe
    from suanpei.validation.case import Case


def resolve_machine(case: Case, catalogue: Catalogue) -> tuple[Cluster, Recipe]:
    """Resolve the cluster and the recipe of a case.

    Args:
        case: Names both as published, and says where its framework differs from the recipe.
        catalogue: Accelerators, fabrics and recipes.

    Raises:
        InputError: A name is unknown.
    """
    request = case.cluster
    accelerator = resolve_accelerator(catalogue, request.gpu).accelerator
    fabric = read_fabric(request.internode, request.gpus_per_node or accelerator.node_gpus)
    cluster = build_cluster(catalogue, accelerator, fabric=fabric, gpus_per_node=request.gpus_per_node)
    recipes = load_recipes(catalogue.toml("recipes"))
    if case.recipe not in recipes:
        raise InputError(
            Message("no recipe is called {recipe}; known: {known}", recipe=case.recipe, known=", ".join(recipes))
        )
    recipe = recipes[case.recipe]
    if case.overlaps is not None:
        beside = "dp" in case.overlaps
        recipe = replace(
            recipe,
            overlaps_gradients=beside and recipe.overlaps_gradients,
            overlaps_gathers=beside and recipe.overlaps_gathers,
            overlaps_tensor="tp" in case.overlaps and recipe.overlaps_tensor,
        )
    return cluster, replace(recipe, **dict(case.habits))


def read_fabric(text: str, gpus_per_node: int) -> str | None:
    """Bring a published fabric into the words that the catalogue reads; None is the card's default.

    A rate per accelerator becomes ports of the node; a rack-scale NVLink domain says nothing of what lies beyond it.

    Args:
        text: As published, such as ``RDMA 400 Gb/s per GPU (8x400)``.
        gpus_per_node: Accelerators of a node. [-]

    Example:
        >>> read_fabric("400 Gb/s RoCE per GPU", 8)
        '8x400G RoCE'
    """
    if not text or "NVL72" in text or text == "RDMA":
        return None
    per_card = re.search(r"(\d+) ?Gb/s.*per GPU", text)
    if per_card:
        return f"{gpus_per_node}x{per_card.group(1)}G RoCE"
    return text
