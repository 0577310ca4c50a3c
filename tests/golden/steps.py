"""Takes the steps of recipes for ``test_recipes.py``, in a process of its own: what makes arithmetic alike is set before torch is imported.

Writes one line that says what the numbers are made with, then a line for every line it is given: asked for the recipe at ``path``, with
``folder`` for what the run writes, it answers with the ``series``, or with what ``failed``.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
import math
import os
import sys
import traceback
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import torch

from jackfield import chain, hookimpl, machine
from jackfield.plugins import Source, load_plugins
from jackfield.recipe import load_recipe
from jackfield.report import StepReport
from jackfield.run import run

STEPS = 20
MEASURED = ("speed", "share", "memory")
"""First part of the names of what no two runs have alike."""
IDS = "ids of all rollouts"


def main() -> None:
    torch.set_num_threads(1)
    # Also the links of a chain, which take no overrides, compute in float32.
    bfloat16 = patch.object(machine, "cpu_multiplies_bfloat16", return_value=False)
    with bfloat16, os.fdopen(os.dup(1), "w", buffering=1) as answers:
        os.dup2(2, 1)  # what a run prints, or a program that it starts, must not come between
        print(json.dumps(made_with()), file=answers)
        for line in sys.stdin:
            asked = json.loads(line)
            print(json.dumps(answer(Path(asked["path"]), Path(asked["folder"]))), file=answers)


def answer(path: Path, folder: Path) -> dict[str, Any]:
    os.environ["JACKFIELD_CACHE"] = str(folder / "cache")
    try:
        return {"series": series(taken(path, folder))}
    except Exception:
        return {"failed": traceback.format_exc()}


def taken(path: Path, folder: Path) -> list[StepReport]:
    """The reports of a run in small, after what the recipe is chained from. Recipes without training take no steps here either."""
    reports: list[StepReport] = []

    class Watch:
        @hookimpl
        def jackfield_step_end(self, report: StepReport) -> None:
            reports.append(report)

    plugins = load_plugins(environ={})
    trains = load_recipe(path, plugins).corridor.run.steps > 0
    plugins.add(Source(name="watch", value="watch"), Watch)
    overrides = ["trackers=[]", *([f"steps={STEPS}"] if trains else [])]
    recipe = load_recipe(path, plugins, overrides, smoke=True)
    ready = chain.ready(recipe, plugins, folder / "runs", lambda _: None)
    reports.clear()
    run(ready, plugins, folder / "run")
    assert [report.step for report in reports if report.kind == "step"] == [*range(1, STEPS * trains + 1)]
    return reports


def series(reports: list[StepReport]) -> dict[str, list[Any]]:
    """Metric → one number a step, or an evaluation."""
    found: dict[str, list[Any]] = {}
    for kind in ("step", "evaluation"):
        lines = [{**report.metrics, _named(kind, IDS): ids(report)} for report in reports if report.kind == kind]
        for name in sorted({name for line in lines for name in line}):
            if name.partition("/")[0] not in MEASURED:
                found[name] = [line.get(name) for line in lines]
    return found


def ids(report: StepReport) -> str:
    """A digest of every token that anybody wrote, rollout by rollout."""
    digest = hashlib.sha256()
    for rollout in (rollout for group in report.groups for rollout in group):
        digest.update(np.append(rollout.tokens, -1).astype("<i8").tobytes())
    return digest.hexdigest()[:16]


def _named(kind: str, name: str) -> str:
    return name if kind == "step" else f"evaluation/{name}"


def made_with() -> dict[str, Any]:
    """What decides about the last bit: versions, and what products and functions come to here."""
    return {
        "torch": torch.__version__,
        "transformers": importlib.metadata.version("transformers"),
        "capability": torch.backends.cpu.get_cpu_capability(),
        "arithmetic": hashlib.sha256(b"".join(array.tobytes() for array in (*of_torch(), *of_numpy()))).hexdigest()[:8],
    }


def of_torch() -> list[np.ndarray[Any, Any]]:
    """What models, losses and the optimizer are made of. No roots of whole tensors: MKL's differ from maker to maker, and no recipe has any."""
    draw = torch.Generator().manual_seed(0)
    x, w = (torch.randn(*shape, generator=draw).requires_grad_() for shape in ((97, 64), (64, 259)))
    optimizer = torch.optim.AdamW([x, w], lr=0.01, fused=True)
    found = []
    for _ in range(3):
        normed = torch.nn.functional.rms_norm(x * torch.cat([x.cos(), x.sin()], -1)[:, ::2], (64,))
        heads = (normed @ w[:, :192]).view(1, 97, 3, 4, 16).unbind(2)
        attended = torch.nn.functional.scaled_dot_product_attention(*(h.transpose(1, 2) for h in heads), is_causal=True)
        logp = torch.nn.functional.silu(x @ w).log_softmax(-1)
        surprise = torch.nn.functional.logsigmoid(x).sum() + x.exp().log1p().log().mean() + torch.nn.functional.gelu(x).sum()
        loss = (logp.exp().sum(0) * w.sum(0).tanh()).mean() + (logp.exp() * logp).sum() + attended.sum() + surprise
        optimizer.zero_grad()
        loss.backward()
        found += [loss, torch.nn.utils.clip_grad_norm_([x, w], 1.0)]
        optimizer.step()
    return [tensor.detach().numpy() for tensor in (*found, x, w)]


def of_numpy() -> list[np.ndarray[Any, Any]]:
    """What credit and metrics are made of, and the learning rate."""
    drawn = np.random.default_rng(0).normal(size=9999)
    functions = [function(drawn.astype(dtype)) for function in (np.exp, np.expm1) for dtype in (np.float32, np.float64)]
    return [*functions, drawn.mean(), drawn.std(ddof=1), np.array([math.cos(value) for value in drawn])]


if __name__ == "__main__":
    main()
