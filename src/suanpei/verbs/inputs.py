"""What every planning verb reads: catalogue, recipes, calibration."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from suanpei.machine.calibration import load_calibration
from suanpei.machine.catalogue import load_catalogue
from suanpei.physics.recipe import load_recipes
from suanpei.quantities import parse_choice

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from suanpei.machine.calibration import Calibration
    from suanpei.machine.catalogue import Catalogue
    from suanpei.physics.recipe import Recipe


@dataclass(frozen=True, kw_only=True)
class Inputs:
    """The data behind an answer."""

    catalogue: Catalogue
    recipes: Mapping[str, Recipe]
    calibration: Calibration

    @property
    def current_recipes(self) -> tuple[Recipe, ...]:
        """Recipes that a new run may use, in the catalogue's order."""
        return tuple(recipe for recipe in self.recipes.values() if not recipe.historic)

    def recipe(self, name: str) -> Recipe:
        """Find a recipe by name."""
        return self.recipes[parse_choice(name, "recipe", tuple(self.recipes))]


def load_inputs(overlay: Path | None) -> Inputs:
    """Load the bundled data, overlaid with the user's own folder if one is given."""
    catalogue = load_catalogue(overlay)
    return Inputs(
        catalogue=catalogue, recipes=load_recipes(catalogue.toml("recipes")), calibration=load_calibration(catalogue)
    )
