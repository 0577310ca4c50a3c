"""How near a run came to what the machine can do.

    python benchmarks/floor.py RUN --ceilings ceilings.json

For every phase the least it must do is counted from the run's own rollouts: floating-point operations of the products, and for decoding the
bytes of weights and of keys and values that must be read. Divided by the ceilings (see ceilings.py) that is the floor, in seconds.

What must be done, of a transformer with P weights in its layers' products, an H × V head and attention of width A in L layers:

- generate: every prompt once per group, what environments wrote and what the policy wrote once: 2 P a token, and 4 L A for each earlier
  token it sees; the head (2 H V) for what the policy wrote. A decode step reads all weights once for all rollouts in flight, and each
  rollout's keys and values.
- measure: 2 P a token and the attention, 2 H V a policy token, for each model that is asked.
- learn: three times a forward pass, four times for the head, whose logits are made again instead of kept; rollouts that can move nothing
  are not computed, a prompt that a group shares is once.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from statistics import median
from typing import Any

from attrs import frozen

from jackfield.plugins import load_plugins
from jackfield.recipe import load_recipe

PHASES = ("generate", "measure", "learn")


@frozen(kw_only=True)
class Shape:
    """Of a decoder like Llama."""

    layers: int
    hidden: int
    inner: int
    attention: int
    """Query heads × their size."""
    kv: int
    """Key heads × their size."""
    vocabulary: int

    @classmethod
    def of(cls, config: Mapping[str, Any]) -> Shape:
        """Out of transformers' config.json."""
        heads = config["num_attention_heads"]
        size = config.get("head_dim") or config["hidden_size"] // heads
        return cls(
            layers=config["num_hidden_layers"],
            hidden=config["hidden_size"],
            inner=config["intermediate_size"],
            attention=heads * size,
            kv=config.get("num_key_value_heads", heads) * size,
            vocabulary=config["vocab_size"],
        )

    @property
    def weights(self) -> int:
        """P: weights in the products of all layers."""
        return self.layers * (self.hidden * (2 * self.attention + 2 * self.kv) + 3 * self.hidden * self.inner)

    @property
    def head(self) -> int:
        """H × V."""
        return self.hidden * self.vocabulary

    def forward(self, first: int, last: int) -> float:
        """Operations of the tokens from position ``first`` to before ``last`` of a text, without the head."""
        seen = (last * (last + 1) - first * (first + 1)) / 2
        return 2.0 * self.weights * (last - first) + 4.0 * self.layers * self.attention * seen


@frozen(kw_only=True)
class Text:
    """A rollout's lengths."""

    prompt: int
    total: int
    written: Sequence[int]
    """Positions of the policy's tokens."""
    computed: bool
    """By the learn phase."""


@frozen(kw_only=True)
class Ceilings:
    """Operations and bytes a second."""

    products: float
    decode: float
    read: float
    bytes_per_weight: int

    @classmethod
    def of(cls, found: Mapping[str, Any], dtype: str) -> Ceilings:
        """The best of large products, the best of products of 64 rows."""
        own = [p for p in found["gemm"] if p["dtype"] == dtype]
        return cls(
            products=max(p["per_second"] for p in own),
            decode=max(p["per_second"] for p in own if p["rows"] <= 64),
            read=found["read"],
            bytes_per_weight=2 if dtype == "bfloat16" else 4,
        )


