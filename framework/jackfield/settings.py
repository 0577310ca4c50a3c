"""The recipe keys that the core itself owns: top-level keys and the tables [sampling], [learn], [evaluate] and [checkpoint]."""

from __future__ import annotations

from typing import Literal

from attrs import frozen

from jackfield.component import at_least, option, positive


@frozen(kw_only=True)
class Run:
    """Top-level keys: how much, and from which seed."""

    title: str = option(help="one line that names the run")
    seed: int = option(0, help="every random draw of the run derives from it")
    steps: int = option(help="training steps; each plays tasks_per_step groups and learns from them", check=at_least(0))
    token_budget: int = option(
        0,
        help="tokens to sample in all: the step that reaches them is the last, even if it is not the last of steps, by which the learning "
        "rate goes on being scheduled; 0: no bound",
        check=at_least(0),
    )
    tasks_per_step: int = option(help="tasks drawn per step", check=at_least(1))
    unplayable: Literal["refuse", "skip"] = option(
        "refuse",
        help="rows that cannot be played (a prompt longer than the rollout may be): stop before anything loads, or leave them out",
    )
    group_size: int = option(1, help="rollouts per task", check=at_least(1))
    refill_rounds: int = option(
        0,
        help="where filters or failures left fewer groups than tasks_per_step: play as many further tasks, so many times at most",
        check=at_least(0),
    )

    def ends(self, step: int, sampled: int) -> bool:
        """Whether so many steps, in which the policy sampled so many tokens, are the whole run."""
        return step >= self.steps or 0 < self.token_budget <= sampled


@frozen(kw_only=True)
class Sampling:
    """[sampling]: how training rollouts are drawn. No top-p or top-k: they would change the distribution that log-probs refer to."""

    temperature: float = option(1.0, help="of sampling, and of the log-probs trained on", check=positive)


@frozen(kw_only=True)
class Learn:
    """[learn]: how a step's rollouts become optimizer updates. There are epochs × minibatches updates a step."""

    epochs: int = option(1, help="passes over a step's rollouts", check=at_least(1))
    minibatches: int = option(1, help="optimizer updates per pass; rollouts are split evenly", check=at_least(1))
    tokens_per_microbatch: int = option(
        4096, help="tokens computed at once, a shared prompt counted once; bounds memory, changes no result", check=at_least(1)
    )
    logits_chunk: int = option(
        1024, help="policy tokens whose logits exist at once; bounds memory, changes no result", check=at_least(1)
    )
    aggregation: Literal["token_mean", "sequence_mean", "fixed_length"] = option(
        "token_mean",
        help="token_mean: every token counts alike; sequence_mean: every rollout counts alike (mean of token means); "
        "fixed_length: token sums divided by rollouts × fixed_length (Dr. GRPO)",
    )
    fixed_length: int | None = option(None, help="the constant of aggregation fixed_length, in tokens")
    max_grad_norm: float = option(
        1.0, help="gradients are clipped to this 2-norm, the policy's and the critic's each", check=positive
    )


@frozen(kw_only=True)
class Evaluate:
    """[evaluate]: greedy rollouts on the test split, before the first step and after the last (and every ``every`` steps)."""

    enabled: bool = option(True, help="evaluate at all")
    every: int = option(0, help="also after every so many steps; 0: only before and after", check=at_least(0))
    before: bool = option(True, help="also before the first step")
    tasks: int = option(0, help="tasks of the split taken for evaluations within the run; 0: all", check=at_least(0))
    concurrency: int = option(64, help="rollouts in flight at once", check=at_least(1))


@frozen(kw_only=True)
class Checkpoint:
    """[checkpoint]: the last is always kept; one is written at the end and on Ctrl-C."""

    every: int = option(0, help="write one every so many steps; 0: only at the end", check=at_least(0))
    keep: int = option(2, help="older ones are deleted", check=at_least(1))
