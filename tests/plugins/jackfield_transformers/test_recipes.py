"""The recipes of reward models through the whole corridor, against transformers' own forward pass on one row at a time in float64."""

from __future__ import annotations

import itertools
import json
import math

import pytest
import torch
from safetensors.torch import load_file
from transformers import AutoConfig, AutoModel, AutoModelForCausalLM, AutoTokenizer

from jackfield.types import Credited
from jackfield_transformers.tiny_random import TinyRandom, byte_tokenizer
from jackfield_transformers.tokenizer import HfTokenizer

PAIRS = [
    {"prompt": "2 + 2 = ?", "chosen": "4", "rejected": "It is five, I think."},
    {"prompt": "3 + 4 = ?", "chosen": "It is seven.", "rejected": "8"},
    {"prompt": "1 + 4 = ?", "chosen": "It is five. " * 3, "rejected": "It is four."},
]
PADDING = [*itertools.product(("left", "right"), ("<|endoftext|>", "<|im_end|>"))]
"""Side and token; the second is the one that ends a turn."""


def save_model(folder, side="right", pad="<|endoftext|>", *, inner=None):
    """A causal LM whose tokenizer pads like this, always with the same weights."""
    inner = byte_tokenizer() if inner is None else inner
    inner.padding_side, inner.pad_token = side, pad
    config = TinyRandom(layers=1)._config(HfTokenizer(inner))
    config.pad_token_id = None  # a padding token's embedding would start as zeros
    with torch.random.fork_rng():
        torch.manual_seed(4)
        module = AutoModelForCausalLM.from_config(config, dtype=torch.float32)
    module.config.pad_token_id = inner.pad_token_id
    module.save_pretrained(folder)
    inner.save_pretrained(folder)
    return folder


def trained(take_steps, folder, model, *overrides, out="trained"):
    """The recipe of the reward model on these pairs, two steps."""
    (folder / "pairs.jsonl").write_text("\n".join(map(json.dumps, PAIRS)))
    return take_steps(
        "rlhf_reward_model", f'data={{use = "jsonl", train = "{folder}/pairs.jsonl"}}', f'model={{use = "hf_causal", path = "{model}"}}',
        'model.compute="float32"', "steps=2", "tasks_per_step=3", "rollout.max_new_tokens=64", "evaluate.enabled=false",
        "checkpoint.every=1", "optimizer.critic_lr=0.01", *overrides, smoke=False, out=out,
    )  # fmt: skip


class Exact:
    """The critic of a checkpoint in float64: every row alone, never padded."""

    def __init__(self, checkpoint):
        weights = load_file(checkpoint / "critic" / "critic.safetensors")
        self.backbone = AutoModel.from_config(
            AutoConfig.from_pretrained(checkpoint / "model", pad_token_id=None), dtype=torch.float64
        )
        self.backbone.load_state_dict(
            {k.removeprefix("backbone.").removeprefix("model."): v for k, v in weights.items() if "head" not in k}
        )
        self.head = torch.nn.Linear(self.backbone.config.hidden_size, 1, dtype=torch.float64)
        self.head.load_state_dict({k.removeprefix("head."): v for k, v in weights.items() if "head" in k})

    def score(self, ids):
        hidden = self.backbone(input_ids=torch.as_tensor(ids)[None]).last_hidden_state[0, -1]
        return self.head(hidden)[0]

    def gradient_norm(self):
        parameters = [*self.backbone.parameters(), *self.head.parameters()]
        return math.sqrt(sum(float(p.grad.square().sum()) for p in parameters if p.grad is not None))


def learnt(step):
    """What it said of itself, without times and memory."""
    return {name: value for name, value in step.metrics.items() if name.partition("/")[0] not in ("speed", "share", "memory")}


def test_scores_and_gradient_are_those_of_rows_alone(tmp_path, take_steps):
    """Pitfall 52: in the second step the loss −log σ(s₁ − s₂) + 0.01 (s₁ + s₂)², the scores and the norm of the gradient are those of the
    first step's critic on unpadded rows; where micro-batches are cut, and so how much is padded, moves nothing."""
    model = save_model(tmp_path / "model")
    taken = trained(take_steps, tmp_path, model)
    exact = Exact(taken.folder / "checkpoints/step-000001")
    chosen, rejected, loss = [], [], 0.0
    for group in taken.steps[1].groups:
        assert all(isinstance(r, Credited) for r in group)
        better, worse = sorted(group, key=lambda r: -float(r.advantage[r.policy_mask][0]))
        chosen.append(exact.score(better.tokens))
        rejected.append(exact.score(worse.tokens))
        loss = loss - torch.nn.functional.logsigmoid(chosen[-1] - rejected[-1]) + 0.01 * (chosen[-1] + rejected[-1]).square()
    (loss / 3).backward()
    metrics = taken.steps[1].metrics
    loss, chosen, rejected = (value.detach() for value in (loss, sum(chosen), sum(rejected)))
    assert metrics["losses/bradley_terry"] == pytest.approx(float(loss) / 3, abs=1e-5)
    assert metrics["bradley_terry/score_chosen"] == pytest.approx(float(chosen) / 3, abs=1e-5)
    assert metrics["bradley_terry/score_rejected"] == pytest.approx(float(rejected) / 3, abs=1e-5)
    assert metrics["grad_norm/critic"] == pytest.approx(exact.gradient_norm(), rel=1e-4)
    assert exact.gradient_norm() > 0.01
    apart = trained(take_steps, tmp_path, model, "learn.tokens_per_microbatch=1", out="apart")
    assert learnt(apart.steps[1]) == pytest.approx(learnt(taken.steps[1]), rel=1e-4, abs=1e-5)