def generate(groups: Sequence[Sequence[Text]], shape: Shape, ceilings: Ceilings, in_flight: int) -> float:
    """Seconds at least."""
    texts = [text for group in groups for text in group]
    prompts = sum(shape.forward(0, group[0].prompt) for group in groups)
    further = sum(shape.forward(text.prompt, text.total) for text in texts)
    written = sum(len(text.written) for text in texts)
    decoded = written * (2.0 * shape.weights + 2.0 * shape.head) + sum(
        4.0 * shape.layers * shape.attention * position for text in texts for position in text.written
    )
    prefilled = prompts + further - written * 2.0 * shape.weights
    steps = max([-(-written // in_flight), *(len(text.written) for text in texts)])
    seen = sum(position for text in texts for position in text.written)
    read = ceilings.bytes_per_weight * (steps * (shape.weights + shape.head) + 2.0 * shape.layers * shape.kv * seen)
    return prefilled / ceilings.products + max(decoded / ceilings.decode, read / ceilings.read)


def forward(groups: Sequence[Sequence[Text]], shape: Shape, *, head: bool) -> float:
    """Operations of one pass over all texts, a prompt of several once."""
    total = 0.0
    for group in groups:
        for prompt, sharing in groupby(group, key=lambda text: text.prompt):
            total += shape.forward(0, prompt) + sum(shape.forward(prompt, max(text.written, default=0)) for text in sharing)
        total += 2.0 * shape.head * sum(len(text.written) for text in group) * head
    return total


def learn(groups: Sequence[Sequence[Text]], shape: Shape, ceilings: Ceilings) -> float:
    """Seconds at least of one epoch."""
    computed = [[text for text in group if text.computed] for group in groups]
    layers = forward(computed, shape, head=False)
    return (3 * layers + 4 * (forward(computed, shape, head=True) - layers)) / ceilings.products


def read_groups(file: Path) -> list[list[Text]]:
    """The groups of one step, out of ``rollouts/step-….jsonl``."""
    records = map(json.loads, file.read_text(encoding="utf-8").splitlines())
    return [[_text(record) for record in group] for _, group in groupby(records, key=lambda record: record["group"])]


def _text(record: Mapping[str, Any]) -> Text:
    written: list[int] = []
    position, prompt = 0, None
    for segment in record["segments"]:
        length = len(segment["tokens"])
        if segment["writer"] == "policy":
            prompt = position if prompt is None else prompt
            written += range(position, position + length)
        position += length
    return Text(prompt=position if prompt is None else prompt, total=position, written=written, computed=_moves(record))


def _moves(record: Mapping[str, Any]) -> bool:
    return any(value for segment in record["segments"] for value in segment.get("advantage") or ())


def report(run: Path, found: Mapping[str, Any], dtype: str) -> Iterator[tuple[str, float, float]]:
    """(phase, floor, achieved) of every step, in seconds."""
    recipe = load_recipe(run / "recipe.toml", load_plugins())
    corridor, ceilings = recipe.corridor, Ceilings.of(found, dtype)
    config = next(run.glob("checkpoints/*/model/config.json"))
    shape = Shape.of(json.loads(config.read_text(encoding="utf-8")))
    passes = len(corridor.measured & {"old_logp", "value"}) > 0, "ref_logp" in corridor.measured
    for record in map(json.loads, (run / "metrics.jsonl").read_text(encoding="utf-8").splitlines()):
        if record["kind"] != "step":
            continue
        groups = read_groups(run / f"rollouts/step-{record['step']:06d}.jsonl")
        floors = {
            "generate": generate(groups, shape, ceilings, getattr(corridor.engine, "max_rows", 64)),
            "measure": sum(passes) * forward(groups, shape, head=passes[1] or "old_logp" in corridor.measured) / ceilings.products,
            "learn": corridor.learn.epochs * learn(groups, shape, ceilings),
        }
        yield from ((phase, floors[phase], record["seconds"][phase]) for phase in PHASES)


def summary(rows: Iterable[tuple[str, float, float]]) -> list[dict[str, Any]]:
    """Medians over the steps, by phase."""
    listed = list(rows)
    by_phase = {phase: [(floor, took) for name, floor, took in listed if name == phase] for phase in PHASES}
    return [
        {
            "phase": phase,
            "floor_s": median(floor for floor, _ in own),
            "achieved_s": median(took for _, took in own),
            "times_the_floor": median(took / floor for floor, took in own),
        }
        for phase, own in by_phase.items()
        if any(floor > 0 for floor, _ in own)
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=Path, help="folder of a run that sampled")
    parser.add_argument("--ceilings", type=Path, required=True, help="what ceilings.py wrote on the machine of the run")
    parser.add_argument("--dtype", choices=("bfloat16", "float32"), default="bfloat16", help="what products were computed in")
    parser.add_argument("--out", type=Path, help="where the JSON goes; left out: only printed")
    asked = parser.parse_args()
    found = json.loads(asked.ceilings.read_text(encoding="utf-8"))
    rows = summary(report(asked.run, found, asked.dtype))
    print(f"{'phase':10}{'floor, s':>10}{'achieved, s':>13}{'times the floor':>17}")
    for row in rows:
        print(f"{row['phase']:10}{row['floor_s']:10.2f}{row['achieved_s']:13.2f}{row['times_the_floor']:17.1f}")
    if asked.out is not None:
        told = {"run": asked.run.name, "machine": found["machine"], "phases": rows}
        asked.out.write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
