"""The recipes of DPO through the whole corridor, against sums over log-probs of transformers' own forward pass in float64."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import AutoModelForCausalLM

from jackfield.cli.main import main
from jackfield.types import Credited, Message, Rollout
from jackfield_transformers.tiny_random import TinyRandom, byte_tokenizer
from jackfield_transformers.tokenizer import HfTokenizer

ROOT = Path(__file__).resolve().parents[3]
FAST = ("steps=3", "optimizer.lr=0.01", "checkpoint.every=1", "checkpoint.keep=3", "evaluate.enabled=false")
PAIRS = [
    {"prompt": "2 + 2 = ?", "chosen": "\nfour", "rejected": "It is five."},
    {"prompt": "3 + 4 = ?", "chosen": "It is seven.", "rejected": "\n\n8"},
]


def log_probs(module: Any, rollout: Rollout) -> torch.Tensor:
    """Of the tokens the policy wrote, from one unpadded row."""
    ids = torch.from_numpy(rollout.tokens)
    with torch.no_grad():
        logp_LV = module.double()(input_ids=ids[None]).logits[0].log_softmax(-1)
    return logp_LV[:-1].gather(1, ids[1:, None])[:, 0][torch.from_numpy(rollout.policy_mask[1:])]


def pairs_of(step: Any) -> list[list[Credited]]:
    """Chosen and rejected of every group that has both."""
    credited = [[r for r in group if isinstance(r, Credited)] for group in step.groups]
    return [sorted(group, key=lambda r: -float(r.advantage[r.policy_mask][0])) for group in credited if group]


@pytest.mark.parametrize("name", ["dpo", "dpo_offline"])
def test_starts_at_ln_2_moves_and_has_the_right_references(name: str, take_steps: Callable[..., Any]) -> None:
    """A14: ln 2 in the first step and not in the next; log-probs of the reference, which were measured once before the update, are those
    of the untrained model at any later step, to 1e-5; and so is the loss with references computed anew beside the moved policy."""
    taken = take_steps(name, *FAST)
    losses = [step.metrics["losses/dpo"] for step in taken.steps]
    assert losses[0] == pytest.approx(math.log(2), abs=1e-6)
    assert all(abs(loss - math.log(2)) > 1e-3 for loss in losses[1:])
    beta = taken.recipe.corridor.losses[0].part.beta
    reference = taken.recipe.corridor.model.load().module
    policies = [
        reference,
        *(AutoModelForCausalLM.from_pretrained(taken.folder / f"checkpoints/step-{n:06d}/model") for n in (1, 2)),
    ]
    for step, loss, policy in zip(taken.steps, losses, policies, strict=True):
        expected = []
        assert pairs_of(step)
        for pair in pairs_of(step):
            margin = 0.0
            for side, rollout in zip((1, -1), pair, strict=True):
                live = log_probs(reference, rollout)
                assert rollout.ref_logp is not None
                precomputed = torch.from_numpy(rollout.ref_logp[rollout.policy_mask]).double()
                torch.testing.assert_close(precomputed, live, rtol=0, atol=1e-5)
                margin += side * beta * float((log_probs(policy, rollout) - live).sum())
            expected.append(math.log1p(math.exp(-margin)))
        assert loss == pytest.approx(sum(expected) / len(expected), abs=1e-5)


def save_model_with_bos(folder: Path) -> HfTokenizer:
    """A model whose tokenizer puts a BOS before a text and whose template writes it too, with a token for an empty line."""
    from tokenizers.processors import TemplateProcessing

    inner = byte_tokenizer()
    inner.add_special_tokens({"bos_token": "<s>"})
    inner.add_tokens(["\n\n"])
    inner.backend_tokenizer.post_processor = TemplateProcessing(single="<s> $A", special_tokens=[("<s>", inner.bos_token_id)])
    inner.chat_template = "{{ bos_token }}" + inner.chat_template
    tokenizer = HfTokenizer(inner)
    config = TinyRandom(layers=1)._config(tokenizer)
    AutoModelForCausalLM.from_config(config, dtype=torch.float32).save_pretrained(folder)
    inner.save_pretrained(folder)
    return tokenizer


def on_own_pairs(folder: Path, *overrides: str) -> list[str]:
    """Overrides of a recipe that is not run in small: these pairs, and the model in ``folder``."""
    (folder / "pairs.jsonl").write_text("\n".join(map(json.dumps, PAIRS)))
    return [
        f'data={{use = "jsonl", train = "{folder}/pairs.jsonl"}}', f'model={{use = "hf_causal", path = "{folder}/model"}}',
        "steps=1", "tasks_per_step=2", "rollout.max_new_tokens=32", "evaluate.enabled=false", *overrides,
    ]  # fmt: skip


def test_one_bos_and_one_prompt(tmp_path: Path, take_steps: Callable[..., Any]) -> None:
    """T10, pitfall 55: every sequence of a pair starts with the model's BOS and has no other; the prompt's ids are the same in both, and
    the answer's those of the answer alone with an end, so that no token is merged across the border."""
    tokenizer = save_model_with_bos(tmp_path / "model")
    taken = take_steps("dpo_offline", *on_own_pairs(tmp_path, 'model.compute="float32"'), smoke=False)
    bos = tokenizer.inner.bos_token_id
    pairs = pairs_of(taken.steps[0])
    assert len(pairs) == 2
    for pair in pairs:
        [row] = [row for row in PAIRS if row["prompt"] == pair[0].task.question]
        for rollout, text in zip(pair, (row["chosen"], row["rejected"]), strict=True):
            prompt, answer = rollout.segments
            assert rollout.tokens.tolist().count(bos) == 1
            assert rollout.tokens[0] == bos
            assert prompt.tokens.tolist() == pair[0].segments[0].tokens.tolist() == tokenizer.chat(rollout.task.prompt).tolist()
            assert answer.tokens.tolist() == [*tokenizer.encode(text), tokenizer.eos_id]
            assert rollout.policy_mask.sum() == len(answer.tokens)
    chosen = next(pair[0] for pair in pairs if pair[0].completion == "\nfour")
    at_once = tokenizer.inner.encode(tokenizer.decode(chosen.tokens), add_special_tokens=False)
    assert at_once != chosen.tokens.tolist(), (
        "the trap is real: encoded at once, the prompt's last and the answer's first token merge"
    )


def test_a_prompt_over_budget_is_refused_before_anything_loads(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """D5: by file and line, with its length; the rows that fit are not named, and the weights are not even looked for."""
    tokenizer = save_model_with_bos(tmp_path / "model")
    (tmp_path / "model/model.safetensors").unlink()
    fits = max(len(tokenizer.chat([Message(role="user", content=row["prompt"])])) for row in PAIRS)
    overrides = on_own_pairs(tmp_path, f"rollout.max_tokens={fits + 32}")
    with (tmp_path / "pairs.jsonl").open("a") as rows:
        rows.write("\n" + json.dumps({"prompt": "1 + " * 50 + "1 = ?", "chosen": "51", "rejected": "50"}))
    sets = [word for override in overrides for word in ("--set", override)]
    assert main(["run", str(ROOT / "recipes/dpo_offline.toml"), "--out", str(tmp_path / "run"), *sets]) == 2
    told = capsys.readouterr().err
    assert "pairs.jsonl:3" in told
    assert "leaves no room in max_tokens" in told
    assert "pairs.jsonl:1" not in told
    assert "pairs.jsonl:2" not in told