def test_padding_moves_no_gradient(tmp_path, take_steps):
    """Pitfalls 5 and 52: whichever side a tokenizer pads, and also with the token that ends a turn, bit for bit the same critic."""
    found = {}
    for number, (side, pad) in enumerate(PADDING):
        model = save_model(tmp_path / f"model{number}", side, pad)
        taken = trained(take_steps, tmp_path, model, out=f"run{number}")
        weights = (taken.folder / "checkpoints/step-000002/critic/critic.safetensors").read_bytes()
        found[side, pad] = ([learnt(step) for step in taken.steps], weights)
    assert all(one == found["right", "<|endoftext|>"] for one in found.values())


def judged(take_steps, checkpoint, policy, *, out):
    """A step of GRPO whose reward is the model in ``checkpoint``, beside the rule that watches; gives the rollouts."""
    rewards = f'rewards=[{{use = "reward_model", path = "{checkpoint}", compute = "float32"}}, {{use = "last_number", weight = 0}}]'
    taken = take_steps(
        "rm_grpo", rewards, f'model={{use = "hf_causal", path = "{policy}"}}', 'model.compute="float32"', "steps=1", "tasks_per_step=2",
        "group_size=3", "evaluate.enabled=false", smoke=False, out=out,
    )  # fmt: skip
    return [rollout for group in taken.steps[0].groups for rollout in group]


@pytest.fixture
def checkpoint(tmp_path, take_steps):
    """Of a trained reward model."""
    return trained(take_steps, tmp_path, save_model(tmp_path / "model")).folder / "checkpoints/step-000002"


def test_padding_moves_no_score(tmp_path, take_steps, checkpoint):
    """Pitfalls 5 and 52: neither that of the policy's tokenizer nor that of the reward model's, and each is the score of the row alone."""
    exact, found = Exact(checkpoint), {}
    for number, (side, pad) in enumerate(PADDING):
        inner = AutoTokenizer.from_pretrained(checkpoint / "model")
        inner.padding_side, inner.pad_token = side, pad
        inner.save_pretrained(checkpoint / "model")
        rollouts = judged(take_steps, checkpoint, save_model(tmp_path / f"policy{number}", side, pad), out=f"judged{number}")
        found[side, pad] = [(rollout.tokens.tolist(), rollout.verdicts["reward_model"]) for rollout in rollouts]
    first = found["right", "<|endoftext|>"]
    assert all(one == first for one in found.values())
    for ids, verdict in first:
        assert verdict.value == pytest.approx(float(exact.score(ids).detach()), abs=1e-5)


def test_a_policy_with_another_tokenizer_is_scored_by_text(tmp_path, take_steps, checkpoint):
    """Case T18, pitfall 53: other ids, a BOS, another template: the score is that of the text under the reward model's own tokenizer."""
    from tokenizers.processors import TemplateProcessing

    inner = byte_tokenizer()
    inner.add_special_tokens({"bos_token": "<s>"})
    inner.add_tokens(["e", " + ", "the"])
    inner.backend_tokenizer.post_processor = TemplateProcessing(single="<s> $A", special_tokens=[("<s>", inner.bos_token_id)])
    inner.chat_template = "{% for m in messages %}{{ m['role'] }}: {{ m['content'] }}<|im_end|>{% endfor %}assistant: "
    rollouts = judged(take_steps, checkpoint, save_model(tmp_path / "policy", inner=inner), out="judged")
    own, exact = HfTokenizer(AutoTokenizer.from_pretrained(checkpoint / "model")), Exact(checkpoint)
    assert len({rollout.completion for rollout in rollouts}) > 1
    for rollout in rollouts:
        ended = [own.eos_id] * (rollout.finish.reason == "eos")
        ids = [*own.chat(rollout.task.prompt), *own.encode(rollout.completion), *ended]
        assert rollout.verdicts["reward_model"].value == pytest.approx(float(exact.score(ids).detach()), abs=1e-5)
        assert ids != rollout.tokens.tolist()
