from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from jackfield import chain
from jackfield.plugins import load_plugins
from jackfield.recipe import load_recipe
from jackfield.run import run

Load = Callable[[str], ModuleType]


@pytest.fixture
def floor(script: Load) -> Any:
    return script("floor")


@pytest.fixture
def shape(floor: Any) -> Any:
    """Two layers: 4 × (4 + 4) + 4 × (2 + 2) weights of attention, 3 × 4 × 8 of feed-forward; a head of 4 × 10."""
    return floor.Shape(layers=2, hidden=4, inner=8, attention=4, kv=2, vocabulary=10)


@pytest.fixture
def text(floor: Any) -> Callable[..., Any]:
    """Two tokens of a prompt, two of an answer."""
    return lambda computed=True: floor.Text(prompt=2, total=4, written=(2, 3), computed=computed)


def test_weights(shape: Any) -> None:
    assert shape.weights == 2 * (48 + 96)
    assert shape.head == 40


def test_the_shape_of_a_config(floor: Any) -> None:
    """SmolLM2-135M: 9 query heads and 3 key heads of 64; 106M weights in its layers."""
    config = {
        "num_hidden_layers": 30, "hidden_size": 576, "intermediate_size": 1536, "num_attention_heads": 9, "num_key_value_heads": 3,
        "vocab_size": 49152,
    }  # fmt: skip
    found = floor.Shape.of(config)
    assert (found.attention, found.kv) == (576, 192)
    assert found.weights == 106_168_320


def test_a_forward_pass(shape: Any) -> None:
    """Two operations a weight and token; four a layer, channel and token seen, itself included."""
    assert shape.forward(0, 3) == 2 * 288 * 3 + 4 * 2 * 4 * (1 + 2 + 3)
    assert shape.forward(2, 3) == 2 * 288 + 4 * 2 * 4 * 3


def test_a_shared_prompt_is_computed_once(floor: Any, shape: Any, text: Any) -> None:
    """And an answer's last token not at all: nothing is predicted from it."""
    group = [text(), text()]
    assert floor.forward([group], shape, head=False) == shape.forward(0, 2) + 2 * shape.forward(2, 3)
    assert floor.forward([group], shape, head=True) - floor.forward([group], shape, head=False) == 2 * 40 * 4


def test_learning(floor: Any, shape: Any, text: Any) -> None:
    """Three passes through the layers, four through the head, of what can move something."""
    ceilings = floor.Ceilings(products=2.0, decode=1.0, read=1.0, bytes_per_weight=2)
    expected = (3 * (shape.forward(0, 2) + shape.forward(2, 3)) + 4 * 2 * 40 * 2) / 2.0
    assert floor.learn([[text(), text(computed=False)]], shape, ceilings) == expected


def test_generating_is_bound_by_reading_or_by_computing(floor: Any, shape: Any, text: Any) -> None:
    """One group of two: a prompt of two tokens, then two steps that read 328 weights and what was kept of 2 + 3 tokens a rollout."""
    read = 2 * (2 * 328 + 2 * 2 * 2 * (2 * (2 + 3)))
    bound_by_reading = floor.Ceilings(products=1e12, decode=1e12, read=1.0, bytes_per_weight=2)
    assert floor.generate([[text(), text()]], shape, bound_by_reading, in_flight=8) == pytest.approx(read)
    computed = 4 * (2 * 288 + 2 * 40) + 4 * 2 * 4 * (2 * (2 + 3))
    bound_by_products = floor.Ceilings(products=1e12, decode=1.0, read=1e12, bytes_per_weight=2)
    assert floor.generate([[text(), text()]], shape, bound_by_products, in_flight=8) == pytest.approx(computed)


def test_the_report_of_a_run(floor: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """From its folder: every phase of a real, tiny run has a floor, on a machine that would be a thousand times faster far below what it
    took."""
    monkeypatch.setenv("JACKFIELD_CACHE", str(tmp_path / "cache"))
    plugins = load_plugins(environ={})
    path = Path(__file__).parents[2] / "recipes" / "rule_ppo.toml"
    recipe = load_recipe(path, plugins, ['trackers=["metrics_jsonl", "rollouts_jsonl"]'], smoke=True)
    run(chain.ready(recipe, plugins, tmp_path / "runs", lambda _: None), plugins, tmp_path / "run")
    found = {"gemm": [{"dtype": "float32", "rows": 64, "per_second": 1e15}], "read": 1e14}
    rows = {row["phase"]: row for row in floor.summary(floor.report(tmp_path / "run", found, "float32"))}
    assert list(rows) == ["generate", "measure", "learn"]
    assert all(0 < 100 * row["floor_s"] < row["achieved_s"] for row in rows.values())
