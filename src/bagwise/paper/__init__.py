"""The paper's tables as data, and the recipe of each of its experiments."""

from bagwise.paper.published import Published, published
from bagwise.paper.recipes import RECIPES, Recipe, Setting

__all__ = ["RECIPES", "Published", "Recipe", "Setting", "published"]
