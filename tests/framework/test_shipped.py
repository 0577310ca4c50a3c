"""What comes with Jackfield."""

from __future__ import annotations

from pathlib import Path

from jackfield.shipped import shipped

ROOT = Path(__file__).resolve().parents[2]


def test_every_recipe_of_the_checkout_comes_along() -> None:
    """By its name; what they extend is not among them."""
    assert {name: file.name for name, file in shipped().items()} == {
        file.stem: file.name for file in (ROOT / "recipes").glob("*.toml")
    }
