"""Recipes: TOML read, typed, built, checked and frozen. ``load_recipe`` is the way in."""

from __future__ import annotations

from jackfield.recipe.find import find_recipe
from jackfield.recipe.recipe import Recipe, load_recipe

__all__ = ["Recipe", "find_recipe", "load_recipe"]
