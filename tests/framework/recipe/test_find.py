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


def test_ones_own_recipe_comes_before_one_that_comes_along(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also without its ``.toml``; beside the recipe that names it, if one does."""
    monkeypatch.chdir(tmp_path)
    Path("recipes").mkdir()
    for mine in (Path("mine.toml"), Path("grpo_sums.toml"), Path("recipes/grpo_sums.toml")):
        mine.touch()
    assert find_recipe("mine") == Path("mine.toml")
    assert find_recipe("grpo_sums") == Path("grpo_sums.toml")
    assert find_recipe("recipes/grpo_sums") == find_recipe("grpo_sums", Path("recipes")) == Path("recipes/grpo_sums.toml")
    assert find_recipe("rule_ppo").parent != Path()


@pytest.mark.parametrize(
    ("wrong", "meant"),
    [
        ("search_r1_smal", "search_r1_small"),
        ("search_r1_small.toml", "search_r1_small"),
        ("recipes/search_r1_smal.toml", "search_r1_small"),
        ("mien", "mine.toml"),
        ("recipes/yuors.toml", "recipes/yours.toml"),
    ],
)
def test_an_unknown_recipe_is_told_with_the_nearest(
    wrong: str, meant: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the names of the files that come along and of those beside it, as they are to be written."""
    monkeypatch.chdir(tmp_path)
    Path("recipes").mkdir()
    Path("mine.toml").touch()
    Path("recipes/yours.toml").touch()
    with pytest.raises(RecipeError, match=rf"^{wrong}: no such recipe file, .*; did you mean '{meant}'\? \(jackfield recipes "):
        find_recipe(wrong)


def test_a_name_like_no_other_is_told_where_names_are_listed() -> None:
    """Not with all of them."""
    with pytest.raises(RecipeError, match=r"^xyzzy: no such recipe file, .* has this name \(jackfield recipes lists them\)$"):
        find_recipe("xyzzy")


def test_a_run_folder_is_not_taken_for_its_recipe(tmp_path: Path) -> None:
    """Its recipe is a file in it."""
    (tmp_path / "recipe.toml").touch()
    with pytest.raises(RecipeError, match=rf"is the folder of a run; its recipe is {tmp_path}/recipe.toml$"):
        find_recipe(str(tmp_path))
