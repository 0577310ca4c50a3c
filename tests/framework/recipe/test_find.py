"""Recipes by path or by name."""

from __future__ import annotations

from pathlib import Path

import pytest

from jackfield.errors import RecipeError
from jackfield.recipe import find_recipe


def test_a_recipe_that_comes_along_is_found_by_its_bare_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Wherever the command runs; a file of that name comes first."""
    monkeypatch.chdir(tmp_path)
    assert find_recipe("search_r1_small").name == "search_r1_small.toml"
    assert find_recipe("search_r1_small").is_file()
    Path("search_r1_small").touch()
    assert find_recipe("search_r1_small") == Path("search_r1_small")


@pytest.mark.parametrize("wrong", ["search_r1_smal", "recipes/search_r1_smal.toml"])
def test_an_unknown_recipe_is_told_with_the_nearest(wrong: str) -> None:
    """By the names of the files that come along."""
    with pytest.raises(RecipeError, match=rf"{wrong}: no such recipe file, .*; did you mean 'search_r1_small'\?"):
        find_recipe(wrong)
