"""A model trained on labels of steps judges steps: read after each step's own last token, summed up, credited to the steps."""

from __future__ import annotations

import asyncio
import math

import numpy as np
import pytest
import torch
from transformers import AutoModelForCausalLM

from jackfield.errors import RecipeError
from jackfield.testing.contracts import check_reward
from jackfield.testing.fakes import CharTokenizer
from jackfield.types import Finish, Message, Rollout, Segment, Task
from jackfield_transformers.process_reward_model import ProcessRewardModel
from jackfield_transformers.tiny_random import TinyRandom, byte_tokenizer
from jackfield_transformers.tokenizer import HfTokenizer
from jackfield_transformers.value_head import ValueHead

POLICY = HfTokenizer(byte_tokenizer())
PROMPT = (Message(role="user", content="1, 2, 3"),)
STEPS = ("1 + 2 = 3\n", "3 + 3 = 7\n", "7")


def stepwise(*steps, tokenizer=POLICY, ended=True, heard=""):
    """A rollout whose policy wrote these steps, the last with EOS; ``heard`` is what the environment says after the first."""
    segments = [Segment(tokens=tokenizer.chat(PROMPT), writer="task")]
    for number, step in enumerate(steps, start=1):
        ids = np.append(tokenizer.encode(step), [tokenizer.eos_id] * (ended and number == len(steps))).astype(np.int64)
        segments.append(Segment(tokens=ids, writer="policy", text=step))
        if heard and number == 1:
            segments.append(Segment(tokens=tokenizer.encode(heard), writer="environment", text=heard))
    return Rollout(task=Task(id="t", prompt=PROMPT), member=0, segments=tuple(segments), finish=Finish(reason="eos"))


def judged(path, rollouts, tokenizer=POLICY, **keys):
    reward = ProcessRewardModel(path=str(path), compute="float32", **keys)
    reward.prepare(tokenizer)
    return asyncio.run(reward.judge_all(rollouts))


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory):
    """As a run leaves it, of a critic with random weights."""
    folder = tmp_path_factory.mktemp("process")
    policy = TinyRandom(compute="float32", layers=1).load()
    critic = ValueHead(init_std=1.0)
    critic.start(policy, seed=3)
    with torch.no_grad():
        critic._modules["head"].bias.fill_(0.25)
        draw = torch.Generator().manual_seed(5)
        for weight in critic.parameters():
            weight.add_(0.05 * torch.randn(weight.shape, generator=draw))
    policy.save(folder / "model")
    critic.save(folder / "critic")
    return folder


def probabilities(folder, rollout):
    """σ(w · h + b) after every turn, each from the sequence up to there alone, in float64."""
    from safetensors.torch import load_file

    weights = {name: weight.double() for name, weight in load_file(folder / "critic" / "critic.safetensors").items()}
    module = AutoModelForCausalLM.from_pretrained(folder / "model", dtype=torch.float64).base_model
    module.load_state_dict({n.removeprefix("backbone."): w for n, w in weights.items() if n.startswith("backbone.")})
    found, tokens = [], np.zeros(0, np.int64)
    for segment in rollout.segments:
        tokens = np.concatenate([tokens, segment.tokens])
        if segment.writer == "policy":
            with torch.no_grad():
                hidden = module(input_ids=torch.tensor(tokens[None])).last_hidden_state[0, -1]
            score = float(weights["head.weight"][0] @ hidden + weights["head.bias"][0])
            found.append(1 / (1 + math.exp(-score)))
    return found


def test_a_step_is_read_after_its_last_token(checkpoint):
    """Of the finished step and nothing after it; padding, other rollouts and observations between steps move nothing else."""
    rollouts = [stepwise(*STEPS), stepwise("6"), stepwise(*STEPS, heard="no"), stepwise("x" * 90 + "\n", "y", ended=False)]
    expected = [probabilities(checkpoint, rollout) for rollout in rollouts]
    assert np.std(np.concatenate(expected)) > 0.05
    for tokens in (1, 4096):
        verdicts = judged(checkpoint, rollouts, over="mean", tokens_per_batch=tokens)
        for verdict, right in zip(verdicts, expected, strict=True):
            assert verdict.turns == pytest.approx([p / len(right) for p in right], abs=1e-5)
    for verdict, right in zip(judged(checkpoint, rollouts), expected, strict=True):
        assert verdict.value == pytest.approx(min(right), abs=1e-5)
        assert verdict.extras == {"steps": len(right)}


@pytest.mark.parametrize(
    ("over", "score", "parts"),
    [
        ("min", 0.25, (0.75, -0.5, 0.0)),
        ("product", 0.09375, (0.75, -0.5625, -0.09375)),
        ("last", 0.5, (0.75, -0.5, 0.25)),
        ("mean", 0.5, (0.25, 0.25 / 3, 0.5 / 3)),
    ],
)
def test_how_steps_are_summed_up(over, score, parts):
    """Probabilities 0.75, 0.25, 0.5: the number so far goes 0.75, 0.25, 0.25 for the least, 0.75, 0.1875, 0.09375 for the product. The
    parts add up to the score, and the second step, the one that is probably wrong, is the one to blame."""
    found = ProcessRewardModel(path="x", over=over).parts([0.75, 0.25, 0.5])
    assert found == pytest.approx(parts, abs=1e-12)
    assert sum(found) == pytest.approx(score, abs=1e-12)
    assert ProcessRewardModel(path="x", over=over).parts([0.5]) == (0.5,)


def test_another_tokenizer_is_bridged_by_text(checkpoint):
    """Step by step, with the prompt through the model's own template and EOS where the policy ended: the same as by ids."""
    policy = CharTokenizer()
    given = ((STEPS, True), (STEPS, False), (("héé\n", "", "b"), True))
    by_ids = judged(checkpoint, [stepwise(*steps, ended=ended) for steps, ended in given], over="mean")
    by_text = judged(checkpoint, [stepwise(*steps, ended=ended, tokenizer=policy) for steps, ended in given], policy, over="mean")
    for one, other in zip(by_ids, by_text, strict=True):
        assert other.turns == pytest.approx(one.turns, abs=1e-5)
    empty, full = by_text[2].turns[1], by_text[2].turns[0]
    assert empty == pytest.approx(full, abs=1e-9), "a turn without tokens is where the one before it was"


def test_what_it_cannot_judge(checkpoint):
    """Nothing said is an abstention; too much is an error, never cut."""
    silent, long = judged(checkpoint, [stepwise(), stepwise("x" * 9000)])
    assert (silent.kind, silent.reason) == ("abstain", "the policy has said nothing")
    assert long.kind == "error"
    assert "8192" in long.reason


def test_only_a_critic_knows_of_steps(tmp_path, checkpoint):
    """A sequence classifier has one score for the whole."""
    from transformers import AutoModelForSequenceClassification

    tokenizer = byte_tokenizer()
    config = TinyRandom(layers=1)._config(HfTokenizer(tokenizer))
    config.update({"num_labels": 1, "pad_token_id": None})
    AutoModelForSequenceClassification.from_config(config, dtype=torch.float32).save_pretrained(tmp_path)
    tokenizer.save_pretrained(tmp_path)
    with pytest.raises(RecipeError, match="is a sequence classifier; expected the checkpoint of a run"):
        judged(tmp_path, [])


def test_keeps_the_promises_of_a_reward(checkpoint):
    """The contract kit: finite scores of anything, one by one as in batches."""
    reward = ProcessRewardModel(path=str(checkpoint), compute="float32")
    reward.prepare(POLICY)
    check_reward(reward, in_context=True)
