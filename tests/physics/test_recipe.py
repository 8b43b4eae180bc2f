"""Reading recipes: the bundled ones are complete, and bad ones are named."""

from __future__ import annotations

from typing import Any

import pytest

from suanpei.errors import InputError
from suanpei.physics.recipe import load_recipes
from suanpei.physics.strategy import Sharding
from tests.physics.memory.samples import RECIPES


def table(**changes: Any) -> dict[str, Any]:
    recipe = RECIPES["megatron"]
    base = {
        "stacks": ["cuda"],
        "axes": ["tp"],
        "shardings": ["none", "zero1"],
        "selective": ["attention"],
        "source": "a page",
        **{
            name: getattr(recipe, name)
            for name, kind in type(recipe).__annotations__.items()
            if kind in ("float", "bool")
        },
    }
    return {"mine": {key: value for key, value in (base | changes).items() if value is not None}}


def test_bundled_recipes_are_the_four_and_a_historic_one_and_have_sources() -> None:
    assert sorted(RECIPES) == ["ddp", "deepspeed", "fsdp", "megatron", "megatron-2021"]
    assert [name for name, recipe in RECIPES.items() if recipe.historic] == ["megatron-2021"]
    assert all(recipe.source for recipe in RECIPES.values())
    assert RECIPES["fsdp"].weights_sharded_from is Sharding.ZERO2
    assert RECIPES["megatron"].shardings == (Sharding.NONE, Sharding.ZERO1)


def test_a_table_becomes_a_recipe() -> None:
    recipe = load_recipes(table())["mine"]
    assert recipe.axes == ("tp",)
    assert recipe.weight_bytes == 2.0
    assert recipe.weights_sharded_from is Sharding.ZERO3


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"weight_bytes": "2"}, "weight_bytes"),
        ({"weight_bytes": -1.0}, "weight_bytes"),
        ({"weight_bytes": True}, "weight_bytes"),
        ({"adapters": 1}, "adapters"),
        ({"axes": ["tp", "zz"]}, "axes"),
        ({"shardings": ["zero4"]}, "shardings"),
        ({"weights_sharded_from": "zero9"}, "weights_sharded_from"),
        ({"source": None}, "source is missing"),
        ({"colour": "red"}, "unknown field colour"),
    ],
)
def test_bad_fields_are_named(changes: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        load_recipes(table(**changes))


def test_a_recipe_that_is_no_table_is_named() -> None:
    with pytest.raises(InputError, match="mine"):
        load_recipes({"mine": 3})
