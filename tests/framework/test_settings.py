"""Keys of the core: what could not be honoured cannot be written."""

from __future__ import annotations

import pytest

from jackfield import settings
from jackfield.plugins import load_plugins
from jackfield.recipe.fields import recipe_keys

CUTTING = ("top_p", "top_k", "min_p", "top_n", "typical_p")


def test_nothing_cuts_the_distribution_that_is_trained_on() -> None:
    """A10, pitfall 17: log-probs are of the whole vocabulary on both sides, since neither sampling nor any engine or environment has a
    key that samples from a part of it."""
    plugins = load_plugins(environ={})
    keys = set(recipe_keys(settings.Sampling))
    for kind in ("engines", "environments"):
        for entry in plugins.registries[kind].entries:
            keys |= set(recipe_keys(entry.load()))
    assert "temperature" in keys
    assert not keys & set(CUTTING)


@pytest.mark.parametrize("temperature", [0.0, -1.0])
def test_training_rollouts_are_not_greedy(temperature: float) -> None:
    """Pitfall 16: log-probs at temperature 0 do not exist."""
    with pytest.raises(ValueError, match="temperature"):
        settings.Sampling(temperature=temperature)
