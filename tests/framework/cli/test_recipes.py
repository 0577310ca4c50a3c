"""The listing of recipes."""

from __future__ import annotations

import pytest

from jackfield.cli import main as cli
from jackfield.shipped import shipped


def test_every_recipe_stands_with_its_title(capsys: pytest.CaptureFixture[str]) -> None:
    """One line each; a grid says what it is."""
    assert cli.main(["recipes"]) == 0
    header, *lines = capsys.readouterr().out.splitlines()
    assert header.split() == ["RECIPE", "TITLE"]
    told = dict(line.split(maxsplit=1) for line in lines)
    assert told.keys() == shipped().keys()
    assert told["grpo_sums"] == "GRPO on one-digit sums"
    assert told["grid"].endswith("recipes, for jackfield compare")
